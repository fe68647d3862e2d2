//! What the score shows, as numbers: heights between 0 and 1, and the words for their scale.

use crate::generation::{Generation, Step};
use crate::state::ScoreMeasure;
use crate::ui::plots::StepAt;
use crate::ui::plots::scale::{axis_tokens, grouped, round_up};
use crate::ui::words::percent;

/// One staff a pane, one bar a token.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreData<'a> {
    /// What the bars stand for.
    pub measure: ScoreMeasure,
    /// The staffs, from top to bottom; a pane that has written nothing has an empty one.
    pub lanes: Vec<ScoreLane<'a>>,
    /// The value that fills a staff, in the measure's unit.
    pub top: f64,
    /// How many tokens the axis reaches.
    pub n_axis: usize,
    /// The step that is pinned.
    pub pinned: Option<StepAt>,
    /// The step that is pointed at elsewhere.
    pub hovered: Option<StepAt>,
}

/// One pane's staff.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreLane<'a> {
    /// The pane, by its place among the panes.
    pub pane: usize,
    /// How it is called.
    pub name: &'a str,
    /// How it chooses, in one line; with its seed where the panes have several.
    pub settings: String,
    /// What it has written.
    pub steps: &'a [Step],
    /// Whether its text has ended.
    pub finished: bool,
}

/// A bar, in tokens along the axis and in shares of the staff.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoreBar {
    /// The middle; token 1 stands at 1.
    pub center: f64,
    /// How many tokens it stands for; the tallest of them gives its height.
    pub n_tokens: usize,
    /// Between 0 and 1.
    pub height: f64,
}

impl<'a> ScoreData<'a> {
    /// The score of these panes; one that has no generation yet keeps its staff.
    pub fn of(panes: &[Option<&'a Generation>], measure: ScoreMeasure) -> Self {
        let mut seeds = panes.iter().flatten().map(|text| text.config.seed);
        let seed = seeds.next();
        let is_one_seed = seeds.all(|other| Some(other) == seed);
        let lanes: Vec<ScoreLane<'a>> = panes
            .iter()
            .enumerate()
            .map(|(pane, generation)| ScoreLane::of(pane, *generation, is_one_seed))
            .collect();
        let steps = || lanes.iter().flat_map(|lane| lane.steps);
        let largest = steps().map(|step| measure.value(step)).fold(0.0, f64::max);
        let longest = lanes.iter().map(|lane| lane.steps.len()).max();
        Self {
            measure,
            top: top(measure, largest),
            n_axis: axis_tokens(longest.unwrap_or(0)),
            lanes,
            pinned: None,
            hovered: None,
        }
    }

    /// Whether no pane has written anything.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.steps.is_empty())
    }

