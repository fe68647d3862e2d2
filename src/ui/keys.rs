//! The keys that work wherever the keyboard is.

use egui::{Id, Key, KeyboardShortcut, Modifiers, Popup, Response, Ui};

use crate::state::{AppState, Command, PasteCommand, Pin, PinMove};

/// Starts the panes; Cmd on a Mac.
pub(super) const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
const REDO: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
const REDO_ALSO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Y);

const ARROWS: [(Key, PinMove); 4] = [
    (Key::ArrowLeft, PinMove::Earlier),
    (Key::ArrowRight, PinMove::Later),
    (Key::ArrowUp, PinMove::PreviousPane),
    (Key::ArrowDown, PinMove::NextPane),
];

/// Whether a field of one row was left by Enter.
pub(super) fn entered(ui: &Ui, field: &Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// What the key that starts the panes means here. Runs before any part is drawn, so that a text field does not take it;
/// the command follows what is edited in this frame.
pub(super) fn generate_key_ui(ui: &Ui, state: &AppState) -> Option<Command> {
    if !ui.input_mut(|input| input.consume_shortcut(&GENERATE)) {
        return None;
    }
    if state.path_field.is_some() || state.models.dialog_open {
        return None;
    }
    if state.paste.is_some() {
        return Some(Command::Paste(PasteCommand::Apply));
    }
    finish_typing(ui);
    Some(Command::GenerateAll)
}

/// A number in an editor counts once its box has lost the keyboard: here, before it is drawn.
pub(super) fn finish_typing(ui: &Ui) {
    let focused = ui.memory(egui::Memory::focused);
    if let Some(focused) = focused.filter(|_| Popup::is_any_open(ui)) {
        ui.memory_mut(|memory| memory.surrender_focus(focused));
    }
}

/// Turns keys into commands. Runs before any part is drawn, so that a text field does not take them.
///
/// The arrows are for the tokens where a text has the keyboard, or nothing has it; `focused` is the
/// place of the pane whose text has it.
pub(super) fn keys_ui(
    ui: &Ui,
    state: &AppState,
    focused: Option<usize>,
    commands: &mut Vec<Command>,
) {
    let dialog_open =
        state.path_field.is_some() || state.paste.is_some() || state.models.dialog_open;
    undo_keys_ui(ui, dialog_open, commands);
    // A popup takes Escape for itself, and a field the arrows.
    if Popup::is_any_open(ui) || dialog_open {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if state.is_running() && pressed(Key::Escape) {
        commands.push(Command::StopAll);
    }
    if focused.is_none() && ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    if state.pin.is_some() && pressed(Key::Escape) {
        commands.push(Command::Unpin);
    }
    for (key, direction) in ARROWS {
        if pressed(key) {
            commands.push(first_pin(state, focused).unwrap_or(Command::MovePin(direction)));
        }
    }
}

/// Where no token is held yet, the newest of the text that has the keyboard is.
fn first_pin(state: &AppState, focused: Option<usize>) -> Option<Command> {
    if state.pin.is_some() {
        return None;
    }
    let pane = state.panes.get(focused?)?;
    let step = pane.generation()?.steps.len().checked_sub(1)?;
    Some(Command::Pin(Pin {
        pane: pane.id,
        step,
    }))
}

/// Undo and redo, where no text takes them for itself and no dialog lies over the panes; and each gesture
/// of the pointer is a step of its own.
fn undo_keys_ui(ui: &Ui, dialog_open: bool, commands: &mut Vec<Command>) {
    if begins_gesture(ui) {
        commands.push(Command::SettleEdits);
    }
    if dialog_open || ui.text_edit_focused() {
        return;
    }
    // The longer shortcut first: the shorter one would take it too.
    for (shortcut, command) in [
        (REDO, Command::Redo),
        (REDO_ALSO, Command::Redo),
        (UNDO, Command::Undo),
    ] {
        if ui.input_mut(|input| input.consume_shortcut(&shortcut)) {
            commands.push(command);
        }
    }
}

/// A second press soon after the first belongs to the same double click.
fn begins_gesture(ui: &Ui) -> bool {
    let (pressed, now) = ui.input(|input| (input.pointer.any_pressed(), input.time));
    if !pressed {
        return false;
    }
    let id = Id::unique("last press");
    let last: Option<f64> = ui.data(|data| data.get_temp(id));
    ui.data_mut(|data| data.insert_temp(id, now));
    let delay = ui.options(|options| options.input_options.max_double_click_delay);
    last.is_none_or(|last| now - last > delay)
}

/// A shortcut in the words of this system: "Ctrl ↵", "⌘ ↵".
pub(super) fn shortcut_words(ui: &Ui) -> &'static str {
    if ui.os() == egui::os::OperatingSystem::Mac {
        "Cmd ↵"
    } else {
        "Ctrl ↵"
    }
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};

    use crate::state::tests::ready;
    use crate::state::{AppState, Command, PasteCommand};
    use crate::ui::testing::{key, window_of};

    /// The state after the key that starts the panes was pressed in it.
    fn pressed(state: AppState) -> AppState {
        let mut window = window_of(vec2(1280.0, 800.0), state);
        key(&mut window, Modifiers::COMMAND, Key::Enter);
        window.state().clone()
    }

    #[test]
    fn panes_are_started_unless_a_dialog_is_open() {
        assert!(pressed(ready()).is_running());
        let mut state = ready();
        state.models.dialog_open = true;
        assert!(!pressed(state).is_running());
    }

    #[test]
    fn pasted_settings_are_applied() {
        let mut state = ready();
        let pane = state.panes[0].id;
        state.apply(Command::Paste(PasteCommand::Open(pane)));
        state.paste.as_mut().unwrap().text = "--temp 0.5 --top-k 7".to_owned();
        state.apply(Command::Paste(PasteCommand::Edited));
        let state = pressed(state);
        assert!(state.paste.is_none() && !state.is_running());
        let chain = state.panes[0].settings.chain.to_string();
        assert!(
            chain.contains("top-k 7") && chain.contains("T 0.5"),
            "{chain}"
        );
    }
}
