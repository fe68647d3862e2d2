//! Replays a recorded text under other settings, without running the model.

use super::grammar::Drawable;
use crate::decoding::{ChainConfig, Coins, Draw, History, Picked, TokenId, WhatIf, what_if_prob};
use crate::generation::hosts::STEPS;
use crate::generation::{PromptRecord, Step};

/// Whether other settings would have changed a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhatIfVerdict {
    /// They would have picked the same token.
    Same,
    /// They would have picked another token.
    Changed,
    /// Unknown, but most likely the same token.
    Unsure,
    /// Unknown, but most likely another token.
    LikelyChanged,
}

impl WhatIfVerdict {
    /// Compares a step's token with the one that other settings would have picked; `None` if that is
    /// unknown.
    pub fn of(step: &Step, outcome: Option<WhatIf>) -> Self {
        if step.trace.draw.is_by_hand() {
            // The user picked it, whatever the settings are.
            return Self::Same;
        }
        match outcome {
            Some(WhatIf::Exact(token)) if token == step.token => Self::Same,
            Some(WhatIf::Exact(_)) => Self::Changed,
            Some(WhatIf::Unrecorded) if step.trace.raw.knows(step.token) => Self::Changed,
            Some(WhatIf::Bounded(token)) if token != step.token => Self::LikelyChanged,
            Some(WhatIf::Bounded(_) | WhatIf::Unrecorded) | None => Self::Unsure,
        }
    }
}

/// For each step of a text, finds the token that another chain and seed would have sampled after
/// the same preceding tokens. Steps are fed one by one, so a growing text can be followed.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfReader {
    chain: ChainConfig,
    seed: u64,
    n_prompt: usize,
    /// The prompt's tokens, followed by those of the steps read so far.
    tokens: Vec<TokenId>,
}

impl WhatIfReader {
    /// Creates a reader for a text that continues this prompt.
    pub fn new(prompt: &PromptRecord, chain: ChainConfig, seed: u64) -> Self {
        Self {
            chain,
            seed,
            n_prompt: prompt.tokens.len(),
            tokens: prompt.tokens.clone(),
        }
    }

    /// Returns the hypothetical chain.
    pub const fn chain(&self) -> &ChainConfig {
        &self.chain
    }

    /// Returns the hypothetical seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of steps read so far.
    pub const fn n_read(&self) -> usize {
        self.tokens.len() - self.n_prompt
    }

    /// Reads the next step and returns its outcome, or `None` if the step has no evidence.
    pub fn read(&mut self, step: &Step) -> Option<WhatIf> {
        let outcome = self.outcome(self.n_read(), step);
        self.tokens.push(step.token);
        outcome
    }

    /// Recomputes the outcome of a step that was already read.
    pub fn outcome(&self, index: usize, step: &Step) -> Option<WhatIf> {
        let (history, coins) = self.before(index)?;
        let draw = &step.trace.draw;
        if !can_redraw(draw, &self.chain) {
            return None;
        }
        if draw.picked != Picked::ByChain {
            // A token that the user picked or supplied stays, whatever the settings.
            return Some(WhatIf::Exact(step.token));
        }
        Drawable::of(&step.trace, &self.chain)?.what_if(&self.chain, history, coins)
    }

    /// Returns lower and upper bounds on the probability that a token would have had at a step that
    /// was already read, or `None` if the record does not determine them.
    pub fn prob(&self, index: usize, step: &Step, token: TokenId) -> Option<[f64; 2]> {
        let (history, coins) = self.before(index)?;
        let evidence = match Drawable::of(&step.trace, &self.chain)? {
            Drawable::Checked(..) => return None,
            drawable => drawable.evidence(),
        };
        what_if_prob(evidence, &self.chain, history, coins, token)
    }

    /// Returns whether a step that was already read would certainly have a different token.
    pub fn rules_out(&self, index: usize, step: &Step) -> bool {
        let drawable = Drawable::of(&step.trace, &self.chain);
        let by_chain = step.trace.draw.picked == Picked::ByChain;
        by_chain
            && can_redraw(&step.trace.draw, &self.chain)
            && drawable
                .zip(self.before(index))
                .is_some_and(|(drawable, (history, coins))| {
                    drawable.rules_out(&self.chain, history, coins, step.token)
                })
    }

