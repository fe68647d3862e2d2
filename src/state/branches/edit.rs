//! Editing a text in place: from one of its tokens on, the user types what comes instead.

use crate::decoding::TokenId;
use crate::generation::{Generation, PieceKind};
use crate::state::{Panes, Pin};

/// A text that is being edited from one of its tokens on.
#[derive(Debug, Clone, PartialEq)]
pub struct InPlaceEdit {
    /// The first token to be replaced.
    pub from: Pin,
    /// The replacement, as typed so far. At first, it is the token itself, if that is text.
    pub typed: String,
    /// Whether editing began just now, so that the field takes the focus.
    pub is_new: bool,
}

/// More than anyone types in a pane, in bytes.
const MAX_TYPED: usize = 4_000;

impl InPlaceEdit {
    /// Begins to edit a text from a token on.
    pub(super) fn begin(from: Pin, panes: &Panes) -> Option<Self> {
        let step = panes.pane(from.pane)?.generation()?.steps.get(from.step)?;
        let typed = step.piece.as_str();
        let typed = typed.filter(|_| step.piece.kind == PieceKind::Text);
        Some(Self {
            from,
            typed: typed.unwrap_or_default().to_owned(),
            is_new: true,
        })
    }

    /// Returns the typed tokens, or why they can’t replace what follows in this text.
    pub fn tokens(&self, text: &Generation) -> Result<Vec<TokenId>, &'static str> {
        if self.typed.is_empty() {
            return Err("Type what comes next");
        }
        if self.typed.len() > MAX_TYPED {
            return Err("This is too long to be typed");
        }
        let tokens = text.vocabulary.spell(&self.typed);
        tokens.ok_or("The vocabulary can’t spell this text")
    }
}
