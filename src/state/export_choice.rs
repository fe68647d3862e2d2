//! What an export contains: how a run file is written, which panes an export of everything
//! includes, and whether its preview is shown.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{AppState, Effect, PaneId, RunTexts};
use crate::export::CsvReader;
use crate::export::json::Form;
use crate::generation::{ByteSize, Generation};

/// How the window writes run files, and the texts and tables of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFileStyle {
    /// Whether the file is indented, for human readers.
    pub indented: bool,
    /// Whether the file keeps all recorded probabilities, not only those of the most likely tokens.
    pub all_probabilities: bool,
    /// Whether texts and tables leave thoughts out.
    pub leaves_thoughts_out: bool,
    pub csv_reader: CsvReader,
}

impl RunFileStyle {
    /// Returns the style in the exporter's terms.
    pub const fn form(self) -> Form {
        Form {
            pretty: self.indented,
            detail: self.all_probabilities,
        }
    }
}

/// The choices of the export dialog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportChoice {
    pub dialog_open: bool,
    /// The panes that are left out. New panes are included.
    pub left_out: BTreeSet<PaneId>,
}

impl AppState {
    /// Opens or closes the dialog. It opens only if there is a text to export.
    pub(super) fn show_export(&mut self, open: bool) -> Vec<Effect> {
        let has_text = self.generations().iter().any(Option::is_some);
        self.export.dialog_open = open && has_text;
        Vec::new()
    }

    /// Returns the texts of the run file that is exported with everything.
    pub fn run_texts_to_export(&self) -> RunTexts {
        self.run_texts().without(&self.export.left_out)
    }

    /// Says how much larger all probabilities make a file: "adds 26 MB". `None` if the texts record
    /// only their most likely tokens.
    pub fn all_probabilities_words(&self) -> Option<String> {
        let texts = self.generations().into_iter().flatten();
        let steps = texts.flat_map(|text| &text.steps);
        let n_bytes: usize = steps.map(|step| step.trace.raw.detail.n_bytes()).sum();
        // Base64 encodes three bytes as four characters.
        let n_written = n_bytes as u64 * 4 / 3;
        (n_bytes > 0).then(|| format!("adds {}", ByteSize(n_written)))
    }

    /// Returns the text of each pane that is exported with everything; a pane that is left out
    /// keeps its place, so that the others keep their letters.
    pub fn generations_to_export(&self) -> Vec<Option<&Generation>> {
        self.panes.by_place(|pane| {
            let included = !self.export.left_out.contains(&pane.id);
            pane.generation().filter(|_| included)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::decoding::Detail;
    use crate::export::json::RunHeader;
    use crate::state::tests::{branched, ready, written};
    use crate::state::{Command, Document, Effect, EverythingDocument, PaneStatus, PathPurpose};

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
    fn the_run_file_has_the_branches_of_the_chosen_panes() {
        let mut state = branched();
        let all = state.run_texts_to_export().into_run(RunHeader::default());
        assert!(!all.branches.is_empty());
        assert_eq!(all.panes.len(), state.generations_to_export().len());
        let home = all.branches[0].pane.unwrap();
        let left_out = state.panes[home].id;
        state.export.left_out.insert(left_out);
        let some = state.run_texts_to_export().into_run(RunHeader::default());
        assert_eq!(some.panes.len(), all.panes.len() - 1);
        let stay = all
            .branches
            .iter()
            .filter(|branch| branch.pane != Some(home));
        assert_eq!(some.branches.len(), stay.count());
    }

    #[test]
    fn all_probabilities_cost_what_the_steps_record() {
        let mut state = written();
        assert_eq!(state.all_probabilities_words(), None);
        if let PaneStatus::Finished(text) = &mut state.panes[0].status {
            let trace = std::sync::Arc::make_mut(&mut text.steps[0].trace);
            trace.raw.detail = Detail::Whole(vec![0.0; 75_000].into());
        }
        let words = state.all_probabilities_words().unwrap();
        assert_eq!(words, "adds 400 kB");
    }

    #[test]
    fn the_dialog_opens_only_with_a_text_and_saves_to_a_folder() {
        let mut state = ready();
        state.apply(Command::ShowExport(true));
        assert!(!state.export.dialog_open);
        let mut state = written();
        state.apply(Command::ShowExport(true));
        assert!(state.export.dialog_open);
        let folder = Document::new(EverythingDocument::Folder);
        let purpose = PathPurpose::Save(folder.clone());
        let effects = state.apply(Command::PathGiven(purpose, "/tmp/run".into()));
        assert_eq!(effects, [Effect::Save(folder, "/tmp/run".into())]);
    }
}
