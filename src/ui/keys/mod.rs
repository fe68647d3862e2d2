//! Keyboard shortcuts that work wherever the focus is.

use egui::{Event, Id, Key, KeyboardShortcut, Modifiers, Popup, Response, Ui, ViewportCommand};

use crate::lab::{lab_keys_ui, run_command};
use crate::state::{
    Action, AppState, BranchCommand, Command, ConversationCommand, DockTab, HelpTab, KindAction,
    Page, PasteCommand, Pin, PinMove, RunCommand, ScoreCommand, SettingsTab, Shortcut,
};
use crate::ui::loop_view::{N_PICKS, field_id, numbered_pick};
use crate::ui::prompt_card::prompt_field_id;

const ARROWS: [(Key, PinMove); 4] = [
    (Key::ArrowLeft, PinMove::Earlier),
    (Key::ArrowRight, PinMove::Later),
    (Key::ArrowUp, PinMove::PreviousPane),
    (Key::ArrowDown, PinMove::NextPane),
];

/// Returns whether a shortcut of this action was pressed, and consumes it.
fn pressed(ui: &Ui, action: Action) -> bool {
    let mut shortcuts = action.shortcuts().into_iter().filter_map(keyboard_shortcut);
    shortcuts.any(|shortcut| ui.input_mut(|input| input.consume_shortcut(&shortcut)))
}

/// Returns the shortcut in egui's terms, or `None` if egui does not know the key.
fn keyboard_shortcut(shortcut: Shortcut) -> Option<KeyboardShortcut> {
    let held = [
        // Cmd on a Mac and Ctrl elsewhere.
        (shortcut.command, Modifiers::COMMAND),
        (shortcut.shift, Modifiers::SHIFT),
        (shortcut.alt, Modifiers::ALT),
    ];
    let held = held.into_iter().filter(|(held, _)| *held);
    let modifiers = held.fold(Modifiers::NONE, |all, (_, one)| all.plus(one));
    Some(KeyboardShortcut::new(
        modifiers,
        Key::from_name(shortcut.key)?,
    ))
}

/// Returns whether the system is a Mac, whose keys have other names.
pub(super) fn is_mac(ui: &Ui) -> bool {
    ui.os() == egui::os::OperatingSystem::Mac
}

/// Returns an action's main shortcut, as its keys are named on this system; empty if it has none.
pub(crate) fn key_words(ui: &Ui, action: Action) -> String {
    let shortcut = action.shortcuts().into_iter().next();
    shortcut.map_or_else(String::new, |shortcut| shortcut.words(is_mac(ui)))
}

