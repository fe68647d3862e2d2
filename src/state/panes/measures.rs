//! The metrics of a pane's text, recomputed only when the text has changed.

use crate::analysis::{TextMetrics, Thought};
use crate::generation::Generation;
use crate::state::TextMark;

/// The metrics of a text, and the text that they belong to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Measures {
    mark: TextMark,
    n_steps: usize,
    /// `None` if there is no text.
    metrics: Option<TextMetrics>,
    /// The metrics of the text without its thought, if it has one.
    answer: Option<TextMetrics>,
}

impl Measures {
    /// Returns the metrics, or `None` if there is no text.
    pub(in crate::state) const fn metrics(&self) -> Option<&TextMetrics> {
        self.metrics.as_ref()
    }

    /// Returns the metrics of the text without its thought, or `None` if it has none.
    pub(in crate::state) const fn answer(&self) -> Option<&TextMetrics> {
        self.answer.as_ref()
    }

    /// Recomputes the metrics if the text has changed. While it grows, only each time it has grown
    /// by a sixteenth: computing them takes time proportional to its length.
    pub(in crate::state) fn update(&mut self, generation: Option<&Generation>, is_growing: bool) {
        let Some(generation) = generation else {
            *self = Self::default();
            return;
        };
        let n_steps = generation.steps.len();
        let n_more = if is_growing { self.n_steps / 16 } else { 0 };
        let is_current = self.mark.is_beginning_of(generation) && n_steps <= self.n_steps + n_more;
        if !is_current {
            *self = Self {
                mark: TextMark::of(generation, n_steps),
                n_steps,
                metrics: Some(TextMetrics::of(generation)),
                answer: Thought::of(generation).map(|_| TextMetrics::of_answer(generation)),
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
