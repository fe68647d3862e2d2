//! Returns the keyboard focus to the control that opened a popup when Escape closes the popup.

use egui::{Id, Key, Popup, Ui};

/// The focus in the previous frame, and the control that opened the current popup.
#[derive(Debug, Default)]
pub(super) struct PopupFocus {
    focused: Option<Id>,
    /// The control that had the focus when the popup opened.
    opener: Option<Id>,
    is_open: bool,
    escaped: bool,
}

impl PopupFocus {
    /// Detects a popup that opened or closed in the previous frame. Call it at the start of each
    /// frame.
    pub(super) fn update(&mut self, ui: &Ui) {
        let was_open = std::mem::replace(&mut self.is_open, Popup::is_any_open(ui));
        if self.is_open && !was_open {
            self.opener = self.focused;
        }
        if was_open && !self.is_open {
            let opener = self.opener.take().filter(|_| self.escaped);
            if let Some(opener) = opener {
                ui.memory_mut(|memory| memory.request_focus(opener));
            }
        }
        self.focused = ui.memory(egui::Memory::focused);
        self.escaped = ui.input(|input| input.key_pressed(Key::Escape));
    }
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::state::tests::ready;
    use crate::ui::testing::{key, window_of};

    #[test]
    fn escape_returns_the_focus_to_what_opened_the_popup() {
        let mut window = window_of(vec2(1280.0, 800.0), ready());
        window.run_steps(2);
        for opener in ["Tint", "How D chooses", "Settings, theme and help"] {
            window.get_by_label(opener).focus();
            window.run_steps(2);
            key(&mut window, Modifiers::NONE, Key::Enter);
            window.run_steps(2);
            key(&mut window, Modifiers::NONE, Key::Escape);
            window.run_steps(3);
            let is_focused = window.get_by_label(opener).accesskit_node().is_focused();
            assert!(is_focused, "{opener}");
        }
    }
}