/// Returns whether Enter ended editing in a single-line field.
pub(crate) fn entered(ui: &Ui, field: &Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// Returns the command for the generate shortcut, if it was pressed. Call it before drawing, so
/// that no text field consumes the key. Apply the command after all edits of this frame.
pub(super) fn generate_key_ui(ui: &Ui, state: &AppState) -> Option<Command> {
    // In that popup, the key picks the focused row in a new pane.
    let branches = &state.branches;
    if branches.dialog.is_some() || branches.edit.is_some() || branches.message.is_some() {
        return None;
    }
    if !pressed(ui, Action::Generate) {
        return None;
    }
    if state.dialogs.path_field.is_some() || state.models.dialog_open || covers_window(state) {
        return None;
    }
    if state.dialogs.score.is_some() {
        return Some(Command::Score(ScoreCommand::Run));
    }
    if state.dialogs.paste.is_some() {
        return Some(Command::Paste(PasteCommand::Apply));
    }
    finish_typing(ui);
    if state.page == Page::Lab {
        return run_command(state);
    }
    if state.opened_request().is_some() {
        return Some(Command::Run(RunCommand::WriteAgain));
    }
    if state.is_step_mode() {
        return Some(Command::Branch(BranchCommand::KeepRunning));
    }
    Some(Command::GenerateAll)
}

/// Ends editing of a number in an open popup. A typed number applies when its field loses focus;
/// this takes the focus away before the field is drawn.
pub(super) fn finish_typing(ui: &Ui) {
    let focused = ui.memory(egui::Memory::focused);
    if let Some(focused) = focused.filter(|_| Popup::is_any_open(ui)) {
        ui.memory_mut(|memory| memory.surrender_focus(focused));
    }
}

/// Turns keys into commands. Call it before drawing, so that no text field consumes them.
///
/// Arrow keys move the pin if a pane's text or no control has the focus. `focused` is the index
/// of the pane whose text has the focus.
pub(super) fn keys_ui(
    ui: &Ui,
    state: &mut AppState,
    focused: Option<usize>,
    commands: &mut Vec<Command>,
) {
    let dialog_open = has_dialog(state);
    score_paste_ui(ui, state, commands);
    action_keys_ui(ui, &TEXT_SIZES, state, commands);
    undo_keys_ui(ui, state, dialog_open, commands);
    // A tab may open a file of its own with the shortcut that opens a run elsewhere.
    if state.page == Page::Lab && !dialog_open {
        lab_keys_ui(ui, state, commands);
    }
    if !dialog_open {
        dialog_keys_ui(ui, state, commands);
        let pages = Page::ALL.map(Action::ShowPage);
        action_keys_ui(ui, &pages, state, commands);
        action_keys_ui(ui, &[Action::OpenRun], state, commands);
    }
    if state.page != Page::Write {
        return;
    }
    // Popups handle Escape, and text fields handle the arrow keys.
    if Popup::is_any_open(ui) || dialog_open || state.branches.edit.is_some() {
        return;
    }
    tab_keys_ui(ui, state, commands);
    score_key_ui(ui, state, commands);
    if state.is_running() {
        action_keys_ui(ui, &[Action::Stop], state, commands);
    }
    let pane = focused.or_else(|| state.pinned().map(|(place, ..)| place));
    if let Some(pane) = pane.and_then(|place| state.panes.get(place))
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::F2))
    {
        commands.push(Command::Rename(pane.id));
    }
    let turns = [
        Action::ShowNeighboringTurn(false),
        Action::ShowNeighboringTurn(true),
        Action::NewConversation,
    ];
    action_keys_ui(ui, &turns, state, commands);
    if !ui.text_edit_focused() && state.is_replying() {
        answer_again_key_ui(ui, pane, state, commands);
    }
    // Only text fields use letters, so in other controls they can be shortcuts.
    if state.pin.is_some() && !ui.text_edit_focused() {
        let actions = [Action::Continue, Action::EditText];
        action_keys_ui(ui, &actions, state, commands);
    }
    if !ui.text_edit_focused() && !state.lessons.hides_evidence() {
        kind_keys_ui(ui, pane, state, commands);
    }
    // While a lesson waits for a guess, it handles the digits.
    if state.is_step_mode() && !ui.text_edit_focused() && !state.lessons.hides_evidence() {
        pick_keys_ui(ui, state, commands);
    }
    if focused.is_none() && ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    if state.is_step_mode() {
        action_keys_ui(ui, &[Action::Step, Action::StepBack], state, commands);
    }
    action_keys_ui(ui, &[Action::DrawFutures], state, commands);
    if state.futures.is_drawing() {
        action_keys_ui(ui, &[Action::StopFutures], state, commands);
    }
    if state.pin.is_some() {
        action_keys_ui(ui, &[Action::Unpin], state, commands);
    }
    if state.runs.opened.is_some() {
        let actions = [Action::VerifyRun, Action::CloseRun];
        action_keys_ui(ui, &actions, state, commands);
    }
    if state.lessons.run().is_some() {
        action_keys_ui(ui, &[Action::LeaveLesson], state, commands);
    }
    let focused_pane = focused.and_then(|place| state.panes.get(place));
    if focused_pane.is_some_and(|pane| !pane.has_text()) {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    for (key, direction) in ARROWS {
        if pressed(key) {
            commands.push(pin_command(state, focused, direction));
        }
    }
}

