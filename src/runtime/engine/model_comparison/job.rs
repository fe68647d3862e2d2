//! A comparison that runs while no pane is busy, with the model that was loaded for it.

use super::{ModelComparison, text_of};
use crate::engine::second_model::difference;
use crate::engine::{EngineError, LoadedModel, Prompt};
use crate::generation::{ComparisonPlan, ComparisonText, ComparisonUpdate, GenerationId};

/// A comparison of the loaded model with another one, which is freed when the comparison ends.
pub(in crate::engine) struct ComparisonJob {
    id: GenerationId,
    other: LoadedModel,
    comparison: ModelComparison,
    is_announced: bool,
}

impl ComparisonJob {
    /// Tokenizes the text for both models. Fails if one of them can't read it.
    pub(in crate::engine) fn new(
        id: GenerationId,
        plan: ComparisonPlan,
        model: &LoadedModel,
        other: LoadedModel,
    ) -> Result<Self, EngineError> {
        let texts = match plan.text {
            ComparisonText::Typed(text) => ModelComparison::texts(&text, None, [model, &other])?,
            ComparisonText::Tokens(tokens) => {
                let own = Prompt {
                    text: String::new(),
                    chat: None,
                    tokens,
                };
                let same = difference(&model.vocabulary, &other.vocabulary).is_none();
                let others = if same {
                    own.clone()
                } else {
                    other.encode_text(&text_of(&own, model), None)?
                };
                [model.checked_text(own)?, other.checked_text(others)?]
            }
        };
        let comparison = ModelComparison::new(texts, plan.settings, [model, &other])?;
        Ok(Self {
            id,
            other,
            comparison,
            is_announced: false,
        })
    }

    pub(in crate::engine) const fn id(&self) -> GenerationId {
        self.id
    }

    /// Runs one forward pass of each model and returns the results.
    pub(in crate::engine) fn advance(&mut self, model: &mut LoadedModel) -> ComparisonUpdate {
        if !self.is_announced {
            self.is_announced = true;
            return ComparisonUpdate::Started {
                facts: self.comparison.facts(),
                model: self.other.info.clone(),
            };
        }
        if self.comparison.is_done() {
            return ComparisonUpdate::Finished;
        }
        match self.comparison.advance([model, &mut self.other]) {
            Ok(tokens) => ComparisonUpdate::Read(tokens),
            Err(error) => {
                let error = error.to_string();
                ComparisonUpdate::Failed { error }
            }
        }
    }

    /// Frees the caches and the other model.
    pub(in crate::engine) fn retire(mut self, model: &mut LoadedModel) {
        self.comparison.close([model, &mut self.other]);
    }
}
