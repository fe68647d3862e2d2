//! The editor of a pane's chain: a popup beside the pane, never over it, so that the effect of an
//! edit is visible.

mod arrival;
mod bias;
mod breakers;
mod draw;
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
#[cfg(test)]
mod tests;
mod thought_phrases;
mod token_words;
mod usual;

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
use super::chain_panel::chain_panel_ui;
use super::help::show_page;
use super::lint_notice::lint_notice_ui;
use crate::design::widgets::is_inner_menu_open;
use crate::generation::formatting::pane_letter;
use crate::generation::{Vocabulary, needs_seed};
use crate::reference::Page;
use crate::state::{AppState, Command, PaneId};

const WIDTH: f32 = 488.0;

/// The minimum height of the list of stages, which scrolls if it doesn't fit.
const MIN_STAGES: f32 = 104.0;

/// The space above and below the editor in a window that is barely tall enough.
const MARGIN: f32 = 48.0;

/// What the list shows besides the stages' settings.
struct Shown<'a> {
    pane: PaneId,
    /// What the stages do at the step on display.
    live: Option<&'a Live<'a>>,
    /// The tokens of the model, if one is open.
    vocabulary: Option<&'a Vocabulary>,
    /// The index of the stage on solo.
    solo: Option<usize>,
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
    head_ui(ui, place, pane, state, commands);
    if chain_panel_ui(ui, place, state, commands) {
        return;
    }
    let model = state.models.of(pane);
    let mut chain = pane.settings.chain.clone();
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
    };
    let stages_height = scrolled_ui(ui, |ui| {
        edit.edited |= guidance_ui(ui, &mut chain);
        if chain.is_guided_by_model() {
            second_model_ui(ui, state, commands);
        }
        edit.edited |= grammar_ui(ui, pane.id, &mut chain, commands);
        stages_ui(ui, &shown, &mut chain, &mut edit);
        add_ui(ui, &mut chain, &mut edit);
    });
    ui.add_space(6.0);
    ui.separator();
    ui.add_space(6.0);
    draw_ui(ui, &mut chain.selector, &mut edit);
    edit.edited |= beam_scores_ui(ui, &mut chain);
    edit.edited |= drafts_ui(ui, &mut chain);
    if chain.needs_second_model() && !chain.is_guided_by_model() {
        second_model_ui(ui, state, commands);
    }
    if needs_seed(&chain) {
        own_seed_ui(ui, pane, state.seed, commands);
    }
    lint_notice_ui(ui, pane, commands);
    remember_rest(ui, ui.min_rect().height() - stages_height);
    if edit.edited {
        commands.push(Command::SetChain(pane.id, chain));
    }
    if let Some(page) = edit.asked {
        show_page(ui.ctx(), page, commands);
    }
    if let Some(index) = edit.soloed {
        commands.push(Command::Solo(pane.id, index));
    }
}

/// Draws the part that scrolls if the window is not tall enough. Returns its height.
fn scrolled_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) -> f32 {
    let rest = ui.data(|data| data.get_temp(rest_id(ui)).unwrap_or(0.0));
    let most = (ui.content_rect().height() - MARGIN - rest).max(MIN_STAGES);
    let top = ui.min_rect().bottom();
    ScrollArea::vertical()
        .id_salt("stages")
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