/// Holds the next token of the chosen kind, or the one before, in a pane's text.
fn kind_keys_ui(ui: &Ui, place: Option<usize>, state: &AppState, commands: &mut Vec<Command>) {
    // With Shift first: the key alone would match both.
    for action in [KindAction::Previous, KindAction::Next] {
        if pressed(ui, Action::OfKind(action)) {
            let pane = place.and_then(|place| state.panes.get(place));
            let command = match pane {
                Some(pane) => action.command_in(pane, state),
                None => Action::OfKind(action).command(state),
            };
            commands.extend(command.ok());
        }
    }
}

/// Answers again in the pane whose text has the focus or the pinned token.
fn answer_again_key_ui(
    ui: &Ui,
    place: Option<usize>,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let pane = place.and_then(|place| state.panes.get(place));
    let Some(at) = pane.and_then(|pane| state.turn_of(pane)) else {
        return;
    };
    if state.can_ask_again(at) && pressed(ui, Action::AnswerAgain) {
        commands.push(Command::Conversation(ConversationCommand::Again(at)));
    }
}

/// Returns whether a dialog is open.
const fn has_dialog(state: &AppState) -> bool {
    state.dialogs.path_field.is_some()
        || state.dialogs.paste.is_some()
        || state.branches.dialog.is_some()
        || state.branches.message.is_some()
        || state.dialogs.score.is_some()
        || state.dialogs.watermark.is_some()
        || state.export.dialog_open
        || state.models.dialog_open
        || covers_window(state)
}

/// Returns whether a dialog or a popup takes the keys.
pub(super) fn is_covered(ui: &Ui, state: &AppState) -> bool {
    has_dialog(state) || state.branches.edit.is_some() || Popup::is_any_open(ui)
}

const TEXT_SIZES: [Action; 3] = [
    Action::EnlargeText,
    Action::ReduceText,
    Action::ResetTextSize,
];

/// Returns whether the palette, the settings or the help is open.
const fn covers_window(state: &AppState) -> bool {
    state.dialogs.palette.is_some()
        || state.dialogs.settings.is_some()
        || state.dialogs.help.is_some()
}

/// Adds the command of each of these actions whose shortcut was pressed, if it is possible now.
fn action_keys_ui(ui: &Ui, actions: &[Action], state: &AppState, commands: &mut Vec<Command>) {
    let pressed = actions.iter().filter(|action| pressed(ui, **action));
    commands.extend(pressed.filter_map(|action| action.command(state).ok()));
}

/// Opens the palette, the settings or the help, and closes any open popup.
fn dialog_keys_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let n_commands = commands.len();
    let actions = [
        Action::ShowPalette,
        Action::ShowSettings(SettingsTab::Appearance),
        Action::ShowHelp(HelpTab::Keys),
    ];
    action_keys_ui(ui, &actions, state, commands);
    if commands.len() > n_commands {
        Popup::close_all(ui);
    }
}

/// Switches the dock's tab with Alt and the tab's number, wherever the focus is. On a Mac, Option
/// types other characters into a text field.
fn tab_keys_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    if cfg!(target_os = "macos") && ui.text_edit_focused() {
        return;
    }
    for (number, tab) in (1..).zip(DockTab::ALL) {
        let n_commands = commands.len();
        action_keys_ui(ui, &[Action::ShowTab(tab)], state, commands);
        if commands.len() == n_commands {
            continue;
        }
        // Some systems also report the digit as typed text.
        let digit = number.to_string();
        ui.input_mut(|input| {
            input
                .events
                .retain(|event| !matches!(event, Event::Text(text) if *text == digit));
        });
    }
}

/// The keys 1 to 9, which pick a token by its rank.
pub(crate) const DIGITS: [Key; N_PICKS] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

