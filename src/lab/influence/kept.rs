//! A measurement in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::figures::InfluenceResults;
use super::plan::{AsItIs, Influence, InfluenceFacts, InfluencePlan, InfluenceUpdate};
use super::state::InfluenceRun;
use crate::generation::{ChatSupport, GenerationId, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::kept_pieces::KeptPieces;
use crate::state::{ReadyModel, RunStatus};

/// A measurement as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptInfluence {
    plan: InfluencePlan,
    facts: InfluenceFacts,
    whole: Option<AsItIs>,
    /// The parts that are known, by their indices.
    found: Vec<(usize, Influence)>,
    pieces: KeptPieces,
    model: ModelInfo,
    target: String,
    status: RunStatus,
}

impl InfluenceRun {
    /// Returns what the history keeps, and what it says about it, once a part is known.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptInfluence)> {
        let results = self.results.as_ref()?;
        results.known().next()?;
        let found: Vec<(usize, Influence)> = results
            .known()
            .map(|(index, influence)| (index, influence.clone()))
            .collect();
        let whole = results.whole.iter();
        let tops = whole.flat_map(|whole| [whole.top.token, whole.chosen]);
        let shifts = found.iter().flat_map(|(_, influence)| {
            let candidates = influence.candidates.iter().map(|shift| shift.token);
            candidates.chain([influence.top.token])
        });
        let tokens = results.facts.tokens.iter().copied();
        let tokens = tokens.chain(tops).chain(shifts);
        let facts = ResultFacts {
            words: format!("{} before {}", self.summary(), self.target),
            model: self.model.info.name.clone(),
            prompt: results.vocabulary.visible_text(&results.facts.tokens),
        };
        let kept = KeptInfluence {
            plan: self.plan.clone(),
            facts: results.facts.clone(),
            whole: results.whole.clone(),
            pieces: KeptPieces::of(&results.vocabulary, tokens),
            found,
            model: ModelInfo::clone(&self.model.info),
            target: self.target.clone(),
            status: self.status.ended(),
        };
        Some((facts, kept))
    }

    /// Returns a measurement that the history has kept. Fails, with the reason, if it contradicts
    /// itself.
    pub(super) fn of_kept(kept: KeptInfluence) -> Result<Self, String> {
        let facts = &kept.facts;
        let n_tokens = facts.tokens.len();
        let is_inside =
            |part: &std::ops::Range<usize>| part.start < part.end && part.end <= n_tokens;
        let fits = facts.parts.iter().all(is_inside)
            && facts.targets.start <= facts.targets.end
            && facts.targets.end <= n_tokens + 1
            && facts.n_prompt <= n_tokens
            && kept.plan.text.is_consistent();
        if !fits
            || kept
                .found
                .iter()
                .any(|(part, _)| *part >= facts.parts.len())
        {
            return Err("its parts do not fit its text".to_owned());
        }
        let vocabulary = Arc::new(kept.pieces.vocabulary()?);
        let model = ReadyModel {
            info: Arc::new(kept.model),
            vocabulary: Arc::clone(&vocabulary),
            recommended_sampling: None,
            chat: ChatSupport::Missing,
            load_warning: None,
        };
        let mut results = InfluenceResults::new(kept.facts, kept.plan.unit, vocabulary);
        results.whole = kept.whole;
        results.add(InfluenceUpdate::Found(kept.found));
        // No job has this id.
        let mut run = Self::new(GenerationId(0), kept.plan, kept.target, model);
        (run.results, run.status) = (Some(results), kept.status.ended());
        Ok(run)
    }
}
