//! The data of the score: bar heights between 0 and 1, and labels for their scale.

use std::ops::Range;
use std::sync::Arc;

use super::values::ScoreValues;
use crate::generation::formatting::percent;
use crate::generation::{Generation, Step};
use crate::plots::StepAt;
use crate::plots::scale::{axis_tokens, grouped, round_up};
use crate::state::{ScoreCap, ScoreMeasure};

/// One staff per pane, one bar per token.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreData<'a> {
    /// What the bars show.
    pub measure: ScoreMeasure,
    /// The staves, from top to bottom. A pane without text has an empty one.
    pub lanes: Vec<ScoreLane<'a>>,
    /// The value of a bar as high as its staff, in the measure's unit.
    pub top: f64,
    /// The largest value of any bar.
    largest: f64,
    /// The length of the token axis.
    pub n_axis: usize,
    /// Whether all panes share one plot, with a line each, instead of a staff each.
    pub in_one: bool,
    pub pinned: Option<StepAt>,
    /// The step hovered elsewhere in the window.
    pub hovered: Option<StepAt>,
}

/// One pane's staff.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreLane<'a> {
    /// The pane's index.
    pub pane: usize,
    /// The pane's name.
    pub name: &'a str,
    /// Its sampler chain in one line, with the seed if the panes use different seeds.
    pub settings: String,
    /// `None` if it has no text.
    pub text: Option<&'a Generation>,
    /// The values of the measure, one for each step.
    pub values: Arc<ScoreValues>,
    /// Whether its generation has finished.
    pub finished: bool,
    /// The indices of the steps at which the turns after the first begin, if the text has several.
    pub turns: Vec<usize>,
}

/// A bar. Horizontal values are in tokens, the height is a share of the staff.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoreBar {
    /// The bar's middle; the first token is at 1.
    pub center: f64,
    /// How many tokens share the bar; the highest determines its height.
    pub n_tokens: usize,
    /// From 0 to 1.
    pub height: f64,
    /// Whether its value lies above the staff.
    pub clipped: bool,
}

