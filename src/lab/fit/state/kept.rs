//! A fit in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{FitReading, FitRun, FitStage};
use crate::generation::{FitText, GenerationId, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::fit::{Fit, KeptFigures};
use crate::lab::kept_pieces::KeptPieces;
use crate::state::RunStatus;

/// A fit as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptFit {
    fit: KeptFigures,
    texts: Vec<FitText>,
    model: ModelInfo,
    second_model: Option<ModelInfo>,
    pieces: KeptPieces,
    status: RunStatus,
}

impl FitRun {
    /// Returns what the history keeps, and what it says about it, once something is known.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptFit)> {
        let first = self.fit.texts().first().filter(|_| self.fit.n_done() > 0)?;
        let facts = ResultFacts {
            words: self.fit.size_words(),
            model: self.model.name.clone(),
            prompt: self.vocabulary.visible_text(&first.tokens),
        };
        let kept = KeptFit {
            fit: self.fit.kept(),
            texts: self.texts.clone(),
            model: ModelInfo::clone(&self.model),
            second_model: self.second_model.as_deref().cloned(),
            pieces: KeptPieces::of(&self.vocabulary, self.fit.tokens()),
            status: self.status.ended(),
        };
        Some((facts, kept))
    }

    /// Returns a fit that the history has kept. Fails, with the reason, if it contradicts itself.
    pub(super) fn of_kept(kept: KeptFit) -> Result<Self, String> {
        let fit = Fit::of_kept(kept.fit)?;
        let is_read = fit.texts().len() == kept.texts.len();
        if !is_read || !kept.texts.iter().all(FitText::is_consistent) {
            return Err("its texts do not fit their tokens".to_owned());
        }
        let mut run = Self {
            // No job has this id.
            id: GenerationId(0),
            texts: kept.texts,
            fit,
            model: Arc::new(kept.model),
            second_model: kept.second_model.map(Arc::new),
            vocabulary: Arc::new(kept.pieces.vocabulary()?),
            status: kept.status.ended(),
            stage: FitStage::Computing,
            selected: None,
            reading: FitReading::default(),
        };
        run.read();
        Ok(run)
    }
}
