//! Verifying an opened run in other number formats, to see whether they make a difference. The
//! model is loaded again for it, and once more afterwards.

use super::models_to_verify::refusal;
use crate::generation::ModelInfo;
use crate::state::{AppState, Effect, recorded_formats};
use crate::worker::{CacheType, ComputeChoice, InputBits, Precision, Request};

/// Number formats in which an opened run can be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFormats {
    /// What differs from the run: "KV cache in f16".
    pub name: String,
    pub choice: ComputeChoice,
}

/// A verification in other formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatTrial {
    formats: OtherFormats,
    /// Whether the model computes in these formats now.
    is_loaded: bool,
}

impl AppState {
    /// Returns the formats that differ from those of the loaded model: the ones of the opened run
    /// first, then those that differ from the run in one way.
    pub fn other_formats(&self) -> Vec<OtherFormats> {
        let Some((then, now)) = self.opened_model().zip(self.model.ready()) else {
            return Vec::new();
        };
        let base = self.formats_of(then);
        let loaded = self.formats_of(&now.info);
        let mut all = vec![OtherFormats {
            name: "The formats of the run".to_owned(),
            choice: base,
        }];
        if self.uses_gpu() {
            let precisions = Precision::ALL.into_iter();
            let named = precisions.filter(|precision| *precision != Precision::File);
            all.extend(named.map(|precision| OtherFormats {
                name: format!("Precision {}", precision.name()),
                choice: ComputeChoice { precision, ..base },
            }));
        } else {
            all.extend(CacheType::ALL.map(|cache| OtherFormats {
                name: format!("KV cache in {}", cache.name()),
                choice: ComputeChoice { cache, ..base },
            }));
            all.extend(InputBits::ALL.map(|inputs| OtherFormats {
                name: format!("{}-bit inputs", inputs.name()),
                choice: ComputeChoice { inputs, ..base },
            }));
        }
        let mut seen = vec![loaded];
        all.retain(|formats| {
            let is_new = !seen.contains(&formats.choice);
            seen.push(formats.choice);
            is_new
        });
        all
    }

    /// Returns the model of the opened run, unless it has texts of several.
    fn opened_model(&self) -> Option<&ModelInfo> {
        self.opened
            .as_ref()
            .filter(|_| !self.opened_several_models())?;
        let mut texts = self.generations().into_iter().flatten();
        texts.next().map(|text| &*text.model)
    }

    /// Returns the formats of a model on the user's device, with the user's threads.
    fn formats_of(&self, model: &ModelInfo) -> ComputeChoice {
        let usual = self.models.compute;
        ComputeChoice {
            device: usual.device,
            n_threads: usual.n_threads,
            ..recorded_formats(model)
        }
    }

    /// Loads the model in other formats; the verification begins once it is loaded.
    pub(super) fn verify_in(&mut self, formats: OtherFormats) -> Vec<Effect> {
        let Some(then) = self.opened_model().cloned() else {
            return Vec::new();
        };
        if self.verifying_words().is_some() {
            return Vec::new();
        }
        if let Err(reason) = self.model_to_verify(&then) {
            return self.notify(refusal(&reason, &then, None));
        }
        if let Err(reason) = self.second_to_verify() {
            return self.refuse_without_second(&reason);
        }
        let mut effects = self.end_verification();
        effects.push(Effect::Send(Request::SetCompute(formats.choice)));
        effects.extend(self.load_model(self.model_source.clone()));
        self.format_trial = Some(FormatTrial {
            formats,
            is_loaded: false,
        });
        effects
    }

    /// Says that the model is being loaded for a trial: "Loading the model: KV cache in f16".
    pub(super) fn trial_words(&self) -> Option<String> {
        let trial = self
            .format_trial
            .as_ref()
            .filter(|trial| !trial.is_loaded)?;
        Some(format!("Loading the model: {}", trial.formats.name))
    }

    /// Begins the verification for which the model was loaded.
    pub(in crate::state) fn begin_trial(&mut self) -> Vec<Effect> {
        let is_loading = self.second_model.loading().is_some();
        let has_loaded = self.pending_sources.is_empty() && !is_loading;
        let trial = self.format_trial.as_mut();
        let Some(trial) = trial.filter(|trial| has_loaded && !trial.is_loaded) else {
            return Vec::new();
        };
        trial.is_loaded = true;
        let mut effects = self.verify();
        if self.verification.is_none() {
            effects.extend(self.end_trial());
        }
        effects
    }

    /// Returns to the user's formats once the verification has a result.
    pub(super) fn end_finished_trial(&mut self) -> Vec<Effect> {
        let verification = self.verification.as_ref();
        if verification.is_some_and(|verification| verification.verdict().is_some()) {
            self.end_trial()
        } else {
            Vec::new()
        }
    }

    /// Returns to the user's formats. If the model was loaded in others, it is loaded again.
    pub(in crate::state) fn end_trial(&mut self) -> Vec<Effect> {
        let Some(trial) = &self.format_trial else {
            return Vec::new();
        };
        let is_loading = !self.pending_sources.is_empty();
        if trial.is_loaded || is_loading {
            return self.load_model(self.model_source.clone());
        }
        self.drop_trial().into_iter().collect()
    }

    /// Forgets a trial, because the user's formats apply to the model that is loaded next. Returns
    /// the request that tells the engine.
    pub(in crate::state) fn drop_trial(&mut self) -> Option<Effect> {
        self.format_trial.take()?;
        Some(Effect::Send(Request::SetCompute(self.models.compute)))
    }
}
