//! What-if: which tokens of a pane's text its current settings would have changed, evaluated once
//! per change of the settings.

use crate::analysis::{WhatIfReader, WhatIfVerdict};
use crate::decoding::{ChainConfig, Selector, Stage, WhatIf};
use crate::generation::{Generation, Step};
use crate::state::TextMark;

/// The token that other settings would have picked at one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WhatIfToken {
    /// The token, or `None` if the step has no recorded evidence.
    pub outcome: Option<WhatIf>,
    /// The lower and upper bound of its probability under the other chain; `None` if unknown.
    pub prob: Option<[f64; 2]>,
    /// The selector of the other chain.
    pub selector: Selector,
}

/// What other settings would have changed in one text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhatIfs {
    /// Replays the other settings; `None` if they equal those that generated the text.
    reader: Option<WhatIfReader>,
    /// Marks the text up to the last evaluated step.
    mark: TextMark,
    /// One entry per evaluated step.
    verdicts: Vec<WhatIfVerdict>,
    /// The number of steps of the text; evaluation is complete when `verdicts` is as long.
    n_steps: usize,
    n_changed: usize,
    n_unsure: usize,
    /// Whether the text was given, so that a changed token is one that the settings would cut.
    is_given: bool,
    first_changed: Option<usize>,
    first_unsure: Option<usize>,
}

/// The result in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIfSummary {
    /// How many tokens would change: "What if: 4 of 187 would change".
    pub count: String,
    /// Where the first one is: "first at 6".
    pub first: Option<String>,
    /// What this means, and how reliable it is.
    pub explanation: String,
}

impl WhatIfs {
    /// Returns whether a step's token would change, or `None` if it has not been evaluated.
    pub fn verdict(&self, step: usize) -> Option<WhatIfVerdict> {
        self.verdicts.get(step).copied()
    }

    /// Returns the first step known to change.
    pub const fn first_changed(&self) -> Option<usize> {
        self.first_changed
    }

    /// Returns whether the settings differ from those that generated the text.
    pub(in crate::state) const fn is_active(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns the token that would have been picked at a step, or `None` if the step has not been
    /// evaluated.
    pub fn what_if_token(&self, generation: &Generation, index: usize) -> Option<WhatIfToken> {
        let reader = self.reader.as_ref()?;
        let step = generation.steps.get(index)?;
        self.verdict(index)?;
        let outcome = reader.outcome(index, step);
        let token = match outcome {
            Some(WhatIf::Exact(token) | WhatIf::Bounded(token)) => Some(token),
            Some(WhatIf::Unrecorded) | None => None,
        };
        Some(WhatIfToken {
            outcome,
            prob: token.and_then(|token| reader.prob(index, step, token)),
            selector: reader.chain().selector,
        })
    }

    /// Forgets the results.
    pub(in crate::state) fn clear(&mut self) {
        if self.is_active() {
            *self = Self::default();
        }
    }

    /// Evaluates further steps while `has_time` returns true. Starts over if the settings or the
    /// text have changed. Returns whether all steps are evaluated.
    pub fn update(
        &mut self,
        generation: &Generation,
        chain: &ChainConfig,
        seed: u64,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        let config = &generation.config;
        let same_picks = config.seed == seed && are_equivalent(&config.chain, chain);
        if same_picks || chain.validate().is_err() {
            self.clear();
            return true;
        }
        let same_settings =
            |reader: &WhatIfReader| reader.chain() == chain && reader.seed() == seed;
        let same_text = self.mark.is_beginning_of(generation);
        if !same_text || !self.reader.as_ref().is_some_and(same_settings) {
            *self = Self {
                reader: Some(WhatIfReader::new(&generation.prompt, chain.clone(), seed)),
                ..Self::default()
            };
        }
        self.n_steps = generation.steps.len();
        for step in generation.steps.iter().skip(self.verdicts.len()) {
            if !has_time() {
                break;
            }
            self.evaluate(step);
        }
        self.mark = TextMark::of(generation, self.verdicts.len());
        self.is_complete()
    }

    const fn is_complete(&self) -> bool {
        self.verdicts.len() >= self.n_steps
    }

    fn evaluate(&mut self, step: &Step) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        let outcome = reader.read(step);
        self.is_given |= step.trace.draw.is_given();
        let index = self.verdicts.len();
        let verdict = if step.trace.draw.is_given() {
            given_verdict(reader.prob(index, step, step.token))
        } else {
            WhatIfVerdict::of(step, outcome)
        };
        let index = Some(index);
        match verdict {
            WhatIfVerdict::Same => {}
            WhatIfVerdict::Changed => {
                self.n_changed += 1;
                self.first_changed = self.first_changed.or(index);
            }
            WhatIfVerdict::Unsure | WhatIfVerdict::LikelyChanged => {
                self.n_unsure += 1;
                self.first_unsure = self.first_unsure.or(index);
            }
        }
        self.verdicts.push(verdict);
    }

