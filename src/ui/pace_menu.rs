//! The pace beside Generate: full speed, slow enough to watch, or step by step.

use egui::{Popup, Ui};

use super::keys::key_words;
use crate::design::icons::{Icon, icon_button};
use crate::design::widgets::{hint_ui, menu_item};
use crate::state::{Action, Command, Pace};

/// Draws the button that shows the pace and opens its menu.
pub(super) fn pace_menu_ui(ui: &mut Ui, pace: Pace, commands: &mut Vec<Command>) {
    let icon = match pace {
        Pace::FullSpeed => Icon::Fast,
        Pace::Slow => Icon::Slow,
        Pace::Step => Icon::Step,
    };
    let response = icon_button(ui, icon, &format!("Pace: {}", pace.name()));
    Popup::menu(&response)
        .width(240.0)
        .gap(4.0)
        .accessible_name("Pace")
        .show(|ui| {
            for choice in Pace::ALL {
                let step = key_words(ui, Action::Step);
                let key = if choice == Pace::Step { &step } else { "" };
                if menu_item(ui, choice.name(), key, choice == pace).clicked() {
                    commands.push(Command::SetPace(choice));
                }
            }
            ui.horizontal(|ui| {
                // Align the hint with the text of the items.
                ui.add_space(10.0);
                hint_ui(ui, "Speed is measured without the waits");
            });
            ui.add_space(4.0);
        });
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::{ready, written};
    use crate::state::{AppState, BranchCommand, Command, Pace, PaneStatus};
    use crate::ui::testing::{key, press, window_of};

    #[test]
    fn the_pace_is_chosen_beside_generate_and_while_running() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        press(&mut window, "Pace: Full speed");
        press(&mut window, "8 tokens per second");
        assert_eq!(window.state().pace, Pace::Slow);
        press(&mut window, "Generate");
        assert!(window.state().is_running());
        press(&mut window, "Pace: 8 tokens per second");
        press(&mut window, "Full speed");
        assert_eq!(window.state().pace, Pace::FullSpeed);
        assert!(window.state().is_running(), "only the pace has changed");
    }

    #[test]
    fn the_pace_can_be_chosen_with_the_keyboard() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        window.get_by_label("Pace: Full speed").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.get_by_label("Step by step").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(window.state().pace, Pace::Step);
        window.get_by_label("Leave step mode");
    }

    /// Returns the state after Ctrl+Enter in step mode.
    fn run_on(mut state: AppState) -> AppState {
        state.apply(Command::SetPace(Pace::Step));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.get_by_label_contains("Keep running (");
        key(&mut window, Modifiers::COMMAND, Key::Enter);
        window.state().clone()
    }

    #[test]
    fn in_step_mode_ctrl_enter_keeps_running_from_the_last_token() {
        let mut state = written();
        state.apply(Command::SetPace(Pace::Step));
        state.apply(Command::Branch(BranchCommand::StepBack));
        let state = run_on(state);
        assert!(state.is_running());
        let PaneStatus::Waiting { pending } = &state.panes[0].status else {
            panic!("the pane is not waiting");
        };
        assert_eq!(pending.kept_text().unwrap().text(), " in a");
        assert!(run_on(ready()).is_running(), "it starts with the prompt");
    }
}
