//! The models of panes that do not use the main one, as far as the window knows.

use crate::generation::ModelSource;
use crate::state::{PaneId, ReadyModel};
use crate::worker::PaneModelUpdate;

/// The models of panes that do not use the main one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PaneModels {
    entries: Vec<Entry>,
    /// The pane whose menu of models opens in the next frame.
    pub menu_to_open: Option<PaneId>,
}

/// Whether panes can use their model.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneModelStatus {
    /// Its files are being inspected, to say how much memory it needs. It is loaded at once if
    /// there is enough, unless the user must be asked first.
    Inspecting {
        ask: bool,
    },
    /// The user decides whether to load it.
    Offered {
        /// How much memory it needs and how much is free, as a sentence.
        words: String,
        /// Whether it needs more than is free.
        is_short: bool,
    },
    /// It is being loaded, or is waiting to be.
    Loading {
        /// Between 0 and 1.
        fraction: f32,
    },
    Ready(ReadyModel),
    /// It can't be used.
    Failed {
        /// A sentence.
        error: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    source: ModelSource,
    /// `None` if no pane uses it any more. The entry stays while the engine has loads to answer.
    status: Option<PaneModelStatus>,
    /// How many requests to load it the engine has not answered. Only the last answer counts.
    n_loads: usize,
}

impl PaneModels {
    /// Returns whether panes can use this model, or `None` if no pane does.
    pub fn status(&self, source: &ModelSource) -> Option<&PaneModelStatus> {
        self.entry(source)?.status.as_ref()
    }

    /// Returns a model that panes can use now.
    pub fn ready(&self, source: &ModelSource) -> Option<&ReadyModel> {
        match self.status(source) {
            Some(PaneModelStatus::Ready(model)) => Some(model),
            _ => None,
        }
    }

    /// Returns why a model could not be loaded, if that was the last thing that happened to it.
    pub fn failure(&self, source: &ModelSource) -> Option<&str> {
        match self.status(source) {
            Some(PaneModelStatus::Failed { error }) => Some(error),
            _ => None,
        }
    }

    /// Returns the models that panes can use now, with their sources.
    pub fn all_ready(&self) -> impl Iterator<Item = (&ModelSource, &ReadyModel)> {
        self.entries.iter().filter_map(|entry| match &entry.status {
            Some(PaneModelStatus::Ready(model)) => Some((&entry.source, model)),
            _ => None,
        })
    }

    /// Sets the status of a model.
    pub(super) fn set(&mut self, source: &ModelSource, status: PaneModelStatus) {
        match self.entry_mut(source) {
            Some(entry) => entry.status = Some(status),
            None => self.entries.push(Entry {
                source: source.clone(),
                status: Some(status),
                n_loads: 0,
            }),
        }
    }

    /// Notes that the engine was asked to load a model.
    pub(super) fn begin_loading(&mut self, source: &ModelSource) {
        self.set(source, PaneModelStatus::Loading { fraction: 0.0 });
        if let Some(entry) = self.entry_mut(source) {
            entry.n_loads += 1;
        }
    }

    /// Gives up the models that are not `wanted`. Returns those that the engine must unload.
    pub(super) fn release(&mut self, wanted: impl Fn(&ModelSource) -> bool) -> Vec<ModelSource> {
        let mut freed = Vec::new();
        for entry in &mut self.entries {
            if !wanted(&entry.source)
                && let Some(PaneModelStatus::Loading { .. } | PaneModelStatus::Ready(_)) =
                    entry.status.take()
            {
                freed.push(entry.source.clone());
            }
        }
        let is_over = |entry: &Entry| entry.status.is_none() && entry.n_loads == 0;
        self.entries.retain(|entry| !is_over(entry));
        freed
    }

    /// Forgets all models: the engine has stopped.
    pub(in crate::state) fn forget_all(&mut self) {
        self.entries.clear();
    }

    /// Applies an event from the engine. Returns the warning of a model that was loaded.
    pub(super) fn note(&mut self, source: &ModelSource, update: PaneModelUpdate) -> Option<String> {
        let entry = self.entry_mut(source)?;
        let outcome = match update {
            PaneModelUpdate::Unloaded => return None,
            PaneModelUpdate::Loading { fraction: new } => {
                if let Some(PaneModelStatus::Loading { fraction }) = &mut entry.status {
                    *fraction = new;
                }
                return None;
            }
            PaneModelUpdate::Loaded {
                info,
                vocabulary,
                chat,
                recommended_sampling,
                load_warning,
            } => {
                let model = ReadyModel {
                    info,
                    vocabulary,
                    recommended_sampling,
                    chat,
                    load_warning: load_warning.clone(),
                };
                (Some(PaneModelStatus::Ready(model)), load_warning)
            }
            PaneModelUpdate::Failed { error } => (Some(PaneModelStatus::Failed { error }), None),
            // It was no longer wanted.
            PaneModelUpdate::Cancelled => (None, None),
        };
        entry.n_loads = entry.n_loads.saturating_sub(1);
        let (status, warning) = outcome;
        let counts = entry.n_loads == 0 && entry.status.is_some();
        if counts {
            entry.status = status;
        }
        self.release(|_| true);
        warning.filter(|_| counts)
    }

    fn entry(&self, source: &ModelSource) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.source == *source)
    }

    fn entry_mut(&mut self, source: &ModelSource) -> Option<&mut Entry> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.source == *source)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{PaneModelStatus, PaneModels};
    use crate::generation::ModelSource;
    use crate::worker::PaneModelUpdate;

    fn source() -> ModelSource {
        ModelSource::Path(PathBuf::from("a.gguf"))
    }

    fn failed(error: &str) -> PaneModelUpdate {
        PaneModelUpdate::Failed {
            error: error.to_owned(),
        }
    }

    #[test]
    fn only_the_answer_to_the_last_load_counts() {
        let source = source();
        let mut models = PaneModels::default();
        models.begin_loading(&source);
        assert_eq!(models.release(|_| false), std::slice::from_ref(&source));
        assert_eq!(models.status(&source), None);
        models.begin_loading(&source);
        models.note(&source, PaneModelUpdate::Cancelled);
        models.note(&source, PaneModelUpdate::Loading { fraction: 0.5 });
        let loading = PaneModelStatus::Loading { fraction: 0.5 };
        assert_eq!(models.status(&source), Some(&loading));
        models.note(&source, failed("The file is broken"));
        let error = "The file is broken".to_owned();
        let failed = PaneModelStatus::Failed { error };
        assert_eq!(models.status(&source), Some(&failed));
        assert_eq!(models.release(|_| false), [], "nothing is loaded");
        assert_eq!(models, PaneModels::default());
    }

    #[test]
    fn a_model_that_nobody_wants_when_it_arrives_is_forgotten() {
        let source = source();
        let mut models = PaneModels::default();
        models.begin_loading(&source);
        models.release(|_| false);
        models.note(&source, failed("too late"));
        models.note(&source, PaneModelUpdate::Unloaded);
        assert_eq!(models, PaneModels::default());
    }
}
