//! The main model of the last session, which opens again at the start while the built-in one is used.

use std::path::PathBuf;

use super::open::Inspected;
use crate::state::{Command, Effect, Models, ModelsCommand, Notice, PathPurpose, capitalize};
use crate::worker::{BesideUpdate, ModelSource, Request};

/// A model that opens again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reopening {
    pub path: PathBuf,
    /// The model's name, as of the last time that it was open.
    pub name: String,
    /// The fraction loaded so far, between 0 and 1; `None` while its files are inspected.
    pub fraction: Option<f32>,
}

impl Models {
    /// Begins to open the model of the last session. Call it after the request that loads the
    /// built-in model, which is used until then.
    pub(in crate::state) fn reopen(&mut self, path: PathBuf) -> Vec<Effect> {
        let source = ModelSource::Path(path.clone());
        let recent = self.recent.iter().find(|recent| recent.path == path);
        self.reopening = Some(Reopening {
            name: recent.map_or_else(|| source.name(), |recent| recent.name.clone()),
            path: path.clone(),
            fraction: None,
        });
        self.remembered = Some(path);
        // The devices decide whether the model uses the machine's memory.
        let mut effects: Vec<Effect> = self.list_devices().into_iter().collect();
        effects.push(Effect::Send(Request::Inspect(source)));
        effects
    }

    /// Loads the model that opens again once its files have been inspected, unless the user must
    /// decide first. Returns the notice that says so.
    pub(in crate::state) fn on_reopening_inspected(
        &mut self,
        inspected: &Inspected,
        n_panes: usize,
        n_tokens: usize,
    ) -> (Option<Effect>, Option<Notice>) {
        let is_meant = |reopening: &Reopening| {
            reopening.fraction.is_none() && inspected.source.path() == Some(&*reopening.path)
        };
        let Some(reopening) = self.reopening.take_if(|reopening| is_meant(reopening)) else {
            return (None, None);
        };
        let outline = match &inspected.found {
            Ok(outline) => outline,
            Err(error) => return (None, Some(self.refuse_reopening(reopening, error))),
        };
        let n_free_bytes = inspected.n_free_bytes;
        if let Some(warning) = self.memory_warning(outline, n_free_bytes, n_panes, n_tokens) {
            let title = format!("{} was not opened again", reopening.name);
            let open = Command::Models(ModelsCommand::Open(reopening.path));
            let notice = Notice::error(title, warning).with_action("Open it…", open);
            return (None, Some(notice));
        }
        self.reopening = Some(Reopening {
            fraction: Some(0.0),
            ..reopening
        });
        let load = Request::LoadBeside(inspected.source.clone());
        (Some(Effect::Send(load)), None)
    }

    /// Follows the load of the model that opens again. Returns the notice that it failed.
    pub(in crate::state) fn on_beside(&mut self, update: BesideUpdate) -> Option<Notice> {
        match update {
            BesideUpdate::Loading { fraction } => {
                if let Some(reopening) = &mut self.reopening {
                    reopening.fraction = Some(fraction);
                }
                None
            }
            BesideUpdate::Loaded => {
                let reopened = self.reopening.take();
                self.reopened = reopened.map(|model| ModelSource::Path(model.path));
                None
            }
            BesideUpdate::Failed { error } => {
                let reopening = self.reopening.take()?;
                Some(self.refuse_reopening(reopening, &error))
            }
            BesideUpdate::Cancelled => {
                self.reopening = None;
                None
            }
        }
    }

    /// Notes why the model did not open again, for its row in the dialog. It opens again at the next
    /// start, unless another one is opened.
    fn refuse_reopening(&mut self, reopening: Reopening, error: &str) -> Notice {
        let source = ModelSource::Path(reopening.path);
        self.refusal = Some((source, capitalize(error)));
        let title = format!("{} did not open", reopening.name);
        let body = format!(
            "{}. Until you open a model, the built-in one is used.",
            error.trim_end_matches('.')
        );
        let ask = Command::AskPath(PathPurpose::ModelFile);
        Notice::error(title, body).with_action("Find it…", ask)
    }

    /// Says which model is being opened again and which one is used until then: "`SmolLM2` is loading;
    /// until then, Quartet Stories is used".
    pub fn reopening_words(&self) -> Option<String> {
        let reopening = self.reopening.as_ref()?;
        let present = &self.main.ready()?.info.name;
        let name = &reopening.name;
        Some(format!("{name} is loading; until then, {present} is used"))
    }
}
