//! Brings everything derived from the panes up to date before a frame: divergence, lints,
//! metrics, what-if, comparisons and the smallest change.

use std::sync::Arc;

use super::pane::Pane;
use crate::decoding::TokenId;
use crate::generation::{Generation, PromptRecord};
use crate::state::AppState;

impl AppState {
    /// Updates the divergence, all lints and metrics. Evaluates what-ifs, comparisons and the
    /// smallest change while `has_time` returns true, and returns whether these are complete.
    ///
    /// Call it before each frame. It is cheap if nothing has changed.
    pub fn review(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        let sizes = self.panes.iter().map(|pane| {
            let model = self.model_of(pane);
            model.map(|model| model.info.n_vocab)
        });
        let sizes: Vec<Option<usize>> = sizes.collect();
        self.comparison.update(&self.panes);
        let looked_for = self.watermark().filter(|_| self.shows_watermark());
        let mut complete = true;
        // The grammar of the first text that has one.
        let mut texts = self.panes.iter().filter_map(Pane::generation);
        let shared_rule = texts.find_map(|text| text.config.chain.grammar.clone());
        for (pane, n_vocab) in self.panes.iter_mut().zip(sizes) {
            let Pane {
                settings,
                status,
                what_ifs,
                lints,
                measures,
                grammar_break,
                watermark,
                ..
            } = pane;
            let chain = &settings.chain;
            lints.update(status.generation(), chain, n_vocab);
            measures.update(status.generation(), status.is_writing());
            watermark.update(looked_for, status.generation());
            let own = status
                .generation()
                .and_then(|text| text.config.chain.grammar.as_ref());
            grammar_break.update(own.or(shared_rule.as_ref()), status.generation());
            let seed = settings.seed.unwrap_or(self.seed);
            let will_be_replaced = status.running().is_some() && !status.is_writing();
            match status.generation() {
                Some(generation) if !will_be_replaced => {
                    complete &= what_ifs.update(generation, chain, seed, &mut has_time);
                }
                _ => what_ifs.clear(),
            }
        }
        complete &= self.update_pairs(&mut has_time);
        self.update_branch_tree();
        complete &= self.continue_step_draws();
        self.update_why(&mut has_time) && complete
    }
}

/// Identifies a text up to some step, to recognize it in a later frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct TextMark {
    /// `None` matches no text.
    prompt: Option<Arc<PromptRecord>>,
    n_steps: usize,
    last: Option<StepMark>,
}

/// Identifies a step: no two generations have the same token at the same moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StepMark {
    token: TokenId,
    at_secs_bits: u64,
}

impl TextMark {
    /// Marks a text up to its first `n_steps` steps.
    pub(in crate::state) fn of(generation: &Generation, n_steps: usize) -> Self {
        Self {
            prompt: Some(Arc::clone(&generation.prompt)),
            n_steps,
            last: last_step(generation, n_steps),
        }
    }

    /// Returns whether a text is the marked one or a continuation of it.
    pub(in crate::state) fn is_beginning_of(&self, generation: &Generation) -> bool {
        let same = |prompt: &Arc<PromptRecord>| Arc::ptr_eq(prompt, &generation.prompt);
        self.prompt.as_ref().is_some_and(same)
            && self.n_steps <= generation.steps.len()
            && self.last == last_step(generation, self.n_steps)
    }

    /// Returns whether a text is the marked one and has not grown.
    pub(in crate::state) fn is_all_of(&self, generation: &Generation) -> bool {
        self.n_steps == generation.steps.len() && self.is_beginning_of(generation)
    }
}

fn last_step(generation: &Generation, n_steps: usize) -> Option<StepMark> {
    let step = generation.steps.get(n_steps.checked_sub(1)?)?;
    Some(StepMark {
        token: step.token,
        at_secs_bits: step.time.at_secs.to_bits(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::TextMark;
    use crate::generation::testing::generation;

    #[test]
    fn a_text_is_recognized_after_it_has_grown_and_distinguished_from_others() {
        let full = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        let mut partial = full.clone();
        partial.steps.truncate(2);
        let mark = TextMark::of(&partial, 2);
        assert!(mark.is_beginning_of(&partial));
        assert!(mark.is_beginning_of(&full));
        assert!(mark.is_all_of(&partial) && !mark.is_all_of(&full));
        assert!(!TextMark::of(&full, 3).is_beginning_of(&partial));

        let mut other = full.clone();
        other.steps[1].token = full.steps[0].token;
        assert!(!mark.is_beginning_of(&other));
        let mut again = full.clone();
        again.prompt = Arc::new((*full.prompt).clone());
        assert!(!mark.is_beginning_of(&again));
        assert!(!TextMark::default().is_beginning_of(&full));
    }
}
