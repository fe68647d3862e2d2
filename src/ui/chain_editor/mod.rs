//! The editor of a pane's chain: a popup beside the pane, never over it, so that one sees what one
//! changes.

mod bias;
mod breakers;
mod draw;
mod head;
mod number_line;
mod reorder;
mod settings;
mod stage_details;
mod stage_row;
mod stages;
#[cfg(test)]
mod tests;
mod token_words;
mod usual;
mod words;

use std::sync::Arc;

use egui::{
    Id, Popup, PopupAnchor, PopupCloseBehavior, Rect, RectAlign, Response, ScrollArea,
    SetOpenCommand, Ui,
};

use self::draw::{draw_ui, needs_seed, own_seed_ui};
use self::head::{head_ui, model_row_ui};
use self::stages::{add_ui, stages_ui};
pub(super) use self::words::long_words;
use super::chain_panel::chain_panel_ui;
use super::lint_notice::lint_notice_ui;
use super::widgets::{is_inner_menu_open, letter};
use crate::decoding::Trace;
use crate::generation::Vocabulary;
use crate::state::{AppState, Command, PaneId};

const WIDTH: f32 = 448.0;

/// The list of stages is at least so high, and is scrolled where it needs more than there is.
const LEAST_STAGES: f32 = 104.0;

/// What stays free above and below the editor in a window that is hardly high enough.
const AROUND: f32 = 32.0;

/// What the stages show beside themselves.
struct Shown<'a> {
    /// Whose they are.
    pane: PaneId,
    /// What they did at the step that is shown, where they were set as they are now.
    trace: Option<&'a Trace>,
    /// The tokens of the model, once there is one.
    vocabulary: Option<&'a Vocabulary>,
    /// The stage that was left alone.
    solo: Option<usize>,
}

/// What the user did.
#[derive(Debug, Default)]
struct Edit {
    /// The chain was changed.
    edited: bool,
    /// The stage of this index is to be left alone, or not any more.
    soloed: Option<usize>,
}

/// Opens and draws the editor of the pane at this place; `chip` is what opens it, `card` its pane.
pub(super) fn chain_editor_ui(
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
        .accessible_name(format!("How {} chooses", letter(place)))
        .show(|ui| {
            ui.set_width(WIDTH - 12.0);
            editor_ui(ui, place, state, commands);
        });
}

fn editor_ui(ui: &mut Ui, place: usize, state: &AppState, commands: &mut Vec<Command>) {
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    head_ui(ui, (place, pane), state, commands);
    if chain_panel_ui(ui, place, state, commands) {
        return;
    }
    let model = state.model.ready();
    let mut chain = pane.settings.chain.clone();
    let mut edit = Edit::default();
    ui.spacing_mut().item_spacing.y = 0.0;
    if let Some(model) = model {
        model_row_ui(ui, model.info.n_vocab);
    }
    let shown = Shown {
        pane: pane.id,
        trace: trace_of(state, place),
        vocabulary: model.map(|model| Arc::as_ref(&model.vocabulary)),
        solo: pane.solo_stage(),
    };
    let stages_height = scrolled_ui(ui, |ui| {
        stages_ui(ui, &shown, &mut chain, &mut edit);
        add_ui(ui, &mut chain, &mut edit);
    });
    ui.add_space(6.0);
    ui.separator();
    ui.add_space(6.0);
    edit.edited |= draw_ui(ui, &mut chain.selector);
    if needs_seed(&chain) {
        own_seed_ui(ui, pane, state.seed, commands);
    }
    lint_notice_ui(ui, pane, commands);
    remember_rest(ui, ui.min_rect().height() - stages_height);
    if edit.edited {
        commands.push(Command::SetChain(pane.id, chain));
    }
    if let Some(index) = edit.soloed {
        commands.push(Command::Solo(pane.id, index));
    }
}

/// The part that is scrolled where the window is not high enough for all; gives its height.
fn scrolled_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) -> f32 {
    let rest = ui.data(|data| data.get_temp(rest_id(ui)).unwrap_or(0.0));
    let most = (ui.content_rect().height() - AROUND - rest).max(LEAST_STAGES);
    let scrolled = ScrollArea::vertical()
        .id_salt("stages")
        .max_height(most)
        // A popup is as high as it was; this lets it grow at once when a list gives way to the stages.
        .min_scrolled_height(most)
        .show(ui, content);
    scrolled.inner_rect.height()
}

/// What the parts that are not scrolled took is known once they were drawn.
fn remember_rest(ui: &Ui, height: f32) {
    let id = rest_id(ui);
    ui.data_mut(|data| data.insert_temp(id, height));
}

fn rest_id(ui: &Ui) -> Id {
    ui.scope_id().with("height of the rest")
}

/// The evidence of the step that is shown, where it was made by the chain as it is set now.
fn trace_of(state: &AppState, place: usize) -> Option<&Trace> {
    let pane = state.panes.get(place)?;
    let generation = pane.generation()?;
    let pinned = state.pin.filter(|pin| pin.pane == pane.id);
    let step = pinned.map_or(generation.steps.len().checked_sub(1)?, |pin| pin.step);
    let same = generation.config.chain == pane.settings.chain;
    generation
        .steps
        .get(step)
        .filter(|_| same)
        .map(|step| &step.trace)
}
