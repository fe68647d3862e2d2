//! How often the most likely token was taken, for each tenth of its probability.

use crate::analysis::futures::Share;
use crate::generation::{Generation, Step};
use crate::plots::scale::count;

/// The number of equal parts into which the probabilities from 0 to 1 are divided.
const N_BINS: usize = 10;

/// The calibration of each pane's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CalibrationData {
    pub(super) lines: Vec<CalibrationLine>,
}

/// The calibration of one text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CalibrationLine {
    /// The index of the pane, which determines its color.
    pub pane: usize,
    pub name: String,
    /// From unlikely to likely. Those without tokens are left out.
    pub bins: Vec<CalibrationBin>,
}

/// The tokens at which the most likely token had about the same probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CalibrationBin {
    /// The mean probability of the most likely token before the chain.
    pub mean_prob: f64,
    /// How often it was taken.
    pub taken: Share,
}

impl CalibrationData {
    /// Counts the tokens of these panes. Those picked by hand don't count.
    pub(super) fn of(panes: &[Option<&Generation>]) -> Self {
        let texts = panes.iter().enumerate();
        let lines = texts.filter_map(|(pane, text)| line_of(pane, (*text)?));
        Self {
            lines: lines.collect(),
        }
    }
}

impl CalibrationLine {
    /// Returns the number of tokens.
    pub(super) fn n_tokens(&self) -> usize {
        self.bins.iter().map(|bin| bin.taken.n).sum()
    }

    /// Returns the expected calibration error: the mean distance from the diagonal, weighted by the
    /// number of tokens (Guo et al. 2017, "On calibration of modern neural networks").
    pub(super) fn error(&self) -> f64 {
        let distances = self.bins.iter().map(|bin| {
            let distance = (bin.taken.value() - bin.mean_prob).abs();
            distance * bin.taken.n as f64
        });
        distances.sum::<f64>() / self.n_tokens().max(1) as f64
    }
}

fn line_of(pane: usize, text: &Generation) -> Option<CalibrationLine> {
    let mut sums = [(0.0, Share { n_with: 0, n: 0 }); N_BINS];
    for (prob, is_taken) in text.steps.iter().filter_map(prediction) {
        let index = count(prob * N_BINS as f64).min(N_BINS - 1);
        if let Some((sum, taken)) = sums.get_mut(index) {
            *sum += prob;
            taken.n += 1;
            taken.n_with += usize::from(is_taken);
        }
    }
    let filled = sums.into_iter().filter(|(_, taken)| taken.n > 0);
    let bins: Vec<CalibrationBin> = filled
        .map(|(sum, taken)| CalibrationBin {
            mean_prob: sum / taken.n as f64,
            taken,
        })
        .collect();
    (!bins.is_empty()).then(|| CalibrationLine {
        pane,
        name: format!("{}, {}", text.shown_name(), text.config.chain),
        bins,
    })
}

/// Returns the probability of the most likely token before the chain, and whether it was taken.
/// Returns `None` if the token was picked by hand, or if a server did not report its rank.
fn prediction(step: &Step) -> Option<(f64, bool)> {
    let trace = &step.trace;
    let rank = trace.known_rank().filter(|_| !trace.draw.is_by_hand())?;
    Some((trace.raw.head.first()?.prob, rank == 1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::CalibrationData;
    use crate::decoding::Picked;
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    /// Creates a text whose most likely token had these probabilities, and was taken or not.
    fn text(steps: &[(f64, bool)]) -> Generation {
        let mut text = generation(&vec![(" fox", 0.5); steps.len()]);
        for (step, (prob, is_taken)) in text.steps.iter_mut().zip(steps) {
            let trace = Arc::make_mut(&mut step.trace);
            trace.raw.head[0].prob = *prob;
            trace.raw_rank = if *is_taken { 1 } else { 2 };
        }
        text
    }

    #[test]
    fn tokens_are_grouped_by_the_probability_of_the_most_likely() {
        let text = text(&[
            (0.91, true),
            (0.95, true),
            (0.99, false),
            (0.31, false),
            (1.0, true),
        ]);
        let data = CalibrationData::of(&[None, Some(&text)]);
        assert_eq!(data.lines.len(), 1);
        let line = &data.lines[0];
        assert_eq!((line.pane, line.n_tokens()), (1, 5));
        let [unlikely, likely] = line.bins[..] else {
            panic!("{:?}", line.bins);
        };
        assert_eq!((unlikely.taken.n_with, unlikely.taken.n), (0, 1));
        assert_eq!((likely.taken.n_with, likely.taken.n), (3, 4));
        assert!((likely.mean_prob - 0.9625).abs() < 1e-9);
        // (0.31 × 1 + 0.2125 × 4) / 5.
        assert!((line.error() - 0.232).abs() < 1e-9, "{}", line.error());
    }

    #[test]
    fn a_token_picked_by_hand_does_not_count() {
        let mut text = text(&[(0.6, true), (0.6, false)]);
        let trace = Arc::make_mut(&mut text.steps[1].trace);
        trace.draw.picked = Picked::ByHand;
        let data = CalibrationData::of(&[Some(&text)]);
        assert_eq!(data.lines[0].n_tokens(), 1);
        text.steps.pop();
        let trace = Arc::make_mut(&mut text.steps[0].trace);
        trace.draw.picked = Picked::ByHand;
        assert!(CalibrationData::of(&[Some(&text)]).lines.is_empty());
    }
}
