//! The keys that work wherever the keyboard is.

use egui::{Key, KeyboardShortcut, Modifiers, Popup, Ui};

use crate::state::{AppState, Command, PinMove};

/// Starts the panes; Cmd on a Mac.
pub(super) const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

const ARROWS: [(Key, PinMove); 4] = [
    (Key::ArrowLeft, PinMove::Earlier),
    (Key::ArrowRight, PinMove::Later),
    (Key::ArrowUp, PinMove::PreviousPane),
    (Key::ArrowDown, PinMove::NextPane),
];

/// Turns keys into commands. Runs before any part is drawn, so that a text field does not take them.
///
/// The arrows are for the tokens where a text has the keyboard, or nothing has it.
pub(super) fn keys_ui(ui: &Ui, state: &AppState, text_focused: bool, commands: &mut Vec<Command>) {
    if ui.input_mut(|input| input.consume_shortcut(&GENERATE)) {
        commands.push(Command::GenerateAll);
    }
    // A popup takes Escape for itself, and a field the arrows.
    if Popup::is_any_open(ui) || state.path_field.is_some() {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if state.is_running() && pressed(Key::Escape) {
        commands.push(Command::StopAll);
    }
    if !text_focused && ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    if state.pin.is_some() && pressed(Key::Escape) {
        commands.push(Command::Unpin);
    }
    for (key, direction) in ARROWS {
        if pressed(key) {
            commands.push(Command::MovePin(direction));
        }
    }
}

/// A shortcut in the words of this system: "Ctrl ↵", "⌘ ↵".
pub(super) fn shortcut_words(ui: &Ui) -> &'static str {
    if ui.os() == egui::os::OperatingSystem::Mac {
        "Cmd ↵"
    } else {
        "Ctrl ↵"
    }
}
