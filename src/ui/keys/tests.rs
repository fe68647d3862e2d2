//! Keyboard shortcuts, pressed as a user does.

use egui::{Event, Key, Modifiers, Role, vec2};
use egui_kittest::kittest::Queryable as _;

use super::keyboard_shortcut;
use crate::state::tests::ready;
use crate::state::{Action, AppState, Command, DockTab, HelpTab, PasteCommand, SettingsTab};
use crate::ui::testing::{key, window_of};

/// Returns the state after the generate shortcut was pressed.
fn pressed(state: AppState) -> AppState {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    window.state().clone()
}

#[test]
fn the_shortcut_starts_the_panes_unless_a_dialog_is_open() {
    assert!(pressed(ready()).is_running());
    let mut state = ready();
    state.models.dialog_open = true;
    assert!(!pressed(state).is_running());
}

#[test]
fn alt_and_a_number_switch_the_tab_without_typing_the_number() {
    let mut window = window_of(vec2(1280.0, 800.0), ready());
    window.get_by_role(Role::MultilineTextInput).focus();
    window.run();
    let prompt = window.state().prompt.text.clone();
    // Both events arrive in the same frame.
    window.input_mut().events.extend([
        Event::Key {
            key: Key::Num3,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::ALT,
        },
        Event::Text("3".to_owned()),
    ]);
    window.step();
    assert_eq!(window.state().view.dock_tab, DockTab::Loop);
    assert_eq!(window.state().prompt.text, prompt);
    key(&mut window, Modifiers::ALT, Key::Num6);
    assert_eq!(window.state().view.dock_tab, DockTab::Numbers);
}

#[test]
fn egui_knows_the_keys_of_every_action() {
    let actions = Action::all(&ready())
        .into_iter()
        .chain([Action::ShowPalette]);
    for shortcut in actions.flat_map(Action::shortcuts) {
        let found = keyboard_shortcut(shortcut);
        assert!(found.is_some(), "{shortcut:?}");
    }
}

#[test]
fn keys_open_the_settings_and_the_help_in_place_of_a_menu() {
    for (pressed, settings, help) in [
        (
            (Modifiers::COMMAND, Key::Comma),
            Some(SettingsTab::Appearance),
            None,
        ),
        ((Modifiers::NONE, Key::F1), None, Some(HelpTab::Keys)),
    ] {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        crate::ui::testing::press(&mut window, "Tint");
        key(&mut window, pressed.0, pressed.1);
        let state = window.state();
        assert_eq!(
            (state.dialogs.settings, state.dialogs.help),
            (settings, help)
        );
        assert!(!egui::Popup::is_any_open(&window.ctx));
        key(&mut window, Modifiers::NONE, Key::Escape);
        let state = window.state();
        assert_eq!((state.dialogs.settings, state.dialogs.help), (None, None));
    }
}

#[test]
fn keys_change_the_size_of_the_text() {
    let mut window = window_of(vec2(1280.0, 800.0), ready());
    for (pressed, percent) in [
        (Key::Plus, 110),
        (Key::Equals, 125),
        (Key::Minus, 110),
        (Key::Num0, 100),
    ] {
        key(&mut window, Modifiers::COMMAND, pressed);
        assert_eq!(window.state().view.text_size.percent(), percent);
        let factor = window.state().view.text_size.factor();
        assert!((window.ctx.zoom_factor() - factor).abs() < 1e-6);
    }
}

#[test]
fn the_key_that_scores_a_text_asks_for_the_clipboard_and_pastes_it() {
    for focuses_prompt in [true, false] {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        if focuses_prompt {
            window.get_by_role(Role::MultilineTextInput).focus();
        }
        window.run();
        let prompt = window.state().prompt.text.clone();
        // As the system reports the keys: with Shift, no paste comes with them.
        window.input_mut().events.push(Event::Key {
            key: Key::V,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::COMMAND.plus(Modifiers::SHIFT),
        });
        window.step();
        assert!(window.state().dialogs.score.is_some(), "{focuses_prompt}");
        let asked = window.output().viewport_output.values();
        let mut asked = asked.flat_map(|viewport| &viewport.commands);
        assert!(asked.any(|command| *command == egui::ViewportCommand::RequestPaste));
        window.event(Event::Paste("A cat sat on a mat.".to_owned()));
        window.run_steps(3);
        let dialog = window.state().dialogs.score.clone();
        assert_eq!(dialog.unwrap().text, "A cat sat on a mat.");
        assert_eq!(window.state().prompt.text, prompt);
    }
}

#[test]
fn the_shortcut_applies_pasted_settings() {
    let mut state = ready();
    let pane = state.panes[0].id;
    state.apply(Command::Paste(PasteCommand::Open(pane)));
    state.dialogs.paste.as_mut().unwrap().text = "--temp 0.5 --top-k 7".to_owned();
    state.apply(Command::Paste(PasteCommand::Edited));
    let state = pressed(state);
    assert!(state.dialogs.paste.is_none() && !state.is_running());
    let chain = state.panes[0].settings.chain.to_string();
    assert!(
        chain.contains("top-k 7") && chain.contains("T 0.5"),
        "{chain}"
    );
}