    /// Returns the result in words, or `None` if there is no text or nothing to compare.
    pub fn words(&self) -> Option<WhatIfSummary> {
        let selector = self.reader.as_ref()?.chain().selector;
        (self.n_steps > 0).then(|| WhatIfSummary {
            count: format!("What if: {}", self.count_words()),
            first: self.first_words().filter(|_| self.is_complete()),
            explanation: self.explanation(selector),
        })
    }

    fn count_words(&self) -> String {
        let n = self.n_steps;
        let max_changed = self.n_changed + self.n_unsure;
        match (self.n_changed, self.n_unsure) {
            _ if !self.is_complete() => "evaluating…".to_owned(),
            _ if self.is_given => self.cut_words(),
            (0, 0) => "nothing would change".to_owned(),
            (0, unsure) if unsure == n => "unknown".to_owned(),
            (0, _) => format!("at most {max_changed} of {n} would change"),
            (changed, 0) => format!("{changed} of {n} would change"),
            (changed, _) => format!("{changed} to {max_changed} of {n} would change"),
        }
    }

    fn cut_words(&self) -> String {
        let n = self.n_steps;
        match (self.n_changed, self.n_unsure) {
            (0, 0) => "no token is cut".to_owned(),
            (cut, 0) => format!("{cut} of {n} cut"),
            (cut, unsure) => format!("{cut} to {} of {n} cut", cut + unsure),
        }
    }

    fn first_words(&self) -> Option<String> {
        let first = self.first_changed?;
        let is_certain = self.first_unsure.is_none_or(|unsure| unsure > first);
        let word = if is_certain { "at" } else { "by" };
        Some(format!("first {word} {}", first + 1))
    }

    fn explanation(&self, selector: Selector) -> String {
        let meaning = if self.is_given {
            "Which tokens of the given text these settings could not have written, given the same \
             text before each."
        } else {
            "What these settings would have picked at each step, given the same text before it. \
             After the first change, a new run would continue differently."
        };
        let mut sentences = vec![meaning.to_owned()];
        if selector.is_adaptive() {
            sentences.push(format!(
                "{} adapts to the tokens it picks, and this comparison does not rerun it, so no \
                 answer is certain.",
                selector.name()
            ));
        } else if self.n_unsure > 0 {
            let unknown = match self.n_unsure {
                1 => "1 token is unknown".to_owned(),
                n => format!("{n} tokens are unknown"),
            };
            sentences.push(format!(
                "{unknown}: the record holds only the most likely tokens of each step, and the \
                 total probability of the rest."
            ));
        }
        sentences.join("\n")
    }
}

/// Returns whether the settings would cut a given token, judging by the bounds of its probability.
const fn given_verdict(prob: Option<[f64; 2]>) -> WhatIfVerdict {
    match prob {
        Some([_, most]) if most <= 0.0 => WhatIfVerdict::Changed,
        Some([least, _]) if least > 0.0 => WhatIfVerdict::Same,
        Some(_) | None => WhatIfVerdict::Unsure,
    }
}

/// Returns whether two chains always pick the same token: they differ at most in stages without
/// effect. A stage that acts at random consumes a coin even if it changes nothing.
fn are_equivalent(a: &ChainConfig, b: &ChainConfig) -> bool {
    let has_effect = |stage: &&Stage| {
        let filter = &stage.filter;
        stage.enabled && (!filter.is_neutral() || filter.is_random())
    };
    let [filters_a, filters_b] = [a, b].map(|chain| {
        let stages = chain.stages.iter().filter(has_effect);
        stages.map(|stage| &stage.filter)
    });
    a.selector == b.selector && a.rules == b.rules && filters_a.eq(filters_b)
}
