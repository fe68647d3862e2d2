//! The keys of the tree while it has the focus.

use egui::{EventFilter, Id, Key, Modifiers, Ui};

/// What a key does in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeKey {
    Up,
    Down,
    /// To the text that this one branches off from.
    Parent,
    /// To the first text that branches off from this one.
    Child,
    Show,
    Remove,
}

const KEYS: [(Key, TreeKey); 7] = [
    (Key::ArrowUp, TreeKey::Up),
    (Key::ArrowDown, TreeKey::Down),
    (Key::ArrowLeft, TreeKey::Parent),
    (Key::ArrowRight, TreeKey::Child),
    (Key::Enter, TreeKey::Show),
    (Key::Delete, TreeKey::Remove),
    (Key::Backspace, TreeKey::Remove),
];

/// Returns what the pressed key does, if any. The tree, which has this id, keeps the focus when the
/// arrow keys are pressed.
pub(super) fn pressed_key(ui: &Ui, id: Id) -> Option<TreeKey> {
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let mut pressed = None;
    for (key, action) in KEYS {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            pressed = Some(action);
        }
    }
    pressed
}