    /// How high a step's bar is, between 0 and 1. Counts stand on a logarithmic scale, on which 1
    /// has no height.
    pub fn height(&self, step: &Step) -> f64 {
        let value = self.measure.value(step);
        let height = match self.measure {
            ScoreMeasure::Rank | ScoreMeasure::Kept => value.log10() / self.top.log10(),
            _ => value / self.top,
        };
        if height.is_finite() {
            height.clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// The bars of a lane for the tokens `first..last`, with `n_merged` neighbours in each.
    pub(super) fn bars(
        &self,
        lane: &ScoreLane<'_>,
        visible: std::ops::Range<usize>,
        n_merged: usize,
    ) -> impl Iterator<Item = ScoreBar> {
        let n_merged = n_merged.max(1);
        // Whole groups, so that the bars keep their tokens while the axis is dragged.
        let first = visible.start / n_merged * n_merged;
        let last = visible.end.min(lane.steps.len());
        let steps = lane.steps.get(first..last.max(first)).unwrap_or_default();
        (0..)
            .zip(steps.chunks(n_merged))
            .map(move |(group, steps)| {
                let heights = steps.iter().map(|step| self.height(step));
                let start = first + group * n_merged;
                ScoreBar {
                    center: start as f64 + f64::midpoint(1.0, steps.len() as f64),
                    n_tokens: steps.len(),
                    height: heights.fold(0.0, f64::max),
                }
            })
    }

    /// The tallest of the steps that share a bar with this one, the first of equals. Nothing where the
    /// lane has no such step.
    pub(super) fn tallest(
        &self,
        lane: &ScoreLane<'_>,
        step: usize,
        n_merged: usize,
    ) -> Option<usize> {
        lane.steps.get(step)?;
        let first = step / n_merged.max(1) * n_merged.max(1);
        let sharing = lane.steps.iter().enumerate().skip(first);
        let taller = |(best, height): (usize, f64), (index, step): (usize, &Step)| {
            let other = self.height(step);
            if other > height {
                (index, other)
            } else {
                (best, height)
            }
        };
        let (tallest, _) = sharing
            .take(n_merged.max(1))
            .fold((first, f64::NEG_INFINITY), taller);
        Some(tallest)
    }

    /// What the bars stand for and how high a staff is, in a long and in a short form.
    pub(super) fn subtitles(&self) -> [String; 2] {
        let top = self.top_label();
        let (long, short) = match self.measure {
            ScoreMeasure::Surprise => (
                "surprise of each token before the settings",
                "surprise before the settings, in bits",
            ),
            ScoreMeasure::Probability => (
                "probability of each token before the settings",
                "probability before the settings",
            ),
            ScoreMeasure::Entropy => (
                "entropy of the model before the settings",
                "entropy before the settings, in bits",
            ),
            ScoreMeasure::Rank => (
                "rank of each token before the settings, logarithmic",
                "rank before the settings, logarithmic",
            ),
            ScoreMeasure::Kept => (
                "tokens kept at each draw, logarithmic",
                "tokens kept, logarithmic",
            ),
        };
        [format!("{long}, staff height {top}"), short.to_owned()]
    }

    /// The value that fills a staff, with its unit.
    pub(super) fn top_label(&self) -> String {
        self.value_label(self.top)
    }

    /// The value at the foot of a staff.
    pub(super) const fn bottom_label(&self) -> &'static str {
        match self.measure {
            ScoreMeasure::Rank | ScoreMeasure::Kept => "1",
            _ => "0",
        }
    }

    /// A value of the measure, with its unit.
    pub(super) fn value_label(&self, value: f64) -> String {
        match self.measure {
            ScoreMeasure::Surprise | ScoreMeasure::Entropy => {
                let digits = usize::from(value.fract().abs() > 0.005) * 2;
                format!("{value:.digits$} bits")
            }
            ScoreMeasure::Probability => percent(value),
            ScoreMeasure::Rank | ScoreMeasure::Kept => grouped(value),
        }
    }

    /// The step that is named, where there is one.
    pub(super) fn step(&self, at: StepAt) -> Option<&'a Step> {
        let lane = self.lanes.iter().find(|lane| lane.pane == at.pane)?;
        lane.steps.get(at.step)
    }
}

impl<'a> ScoreLane<'a> {
    fn of(pane: usize, generation: Option<&'a Generation>, is_one_seed: bool) -> Self {
        let settings = generation.map(|generation| {
            let config = &generation.config;
            if is_one_seed {
                config.chain.to_string()
            } else {
                format!("{}, seed {}", config.chain, config.seed)
            }
        });
        Self {
            pane,
            name: generation.map_or("", |generation| generation.name.as_str()),
            settings: settings.unwrap_or_default(),
            steps: generation.map_or(&[], |generation| generation.steps.as_slice()),
            finished: generation.is_some_and(|generation| generation.finish.is_some()),
        }
    }
}

