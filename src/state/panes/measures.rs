//! The metrics of a pane's text, recomputed only when the text has changed.

use crate::analysis::TextMetrics;
use crate::generation::Generation;
use crate::state::TextMark;

/// The metrics of a text, and the text that they belong to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Measures {
    mark: TextMark,
    n_steps: usize,
    counts_thinking: bool,
    /// `None` if there is no text.
    metrics: Option<TextMetrics>,
}

impl Measures {
    /// Returns the metrics, or `None` if there is no text.
    pub(in crate::state) const fn metrics(&self) -> Option<&TextMetrics> {
        self.metrics.as_ref()
    }

    /// Recomputes the metrics if the text has changed. While it grows, only each time it has grown
    /// by a sixteenth: computing them takes time proportional to its length. They leave the text's
    /// thought out unless that counts.
    pub(in crate::state) fn update(
        &mut self,
        generation: Option<&Generation>,
        is_growing: bool,
        counts_thinking: bool,
    ) {
        let Some(generation) = generation else {
            *self = Self::default();
            return;
        };
        let n_steps = generation.steps.len();
        let n_more = if is_growing { self.n_steps / 16 } else { 0 };
        let is_current = self.mark.is_beginning_of(generation)
            && n_steps <= self.n_steps + n_more
            && counts_thinking == self.counts_thinking;
        if !is_current {
            *self = Self {
                mark: TextMark::of(generation, n_steps),
                n_steps,
                counts_thinking,
                metrics: Some(if counts_thinking {
                    TextMetrics::of(generation)
                } else {
                    TextMetrics::of_answer(generation)
                }),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::state::Command;
    use crate::state::tests::{asked, ready, write};

    #[test]
    fn the_metrics_follow_the_text() {
        let mut state = ready();
        let n_tokens = |state: &crate::state::AppState| {
            let metrics = state.panes[0].text_metrics();
            metrics.map(|metrics| metrics.n_tokens)
        };
        state.review(|| true);
        assert_eq!(n_tokens(&state), None);
        let pane = state.panes[0].id;
        for pieces in [&[(" in", 0.6), (" a", 0.9)][..], &[(" house", 0.4)]] {
            let ids = asked(&state.apply(Command::Generate(pane)));
            write(&mut state, ids[0], pieces);
            state.review(|| true);
            assert_eq!(n_tokens(&state), Some(pieces.len()));
        }
    }
}