impl<'a> ScoreData<'a> {
    /// Computes the score of these panes with the default cap.
    pub fn of(panes: &[Option<&'a Generation>], measure: ScoreMeasure) -> Self {
        Self::capped(panes, measure, ScoreCap::default())
    }

    /// Computes the score of these panes. A pane without a generation keeps its staff.
    pub fn capped(panes: &[Option<&'a Generation>], measure: ScoreMeasure, cap: ScoreCap) -> Self {
        let values = |text: &Generation| Arc::new(ScoreValues::of(text, measure));
        Self::with_values(panes, measure, cap, values)
    }

    /// Does the same with the values that `values` returns for a text.
    pub fn with_values(
        panes: &[Option<&'a Generation>],
        measure: ScoreMeasure,
        cap: ScoreCap,
        values: impl Fn(&Generation) -> Arc<ScoreValues>,
    ) -> Self {
        let mut seeds = panes.iter().flatten().map(|text| text.config.seed);
        let seed = seeds.next();
        let is_one_seed = seeds.all(|other| Some(other) == seed);
        let lanes: Vec<ScoreLane<'a>> = panes
            .iter()
            .enumerate()
            .map(|(pane, generation)| {
                let values = generation.map(&values).unwrap_or_default();
                ScoreLane::of(pane, *generation, values, is_one_seed)
            })
            .collect();
        let largest = lanes
            .iter()
            .map(|lane| lane.values.largest()[0])
            .fold(0.0, f64::max);
        let longest = lanes.iter().map(ScoreLane::n_steps).max().unwrap_or(0);
        let generating = lanes
            .iter()
            .any(|lane| lane.n_steps() > 0 && !lane.finished);
        Self {
            measure,
            top: top(measure, largest, cap),
            largest,
            // The axis holds still while texts grow, and ends with the longest finished one.
            n_axis: if generating || longest == 0 {
                axis_tokens(longest)
            } else {
                longest
            },
            lanes,
            in_one: false,
            pinned: None,
            hovered: None,
        }
    }

    /// Returns whether no pane has generated a token.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.n_steps() == 0)
    }

    /// Returns the height of the bar of a value, between 0 and 1. Counts use a logarithmic scale, on
    /// which a count of 1 has no height. Nor has a value that a server did not report.
    pub(super) fn height(&self, value: Option<f64>) -> f64 {
        let Some(value) = value else {
            return 0.0;
        };
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

    /// Returns a lane's bars for the `visible` tokens, each of which merges `n_merged` neighbors.
    pub(super) fn bars(
        &self,
        lane: &ScoreLane<'_>,
        visible: Range<usize>,
        n_merged: usize,
    ) -> Vec<ScoreBar> {
        let n_merged = n_merged.max(1);
        // Start at a group boundary, so that bars keep their tokens while the axis is dragged.
        let first = visible.start / n_merged * n_merged;
        let last = visible.end.min(lane.n_steps());
        let values = lane.values.list().get(first..last.max(first));
        let values = values.unwrap_or_default();
        let bars = (0..).zip(values.chunks(n_merged)).map(|(group, values)| {
            let heights = values.iter().map(|value| self.height(*value));
            let is_clipped =
                |value: &Option<f64>| value.is_some_and(|value| value > self.top * (1.0 + 1e-9));
            let start = first + group * n_merged;
            ScoreBar {
                center: start as f64 + f64::midpoint(1.0, values.len() as f64),
                n_tokens: values.len(),
                height: heights.fold(0.0, f64::max),
                clipped: values.iter().any(is_clipped),
            }
        });
        bars.collect()
    }

    /// Returns the highest of the steps that share a bar with this one (the first if several are
    /// equal), or `None` if the lane has no such step.
    pub(super) fn tallest(
        &self,
        lane: &ScoreLane<'_>,
        step: usize,
        n_merged: usize,
    ) -> Option<usize> {
        lane.values.list().get(step)?;
        let first = step / n_merged.max(1) * n_merged.max(1);
        let sharing = lane.values.list().iter().enumerate().skip(first);
        let taller = |(best, height): (usize, f64), (index, value): (usize, &Option<f64>)| {
            let value_height = self.height(*value);
            if value_height > height {
                (index, value_height)
            } else {
                (best, height)
            }
        };
        let (tallest, _) = sharing
            .take(n_merged.max(1))
            .fold((first, f64::NEG_INFINITY), taller);
        Some(tallest)
    }

    /// Returns what the bars show, in a long form with the staff's height and in a short form.
    pub(super) fn subtitles(&self) -> [String; 2] {
        let top = self.top_label();
        let (long, short) = match self.measure {
            ScoreMeasure::Surprise => (
                "surprise of each token before the chain",
                "surprise before the chain, in bits",
            ),
            ScoreMeasure::Probability => (
                "probability of each token before the chain",
                "probability before the chain",
            ),
            ScoreMeasure::Entropy => (
                "entropy of the model before the chain",
                "entropy before the chain, in bits",
            ),
            ScoreMeasure::Rank => (
                "rank of each token before the chain, log scale",
                "rank before the chain, log scale",
            ),
            ScoreMeasure::Kept => (
                "tokens kept at each step, log scale",
                "tokens kept, log scale",
            ),
        };
        let clipped = if self.largest > self.top {
            format!(", broken bars up to {}", self.value_label(self.largest))
        } else {
            String::new()
        };
        [
            format!("{long}, full height {top}{clipped}"),
            short.to_owned(),
        ]
    }

    /// Returns the label of a staff's top, with its unit.
    pub(super) fn top_label(&self) -> String {
        self.value_label(self.top)
    }

    /// Returns the label of a staff's baseline.
    pub(super) const fn bottom_label(&self) -> &'static str {
        match self.measure {
            ScoreMeasure::Rank | ScoreMeasure::Kept => "1",
            _ => "0",
        }
    }

    /// Formats a step's value with its unit.
    pub(super) fn step_label(&self, step: &Step) -> String {
        match self.measure.value(step) {
            Some(value) => self.value_label(value),
            None => "not reported".to_owned(),
        }
    }

    /// Formats a value of the measure with its unit.
    pub(super) fn value_label(&self, value: f64) -> String {
        match self.measure {
            ScoreMeasure::Surprise | ScoreMeasure::Entropy => {
                let decimals = usize::from(value.fract().abs() > 0.005) * 2;
                format!("{value:.decimals$} bits")
            }
            ScoreMeasure::Probability => percent(value),
            ScoreMeasure::Rank | ScoreMeasure::Kept => grouped(value),
        }
    }

    /// Returns a step, if it exists.
    pub(super) fn step(&self, at: StepAt) -> Option<&'a Step> {
        let lane = self.lanes.iter().find(|lane| lane.pane == at.pane)?;
        lane.text?.steps.get(at.step)
    }
}

impl<'a> ScoreLane<'a> {
    fn of(
        pane: usize,
        generation: Option<&'a Generation>,
        values: Arc<ScoreValues>,
        is_one_seed: bool,
    ) -> Self {
        let settings = generation.map(|generation| {
            let config = &generation.config;
            let settings = if is_one_seed {
                config.chain.to_string()
            } else {
                format!("{}, seed {}", config.chain, config.seed)
            };
            let lacking = generation.not_applied_words();
            lacking.map_or_else(|| settings.clone(), |words| format!("{settings} ({words})"))
        });
        Self {
            pane,
            name: generation.map_or("", |generation| generation.name.as_str()),
            settings: settings.unwrap_or_default(),
            text: generation,
            values,
            finished: generation.is_some_and(|generation| generation.finish.is_some()),
            turns: Vec::new(),
        }
    }

