//! The models on this computer: the built-in one, recent ones, and the one that is being opened or
//! failed to open.

pub(super) mod compute;
pub(super) mod hub;
pub(super) mod hub_rows;
pub(super) mod local;
pub(super) mod open;
pub(super) mod reopening;
pub(super) mod status;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::local::{also_in, local_name};
use super::{AddedServer, PaneModels, SecondModel, Servers};
use crate::generation::ModelInfo;
use crate::worker::{ComputeChoice, Devices, LocalModels, ModelSource};

pub use self::compute::{DeviceRow, ThreadChoice, recorded_formats};
pub use self::hub::{HubCommand, HubState, ModelsTab};
pub use self::hub_rows::{HubRow, HubRowStatus};
pub use self::local::ModelGroup;
pub use self::open::ModelsCommand;
pub(crate) use self::open::unix_time_secs;
pub use self::reopening::Reopening;
pub use self::status::{ModelStatus, ReadyModel};

/// The maximum number of recent models.
pub const MAX_RECENT: usize = 12;

/// A model that was opened before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentModel {
    /// The model file or folder.
    pub path: PathBuf,
    pub name: String,
    pub n_params: u64,
    /// The type of most weights: `Q4_K`.
    pub quantization: String,
    /// The Unix time in seconds at which it was last opened.
    pub opened_at: u64,
}

/// The models that write, those on this computer, and the compute settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// The main model, which panes use unless they choose another.
    pub main: ModelStatus,
    /// The source of the main model, which is reloaded when the engine restarts.
    pub(crate) source: ModelSource,
    /// The sources of all loads in progress, in the order of the requests. Each stays until the
    /// engine reports that the load succeeded, failed or was cancelled; the newest is the wanted
    /// one.
    pub(in crate::state) pending: VecDeque<ModelSource>,
    /// The model that drafts for the main one or guides it.
    pub second: SecondModel,
    /// The models of panes that do not use the main one.
    pub of_panes: PaneModels,
    pub servers: Servers,
    /// The models on the Hub, and their downloads.
    pub hub: HubState,
    /// What programs keep on this computer, once it has been looked for.
    pub(in crate::state) local: Option<LocalModels>,
    pub dialog_open: bool,
    /// The models opened before, most recent first.
    pub recent: Vec<RecentModel>,
    /// The sizes of the models in bytes, or why they can't be opened any more, if checked.
    pub(crate) checked: BTreeMap<PathBuf, Result<u64, String>>,
    /// The built-in model, once it has been loaded.
    pub(in crate::state) embedded: Option<Arc<ModelInfo>>,
    /// The model that failed to open last, and why.
    pub(in crate::state) refusal: Option<(ModelSource, String)>,
    /// The model that is being inspected before it is loaded.
    pub(in crate::state) opening: Option<Opening>,
    /// The model of the last session, while it opens again.
    pub reopening: Option<Reopening>,
    /// The model that opened again, until the engine has described it.
    pub(in crate::state) reopened: Option<ModelSource>,
    /// The main model that opens at the next start; `None` for the built-in one.
    pub(in crate::state) remembered: Option<PathBuf>,
    /// The user's choice of how models compute.
    pub compute: ComputeChoice,
    /// The available choices, once known.
    pub(in crate::state) devices: Option<Devices>,
    /// Why the chosen device can't be used, as a sentence.
    pub(in crate::state) device_missing: Option<String>,
}

/// A model that is being inspected before it is loaded.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Opening {
    pub path: PathBuf,
    /// The warning that the user must confirm; `None` while the files are inspected.
    pub warning: Option<String>,
}

/// The status of a model in the list.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelRowStatus {
    /// The model can be opened.
    Closed,
    /// Its files are being inspected.
    Inspecting,
    /// The user must confirm a warning before it is loaded.
    NeedsConfirmation {
        /// A sentence.
        warning: String,
    },
    Loading {
        /// Between 0 and 1.
        fraction: f32,
    },
    InUse,
    /// The model could not be opened.
    Refused {
        /// A sentence.
        reason: String,
    },
    /// Its files no longer exist.
    Missing {
        /// A sentence.
        reason: String,
    },
}

