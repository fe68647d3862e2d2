//! The editor of a pane's chain: a popup beside the pane, never over it, so that the effect of an
//! edit is visible.

mod arrival;
mod bias;
mod breakers;
mod draw;
#[cfg(test)]
mod fold_tests;
mod grammar;
mod guidance;
#[cfg(test)]
mod guidance_tests;
mod head;
mod layer_keys;
mod live;
mod number_line;
mod number_list;
mod reorder;
mod second_model;
mod stage_details;
mod stage_row;
mod stages;
mod temperature;
#[cfg(test)]
mod tests;
mod thought_phrases;
mod token_words;
mod usual;
mod ways;

pub(super) use self::arrival::arrive_at;
pub(super) use self::layer_keys::layer_keys_ui;
pub(super) use self::number_line::number_lines_ui;

use std::sync::Arc;

use egui::{
    Id, Popup, PopupAnchor, PopupCloseBehavior, Rect, RectAlign, Response, ScrollArea,
    SetOpenCommand, Ui,
};

use self::draw::{beam_scores_ui, drafts_ui, draw_ui, own_seed_ui};
use self::grammar::grammar_ui;
use self::guidance::guidance_ui;
use self::head::{head_ui, model_row_ui};
use self::live::Live;
use self::second_model::second_model_ui;
use self::stages::{add_ui, stages_ui};
use self::temperature::{add_temperature, drop_unchanged};
use self::ways::{Way, WaysFold};
use super::chain_panel::ChainList;
use super::help::show_page;
use super::lint_notice::lint_notice_ui;
use crate::decoding::ChainConfig;
use crate::design::widgets::is_inner_menu_open;
use crate::generation::Vocabulary;
use crate::generation::formatting::pane_letter;
use crate::reference::Page;
use crate::state::{AppState, Command, PaneId};

const WIDTH: f32 = 448.0;

/// The minimum height of the list of stages, which scrolls if it doesn't fit.
const MIN_STAGES: f32 = 104.0;

/// The space above and below the editor in a window that is barely tall enough.
const MARGIN: f32 = 48.0;

/// The part of the window's height that unfolded ways to write take at most, less the height of the
/// other rows that do not scroll.
const WAYS_SHARE: f32 = 0.45;
const BELOW_STAGES: f32 = 100.0;

/// The minimum height of the unfolded ways to write: one row each.
const MIN_WAYS: f32 = 132.0;

/// What the list shows besides the stages' settings.
struct Shown<'a> {
    pane: PaneId,
    /// What the stages do at the step on display.
    live: Option<&'a Live<'a>>,
    /// The tokens of the model, if one is open.
    vocabulary: Option<&'a Vocabulary>,
    /// The index of the stage on solo.
    solo: Option<usize>,
    /// The index of the temperature that only the editor shows, if the chain has none.
    added: Option<usize>,
}

impl Shown<'_> {
    /// Returns the index that a stage of the list has in the pane's chain.
    fn index_in_chain(&self, index: usize) -> Option<usize> {
        match self.added {
            Some(added) if index == added => None,
            Some(added) if index > added => index.checked_sub(1),
            _ => Some(index),
        }
    }
}

/// What the user did in one frame.
#[derive(Debug, Default)]
struct Edit {
    /// Whether the chain was changed.
    edited: bool,
    /// The index of the stage whose solo button was clicked.
    soloed: Option<usize>,
    /// The filter or the draw whose page was asked for.
    asked: Option<Page>,
    /// Whether the temperature that only the editor shows becomes part of the chain.
    keeps_added: bool,
}

/// Draws the editor of the pane at `place` beside its `card`, if `chip` has opened it.
pub(crate) fn chain_editor_ui(
    chip: &Response,
    id: Id,
    card: Rect,
    (place, state): (usize, &mut AppState),
    commands: &mut Vec<Command>,
) {
    let ctx = chip.ctx.clone();
    let left_half = card.center().x < ctx.content_rect().center().x;
    let align = if left_half {
        RectAlign::RIGHT_START
    } else {
        RectAlign::LEFT_START
    };
    let close_behavior = if is_inner_menu_open(&ctx) {
        PopupCloseBehavior::IgnoreClicks
    } else {
        PopupCloseBehavior::CloseOnClickOutside
    };
    Popup::new(id, ctx, PopupAnchor::ParentRect(card), chip.layer_id)
        .open_memory(chip.clicked().then_some(SetOpenCommand::Toggle))
        .align(align)
        .align_alternatives(&[RectAlign::RIGHT_START, RectAlign::LEFT_START])
        .gap(8.0)
        .width(WIDTH)
        .close_behavior(close_behavior)
        .accessible_name(format!("How {} chooses", pane_letter(place)))
        .show(|ui| {
            ui.set_width(WIDTH - 12.0);
            editor_ui(ui, place, state, commands);
        });
}

