//! A comparison of two models in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AskedComparison, ModelsForm, ModelsRun, is_comparable, settings_words};
use crate::generation::{ChatSupport, GenerationConfig, GenerationId, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::kept_pieces::KeptPieces;
use crate::lab::models::{
    ComparedModels, ComparisonFacts, ComparisonPlan, ComparisonText, DistributionGap,
    PredictedToken,
};
use crate::state::{ReadyModel, RunStatus};

/// A comparison as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptComparison {
    models: [ModelInfo; 2],
    /// How the other model computed, by its name in the menu.
    way: String,
    asked_text: ComparisonText,
    settings: Vec<GenerationConfig>,
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
        let ComparisonPlan { text, settings } = self.asked.plan.clone();
        let kept = KeptComparison {
            models: [a, b].map(|model| ModelInfo::clone(model)),
            way: ModelsForm::name_of_way(self.asked.way).to_owned(),
            asked_text: text,
            settings,
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
        if !kept.settings.iter().all(is_comparable) {
            return Err("its settings can’t be compared".to_owned());
        }
        let Some(way) = ModelsForm::way_named(&kept.way) else {
            return Err("its other model computes in an unknown way".to_owned());
        };
        let models = kept.models.map(Arc::new);
        let asked = AskedComparison {
            plan: ComparisonPlan {
                text: kept.asked_text,
                settings: kept.settings,
            },
            way,
            source: None,
        };
        let model = ReadyModel {
            info: Arc::clone(&models[0]),
            vocabulary: Arc::new(kept.pieces.vocabulary()?),
            recommended_sampling: None,
            chat: ChatSupport::Missing,
            load_warning: None,
        };
        let settings = settings_words(&asked.plan.settings);
        let compared = ComparedModels {
            predicted: kept.predicted,
            gaps: kept.gaps,
            ..ComparedModels::new(models, settings, kept.facts)
        };
        Ok(Self {
            compared: Some(compared),
            status: kept.status.ended(),
            loaded: 1.0,
            // No job has this id.
            ..Self::new(GenerationId(0), asked, kept.text, model)
        })
    }
}