/// The value that fills a staff, so that nothing stands out of it.
fn top(measure: ScoreMeasure, largest: f64) -> f64 {
    match measure {
        // A lower staff would make small surprises of a sure text look large.
        ScoreMeasure::Surprise | ScoreMeasure::Entropy => round_up(largest.max(3.0)),
        ScoreMeasure::Probability => 1.0,
        ScoreMeasure::Rank | ScoreMeasure::Kept => 10_f64.powf(largest.log10().ceil().max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::testing::generation;

    fn probs(probs: &[f64]) -> Generation {
        let pieces: Vec<(&str, f64)> = probs.iter().map(|prob| (" fox", *prob)).collect();
        let mut generation = generation(&pieces);
        for (step, prob) in generation.steps.iter_mut().zip(probs) {
            step.trace.raw_prob = *prob;
        }
        generation
    }

    #[test]
    fn heights_are_shares_of_the_staff() {
        let written = probs(&[0.5, 0.25, 0.125, 1.0 / 64.0]);
        let cases = [
            (
                ScoreMeasure::Surprise,
                "7 bits",
                [1.0 / 7.0, 2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0],
            ),
            (
                ScoreMeasure::Probability,
                "100 %",
                [0.5, 0.25, 0.125, 1.0 / 64.0],
            ),
        ];
        for (measure, top, heights) in cases {
            let data = ScoreData::of(&[Some(&written)], measure);
            assert_eq!(data.top_label(), top);
            for (step, height) in written.steps.iter().zip(heights) {
                assert!((data.height(step) - height).abs() < 1e-3, "{measure:?}");
            }
        }
    }

    #[test]
    fn counts_stand_on_a_logarithmic_staff() {
        let mut written = probs(&[0.5; 4]);
        for (step, rank) in written.steps.iter_mut().zip([1, 10, 100, 1000]) {
            step.trace.raw_rank = rank;
        }
        let data = ScoreData::of(&[Some(&written)], ScoreMeasure::Rank);
        assert_eq!(data.top_label(), "1,000");
        assert_eq!(data.bottom_label(), "1");
        let heights: Vec<f64> = written.steps.iter().map(|step| data.height(step)).collect();
        for (height, third) in heights.iter().zip([0.0, 1.0, 2.0, 3.0]) {
            assert!((height - third / 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_token_that_was_impossible_fills_its_staff() {
        let mut written = probs(&[0.5]);
        written.steps[0].trace.raw_prob = 0.0;
        let data = ScoreData::of(&[Some(&written)], ScoreMeasure::Surprise);
        assert!(data.top.is_finite());
        assert!((data.height(&written.steps[0]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn neighbours_merge_into_the_tallest_of_them() {
        let written = probs(&[0.5, 0.1, 0.5, 0.9, 0.2]);
        let data = ScoreData::of(&[Some(&written)], ScoreMeasure::Probability);
        let bars = |visible, n_merged| -> Vec<(f64, usize, f64)> {
            data.bars(&data.lanes[0], visible, n_merged)
                .map(|bar| (bar.center, bar.n_tokens, (bar.height * 1e3).round() / 1e3))
                .collect()
        };
        assert_eq!(bars(0..5, 2), [(1.5, 2, 0.5), (3.5, 2, 0.9), (5.0, 1, 0.2)]);
        assert_eq!(bars(3..5, 2), [(3.5, 2, 0.9), (5.0, 1, 0.2)]);
        assert_eq!(bars(1..3, 1), [(2.0, 1, 0.1), (3.0, 1, 0.5)]);
        assert_eq!(bars(7..9, 1), []);
        let tallest = |step, n_merged| data.tallest(&data.lanes[0], step, n_merged);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|step| tallest(step, 2)),
            [0, 0, 3, 3, 4].map(Some)
        );
        assert_eq!((tallest(1, 1), tallest(5, 2)), (Some(1), None));
    }

    #[test]
    fn a_pane_without_a_text_keeps_its_staff() {
        let written = probs(&[0.5]);
        let data = ScoreData::of(&[None, Some(&written)], ScoreMeasure::Surprise);
        assert_eq!(data.lanes.len(), 2);
        assert!(!data.is_empty());
        assert_eq!(data.step(StepAt { pane: 0, step: 0 }), None);
        assert!(data.step(StepAt { pane: 1, step: 0 }).is_some());
        assert!(ScoreData::of(&[None, None], ScoreMeasure::Surprise).is_empty());
    }
}
