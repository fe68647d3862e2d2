//! Editing a text in place: from one of its tokens on, the user types what comes instead.

use super::{BranchChange, BranchTarget};
use crate::generation::PieceKind;
use crate::state::{AppState, Effect, Pin};

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

impl AppState {
    /// Begins to edit a text from a token on, if it can branch there; or ends editing.
    pub(super) fn edit_from(&mut self, from: Option<Pin>) {
        let edit = from.filter(|from| self.can_branch(*from)).and_then(|from| {
            let text = self.pane(from.pane)?.generation()?;
            let piece = &text.steps.get(from.step)?.piece;
            let typed = piece.as_str().filter(|_| piece.kind == PieceKind::Text);
            Some(InPlaceEdit {
                from,
                typed: typed.unwrap_or_default().to_owned(),
                is_new: true,
            })
        });
        if let Some(edit) = &edit {
            self.pin = Some(edit.from);
            self.branches.dialog = None;
        }
        self.branches.edit = edit;
    }

    /// Returns why the typed text can’t replace what follows, or `None` if it can.
    pub fn edit_problem(&self, edit: &InPlaceEdit) -> Option<&'static str> {
        let text = self.pane(edit.from.pane)?.generation()?;
        if edit.typed.is_empty() {
            Some("Type what comes next")
        } else if edit.typed.len() > MAX_TYPED {
            Some("This is too long to be typed")
        } else if text.vocabulary.spell(&edit.typed).is_none() {
            Some("The vocabulary can’t spell this text")
        } else {
            None
        }
    }

    /// Continues after the typed text. Its tokens count as picked by hand. Editing goes on if the
    /// vocabulary can’t spell it.
    pub(super) fn finish_edit(&mut self, target: BranchTarget) -> Vec<Effect> {
        let Some(edit) = self.branches.edit.take() else {
            return Vec::new();
        };
        let has_room = target == BranchTarget::InPlace || self.panes.has_room();
        if self.edit_problem(&edit).is_some() || !has_room {
            self.branches.edit = Some(edit);
            return Vec::new();
        }
        let text = self.pane(edit.from.pane).and_then(|pane| pane.generation());
        let tokens = text.and_then(|text| text.vocabulary.spell(&edit.typed));
        tokens.map_or_else(Vec::new, |tokens| {
            self.branch(edit.from, BranchChange::Tokens(tokens), target)
        })
    }
}