/// A model in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    /// The model file or folder; `None` for the built-in model.
    pub path: Option<PathBuf>,
    pub name: String,
    /// The number of parameters, if known.
    pub n_params: Option<u64>,
    /// The type of most weights; empty if unknown.
    pub quantization: String,
    /// The total size of its files in bytes, if known.
    pub n_bytes: Option<u64>,
    /// The Unix time in seconds at which it was last opened, if known.
    pub opened_at: Option<u64>,
    /// The other programs on this computer that have the same file.
    pub also_in: Vec<&'static str>,
    /// A sentence about what it can't do, if known.
    pub limits: Option<&'static str>,
    /// What could not be read of it when it was loaded, and where its files contradict each other.
    pub load_warning: Option<String>,
    pub status: ModelRowStatus,
    /// Why it can't be unloaded now.
    pub unload_blocked: Option<&'static str>,
}

impl Models {
    /// Creates the state at startup; nothing has been loaded or checked yet.
    pub(in crate::state) fn new(
        source: &ModelSource,
        mut recent: Vec<RecentModel>,
        compute: ComputeChoice,
        servers: Vec<AddedServer>,
    ) -> Self {
        recent.truncate(MAX_RECENT);
        Self {
            main: ModelStatus::Absent,
            source: source.clone(),
            pending: VecDeque::new(),
            second: SecondModel::default(),
            of_panes: PaneModels::default(),
            servers: Servers::new(servers),
            hub: HubState::default(),
            local: None,
            dialog_open: false,
            recent,
            checked: BTreeMap::new(),
            embedded: None,
            refusal: None,
            opening: None,
            reopening: None,
            reopened: None,
            remembered: None,
            compute,
            devices: None,
            device_missing: None,
        }
    }

    /// Adds an opened model to the recent ones.
    pub(in crate::state) fn remember(
        &mut self,
        source: &ModelSource,
        info: &Arc<ModelInfo>,
        now: u64,
    ) {
        let ModelSource::Path(path) = source else {
            self.embedded = Some(Arc::clone(info));
            return;
        };
        self.recent.retain(|recent| recent.path != *path);
        let recent = RecentModel {
            path: path.clone(),
            name: info.name.clone(),
            n_params: info.n_params,
            quantization: info.quantization.clone(),
            opened_at: now,
        };
        self.recent.insert(0, recent);
        self.recent.truncate(MAX_RECENT);
    }

    /// Removes a model from the recent ones.
    pub(in crate::state) fn forget(&mut self, path: &Path) {
        self.recent.retain(|recent| recent.path != path);
        self.checked.remove(path);
        let is_forgotten =
            |source: &ModelSource| matches!(source, ModelSource::Path(other) if other == path);
        let refusal = self.refusal.take();
        self.refusal = refusal.filter(|(source, _)| !is_forgotten(source));
    }

    /// Returns whether this model is built in or recent.
    fn lists(&self, source: &ModelSource) -> bool {
        match source {
            ModelSource::Embedded => true,
            ModelSource::Path(path) => self.recent.iter().any(|recent| recent.path == *path),
        }
    }
}

impl Models {
    /// Returns the rows of the models on this computer.
    pub fn rows(&self) -> Vec<ModelRow> {
        let sources = self.on_this_computer();
        sources.iter().map(|source| self.row(source)).collect()
    }

