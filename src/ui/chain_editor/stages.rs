//! The list of a chain's stages, and the chips that add one.

use egui::{Id, Margin, Ui, vec2};

use super::arrival::{arrive_ui, arrives_at};
use super::number_line::INDENT;
use super::reorder::{handle_id, move_item, reorder_ui};
use super::stage_row::{Place, stage_row_ui};
use super::temperature::{idle_words, is_removable};
use super::usual::{offered, place_for};
use super::{Edit, Shown};
use crate::decoding::{ChainConfig, Filter, Stage};
use crate::design::icons::Icon;
use crate::design::widgets::Button;

/// Draws the stages and edits them.
pub(super) fn stages_ui(ui: &mut Ui, shown: &Shown<'_>, chain: &mut ChainConfig, edit: &mut Edit) {
    let mut rows = Vec::new();
    let mut removed = None;
    let selector = chain.selector;
    let removable: Vec<bool> = (0..chain.stages.len())
        .map(|index| is_removable(chain, index))
        .collect();
    for (index, stage) in chain.stages.iter_mut().enumerate() {
        let in_chain = shown.index_in_chain(index);
        let effect = shown.live.and_then(|live| live.effect(in_chain?));
        let idle = idle_words(&stage.filter, selector);
        let place = Place {
            index,
            handle: handle_id(ui, index),
            effect: idle.or(effect.as_deref()),
            is_idle: idle.is_some(),
            is_removable: removable.get(index) == Some(&true),
            is_solo: in_chain.is_some() && shown.solo == in_chain,
        };
        let row = ui.push_id(index, |ui| stage_row_ui(ui, place, shown, stage, edit));
        removed = removed.or(row.inner.removed.then_some(index));
        rows.push((row.inner.handle, row.response.rect.y_range()));
    }
    if let Some((from, to)) = reorder_ui(ui, &rows) {
        move_item(&mut chain.stages, from, to);
        edit.keeps_added |= shown.added == Some(from);
        edit.edited = true;
    }
    if let Some(index) = removed {
        chain.stages.remove(index);
        edit.edited = true;
    }
}

/// Draws a chip for each kind of stage that the chain lacks.
pub(super) fn add_ui(ui: &mut Ui, chain: &mut ChainConfig, edit: &mut Edit) {
    let more_id = Id::unique("more stages");
    let mut more = ui.data(|data| data.get_temp(more_id).unwrap_or(false));
    let first = offered(chain, false);
    let is_folded = |filter: &Filter| !first.iter().any(|other| other.kind() == filter.kind());
    let mut all = offered(chain, true).into_iter();
    more |= all.any(|filter| is_folded(&filter) && arrives_at(ui, filter.name()));
    let mut added = None;
    let inside = Margin {
        left: INDENT as i8 - 8,
        right: 4,
        top: 4,
        bottom: 0,
    };
    egui::Frame::new().inner_margin(inside).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 24.0;
        ui.spacing_mut().item_spacing = vec2(0.0, 2.0);
        ui.horizontal_wrapped(|ui| {
            for filter in offered(chain, more) {
                if add_chip_ui(ui, &filter) {
                    added = Some(filter);
                }
            }
            let (words, name) = if more {
                ("Less", "Offer fewer stages")
            } else {
                ("More…", "Offer more stages")
            };
            if ui.add(Button::new(words).name(name).quiet()).clicked() {
                more = !more;
            }
        });
    });
    ui.data_mut(|data| data.insert_temp(more_id, more));
    if let Some(filter) = added {
        let at = place_for(chain, &filter);
        chain.stages.insert(at, Stage::from(filter));
        edit.edited = true;
    }
}

fn add_chip_ui(ui: &mut Ui, filter: &Filter) -> bool {
    let name = format!("Add {}", filter.name());
    let button = Button::new(filter.name()).icon(Icon::Plus);
    let response = ui.add(button.name(&name).quiet());
    arrive_ui(ui, filter.name(), &response);
    response
        .on_hover_text(filter.spec().tooltip_with_source())
        .clicked()
}
