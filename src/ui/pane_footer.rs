//! The foot of a pane: its state and figures, or what its settings would change, and the sign of a
//! remark.

use egui::{Align, Color32, Label, Layout, Sense, Ui, vec2};

use super::fonts::Face;
use super::icons::Icon;
use super::layout::Room;
use super::lint_notice::lint_sign_ui;
use super::theme::Theme;
use super::words::{grouped, speed};
use crate::analysis::Metrics;
use crate::generation::{FinishReason, Generation};
use crate::state::{Pane, PaneStatus, WhatIfWords, WhatIfs};

/// Between the words at the left and those at the right, at least.
const GAP: f32 = 8.0;

/// Draws the foot, of a window whose model can write or not; gives the step that is to be brought into view.
pub(super) fn footer_ui(ui: &mut Ui, room: Room, pane: &Pane, can_write: bool) -> Option<usize> {
    let what_ifs = pane.what_ifs();
    let Some(words) = what_ifs.and_then(WhatIfs::words) else {
        state_ui(ui, room, pane, can_write);
        return None;
    };
    let pressed = what_if_ui(ui, pane, &words);
    what_ifs?.first_changed().filter(|_| pressed)
}

/// The state at the left, the figures at the right.
fn state_ui(ui: &mut Ui, room: Room, pane: &Pane, can_write: bool) {
    let theme = Theme::of(ui);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if let Some(generation) = pane.generation() {
            let words = figures(room, generation);
            ui.label(Face::Small.text(words).color(theme.text_3));
        }
        ui.spacing_mut().item_spacing.x = 4.0;
        lint_sign_ui(ui, pane);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let (done, words, color) = state_words(&pane.status, can_write, theme);
            if done {
                let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
                Icon::Check.paint(ui.painter(), rect, color);
            }
            let label = Face::Small.text(words).color(color);
            ui.add(Label::new(label).truncate());
        });
    });
}

/// How many tokens would change at the left, and where the first of them is at the right, as far as
/// there is room; says whether the count was pressed.
fn what_if_ui(ui: &mut Ui, pane: &Pane, words: &WhatIfWords) -> bool {
    let theme = Theme::of(ui);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let right = match (&words.first, pane.generation()) {
            (Some(first), _) => first.clone(),
            (None, Some(generation)) => figures(Room::Small, generation),
            (None, None) => String::new(),
        };
        let sign = if pane.lints().is_empty() { 0.0 } else { 28.0 };
        let needed =
            Face::Small.width(ui, &words.count) + Face::Small.width(ui, &right) + GAP + sign;
        if needed <= ui.available_width() {
            ui.label(Face::Small.text(right).color(theme.text_3));
        }
        lint_sign_ui(ui, pane);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let label = Face::Small.text(&words.count).color(theme.changed);
            let label = Label::new(label).truncate().selectable(false);
            let response = ui.add(label.sense(Sense::click()));
            super::widgets::focus_ring(ui, &response, 4);
            response.on_hover_text(&words.explanation).clicked()
        })
        .inner
    })
    .inner
}

fn figures(room: Room, generation: &Generation) -> String {
    let metrics = Metrics::of(generation);
    let tokens = match metrics.n_generated {
        1 => "1 token".to_owned(),
        n => format!("{} tokens", grouped(n as f64)),
    };
    match metrics.decode_per_sec {
        Some(per_sec) if room >= Room::Normal => format!("{tokens} · {} tok/s", speed(per_sec)),
        _ => tokens,
    }
}

/// Whether the text came to an end of its own, the words, and their colour.
fn state_words(status: &PaneStatus, can_write: bool, theme: &Theme) -> (bool, String, Color32) {
    let plain = |words: &str| (false, words.to_owned(), theme.text_2);
    match status {
        PaneStatus::Ready if can_write => (false, "Ready".to_owned(), theme.text_3),
        PaneStatus::Ready => plain(""),
        PaneStatus::Waiting { .. } => plain("Waiting"),
        PaneStatus::Reading {
            n_read, n_tokens, ..
        } => {
            let (n_read, n_tokens) = (grouped(*n_read as f64), grouped(*n_tokens as f64));
            plain(&format!("Reading the prompt, {n_read} of {n_tokens}"))
        }
        PaneStatus::Writing { .. } => plain("Writing"),
        PaneStatus::Finished(generation) => match &generation.finish {
            Some(reason) => reason_words(reason, theme),
            None => plain("Writing"),
        },
        PaneStatus::Refused { reason, .. } => reason_words(reason, theme),
    }
}

fn reason_words(reason: &FinishReason, theme: &Theme) -> (bool, String, Color32) {
    let ended = matches!(
        reason,
        FinishReason::EndOfText | FinishReason::StopString { .. }
    );
    match reason {
        FinishReason::Failed { .. } => (false, "Stopped by an error".to_owned(), theme.error),
        reason => (ended, reason.to_string(), theme.text_2),
    }
}
