//! Keeps up to date how far the texts agree, and what is said about each pane's settings: the
//! remarks on them, and what they would have changed in its text.

use std::sync::Arc;

use super::pane::Pane;
use crate::decoding::TokenId;
use crate::generation::{Generation, PromptRecord};
use crate::state::AppState;

impl AppState {
    /// Brings the agreement of the texts and the remarks on all panes' settings up to date, and
    /// counts on what these would have changed for as long as `may_go_on` says so. Gives whether
    /// all is counted.
    ///
    /// Call it before each frame: where nothing has changed, it does next to nothing.
    pub fn review(&mut self, mut may_go_on: impl FnMut() -> bool) -> bool {
        let n_vocab = self.model.ready().map(|model| model.info.n_vocab);
        self.comparison.follow(&self.panes);
        let mut counted = true;
        for pane in &mut self.panes {
            let Pane {
                settings,
                status,
                what_ifs,
                lints,
                ..
            } = pane;
            let chain = &settings.chain;
            lints.follow(status.generation(), chain, n_vocab);
            let seed = settings.seed.unwrap_or(self.seed);
            let is_to_be_replaced = status.running().is_some() && !status.is_writing();
            match status.generation() {
                Some(generation) if !is_to_be_replaced => {
                    counted &= what_ifs.follow(generation, (chain, seed), &mut may_go_on);
                }
                _ => what_ifs.clear(),
            }
        }
        counted
    }
}

/// Tells a text as far as it was looked at from every other text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct TextMark {
    prompt: Option<Arc<PromptRecord>>,
    n_steps: usize,
    /// The last step's token, and the moment at which it came.
    last: Option<(TokenId, u64)>,
}

impl TextMark {
    /// The mark of a text whose first `n_steps` were looked at.
    pub(in crate::state) fn of(generation: &Generation, n_steps: usize) -> Self {
        Self {
            prompt: Some(Arc::clone(&generation.prompt)),
            n_steps,
            last: last_of(generation, n_steps),
        }
    }

    /// Whether a text is the one that was looked at, or goes on from there.
    pub(in crate::state) fn is_beginning_of(&self, generation: &Generation) -> bool {
        let same = |prompt: &Arc<PromptRecord>| Arc::ptr_eq(prompt, &generation.prompt);
        self.prompt.as_ref().is_some_and(same)
            && self.n_steps <= generation.steps.len()
            && self.last == last_of(generation, self.n_steps)
    }
}

fn last_of(generation: &Generation, n_steps: usize) -> Option<(TokenId, u64)> {
    let step = generation.steps.get(n_steps.checked_sub(1)?)?;
    Some((step.token, step.time.at_secs.to_bits()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::TextMark;
    use crate::generation::testing::generation;

    #[test]
    fn a_text_is_told_from_others_and_known_again_when_it_has_grown() {
        let whole = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        let mut begun = whole.clone();
        begun.steps.truncate(2);
        let mark = TextMark::of(&begun, 2);
        assert!(mark.is_beginning_of(&begun));
        assert!(mark.is_beginning_of(&whole));
        assert!(!TextMark::of(&whole, 3).is_beginning_of(&begun));

        let mut other = whole.clone();
        other.steps[1].token = whole.steps[0].token;
        assert!(!mark.is_beginning_of(&other));
        let mut again = whole.clone();
        again.prompt = Arc::new((*whole.prompt).clone());
        assert!(!mark.is_beginning_of(&again));
        assert!(!TextMark::default().is_beginning_of(&whole));
    }
}
