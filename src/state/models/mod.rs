//! Which models can be opened on this computer: the one inside the program, those of before, and the
//! one that is on its way or could not be opened.

pub(super) mod compute;
pub(super) mod hub;
pub(super) mod hub_rows;
pub(super) mod open;
pub(super) mod status;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::AppState;
use crate::generation::ModelInfo;
use crate::worker::{ComputeChoice, Devices, ModelSource};

pub use self::compute::{DeviceRow, ThreadChoice};
pub use self::hub::{HubCommand, HubState, ModelsTab};
pub use self::hub_rows::{HubRow, HubRowStatus};
pub use self::open::ModelsCommand;
pub(crate) use self::open::now_secs;
pub use self::status::{ModelStatus, ReadyModel};

/// So many models are remembered.
pub const MAX_RECENT: usize = 12;

/// A model that was open before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentModel {
    /// Its file or folder.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// How many weights it has.
    pub n_params: u64,
    /// How most of them are stored: `Q4_K`.
    pub quantization: String,
    /// When it was opened last, in seconds since 1970.
    pub opened_at: u64,
}

/// What is known of the models that can be opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Models {
    /// Whether the dialog is open.
    pub dialog_open: bool,
    /// The models of before, the newest first.
    pub recent: Vec<RecentModel>,
    /// Their sizes in bytes, as far as they were looked at, or why they can't be opened any more.
    pub(in crate::state) seen: BTreeMap<PathBuf, Result<u64, String>>,
    /// The one inside the program, once it was loaded.
    pub(in crate::state) embedded: Option<Arc<ModelInfo>>,
    /// What could not be opened last, and why.
    pub(in crate::state) refusal: Option<(ModelSource, String)>,
    /// The one that is looked at before it is loaded.
    pub(in crate::state) opening: Option<Opening>,
    /// How models are to compute.
    pub compute: ComputeChoice,
    /// How they can, once that is known.
    pub(in crate::state) devices: Option<Devices>,
    /// Why the next model computes elsewhere, as a sentence.
    pub(in crate::state) device_missing: Option<String>,
}

/// A model that is looked at before it is loaded.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Opening {
    /// Where it is.
    pub path: PathBuf,
    /// What speaks against loading it, once that is known.
    pub warning: Option<String>,
}

/// What becomes of a model in the list.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelRowStatus {
    /// It can be opened.
    Closed,
    /// Its files are looked at.
    Inspected,
    /// It may be too large.
    Doubtful {
        /// Why, as a sentence.
        warning: String,
    },
    /// It is being loaded.
    Loading {
        /// The part that is done, between 0 and 1.
        fraction: f32,
    },
    /// It writes.
    InUse,
    /// It could not be opened.
    Refused {
        /// Why, as a sentence.
        reason: String,
    },
    /// It is not there any more.
    Gone {
        /// Why, as a sentence.
        reason: String,
    },
}

/// A model in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    /// Its file or folder; nothing for the one inside the program.
    pub path: Option<PathBuf>,
    /// What it is called.
    pub name: String,
    /// How many weights it has, where that is known.
    pub n_params: Option<u64>,
    /// How most of them are stored; empty where that is not known.
    pub quantization: String,
    /// The size of its files in bytes, where that is known.
    pub n_bytes: Option<u64>,
    /// When it was opened last, in seconds since 1970, where that is known.
    pub opened_at: Option<u64>,
    /// What it can't do, as a sentence; none where that is not known, or nothing.
    pub limits: Option<&'static str>,
    /// What becomes of it.
    pub status: ModelRowStatus,
    /// Why it can't be unloaded now, where it is in use.
    pub held: Option<&'static str>,
}

impl Models {
    /// The models of before, and nothing looked at yet.
    pub(in crate::state) fn new(mut recent: Vec<RecentModel>, compute: ComputeChoice) -> Self {
        recent.truncate(MAX_RECENT);
        Self {
            recent,
            compute,
            ..Self::default()
        }
    }

    /// Remembers that a model was opened.
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

    /// Forgets a model of before.
    pub(in crate::state) fn forget(&mut self, path: &Path) {
        self.recent.retain(|recent| recent.path != path);
        self.seen.remove(path);
        let is_it = |source: &ModelSource| matches!(source, ModelSource::Path(of) if of == path);
        self.refusal = self.refusal.take().filter(|(source, _)| !is_it(source));
    }

    /// Whether this model has a row of its own already.
    fn lists(&self, source: &ModelSource) -> bool {
        match source {
            ModelSource::Embedded => true,
            ModelSource::Path(path) => self.recent.iter().any(|recent| recent.path == *path),
        }
    }
}

