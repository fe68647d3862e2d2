//! The keyboard focus of a text.

use egui::{EventFilter, Key, PointerButton, Rect, Response, Role, Sense, Ui, WidgetInfo};

use super::{ScrollTarget, TokenView};

impl TokenView {
    /// Gives the text the keyboard focus when it is drawn next.
    pub const fn take_focus(&mut self) {
        self.takes_focus = true;
    }

    /// Lets what stands for a missing text take the keyboard focus. Returns whether it has it.
    pub fn placeholder_ui(&mut self, ui: &Ui, rect: Rect, words: &str) -> bool {
        let id = ui.scope_id().with("placeholder");
        let response = ui.interact(rect, id, Sense::focusable_noninteractive());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
        if std::mem::take(&mut self.takes_focus) {
            response.request_focus();
        }
        response.has_focus()
    }

    /// Gives the text the focus if it is to take it, and scrolls a text into view that gained it.
    pub(super) fn follow_focus(
        &mut self,
        text: &Response,
        pinned: Option<usize>,
        is_visible: bool,
    ) {
        if std::mem::take(&mut self.takes_focus) && !text.has_focus() {
            text.request_focus();
        }
        if text.gained_focus() && !is_visible {
            let pinned = pinned.map(ScrollTarget::Step);
            self.scroll_target = pinned.or(Some(ScrollTarget::Top));
        }
    }

    /// Gives the text the focus if the pointer pressed it. Returns whether it did: a key can click the
    /// text too, wherever the pointer is.
    pub(super) fn press(&mut self, text: &Response, hovered: Option<usize>) -> bool {
        let is_pressed = text.clicked_by(PointerButton::Primary);
        if is_pressed {
            self.clicked = hovered;
            text.request_focus();
        }
        is_pressed
    }
}

/// Returns whether Enter was pressed while the text has the focus.
pub(super) fn is_entered(ui: &Ui, text: &Response) -> bool {
    text.has_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// Makes arrow keys move the pin rather than the focus while the text has it.
pub(super) fn claim_arrow_keys(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    }
}
