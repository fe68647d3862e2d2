//! The dialog for a text of the user’s own, which the model scores: a box to paste it into or open a file in, and its token count.

use egui::{Id, Modal, ScrollArea, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, checkbox, cut_note, field_frame, hint_ui, long_text};
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::{counted, grouped};
use crate::state::{
    AppState, BranchTarget, Command, MAX_PANES, PathPurpose, ScoreCommand, ScoreDialog,
    ScoreReadiness,
};

const WIDTH: f32 = 560.0;

const HUMAN_TEXT_HINT: &str = "The opening of Katherine Mansfield’s The Garden Party, which the \
                               built-in model has not read: compare its bars with those of \
                               generated texts";

/// Draws the dialog, if it is open.
pub(super) fn score_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(mut dialog) = state.dialogs.score.take() else {
        return;
    };
    let readiness = dialog.readiness(&state.panes, &state.models);
    let can_add_pane = state.panes.has_room();
    let place = state.place_of(dialog.pane);
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("score a text")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 8.0;
        let theme = Theme::of(ui);
        ui.label(Face::Title.text("A text of your own").color(theme.text_1));
        if text_ui(ui, &mut dialog.text) {
            commands.push(Command::Score(ScoreCommand::Edited));
        }
        if let Some(reason) = &dialog.unread {
            ui.label(Face::Small.text(reason).color(theme.error));
        }
        readiness_ui(ui, &readiness);
        target_ui(ui, place, can_add_pane, &mut dialog);
        ui.add_space(4.0);
        buttons_ui(ui, &readiness, commands);
    });
    if response.should_close() {
        commands.push(Command::Score(ScoreCommand::Close));
    }
    state.dialogs.score = Some(dialog);
}

/// Draws the box for the text. Returns whether it was edited.
fn text_ui(ui: &mut Ui, text: &mut String) -> bool {
    let theme = Theme::of(ui);
    let label = ui.label(Face::Small.text("Text to score").color(theme.text_2));
    let field = ScrollArea::vertical().max_height(240.0).show(ui, |ui| {
        let edit = long_text(text)
            .font(Face::Read.font())
            .frame(field_frame(ui))
            .hint_text("Paste or open a text to see how likely each of its tokens is")
            .desired_rows(6)
            .desired_width(f32::INFINITY);
        ui.add(edit).labelled_by(label.id)
    });
    let field = field.inner;
    cut_note(ui, text);
    if text.is_empty() && ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    field.changed()
}

fn readiness_ui(ui: &mut Ui, readiness: &ScoreReadiness) {
    let theme = Theme::of(ui);
    let tokens = |n: &usize| counted(*n, "token");
    let (words, color) = match readiness {
        ScoreReadiness::Empty => ("Nothing leaves this computer".to_owned(), theme.text_3),
        ScoreReadiness::Counting => ("Counting tokens".to_owned(), theme.text_3),
        ScoreReadiness::Fits { n_tokens } => (tokens(n_tokens), theme.text_3),
        ScoreReadiness::Answers { n } => {
            let answers = counted(*n, "answer");
            let words = format!("A conversation with {answers}: only the answers are scored");
            (words, theme.text_3)
        }
        ScoreReadiness::TooLong { n_tokens, n_max } => {
            let (n_tokens, n_max) = (tokens(n_tokens), grouped(*n_max as f64));
            (
                format!("{n_tokens}; the model reads at most {n_max}"),
                theme.error,
            )
        }
        ScoreReadiness::Impossible(reason) => (reason.clone(), theme.error),
    };
    ui.label(Face::Small.text(words).color(color));
}

fn target_ui(ui: &mut Ui, place: Option<usize>, can_add_pane: bool, dialog: &mut ScoreDialog) {
    let mut in_new_pane = dialog.target == BranchTarget::NewPane;
    let label = Face::Body.text("As a new pane");
    ui.add_enabled_ui(can_add_pane, |ui| checkbox(ui, &mut in_new_pane, label));
    dialog.target = if in_new_pane && can_add_pane {
        BranchTarget::NewPane
    } else {
        BranchTarget::InPlace
    };
    let letter = place.map(pane_letter).unwrap_or_default();
    let hint = if can_add_pane {
        format!("The settings of {letter} decide which tokens count as cut")
    } else {
        format!("{MAX_PANES} panes are already open; the text replaces that of {letter}")
    };
    hint_ui(ui, &hint);
}

fn buttons_ui(ui: &mut Ui, readiness: &ScoreReadiness, commands: &mut Vec<Command>) {
    let (label, reason) = match readiness {
        ScoreReadiness::Fits { .. } => ("Score".to_owned(), None),
        ScoreReadiness::Answers { n } => (format!("Score {}", counted(*n, "answer")), None),
        ScoreReadiness::TooLong { n_max, .. } => {
            let n_max = grouped(*n_max as f64);
            (format!("Score the first {n_max}"), None)
        }
        ScoreReadiness::Empty => ("Score".to_owned(), Some("Paste or open a text first")),
        ScoreReadiness::Counting => ("Score".to_owned(), Some("Counting tokens")),
        ScoreReadiness::Impossible(reason) => ("Score".to_owned(), Some(reason.as_str())),
    };
    let enabled = reason.is_none();
    ui.horizontal(|ui| {
        let mut button = ui.add_enabled(enabled, Button::new(&label).primary());
        if let Some(reason) = reason {
            button = button.on_disabled_hover_text(reason);
        }
        if button.clicked() {
            commands.push(Command::Score(ScoreCommand::Run));
        }
        if ui.add(Button::new("Open a file…")).clicked() {
            commands.push(Command::AskPath(PathPurpose::Text));
        }
        let human = ui.add(Button::new("A human text"));
        if human.on_hover_text(HUMAN_TEXT_HINT).clicked() {
            commands.push(Command::Score(ScoreCommand::HumanText));
        }
        let watermark = ui.add(Button::new("Test for a watermark…"));
        let tip = "Tests this text or, if there is none, the text of the pane";
        if watermark.on_hover_text(tip).clicked() {
            commands.push(Command::Score(ScoreCommand::TestForWatermark));
        }
        if ui.add(Button::new("Cancel")).clicked() {
            commands.push(Command::Score(ScoreCommand::Close));
        }
    });
}
