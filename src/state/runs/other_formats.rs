//! Verifying an opened run in other number formats, to see whether they make a difference. The
//! model is loaded again for it, and once more afterwards.

use super::models_to_verify::are_of_one_model;
use super::verification::check_second;
use super::{RunContext, Runs};
use crate::generation::ModelInfo;
use crate::state::{Effect, Models, Panes, recorded_formats};
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

impl Runs {
    /// Returns the formats that differ from those of the loaded model: the ones of the opened run
    /// first, then those that differ from the run in one way.
    pub fn other_formats(&self, panes: &Panes, models: &Models) -> Vec<OtherFormats> {
        let Some((then, now)) = self.opened_model(panes).zip(models.main.ready()) else {
            return Vec::new();
        };
        let base = formats_of(then, models.compute);
        let loaded = formats_of(&now.info, models.compute);
        let mut all = vec![OtherFormats {
            name: "The formats of the run".to_owned(),
            choice: base,
        }];
        if models.uses_gpu() {
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
    fn opened_model<'a>(&self, panes: &'a Panes) -> Option<&'a ModelInfo> {
        self.opened.as_ref()?;
        let first = panes.texts().next()?;
        are_of_one_model(panes.texts()).then_some(&*first.model)
    }

    /// Says that the model is being loaded for a trial: "Loading the model: KV cache in f16".
    pub(super) fn trial_words(&self) -> Option<String> {
        let trial = self
            .format_trial
            .as_ref()
            .filter(|trial| !trial.is_loaded)?;
        Some(format!("Loading the model: {}", trial.formats.name))
    }
}

/// Returns the formats of a model on the user's device, with the user's threads.
fn formats_of(model: &ModelInfo, usual: ComputeChoice) -> ComputeChoice {
    ComputeChoice {
        device: usual.device,
        n_threads: usual.n_threads,
        ..recorded_formats(model)
    }
}

impl Runs {
    /// Loads the model in other formats; the verification begins once it is loaded.
    pub(in crate::state) fn verify_in(
        &mut self,
        formats: OtherFormats,
        context: &mut RunContext<'_>,
    ) -> Vec<Effect> {
        let Some(then) = self.opened_model(context.panes).cloned() else {
            return Vec::new();
        };
        if self.verifying_words(context.panes).is_some() {
            return Vec::new();
        }
        if let Err(reason) = context.models.to_repeat(&then) {
            let refusal = context.models.refusal(&reason, &then, None);
            return context.notices.notify(refusal);
        }
        if let Err(reason) = check_second(context.panes.texts(), &context.models.second) {
            return context.refuse_without_second(&reason);
        }
        let mut effects = self.end_verification(context.models);
        effects.push(Effect::Send(Request::SetCompute(formats.choice)));
        effects.extend(self.load_again(context.models));
        self.format_trial = Some(FormatTrial {
            formats,
            is_loaded: false,
        });
        effects
    }

    /// Begins the verification for which the model was loaded.
    pub(in crate::state) fn begin_trial(&mut self, context: &mut RunContext<'_>) -> Vec<Effect> {
        let models = &context.models;
        let has_loaded = models.pending.is_empty() && models.second.loading().is_none();
        let trial = self.format_trial.as_mut();
        let Some(trial) = trial.filter(|trial| has_loaded && !trial.is_loaded) else {
            return Vec::new();
        };
        trial.is_loaded = true;
        let mut effects = self.verify(context);
        if self.verification.is_none() {
            effects.extend(self.end_trial(context.models));
        }
        effects
    }

    /// Returns to the user's formats once the verification has a result.
    pub(super) fn end_finished_trial(&mut self, models: &mut Models) -> Vec<Effect> {
        let verification = self.verification.as_ref();
        if verification.is_some_and(|verification| verification.verdict().is_some()) {
            self.end_trial(models)
        } else {
            Vec::new()
        }
    }

    /// Returns to the user's formats. If the model was loaded in others, it is loaded again.
    pub(super) fn end_trial(&mut self, models: &mut Models) -> Vec<Effect> {
        let Some(trial) = &self.format_trial else {
            return Vec::new();
        };
        let is_loading = !models.pending.is_empty();
        if trial.is_loaded || is_loading {
            return self.load_again(models);
        }
        self.drop_trial(models).into_iter().collect()
    }

    /// Forgets a trial, because the user's formats apply to the model that is loaded next. Returns
    /// the request that tells the engine.
    pub(in crate::state) fn drop_trial(&mut self, models: &Models) -> Option<Effect> {
        self.format_trial.take()?;
        Some(Effect::Send(Request::SetCompute(models.compute)))
    }

    /// Loads the main model again, in the user's formats.
    fn load_again(&mut self, models: &mut Models) -> Vec<Effect> {
        let mut effects = models.stop_loading();
        effects.extend(self.drop_trial(models));
        effects.push(models.load(models.source.clone()));
        effects
    }
}