    /// Returns the number of steps of its text.
    pub fn n_steps(&self) -> usize {
        self.values.list().len()
    }
}

/// Returns the value at the top of a staff: at least as large as the largest value, but at most the
/// cap.
fn top(measure: ScoreMeasure, largest: f64, cap: ScoreCap) -> f64 {
    match measure {
        // A smaller range would make the small surprises of a predictable text look large.
        ScoreMeasure::Surprise | ScoreMeasure::Entropy => {
            round_up(largest.max(3.0)).min(cap.bits())
        }
        ScoreMeasure::Probability => 1.0,
        ScoreMeasure::Rank | ScoreMeasure::Kept => 10_f64.powf(largest.log10().ceil().max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::testing;

    fn generation_with(probs: &[f64]) -> Generation {
        let pieces: Vec<(&str, f64)> = probs.iter().map(|prob| (" fox", *prob)).collect();
        let mut generation = testing::generation(&pieces);
        for (step, prob) in generation.steps.iter_mut().zip(probs) {
            std::sync::Arc::make_mut(&mut step.trace).raw_prob = *prob;
        }
        generation
    }

    #[test]
    fn heights_are_shares_of_the_staff() {
        let generation = generation_with(&[0.5, 0.25, 0.125, 1.0 / 64.0]);
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
            let data = ScoreData::of(&[Some(&generation)], measure);
            assert_eq!(data.top_label(), top);
            for (step, height) in generation.steps.iter().zip(heights) {
                let found = data.height(measure.value(step));
                assert!((found - height).abs() < 1e-3, "{measure:?}");
            }
        }
    }

    #[test]
    fn counts_use_a_logarithmic_staff() {
        let mut generation = generation_with(&[0.5; 4]);
        for (step, rank) in generation.steps.iter_mut().zip([1, 10, 100, 1000]) {
            std::sync::Arc::make_mut(&mut step.trace).raw_rank = rank;
        }
        let data = ScoreData::of(&[Some(&generation)], ScoreMeasure::Rank);
        assert_eq!(data.top_label(), "1,000");
        assert_eq!(data.bottom_label(), "1");
        let heights: Vec<f64> = generation
            .steps
            .iter()
            .map(|step| data.height(ScoreMeasure::Rank.value(step)))
            .collect();
        for (height, third) in heights.iter().zip([0.0, 1.0, 2.0, 3.0]) {
            assert!((height - third / 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn an_impossible_token_fills_its_staff() {
        let mut generation = generation_with(&[0.5]);
        std::sync::Arc::make_mut(&mut generation.steps[0].trace).raw_prob = 0.0;
        let data = ScoreData::of(&[Some(&generation)], ScoreMeasure::Surprise);
        assert!(data.top.is_finite());
        let value = ScoreMeasure::Surprise.value(&generation.steps[0]);
        assert!((data.height(value) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn merged_neighbors_take_the_highest_value() {
        let generation = generation_with(&[0.5, 0.1, 0.5, 0.9, 0.2]);
        let data = ScoreData::of(&[Some(&generation)], ScoreMeasure::Probability);
        let bars = |visible, n_merged| -> Vec<(f64, usize, f64)> {
            data.bars(&data.lanes[0], visible, n_merged)
                .into_iter()
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
    fn a_rare_surprise_is_clipped() {
        let generation = generation_with(&[0.5, 1.0 / 256.0, 1.0 / 4096.0]);
        let data = ScoreData::of(&[Some(&generation)], ScoreMeasure::Surprise);
        assert_eq!(data.top_label(), "8 bits");
        let bars: Vec<(f64, bool)> = data
            .bars(&data.lanes[0], 0..3, 1)
            .into_iter()
            .map(|bar| (bar.height, bar.clipped))
            .collect();
        assert_eq!(bars, [(0.125, false), (1.0, false), (1.0, true)]);
        assert!(data.subtitles()[0].ends_with("full height 8 bits, broken bars up to 12 bits"));
    }

    #[test]
    fn the_cap_can_be_raised() {
        let generation = generation_with(&[0.5, 1.0 / 256.0, 1.0 / 4096.0]);
        for (cap, top, n_clipped) in [
            (ScoreCap::FourBits, "4 bits", 2),
            (ScoreCap::EightBits, "8 bits", 1),
            (ScoreCap::SixteenBits, "15 bits", 0),
            (ScoreCap::Uncapped, "15 bits", 0),
        ] {
            let data = ScoreData::capped(&[Some(&generation)], ScoreMeasure::Surprise, cap);
            assert_eq!(data.top_label(), top);
            let bars = data.bars(&data.lanes[0], 0..3, 1);
            let clipped = bars.iter().filter(|bar| bar.clipped);
            assert_eq!(clipped.count(), n_clipped, "{cap:?}");
        }
    }

    #[test]
    fn the_axis_ends_with_the_longest_finished_text() {
        let long = generation_with(&[0.5; 30]);
        let mut short = generation_with(&[0.5; 7]);
        let n_axis = |panes: [&Generation; 2]| {
            ScoreData::of(&panes.map(Some), ScoreMeasure::Surprise).n_axis
        };
        assert_eq!(n_axis([&long, &short]), 30);
        short.finish = None;
        assert_eq!(n_axis([&long, &short]), 50);
    }

    #[test]
    fn a_pane_without_a_text_keeps_its_staff() {
        let generation = generation_with(&[0.5]);
        let data = ScoreData::of(&[None, Some(&generation)], ScoreMeasure::Surprise);
        assert_eq!(data.lanes.len(), 2);
        assert!(!data.is_empty());
        assert_eq!(data.step(StepAt { pane: 0, step: 0 }), None);
        assert!(data.step(StepAt { pane: 1, step: 0 }).is_some());
        assert!(ScoreData::of(&[None, None], ScoreMeasure::Surprise).is_empty());
    }
}