impl AppState {
    /// The models that can be opened on this computer, as they are listed.
    pub fn model_rows(&self) -> Vec<ModelRow> {
        let mut sources = vec![ModelSource::Embedded];
        let mut new = |source: Option<&ModelSource>| {
            sources.extend(source.filter(|source| !self.models.lists(source)).cloned());
        };
        let opening = self.models.opening.as_ref();
        let opening = opening.map(|opening| ModelSource::Path(opening.path.clone()));
        let refused = self.models.refusal.as_ref().map(|(source, _)| source);
        let coming = opening.as_ref().or(self.asked_sources.back());
        new(coming);
        new(refused.filter(|refused| Some(*refused) != coming));
        let recent = self.models.recent.iter().map(|recent| recent.path.clone());
        sources.extend(recent.map(ModelSource::Path));
        let cached = self.hub.cached.iter().map(|cached| cached.path.clone());
        let cached: Vec<ModelSource> = cached.map(ModelSource::Path).collect();
        for source in cached {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let rows = sources.iter().map(|source| self.model_row(source));
        rows.collect()
    }

    fn model_row(&self, source: &ModelSource) -> ModelRow {
        let status = self.model_row_status(source);
        let is_loading = matches!(self.model, ModelStatus::Loading { .. });
        let held = is_loading.then_some("Another model is being loaded");
        match source {
            ModelSource::Embedded => {
                let info = self.models.embedded.as_ref();
                ModelRow {
                    name: "Quartet Stories".to_owned(),
                    n_params: info.map(|info| info.n_params),
                    quantization: info.map_or_else(String::new, |info| info.quantization.clone()),
                    n_bytes: None,
                    opened_at: None,
                    limits: self.limits(&status),
                    status,
                    held,
                    path: None,
                }
            }
            ModelSource::Path(path) => {
                let recent = self.models.recent.iter();
                let recent = recent.clone().find(|recent| recent.path == *path);
                let seen = self.models.seen.get(path);
                let mut cached = self.hub.cached.iter();
                let cached = cached.find(|cached| cached.path == *path);
                // A folder in the cache is called by the number of its commit.
                let name = || match cached {
                    Some(cached) if cached.model.file().is_none() => cached.repository.clone(),
                    _ => file_name(path),
                };
                let quantization = || {
                    let quantization = cached.and_then(|cached| cached.model.quantization.clone());
                    quantization.unwrap_or_default()
                };
                ModelRow {
                    name: recent.map_or_else(name, |recent| recent.name.clone()),
                    n_params: recent.map(|recent| recent.n_params),
                    quantization: recent
                        .map_or_else(quantization, |recent| recent.quantization.clone()),
                    n_bytes: seen
                        .and_then(|seen| seen.as_ref().ok().copied())
                        .or_else(|| cached.and_then(|cached| cached.model.n_bytes)),
                    opened_at: recent.map(|recent| recent.opened_at),
                    limits: self.limits(&status),
                    status,
                    held,
                    path: Some(path.clone()),
                }
            }
        }
    }

    /// What the model that writes can't do, where this row is its.
    fn limits(&self, status: &ModelRowStatus) -> Option<&'static str> {
        let writer = self.model.writer()?;
        let limits = writer.info.implementation.limits();
        limits.filter(|_| *status == ModelRowStatus::InUse)
    }

    fn model_row_status(&self, source: &ModelSource) -> ModelRowStatus {
        if let (Some(opening), ModelSource::Path(path)) = (&self.models.opening, source)
            && opening.path == *path
        {
            return match opening.warning.clone() {
                None => ModelRowStatus::Inspected,
                Some(warning) => ModelRowStatus::Doubtful { warning },
            };
        }
        if let (ModelStatus::Loading { fraction, .. }, Some(coming)) =
            (&self.model, self.asked_sources.back())
            && coming == source
        {
            let fraction = *fraction;
            return ModelRowStatus::Loading { fraction };
        }
        // The one before writes on if the one that comes is called off.
        if self.model.writer().is_some() && self.model_source == *source {
            return ModelRowStatus::InUse;
        }
        if let Some((refused, reason)) = &self.models.refusal
            && refused == source
        {
            let reason = reason.clone();
            return ModelRowStatus::Refused { reason };
        }
        let seen = match source {
            ModelSource::Embedded => None,
            ModelSource::Path(path) => self.models.seen.get(path),
        };
        match seen {
            Some(Err(reason)) => ModelRowStatus::Gone {
                reason: reason.clone(),
            },
            Some(Ok(_)) | None => ModelRowStatus::Closed,
        }
    }
}

/// What a model is called before it has said so itself.
fn file_name(path: &Path) -> String {
    let name = path.file_stem().or_else(|| path.file_name());
    name.map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}