    fn before(&self, index: usize) -> Option<(History<'_>, Coins)> {
        let position = self.n_prompt + index;
        let tokens = self.tokens.get(..position)?;
        let coins = Coins {
            seed: self.seed,
            position: position as u64,
        };
        Some((History::new(tokens, self.n_prompt), coins))
    }
}

/// Returns whether a step and its coin determine what a chain would have picked. A beam search
/// depends on texts that are not this one, and speculative sampling on probabilities of the draft
/// that are not recorded.
pub fn can_redraw(draw: &Draw, chain: &ChainConfig) -> bool {
    STEPS.runs(chain) && !draw.is_by_beams() && !draw.is_by_ratio()
}

#[cfg(test)]
mod tests {
    use super::WhatIfReader;
    use crate::decoding::{ChainConfig, Coins, SamplerChain, WhatIf};
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    /// The outcome of each step under another chain and seed.
    fn what_if_steps(
        generation: &Generation,
        chain: &ChainConfig,
        seed: u64,
    ) -> Vec<Option<WhatIf>> {
        let mut reader = WhatIfReader::new(&generation.prompt, chain.clone(), seed);
        let steps = generation.steps.iter();
        steps.map(|step| reader.read(step)).collect()
    }

    #[test]
    fn greedy_would_have_taken_the_most_likely_token_at_every_step() {
        let generation = generation(&[(" fox", 0.9), (" house", 0.1), (" little", 0.6)]);
        let outcomes = what_if_steps(&generation, &ChainConfig::greedy(), 1);
        let expected: Vec<_> = generation
            .steps
            .iter()
            .map(|step| Some(WhatIf::Exact(step.trace.raw.head[0].token)))
            .collect();
        assert_eq!(outcomes, expected);
    }

    #[test]
    fn each_step_uses_the_coin_of_its_position() {
        let generation = generation(&[(" fox", 0.4), (" house", 0.1), (" little", 0.3)]);
        let chain = ChainConfig::sampled([]);
        let mut reader = WhatIfReader::new(&generation.prompt, chain.clone(), 9);
        for ((index, step), position) in generation.steps.iter().enumerate().zip(3..) {
            let outcome = reader.read(step);
            let mut logits = vec![f32::NEG_INFINITY; generation.vocabulary.n_tokens()];
            for candidate in &step.trace.raw.head {
                logits[candidate.token.index()] = candidate.logit;
            }
            let history = crate::decoding::History::empty();
            let sampled = SamplerChain::new(chain.clone())
                .sample(&logits, history, Coins { seed: 9, position })
                .unwrap();
            assert_eq!(outcome, Some(WhatIf::Exact(sampled.token)));
            let [least, most] = reader.prob(index, step, sampled.token).unwrap();
            let prob = sampled.trace.draw.prob;
            assert!((least - prob).abs() < 1e-6 && (most - prob).abs() < 1e-6);
        }
    }

    #[test]
    fn reading_a_growing_text_equals_reading_it_in_full() {
        let words = [" fox", " house", " fox", " little", " fox", " a"];
        let generation = generation(&words.map(|word| (word, 0.3)));
        let settings = "repeat 1.5 last all, temp 0.9, top-p 0.8";
        let chain = settings.parse::<crate::generation::PaneSettings>();
        let chain = chain.unwrap().chain;
        let mut reader = WhatIfReader::new(&generation.prompt, chain.clone(), 5);
        let read: Vec<_> = generation
            .steps
            .iter()
            .map(|step| reader.read(step))
            .collect();
        assert_eq!(read, what_if_steps(&generation, &chain, 5));
        assert_eq!(reader.n_read(), words.len());
        for (index, step) in generation.steps.iter().enumerate() {
            assert_eq!(reader.outcome(index, step), read[index]);
        }
    }
}
