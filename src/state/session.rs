//! What is on screen, so that it can be restored after a crash.

use super::branches::RunTexts;
use super::{AppState, Notice, Pane, PaneId, PaneStatus, Settings};
use crate::export::json::RunFile;
use crate::generation::{FinishReason, GenerationId};

/// The settings and the texts on screen. Behind an opened run, they are those that it hides.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub settings: Settings,
    /// The positions of the panes that show the texts.
    pub places: Vec<usize>,
    pub texts: RunTexts,
}

/// Differs between two sessions if their settings or texts do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionKey {
    settings: Settings,
    texts: Vec<Option<(GenerationId, usize, bool)>>,
    kept_revision: u64,
}

impl AppState {
    /// Returns what is on screen. Texts that are being generated are included so far.
    pub fn session(&self) -> Session {
        let (panes, kept) = self.session_texts();
        Session {
            settings: self.settings(),
            places: RunTexts::places(panes),
            texts: RunTexts::of(panes, kept),
        }
    }

    /// Returns what tells whether the session has changed.
    pub fn session_key(&self) -> SessionKey {
        let (panes, kept) = self.session_texts();
        let texts = panes.iter().map(|pane| {
            let text = pane.generation()?;
            Some((text.lineage.id, text.steps.len(), text.finish.is_some()))
        });
        SessionKey {
            settings: self.settings(),
            texts: texts.collect(),
            kept_revision: kept.revision(),
        }
    }

    /// Shows the texts of a session that ended in a crash, in the panes at these places. Texts that
    /// were being generated are stopped, and can be continued.
    pub fn restore_session(&mut self, run: RunFile, places: &[usize]) {
        let mut restored: Vec<PaneId> = Vec::new();
        for (mut text, place) in run.panes.into_iter().zip(places) {
            text.finish.get_or_insert(FinishReason::Cancelled);
            if let Some(pane) = self.panes.get_mut(*place) {
                pane.status = PaneStatus::Finished(text);
                restored.push(pane.id);
            }
        }
        self.adopt_texts(&restored, run.branches);
        self.run_number += 1;
        self.notify(Notice::done("Restored what was on screen"));
    }

    /// Reports that a session could not be restored, and where its file is.
    pub fn report_unrestored_session(&mut self, error: &str) {
        let title = "What was on screen could not be restored";
        self.notify(Notice::error(title, error));
    }
}

/// Returns whether a pane has something to restore.
pub(super) fn has_text(pane: &Pane) -> bool {
    pane.generation().is_some_and(|text| !text.steps.is_empty())
}
