//! A measurement of the KV cache in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::state::CacheRun;
use crate::generation::{ModelInfo, PromptText};
use crate::lab::ResultFacts;
use crate::lab::cache::CacheLab;
use crate::state::RunStatus;

/// The longest text that is read, in tokens. It bounds the sums over a damaged file.
const MAX_TEXT: usize = 100_000_000;

/// The longest time that is read, in seconds. Plots divide their axes into as many parts.
const MAX_SECS: f64 = 1e9;

/// A measurement as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptCache {
    lab: CacheLab,
    prompt: PromptText,
    model: ModelInfo,
    status: RunStatus,
}

impl CacheRun {
    /// Returns what the history keeps, and what it says about it, once a token was measured.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptCache)> {
        let lab = self.lab.as_ref().filter(|lab| !lab.on.is_empty())?;
        let status = self.status.ended();
        let facts = ResultFacts {
            words: self.ended_words(&status),
            model: self.model.name.clone(),
            prompt: self.prompt.text.clone(),
        };
        let kept = KeptCache {
            lab: lab.clone(),
            prompt: self.prompt.clone(),
            model: ModelInfo::clone(&self.model),
            status,
        };
        Some((facts, kept))
    }

    /// Returns a measurement that the history has kept. Fails, with the reason, if it contradicts
    /// itself.
    pub(super) fn of_kept(kept: KeptCache) -> Result<Self, String> {
        let KeptCache { lab, .. } = &kept;
        let is_short = |n: usize| n <= MAX_TEXT;
        let is_small = is_short(lab.facts.n_prompt) && is_short(lab.facts.n_tokens);
        let is_of_text = |length: usize| (1..=lab.n_text()).contains(&length);
        let fits = is_small
            && lab.on.len() < lab.facts.n_tokens
            && lab.tokens.len() == lab.on.len()
            && lab.on.iter().all(|point| is_of_text(point.length))
            && lab.off.len() <= lab.facts.off_lengths.len()
            && lab.off.iter().all(|point| is_of_text(point.length))
            && lab.reads.iter().all(|point| is_of_text(point.length));
        if !fits || !secs(lab).all(|secs| secs < MAX_SECS) {
            return Err("its times do not fit its text".to_owned());
        }
        let shape = lab.facts.shape.as_ref();
        if shape.is_some_and(|shape| shape.n_checked_bytes_per_token().is_none()) {
            return Err("its cache is larger than any memory".to_owned());
        }
        Ok(Self::ended(
            kept.lab,
            kept.prompt,
            Arc::new(kept.model),
            kept.status.ended(),
        ))
    }
}

/// Returns all times of a measurement, in seconds.
fn secs(lab: &CacheLab) -> impl Iterator<Item = f64> {
    let on = lab.on.iter().map(|point| point.secs);
    let off = lab.off.iter().map(|point| point.secs);
    let reads = lab
        .reads
        .iter()
        .map(|point| [point.parallel_secs, point.one_by_one_secs]);
    let panes = lab
        .panes
        .iter()
        .map(|panes| [panes.shared.secs, panes.apart.secs]);
    on.chain(off).chain(reads.chain(panes).flatten())
}

#[cfg(test)]
mod tests {
    use crate::lab::cache::figures::testing::{facts, samples};
    use crate::lab::cache::{CachePlan, CacheUpdate};
    use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
    use crate::lab::{LabCommand, LabTab};
    use crate::state::tests::{JobUpdate, planned, ready, report, update_job};
    use crate::state::{AppState, Command, Effect, RunRequest};

    /// A measurement that has ended, and the effects of its end.
    fn measured(n_samples: usize, end: JobUpdate) -> (AppState, Vec<Effect>) {
        let mut state = ready();
        let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Cache)));
        let (id, _) = planned::<CachePlan>(&effects[0]).unwrap();
        report(&mut state, id, CacheUpdate::Started(facts()));
        for sample in samples().into_iter().take(n_samples) {
            report(&mut state, id, CacheUpdate::Measured(sample));
        }
        let effects = update_job(&mut state, id, end);
        (state, effects)
    }

    fn is_kept(effects: &[Effect]) -> bool {
        let is_kept = |effect: &Effect| {
            matches!(
                effect,
                Effect::Runs(RunRequest::KeepResult {
                    tab: LabTab::Cache,
                    ..
                })
            )
        };
        effects.iter().any(is_kept)
    }

    #[test]
    fn a_measurement_is_kept_and_shown_again_as_it_was() {
        let (state, effects) = measured(1000, JobUpdate::Finished);
        assert!(is_kept(&effects), "{effects:?}");
        let mut other = reopened(&state, LabTab::Cache);
        let (before, after) = (&state.lab.cache.run, &other.lab.cache.run);
        let (before, after) = (before.as_ref().unwrap(), after.as_ref().unwrap());
        assert_eq!((&after.lab, &after.prompt), (&before.lab, &before.prompt));
        assert_eq!(after.summary(), "measured while writing 100 tokens");
        assert_eq!(other.close(), [], "it is in the history already");
    }

    #[test]
    fn a_stopped_measurement_keeps_what_was_found() {
        let (state, effects) = measured(50, JobUpdate::Stopped);
        assert!(is_kept(&effects), "{effects:?}");
        let other = reopened(&state, LabTab::Cache);
        let run = other.lab.cache.run.as_ref().unwrap();
        assert_eq!(run.summary(), "stopped after 51 of 100 tokens");
        let (_, effects) = measured(0, JobUpdate::Stopped);
        assert!(!is_kept(&effects), "nothing was found");
    }

    #[test]
    fn a_kept_measurement_runs_again_with_everything_that_made_it() {
        let (state, _) = measured(1000, JobUpdate::Finished);
        let (mut other, effects) = run_again(&state, LabTab::Cache);
        let (id, plan) = planned::<CachePlan>(&effects[0]).unwrap();
        assert_eq!(plan.prompt, state.prompt.to_text());
        assert_eq!(plan.n_tokens, facts().n_tokens);
        report(&mut other, id, CacheUpdate::Started(facts()));
        for sample in samples() {
            report(&mut other, id, CacheUpdate::Measured(sample));
        }
        let effects = update_job(&mut other, id, JobUpdate::Finished);
        are_the_same(&state, &other, LabTab::Cache, &effects);
    }

    #[test]
    fn a_measurement_that_contradicts_itself_is_not_shown() {
        let (state, _) = measured(1000, JobUpdate::Finished);
        refuses(&state, LabTab::Cache, |json| {
            json["lab"]["tokens"].as_array_mut().unwrap().pop();
        });
        refuses(&state, LabTab::Cache, |json| {
            json["lab"]["facts"]["n_prompt"] = u64::MAX.into();
        });
        refuses(&state, LabTab::Cache, |json| {
            json["lab"]["facts"]["shape"]["n_head_bytes"] = u64::MAX.into();
        });
        refuses(&state, LabTab::Cache, |json| {
            json["lab"]["on"][3]["secs"] = 1e300.into();
        });
    }
}