/// In step mode, 1 to 9 pick the next token by hand, and 0 lets the user type one.
fn pick_keys_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    for (number, key) in (1..).zip(DIGITS) {
        if pressed(key)
            && let Some((pane, token)) = numbered_pick(state, number)
        {
            let pick = BranchCommand::Pick(pane, vec![token]);
            commands.push(Command::Branch(pick));
        }
    }
    let shows_field = state.view.dock_tab == DockTab::Loop && state.sampler_place().is_some();
    if shows_field && pressed(Key::Num0) {
        ui.memory_mut(|memory| memory.request_focus(field_id()));
    }
}

/// For how many passes the clipboard’s text is expected after it was asked for.
const N_PASTE_PASSES: u64 = 8;
const SCORE_PASTE: &str = "pass in which a text to score was asked for";

/// Opens the dialog that scores a text, wherever the focus is, and asks for the clipboard’s text.
/// With Shift, the system’s key for pasting does not paste by itself.
fn score_key_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let n_commands = commands.len();
    action_keys_ui(ui, &[Action::Score], state, commands);
    if commands.len() > n_commands {
        let now = ui.cumulative_pass_nr();
        ui.data_mut(|data| data.insert_temp(Id::unique(SCORE_PASTE), now));
        ui.send_viewport_cmd(ViewportCommand::RequestPaste);
    }
}

/// Fills the dialog with the clipboard’s text once it arrives. The dialog’s field, which has just
/// been opened, would miss it.
fn score_paste_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let asked: Option<u64> = ui.data(|data| data.get_temp(Id::unique(SCORE_PASTE)));
    let is_expected = asked.is_some_and(|asked| ui.cumulative_pass_nr() <= asked + N_PASTE_PASSES);
    if !is_expected || state.dialogs.score.is_none() {
        return;
    }
    let mut pasted = None;
    ui.input_mut(|input| {
        input.events.retain(|event| match event {
            Event::Paste(text) => {
                pasted = Some(text.clone());
                false
            }
            _ => true,
        });
    });
    if let Some(text) = pasted {
        commands.push(Command::Score(ScoreCommand::OpenWith(text)));
        ui.data_mut(|data| data.remove::<u64>(Id::unique(SCORE_PASTE)));
    }
}

/// Returns the command that moves the pin in the focused text, or else where it is.
fn pin_command(state: &AppState, focused: Option<usize>, direction: PinMove) -> Command {
    let focused_pane = focused.and_then(|place| state.panes.get(place));
    let in_focused = || {
        let pane = focused_pane.filter(|pane| pane.has_text())?;
        Some(Command::MovePinIn(pane.id, direction))
    };
    first_pin(state, focused)
        .or_else(in_focused)
        .unwrap_or(Command::MovePin(direction))
}

/// Returns the command that pins the latest token of the focused text, if none is pinned yet.
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

/// Handles undo and redo, in History those of a deletion, unless a text field has the focus or a dialog is open. Each pointer
/// gesture becomes a separate undo step.
fn undo_keys_ui(ui: &Ui, state: &AppState, dialog_open: bool, commands: &mut Vec<Command>) {
    if begins_gesture(ui) {
        commands.push(Command::EndUndoStep);
    }
    // In an empty prompt there is nothing else to undo.
    let is_in_empty_prompt =
        state.prompt.text.is_empty() && ui.memory(|memory| memory.has_focus(prompt_field_id()));
    if dialog_open || (ui.text_edit_focused() && !is_in_empty_prompt) {
        return;
    }
    // Longer shortcuts first: Ctrl+Z would also match Ctrl+Shift+Z.
    let (redo, undo) = (pressed(ui, Action::Redo), pressed(ui, Action::Undo));
    if state.page == Page::History {
        // Settings that are out of sight must not change.
        commands.extend(undo.then_some(Command::Run(RunCommand::UndoDelete)));
        return;
    }
    commands.extend(redo.then_some(Command::Redo));
    commands.extend(undo.then_some(Command::Undo));
}

/// Returns whether a pointer gesture begins in this frame. The second press of a double click does
/// not begin one.
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

#[cfg(test)]
mod tests;
