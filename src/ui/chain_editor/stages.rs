//! The list of a chain's stages, and the chips that add one.

use egui::{Id, Margin, Ui, vec2};

use super::arrival::{arrive_ui, arrives_at};
use super::number_line::INDENT;
use super::reorder::{handle_id, move_item, reorder_ui};
use super::stage_row::{Place, stage_row_ui};
use super::usual::{lacking, place_for};
use super::{Edit, Shown};
use crate::decoding::{ChainConfig, Filter, Stage, Usage};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Chip;

/// Draws the stages and edits them.
pub(super) fn stages_ui(ui: &mut Ui, shown: &Shown<'_>, chain: &mut ChainConfig, edit: &mut Edit) {
    let mut rows = Vec::new();
    let mut removed = None;
    for (index, stage) in chain.stages.iter_mut().enumerate() {
        let effect = shown.live.and_then(|live| live.effect(index));
        let place = Place {
            index,
            handle: handle_id(ui, index),
            effect: effect.as_deref(),
        };
        let row = ui.push_id(index, |ui| stage_row_ui(ui, place, shown, stage, edit));
        removed = removed.or(row.inner.removed.then_some(index));
        rows.push((row.inner.handle, row.response.rect.y_range()));
    }
    if let Some((from, to)) = reorder_ui(ui, &rows) {
        move_item(&mut chain.stages, from, to);
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
    more |= lacking(chain, true)
        .iter()
        .any(|filter| is_rare(filter) && arrives_at(ui, filter.name()));
    let mut added = None;
    let inside = Margin {
        left: INDENT as i8,
        right: 4,
        top: 6,
        bottom: 0,
    };
    egui::Frame::new().inner_margin(inside).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 24.0;
        ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
        ui.horizontal_wrapped(|ui| {
            ui.label(Face::Small.text("Add").color(Theme::of(ui).text_3));
            for filter in lacking(chain, more) {
                if add_chip_ui(ui, &filter) {
                    added = Some(filter);
                }
            }
            let (words, name) = if more {
                ("Less", "Offer fewer stages")
            } else {
                ("More…", "Offer more stages")
            };
            if ui.add(Chip::new(words).name(name).quiet()).clicked() {
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

/// Returns whether the filter is offered only among more stages.
fn is_rare(filter: &Filter) -> bool {
    filter.spec().usage == Usage::Rare
}

fn add_chip_ui(ui: &mut Ui, filter: &Filter) -> bool {
    let name = format!("Add {}", filter.name());
    let response = ui.add(Chip::new(filter.name()).name(&name));
    arrive_ui(ui, filter.name(), &response);
    response
        .on_hover_text(filter.spec().tooltip_with_source())
        .clicked()
}
