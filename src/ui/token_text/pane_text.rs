//! What a pane shows: one text, or the turns of a conversation.

use egui::{Id, Memory, Rect, Ui};

use super::turns::{TurnInput, TurnsResponse, TurnsView};
use super::{TextTop, TokenTextInput, TokenTextResponse, TokenView};
use crate::state::{InPlaceEdit, MessageEdit};

/// The text of a pane or the turns of its conversation, with their layouts and where they are scrolled.
#[derive(Debug, Default)]
pub struct PaneText {
    text: TokenView,
    turns: TurnsView,
    /// Whether it showed turns when it was drawn last.
    has_turns: bool,
}

impl PaneText {
    /// Shows a text that is no answer.
    pub fn text_ui(
        &mut self,
        ui: &mut Ui,
        input: TokenTextInput<'_>,
        edit: Option<&mut InPlaceEdit>,
    ) -> TokenTextResponse {
        self.has_turns = false;
        self.text.editable_ui(ui, input, edit)
    }

    /// Lets what stands for a text that does not exist yet take the keyboard focus. Returns whether it has
    /// it.
    pub fn placeholder_ui(&mut self, ui: &Ui, rect: Rect, words: &str) -> bool {
        self.has_turns = false;
        self.text.placeholder_ui(ui, rect, words)
    }

    /// Shows the turns of a conversation.
    pub fn turns_ui(
        &mut self,
        ui: &mut Ui,
        turns: &[TurnInput<'_>],
        edits: (Option<&mut InPlaceEdit>, Option<&mut MessageEdit>),
    ) -> TurnsResponse {
        self.has_turns = true;
        self.turns.ui(ui, turns, edits)
    }

    /// Returns whether it shows turns.
    pub const fn has_turns(&self) -> bool {
        self.has_turns
    }

    /// Returns the text that the views show.
    fn shown(&mut self) -> &mut TokenView {
        if self.has_turns {
            self.turns.shown()
        } else {
            &mut self.text
        }
    }

    /// Scrolls a step of the shown text into view in the next frame.
    pub fn scroll_to(&mut self, step: usize) {
        self.shown().scroll_to(step);
    }

    /// Scrolls to where the text of another pane was scrolled, in the next frame.
    pub fn scroll_along(&mut self, top: TextTop) {
        self.shown().scroll_along(top);
    }

    /// Scrolls to the beginning of the shown text in the next frame.
    pub fn scroll_to_top(&mut self) {
        if self.has_turns {
            self.turns.scroll_to_shown();
        } else {
            self.text.scroll_to_top();
        }
    }

    /// Gives the text the keyboard focus when it is drawn next.
    pub fn take_focus(&mut self) {
        self.shown().take_focus();
    }

    /// Lets the shown text have the focus of a control that disappears, as soon as there is a text, unless
    /// something else has the focus by then.
    pub fn take_focus_from(&mut self, ui: &Ui, from: Id) {
        if self.has_turns {
            self.turns.take_focus_from(Some(from));
        } else if ui
            .memory(Memory::focused)
            .is_none_or(|focused| focused == from)
        {
            self.text.take_focus();
        }
    }
}
