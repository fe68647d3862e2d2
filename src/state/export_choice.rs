//! What an export of everything contains: which panes, and whether its preview is shown.

use std::collections::BTreeSet;

use super::{AppState, Effect, PaneId};
use crate::generation::Generation;

/// The choices of the export dialog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportChoice {
    pub dialog_open: bool,
    /// The panes that are left out. A new pane is not among them.
    pub left_out: BTreeSet<PaneId>,
}

impl AppState {
    /// Opens or closes the dialog. It opens only if there is a text to export.
    pub(super) fn show_export(&mut self, open: bool) -> Vec<Effect> {
        let has_text = self.generations().iter().any(Option::is_some);
        self.export.dialog_open = open && has_text;
        Vec::new()
    }

    /// Returns the text of each pane that is exported with everything; a pane that is left out
    /// keeps its place, and so the others their letters.
    pub fn generations_to_export(&self) -> Vec<Option<&Generation>> {
        let panes = self.panes.iter();
        panes
            .map(|pane| {
                let included = !self.export.left_out.contains(&pane.id);
                pane.generation().filter(|_| included)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::state::tests::{ready, written};
    use crate::state::{Command, PathPurpose};
    use crate::state::{Document, Effect};

    #[test]
    fn a_pane_that_is_left_out_keeps_its_place() {
        let mut state = written();
        let left_out = state.panes[1].id;
        state.export.left_out.insert(left_out);
        let texts = state.generations_to_export();
        let present: Vec<bool> = texts.iter().map(Option::is_some).collect();
        assert_eq!(present, [true, false, true, true]);
    }

    #[test]
    fn the_dialog_opens_only_with_a_text_and_ends_in_a_folder() {
        let mut state = ready();
        state.apply(Command::ShowExport(true));
        assert!(!state.export.dialog_open);
        let mut state = written();
        state.apply(Command::ShowExport(true));
        assert!(state.export.dialog_open);
        let purpose = PathPurpose::Save(Document::Everything);
        let effects = state.apply(Command::PathGiven(purpose, "/tmp/run".into()));
        assert_eq!(
            effects,
            [Effect::Save(Document::Everything, "/tmp/run".into())]
        );
    }
}
