//! A comparison of two models in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::figures::ComparedModels;
use super::plan::{ComparisonFacts, DistributionGap, PredictedToken};
use super::state::ModelsRun;
use crate::generation::{ChatSupport, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::kept_pieces::KeptPieces;
use crate::state::{ReadyModel, RunStatus};

/// A comparison as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptComparison {
    models: [ModelInfo; 2],
    settings: Vec<String>,
    facts: ComparisonFacts,
    predicted: [Vec<PredictedToken>; 2],
    gaps: Vec<DistributionGap>,
    pieces: KeptPieces,
    text: String,
    status: RunStatus,
}

impl ModelsRun {
    /// Returns what the history keeps, and what it says about it, once a token was compared.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptComparison)> {
        let compared = self.compared.as_ref()?;
        if compared.n_predicted() == 0 {
            return None;
        }
        let [a, b] = &compared.models;
        let facts = ResultFacts {
            words: self.summary(),
            model: format!("{} + {}", a.name, b.name),
            prompt: self.text.clone(),
        };
        let choices = compared.gaps.iter().flat_map(|gap| &gap.choices);
        let choices = choices.flatten().copied();
        let kept = KeptComparison {
            models: [a, b].map(|model| ModelInfo::clone(model)),
            settings: compared.settings.clone(),
            facts: compared.facts,
            predicted: compared.predicted.clone(),
            gaps: compared.gaps.clone(),
            pieces: KeptPieces::of(&self.model.vocabulary, choices),
            text: self.text.clone(),
            status: self.status.ended(),
        };
        Some((facts, kept))
    }

    /// Returns a comparison that the history has kept. Fails, with the reason, if it contradicts
    /// itself.
    pub(super) fn of_kept(kept: KeptComparison) -> Result<Self, String> {
        let n_settings = kept.settings.len();
        let fits = |gap: &DistributionGap| gap.choices.len() <= n_settings;
        let n_tokens = kept.predicted.each_ref().map(Vec::len);
        let n_gaps = kept.gaps.len();
        let fits_tokens = n_gaps == 0 || n_tokens == [n_gaps; 2];
        if !kept.gaps.iter().all(fits) || !fits_tokens {
            return Err("its tokens do not fit its settings".to_owned());
        }
        let models = kept.models.map(Arc::new);
        let model = ReadyModel {
            info: Arc::clone(&models[0]),
            vocabulary: Arc::new(kept.pieces.vocabulary()?),
            recommended_sampling: None,
            chat: ChatSupport::Missing,
            load_warning: None,
        };
        let compared = ComparedModels {
            predicted: kept.predicted,
            gaps: kept.gaps,
            ..ComparedModels::new(models, kept.settings, kept.facts)
        };
        Ok(Self::ended(compared, model, kept.text, kept.status.ended()))
    }
}
