//! A comparison that runs while no pane is busy, with the model that was loaded for it.

use super::{ModelComparison, text_of};
use crate::engine::{
    EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel, Prompt, difference,
};
use crate::lab::models::{ComparisonPlan, ComparisonText, ComparisonUpdate};

impl JobPlan for ComparisonPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Low
    }

    /// Fails if there is no other model, or if one of them can't read the text.
    fn start(
        &self,
        model: &LoadedModel,
        other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let other = other.ok_or(EngineError::NoOtherModel)?;
        let job = ComparisonJob::new(self.clone(), model, other)?;
        Ok(Box::new(job))
    }
}

/// A comparison of the loaded model with another one, which is freed when the comparison ends.
struct ComparisonJob {
    other: LoadedModel,
    comparison: ModelComparison,
    is_announced: bool,
}

impl ComparisonJob {
    /// Tokenizes the text for both models. Fails if one of them can't read it.
    fn new(
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
            other,
            comparison,
            is_announced: false,
        })
    }
}

impl Job for ComparisonJob {
    /// Runs one forward pass of each model.
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if !self.is_announced {
            self.is_announced = true;
            return Ok(Some(JobUpdate::reported(ComparisonUpdate::Started {
                facts: self.comparison.facts(),
                model: self.other.info.clone(),
            })));
        }
        if self.comparison.is_done() {
            return Ok(Some(JobUpdate::Finished));
        }
        let read = self
            .comparison
            .advance([&mut *context.model, &mut self.other])?;
        Ok(Some(JobUpdate::reported(ComparisonUpdate::Read(read))))
    }

    /// Frees the caches and the other model.
    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        self.comparison
            .close([&mut *context.model, &mut self.other]);
    }
}
