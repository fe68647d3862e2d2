//! The dialog that continues from a token: an alternative, typed text, or another seed, in place or
//! in a new pane.

use egui::{Id, Modal, TextEdit, Ui};

use super::fonts::Face;
use super::formatting::{percent, token_word};
use super::keys::entered;
use super::theme::Theme;
use super::widgets::{Button, checkbox, field_frame, hint_ui, letter};
use crate::generation::{Generation, Step};
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchDialog, BranchTarget, Command, MAX_PANES,
};

/// How many alternatives the dialog offers.
const N_ALTERNATIVES: usize = 4;

const WIDTH: f32 = 344.0;

/// Draws the dialog, if it is open.
pub(super) fn branch_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(mut dialog) = state.branch_dialog.take() else {
        return;
    };
    let place = state.place_of(dialog.from.pane);
    let text = state
        .pane(dialog.from.pane)
        .and_then(|pane| pane.generation());
    let (Some(place), Some(text)) = (place, text) else {
        return;
    };
    let Some(step) = text.steps.get(dialog.from.step) else {
        return;
    };
    let can_add_pane = state.can_add_pane();
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("branch dialog")).frame(frame);
    let mut change = None;
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH);
        let theme = Theme::of(ui);
        let number = dialog.from.step + 1;
        let title = format!("Continue from token {number} of {}", letter(place));
        ui.label(Face::Title.text(title).color(theme.text_1));
        ui.add_space(8.0);
        change = change_ui(ui, text, step, &mut dialog);
        ui.add_space(10.0);
        target_ui(ui, can_add_pane, &mut dialog.target);
    });
    if let Some(change) = change {
        commands.push(Command::Branch(BranchCommand::Branch {
            from: dialog.from,
            change,
            target: dialog.target,
        }));
    } else if response.should_close() {
        commands.push(Command::Branch(BranchCommand::Open(None)));
    }
    state.branch_dialog = Some(dialog);
}

/// Draws what can be done differently. Returns what the user chose.
fn change_ui(
    ui: &mut Ui,
    text: &Generation,
    step: &Step,
    dialog: &mut BranchDialog,
) -> Option<BranchChange> {
    let mut change = None;
    let head = (0..).zip(&step.trace.raw.head);
    let others = head.filter(|(_, candidate)| candidate.token != step.token);
    for (index, candidate) in others.take(N_ALTERNATIVES) {
        let word = token_word(&text.vocabulary.piece(candidate.token));
        let prob = percent(candidate.prob);
        let words = match step.trace.head_final_prob(index) {
            Some(_) => format!("‘{word}’ · {prob}"),
            None => format!("‘{word}’ · cut · {prob}"),
        };
        if ui.add(Button::new(&words).quiet().width(WIDTH)).clicked() {
            change = Some(BranchChange::Tokens(vec![candidate.token]));
        }
    }
    ui.add_space(6.0);
    let label = ui.label("Type a replacement");
    let edit = TextEdit::singleline(&mut dialog.typed)
        .font(Face::Code.font())
        .frame(field_frame(ui))
        .desired_width(f32::INFINITY);
    let field = ui.add(edit).labelled_by(label.id);
    let spelled = text.vocabulary.spell(&dialog.typed);
    if spelled.is_none() && !dialog.typed.is_empty() {
        hint_ui(ui, "The vocabulary can’t spell this text");
    } else {
        hint_ui(ui, "Begin with a space for a new word");
    }
    let is_entered = entered(ui, &field);
    ui.horizontal(|ui| {
        let button = Button::new("Use this text").primary();
        let clicked = ui.add_enabled(spelled.is_some(), button).clicked();
        if let Some(tokens) = spelled.filter(|_| clicked || is_entered) {
            change = Some(BranchChange::Tokens(tokens));
        }
        let reseed = ui.add(Button::new("Another seed"));
        let reseed = reseed.on_hover_text("Toss other coins from this token on");
        if reseed.clicked() {
            change = Some(BranchChange::AnotherSeed);
        }
    });
    change
}

fn target_ui(ui: &mut Ui, can_add_pane: bool, target: &mut BranchTarget) {
    let mut in_new_pane = *target == BranchTarget::NewPane;
    let label = Face::Body.text("As a new pane");
    ui.add_enabled_ui(can_add_pane, |ui| checkbox(ui, &mut in_new_pane, label));
    *target = if in_new_pane && can_add_pane {
        BranchTarget::NewPane
    } else {
        BranchTarget::InPlace
    };
    let hint = if can_add_pane {
        "In place, the pane’s menu shows the earlier text again".to_owned()
    } else {
        format!("{MAX_PANES} panes are already open")
    };
    hint_ui(ui, &hint);
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::written;
    use crate::state::{AppState, BranchCommand, Command, Pin};
    use crate::ui::testing::{Window, key, press, window_of};

    fn pinned() -> AppState {
        let mut state = written();
        let pane = state.panes[0].id;
        state.apply(Command::Pin(Pin { pane, step: 1 }));
        state
    }

    fn open() -> Window {
        let mut state = pinned();
        let pin = state.pin;
        state.apply(Command::Branch(BranchCommand::Open(pin)));
        let window = window_of(vec2(1280.0, 800.0), state);
        window.get_by_label("Continue from token 2 of A");
        window
    }

    #[test]
    fn a_typed_word_branches_in_place() {
        let mut window = open();
        let field = "Type a replacement";
        window.get_by_label(field).focus();
        window.run_steps(2);
        window.event(egui::Event::Text(" fox".to_owned()));
        window.run_steps(3);
        press(&mut window, "Use this text");
        let state = window.state();
        assert!(state.branch_dialog.is_none());
        assert_eq!(state.panes.len(), 4);
        assert!(state.panes[0].status.running().is_some());
    }

    #[test]
    fn another_seed_can_continue_in_a_new_pane() {
        let mut window = open();
        press(&mut window, "As a new pane");
        press(&mut window, "Another seed");
        let state = window.state();
        assert_eq!(state.panes.len(), 5);
        assert!(state.panes[0].status.running().is_none());
        assert!(state.panes[1].status.running().is_some());
        assert_eq!(state.panes[1].settings.seed, Some(43));
    }

    #[test]
    fn an_interrupted_text_continues_from_the_footer() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        let buttons = window.get_all_by_label("Continue").count();
        assert_eq!(buttons, 4);
        window.get_all_by_label("Continue").next().unwrap().click();
        window.run_steps(4);
        assert!(window.state().panes[0].status.running().is_some());
        assert_eq!(window.get_all_by_label("Continue").count(), 3);
    }

    #[test]
    fn step_mode_steps_with_the_space_bar_and_steps_back_with_backspace() {
        let mut window = window_of(vec2(1280.0, 800.0), written());
        press(&mut window, "Step mode: one token at a time");
        assert!(window.state().step_mode);
        key(&mut window, Modifiers::NONE, Key::Backspace);
        let n_steps =
            |state: &AppState, place: usize| state.panes[place].generation().unwrap().steps.len();
        assert_eq!(n_steps(window.state(), 0), 2);
        key(&mut window, Modifiers::NONE, Key::Space);
        assert!(window.state().is_running());
        press(&mut window, "Leave step mode");
        assert!(!window.state().step_mode);
    }
}
