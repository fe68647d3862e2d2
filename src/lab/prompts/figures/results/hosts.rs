//! What answers a list: the main model, other models on this computer, and servers.

use std::sync::Arc;

use super::{JudgedPane, TaskResults};
use crate::generation::{ModelInfo, ModelSource, PaneModel, Vocabulary};

/// A model that answers tasks, which is a part of the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListHost {
    /// `None` for the main model.
    pub model: Option<PaneModel>,
    /// The words of its tokens. Empty for a server, and for a model that could not be loaded.
    pub vocabulary: Arc<Vocabulary>,
}

impl ListHost {
    /// Returns the hosts of these panes: the main model comes first, and servers come last.
    pub(super) fn all(panes: &[JudgedPane], main: &Arc<Vocabulary>) -> Vec<Self> {
        let mut hosts: Vec<Self> = Vec::new();
        for pane in panes {
            if hosts.iter().all(|host| host.model != pane.host) {
                hosts.push(Self {
                    model: pane.host.clone(),
                    vocabulary: match pane.host {
                        None => Arc::clone(main),
                        Some(_) => Arc::default(),
                    },
                });
            }
        }
        hosts.sort_by_key(|host| (host.is_server(), host.model.is_some()));
        hosts
    }

    pub(super) const fn is_server(&self) -> bool {
        matches!(self.model, Some(PaneModel::Server(_)))
    }
}

impl TaskResults {
    /// Notes what is known of the other models on this computer: those that are loaded.
    #[must_use]
    pub fn with_models<'a>(
        mut self,
        loaded: impl Fn(&ModelSource) -> Option<(&'a Arc<ModelInfo>, &'a Arc<Vocabulary>)>,
    ) -> Self {
        for host in &mut self.hosts {
            let source = host.model.as_ref().and_then(PaneModel::local);
            let Some((info, vocabulary)) = source.and_then(&loaded) else {
                continue;
            };
            host.vocabulary = Arc::clone(vocabulary);
            for pane in self.panes.iter_mut().chain(&mut self.cells) {
                if pane.host == host.model {
                    pane.model = Some(Arc::clone(info));
                }
            }
        }
        self
    }

    /// Returns the hosts of the parts of the run, in their order; `None` is the main model.
    pub fn hosts(&self) -> impl Iterator<Item = Option<&PaneModel>> {
        self.hosts.iter().map(|host| host.model.as_ref())
    }

    /// Returns the index of the host that answers under these settings.
    pub(super) fn host_index(&self, settings: usize) -> Option<usize> {
        let model = &self.settings_at(settings)?.host;
        self.hosts.iter().position(|host| host.model == *model)
    }

    /// Returns whether the main model answers under any of the settings.
    pub fn uses_main(&self) -> bool {
        self.hosts().any(|host| host.is_none())
    }

    /// Returns the model to name first: the main one if it answers, or else the first known model of a
    /// pane.
    pub fn first_model<'a>(&'a self, main: Option<&'a ModelInfo>) -> Option<&'a ModelInfo> {
        let mut own = self.panes.iter().filter_map(|pane| pane.model.as_deref());
        main.filter(|_| self.uses_main()).or_else(|| own.next())
    }

    /// Returns the vocabulary of the model that answers under one of the settings. `None` for a
    /// server.
    pub fn model_vocabulary(&self, settings: usize) -> Option<&Arc<Vocabulary>> {
        let host = self.hosts.get(self.host_index(settings)?)?;
        (!host.is_server()).then_some(&host.vocabulary)
    }
}
