//! What is on screen, so that it can be restored after a crash.

use std::path::{Path, PathBuf};

use super::branches::RunTexts;
use super::panes::undo::Undo;
use super::{AppState, Command, Effect, Notice, PaneId, PaneStatus, RunCommand, Settings};
use crate::export::json::RunFile;
use crate::generation::{FinishReason, GenerationId};

/// The settings and the texts on screen. While a run is open, they are those that it hides.
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
    /// Returns what is on screen, including texts that are still being generated.
    pub fn session(&self) -> Session {
        let (panes, kept) = self.session_texts();
        Session {
            settings: self.settings(),
            places: RunTexts::places(panes),
            texts: RunTexts::of(panes, kept),
        }
    }

    /// Returns a key that changes whenever the session does.
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

    /// Shows a session that ended in a crash: its prompt, its panes, and its texts in the panes at
    /// these places. Texts that were being generated are stopped, and can be continued.
    pub fn restore_session(
        &mut self,
        settings: Settings,
        run: RunFile,
        places: &[usize],
    ) -> Vec<Effect> {
        self.prompt = settings.prompt;
        self.prompt_mode = settings.prompt_mode;
        self.system = settings.system;
        self.sends_empty_system = settings.sends_empty_system;
        self.limits = settings.limits;
        self.seed = settings.seed;
        self.panes.clear();
        self.add_panes(settings.panes);
        self.undo = Undo::new(self.snapshot());
        let mut restored: Vec<PaneId> = Vec::new();
        for (mut text, place) in run.panes.into_iter().zip(places) {
            if text.finish.is_none() {
                text.end(FinishReason::Cancelled);
            }
            if let Some(pane) = self.panes.get_mut(*place) {
                pane.status = PaneStatus::Finished(text);
                restored.push(pane.id);
            }
        }
        self.adopt_texts(&restored, run.branches);
        self.run_number += 1;
        self.notify(Notice::done("Restored what was on screen"));
        self.tokenize_prompt()
    }

    /// Reports that a session could not be read, and where its file is now.
    pub fn report_unreadable_session(&mut self, error: &str, path: &Path) -> Vec<Effect> {
        let title = "What was on screen could not be restored";
        let body = format!("{error}\n{}", path.display());
        self.notify(Notice::error(title, body))
    }

    /// Reports that a session was not restored, because that crashed the last window, and offers to
    /// open its texts.
    pub fn offer_session(&mut self, path: PathBuf) -> Vec<Effect> {
        let title = "What was on screen was not restored";
        let body = format!(
            "Quartet stopped the last time it tried. The texts are in this file:\n{}",
            path.display()
        );
        let open = Command::Run(RunCommand::Open(path));
        self.notify(Notice::error(title, body).with_action("Open them", open))
    }

    /// Reports that what is on screen would not survive a crash now.
    pub fn report_unsaved_session(&mut self, error: &str) {
        let title = "What is on screen can’t be saved for a restart";
        self.notify(Notice {
            body: format!("Quartet keeps trying: {error}"),
            ..Notice::hint(title)
        });
    }
}