    /// Returns the sources of the models on this computer, each once.
    fn on_this_computer(&self) -> Vec<ModelSource> {
        let mut sources = vec![ModelSource::Embedded];
        let mut add_if_new = |source: Option<&ModelSource>| {
            sources.extend(source.filter(|source| !self.lists(source)).cloned());
        };
        let opening = self.opening.as_ref();
        let opening = opening.map(|opening| ModelSource::Path(opening.path.clone()));
        let refused = self.refusal.as_ref().map(|(source, _)| source);
        let incoming = opening.as_ref().or(self.pending.back());
        add_if_new(incoming);
        add_if_new(refused.filter(|refused| Some(*refused) != incoming));
        let recent = self.recent.iter().map(|recent| recent.path.clone());
        sources.extend(recent.map(ModelSource::Path));
        let cached = self.hub.cached.iter().map(|cached| cached.path.clone());
        let local = self.local_models().map(|local| local.path.clone());
        let found: Vec<ModelSource> = cached.chain(local).map(ModelSource::Path).collect();
        for source in found {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    fn row(&self, source: &ModelSource) -> ModelRow {
        let status = self.row_status(source);
        let is_loading = matches!(self.main, ModelStatus::Loading { .. });
        let unload_blocked = is_loading.then_some("Another model is loading");
        match source {
            ModelSource::Embedded => {
                let info = self.embedded.as_ref();
                ModelRow {
                    name: "Quartet Stories".to_owned(),
                    n_params: info.map(|info| info.n_params),
                    quantization: info.map_or_else(String::new, |info| info.quantization.clone()),
                    n_bytes: None,
                    opened_at: None,
                    also_in: Vec::new(),
                    limits: self.limits(&status),
                    load_warning: None,
                    status,
                    unload_blocked,
                    path: None,
                }
            }
            ModelSource::Path(path) => {
                let mut all_recent = self.recent.iter();
                let recent = all_recent.find(|recent| recent.path == *path);
                let checked = self.checked.get(path);
                let mut all_cached = self.hub.cached.iter();
                let cached = all_cached.find(|cached| cached.path == *path);
                let local = self.local_models().find(|local| local.path == *path);
                let files = cached.map(|cached| &cached.model);
                let files = files.or(local.map(|local| &local.model));
                // A folder in the cache is named after its commit.
                let name = || match (cached, local) {
                    (Some(cached), _) if cached.model.file().is_none() => cached.repository.clone(),
                    (None, Some(local)) => local_name(local),
                    _ => source.name(),
                };
                let quantization = || {
                    let quantization = files.and_then(|files| files.quantization.clone());
                    quantization.unwrap_or_default()
                };
                let n_params = recent.map(|recent| recent.n_params);
                ModelRow {
                    name: recent.map_or_else(name, |recent| recent.name.clone()),
                    n_params: n_params.or(local.and_then(|local| local.n_params)),
                    quantization: recent
                        .map_or_else(quantization, |recent| recent.quantization.clone()),
                    n_bytes: checked
                        .and_then(|checked| checked.as_ref().ok().copied())
                        .or_else(|| files.and_then(|files| files.n_bytes)),
                    opened_at: recent.map(|recent| recent.opened_at),
                    also_in: local.map_or_else(Vec::new, also_in),
                    limits: self.limits(&status),
                    load_warning: self.load_warning(&status),
                    status,
                    unload_blocked,
                    path: Some(path.clone()),
                }
            }
        }
    }

    /// Returns what the model in use can't do, if the row is that model's.
    fn limits(&self, status: &ModelRowStatus) -> Option<&'static str> {
        let model = self.main.in_use()?;
        let limits = model.info.implementation.limits();
        limits.filter(|_| *status == ModelRowStatus::InUse)
    }

    /// Returns the warning of the model in use, if the row is that model's.
    fn load_warning(&self, status: &ModelRowStatus) -> Option<String> {
        let warning = self.main.in_use()?.load_warning.clone();
        warning.filter(|_| *status == ModelRowStatus::InUse)
    }

    fn row_status(&self, source: &ModelSource) -> ModelRowStatus {
        if let (Some(opening), ModelSource::Path(path)) = (&self.opening, source)
            && opening.path == *path
        {
            return match opening.warning.clone() {
                None => ModelRowStatus::Inspecting,
                Some(warning) => ModelRowStatus::NeedsConfirmation { warning },
            };
        }
        if let (ModelStatus::Loading { fraction, .. }, Some(incoming)) =
            (&self.main, self.pending.back())
            && incoming == source
        {
            let fraction = *fraction;
            return ModelRowStatus::Loading { fraction };
        }
        if let Some(reopening) = &self.reopening
            && source.path() == Some(&*reopening.path)
        {
            return match reopening.fraction {
                None => ModelRowStatus::Inspecting,
                Some(fraction) => ModelRowStatus::Loading { fraction },
            };
        }
        // The previous model stays in use until its replacement has loaded.
        if self.main.in_use().is_some() && self.source == *source {
            return ModelRowStatus::InUse;
        }
        if let Some((refused, reason)) = &self.refusal
            && refused == source
        {
            let reason = reason.clone();
            return ModelRowStatus::Refused { reason };
        }
        let checked = match source {
            ModelSource::Embedded => None,
            ModelSource::Path(path) => self.checked.get(path),
        };
        match checked {
            Some(Err(reason)) => ModelRowStatus::Missing {
                reason: reason.clone(),
            },
            Some(Ok(_)) | None => ModelRowStatus::Closed,
        }
    }
}