fn editor_ui(ui: &mut Ui, place: usize, state: &AppState, commands: &mut Vec<Command>) {
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let mut list = ChainList::of(ui, pane.id);
    head_ui(ui, place, &mut list, state, commands);
    list.ui(ui, place, state, commands);
    list.remember(ui, pane.id);
    if list != ChainList::None {
        return;
    }
    let model = state.models.of(pane);
    let mut chain = pane.settings.chain.clone();
    let mut ways = WaysFold::of(ui, pane.id, &chain);
    let (above, unfolded) = (ways.above(&chain), ways.unfolded(&chain));
    let added = add_temperature(&mut chain);
    let mut edit = Edit::default();
    ui.spacing_mut().item_spacing.y = 0.0;
    let live = Live::of(ui.ctx(), state, place);
    if let Some(model) = model {
        let token = live.as_ref().map(|live| live.token.as_str());
        model_row_ui(ui, model.info.n_vocab, token);
    }
    let shown = Shown {
        pane: pane.id,
        live: live.as_ref(),
        vocabulary: model.map(|model| Arc::as_ref(&model.vocabulary)),
        solo: pane.solo_stage(),
        added,
    };
    let stages_height = scrolled_ui(ui, "stages", most_for_stages(ui), |ui| {
        stages_ui(ui, &shown, &mut chain, &mut edit);
        add_ui(ui, &mut chain, &mut edit);
        for way in above {
            edit.edited |= way_ui(ui, (way, &shown), state, &mut chain, commands);
        }
    });
    ui.add_space(6.0);
    ui.separator();
    ui.add_space(6.0);
    draw_ui(ui, &mut chain.selector, &mut edit);
    edit.edited |= beam_scores_ui(ui, &mut chain);
    // A beam search drafts no tokens.
    let is_beam_search = chain.selector.beam_search().is_some();
    edit.edited |= is_beam_search && chain.drafts.take().is_some();
    if chain.needs_seed() {
        own_seed_ui(ui, pane, state.seed, commands);
    }
    ways.line_ui(ui, pane.id, &chain);
    if !unfolded.is_empty() {
        let most = ui.content_rect().height() * WAYS_SHARE - BELOW_STAGES;
        scrolled_ui(ui, "ways", most.max(MIN_WAYS), |ui| {
            for way in unfolded {
                edit.edited |= way_ui(ui, (way, &shown), state, &mut chain, commands);
            }
        });
    }
    lint_notice_ui(ui, pane, commands);
    remember_rest(ui, ui.min_rect().height() - stages_height);
    let soloed = edit.soloed.map(|index| {
        let in_chain = shown.index_in_chain(index);
        edit.keeps_added |= in_chain.is_none();
        in_chain.unwrap_or(index)
    });
    edit.edited |= edit.keeps_added;
    if added.is_some() && !edit.keeps_added {
        drop_unchanged(&mut chain);
    }
    if edit.edited {
        commands.push(Command::SetChain(pane.id, chain));
    }
    if let Some(page) = edit.asked {
        show_page(ui.ctx(), page, commands);
    }
    if let Some(index) = soloed {
        commands.push(Command::Solo(pane.id, index));
    }
}

/// Draws a way to write. Returns whether it was changed.
fn way_ui(
    ui: &mut Ui,
    (way, shown): (Way, &Shown<'_>),
    state: &AppState,
    chain: &mut ChainConfig,
    commands: &mut Vec<Command>,
) -> bool {
    match way {
        Way::Guidance => {
            let changed = guidance_ui(ui, chain);
            if chain.is_guided_by_model() {
                second_model_ui(ui, state, commands);
            }
            changed
        }
        Way::Grammar => grammar_ui(ui, shown, chain, commands),
        Way::Drafts => {
            let changed = drafts_ui(ui, chain);
            if chain.needs_second_model() && !chain.is_guided_by_model() {
                second_model_ui(ui, state, commands);
            }
            changed
        }
    }
}

/// Returns the height that the list of stages can take.
fn most_for_stages(ui: &Ui) -> f32 {
    let rest = ui.data(|data| data.get_temp(rest_id(ui)).unwrap_or(0.0));
    (ui.content_rect().height() - MARGIN - rest).max(MIN_STAGES)
}

/// Draws a part that scrolls if it is higher than `most`. Returns its height.
fn scrolled_ui(ui: &mut Ui, salt: &str, most: f32, content: impl FnOnce(&mut Ui)) -> f32 {
    let top = ui.min_rect().bottom();
    ScrollArea::vertical()
        .id_salt(salt)
        .max_height(most)
        // A popup keeps its height; this lets it grow immediately when the stages replace a list.
        .min_scrolled_height(most)
        .show(ui, content);
    // The scroll area reports the height it was offered, not the height it used.
    ui.min_rect().bottom() - top
}

/// Stores the height of the parts that do not scroll for the next frame.
fn remember_rest(ui: &Ui, height: f32) {
    let id = rest_id(ui);
    ui.data_mut(|data| data.insert_temp(id, height));
}

fn rest_id(ui: &Ui) -> Id {
    ui.scope_id().with("height of the rest")
}
