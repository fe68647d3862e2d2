//! The data of a trend: a value of each token as a line per pane, or a histogram of ranks.

use std::sync::Arc;

use crate::analysis::trend::{
    PanelSpec, RANK_BINS, Trend, TrendAxis, TrendShape, rank_bin, rank_counts,
};
use crate::analysis::watermark::WatermarkScan;
use crate::generation::formatting::grouped;
use crate::generation::{Generation, Step};
use crate::plots::StepAt;
use crate::plots::scale::{axis_end, axis_steps, count, step_decimals};

/// The maximum number of points in a line; more would be invisible.
const MAX_POINTS: usize = 400;

/// A trend of all panes.
#[derive(Debug, Clone)]
pub struct TrendData<'a> {
    pub kind: Trend,
    /// The panes that have text: their indices and texts.
    pub texts: Vec<(usize, &'a Generation)>,
    pub(super) figures: Arc<TrendFigures>,
    /// The watermark scan of each text. Empty for other trends.
    scans: Vec<&'a WatermarkScan>,
    /// The length of the token axis.
    pub n_axis: usize,
    /// For each text, the indices of the steps at which the turns after the first begin. May be empty.
    pub turns: Vec<Vec<usize>>,
    pub pinned: Option<StepAt>,
    /// The step hovered elsewhere in the window.
    pub hovered: Option<StepAt>,
}

/// What is plotted of the texts of a trend.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendFigures {
    /// What is plotted over the tokens, from top to bottom. Empty for ranks.
    pub(super) panels: Vec<Panel>,
    /// Each pane's share of tokens in each bin of ranks. Empty for other trends.
    pub(super) bins: Vec<[f64; RANK_BINS.len()]>,
    /// The scale of the shares.
    pub(super) shares: Axis,
}

/// Lines on one vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    /// The quantity and its unit.
    pub title: &'static str,
    pub axis: Axis,
    /// For each pane, points of a token's number and its value.
    pub lines: Vec<Vec<(usize, f64)>>,
}

/// A vertical axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Axis {
    /// From 0 in equal steps.
    Linear { step: f64, n_steps: u32 },
    /// From 0 to 100 %.
    Share,
    /// From 1 in powers of ten.
    Log { n_decades: u32 },
    /// Of −log₁₀ p, from 0 at the top in steps of `n_per_step` powers of ten.
    PValue { n_per_step: u32, n_steps: u32 },
}

impl Panel {
    /// Returns the quantity and its unit, and up to what the arrows at the top stand for.
    pub(super) fn title(&self) -> String {
        let values = self.lines.iter().flatten().map(|(_, value)| *value);
        let largest = values.fold(0.0, f64::max);
        if self.axis.is_beyond(largest) {
            format!("{}, arrows up to {}", self.title, grouped(largest.round()))
        } else {
            self.title.to_owned()
        }
    }
}

impl Axis {
    /// Returns whether a value is above the axis.
    pub(super) fn is_beyond(self, value: f64) -> bool {
        match self {
            Self::Linear { step, n_steps } => value > step * f64::from(n_steps) * (1.0 + 1e-9),
            Self::Share | Self::Log { .. } | Self::PValue { .. } => false,
        }
    }

    fn linear(largest: f64) -> Self {
        let (step, n_steps) = axis_steps(largest);
        Self::Linear { step, n_steps }
    }

    /// Creates the axis of these values of −log₁₀ p.
    pub(super) fn p_value(values: impl Iterator<Item = f64>) -> Self {
        let most = values.fold(4.0, f64::max);
        let (step, n_steps) = axis_steps(most);
        Self::PValue {
            n_per_step: count(step.ceil()) as u32,
            n_steps,
        }
    }

    /// Returns the position of a value on the axis, clamped to the range from 0 to 1.
    pub(super) fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear { step, n_steps } => value / (step * f64::from(n_steps)),
            Self::Share => value,
            Self::Log { n_decades } => value.max(1.0).log10() / f64::from(n_decades),
            Self::PValue {
                n_per_step,
                n_steps,
            } => 1.0 - value / f64::from(n_per_step * n_steps),
        };
        place.clamp(0.0, 1.0)
    }

    /// Returns the values and labels of its marks.
    pub(super) fn marks(self) -> Vec<(f64, String)> {
        match self {
            Self::Linear { step, n_steps } => {
                let decimals = step_decimals(step);
                let label = |value: f64| match decimals {
                    0 => grouped(value),
                    _ => format!("{value:.decimals$}"),
                };
                let values = (0..=n_steps).map(|index| f64::from(index) * step);
                values.map(|value| (value, label(value))).collect()
            }
            Self::Share => [0.0, 0.5, 1.0]
                .map(|value| (value, format!("{:.0} %", value * 100.0)))
                .to_vec(),
            Self::Log { n_decades } => (0..=n_decades)
                .map(|power| 10_f64.powf(power.into()))
                .map(|value| (value, grouped(value)))
                .collect(),
            Self::PValue {
                n_per_step,
                n_steps,
            } => (0..=n_steps)
                .map(|index| index * n_per_step)
                .map(|power| match power {
                    0 => (0.0, "1".to_owned()),
                    _ => (power.into(), format!("1e−{power}")),
                })
                .collect(),
        }
    }
}

impl<'a> TrendData<'a> {
    /// Computes a trend of these panes.
    pub fn of(panes: &[Option<&'a Generation>], kind: Trend) -> Self {
        Self::with_scans(panes, kind, &[])
    }

    /// Computes a trend of these panes, whose watermark scans are in `scans`.
    pub fn with_scans(
        panes: &[Option<&'a Generation>],
        kind: Trend,
        scans: &[Option<&'a WatermarkScan>],
    ) -> Self {
        Self::with_figures(panes, kind, scans, |texts, scans| {
            Arc::new(TrendFigures::of(kind, texts, scans))
        })
    }

    /// Does the same with the figures that `figures` returns for the texts of the trend and their
    /// scans.
    pub fn with_figures(
        panes: &[Option<&'a Generation>],
        kind: Trend,
        scans: &[Option<&'a WatermarkScan>],
        figures: impl FnOnce(&[(usize, &Generation)], &[&WatermarkScan]) -> Arc<TrendFigures>,
    ) -> Self {
        let spec = kind.spec();
        let is_scan = matches!(spec.shape, TrendShape::PValues);
        let texts: Vec<(usize, &'a Generation)> = panes
            .iter()
            .enumerate()
            .filter_map(|(pane, generation)| Some((pane, (*generation)?)))
            .filter(|(_, generation)| !generation.steps.is_empty())
            .filter(|(_, generation)| !spec.needs_times || !generation.is_scored())
            .filter(|(pane, _)| !is_scan || scan_of(scans, *pane).is_some())
            .collect();
        let all_ended = texts.iter().all(|(_, text)| text.finish.is_some());
        let longest = texts.iter().map(|(_, text)| text.steps.len()).max();
        let scans = texts.iter().filter_map(|(pane, _)| scan_of(scans, *pane));
        let scans: Vec<&'a WatermarkScan> = scans.collect();
        Self {
            kind,
            figures: figures(&texts, &scans),
            scans,
            n_axis: axis_end(longest.unwrap_or(0), all_ended),
            texts,
            turns: Vec::new(),
            pinned: None,
            hovered: None,
        }
    }

    /// Describes a step for a tooltip.
    pub(super) fn label(&self, at: StepAt) -> Option<String> {
        let (_, text) = self.texts.iter().find(|(pane, _)| *pane == at.pane)?;
        let step = text.steps.get(at.step)?;
        match self.kind.spec().shape {
            TrendShape::Lines { words, .. } => words(text, at.step),
            TrendShape::Ranks => Some(rank_words(step)),
            TrendShape::PValues => {
                let index = self.texts.iter().position(|(pane, _)| *pane == at.pane)?;
                let p_value = self.scans.get(index)?.p_values().get(at.step)?;
                Some(format!("p {p_value}"))
            }
        }
    }

    /// Returns the next token of a pane's text whose rank is in this bin, after the pinned one.
    pub(super) fn next_in_bin(&self, pane: usize, bin: usize) -> Option<StepAt> {
        let (_, text) = self.texts.iter().find(|(other, _)| *other == pane)?;
        let in_bin = |(step, found): (usize, &Step)| {
            (counted_bin(found) == Some(bin)).then_some(StepAt { pane, step })
        };
        let steps = || text.steps.iter().enumerate().filter_map(in_bin);
        let pinned = self.pinned.filter(|pinned| pinned.pane == pane);
        let after = steps().find(|at| pinned.is_some_and(|pinned| at.step > pinned.step));
        after.or_else(|| steps().next())
    }

    /// Returns the bin that counts a step, or `None` if it was picked by hand.
    pub(super) fn bin_of(&self, at: StepAt) -> Option<usize> {
        let (_, text) = self.texts.iter().find(|(pane, _)| *pane == at.pane)?;
        counted_bin(text.steps.get(at.step)?)
    }
}

impl TrendFigures {
    /// Computes the figures of these texts. Their watermark scans are in `scans`; other trends need
    /// none. They depend on the steps of the texts and on the scans alone.
    pub fn of(kind: Trend, texts: &[(usize, &Generation)], scans: &[&WatermarkScan]) -> Self {
        let shape = &kind.spec().shape;
        let bins: Vec<_> = match shape {
            TrendShape::Ranks => texts.iter().map(|(_, text)| rank_shares(text)).collect(),
            TrendShape::Lines { .. } | TrendShape::PValues => Vec::new(),
        };
        let most = bins.iter().flatten().copied().fold(0.0, f64::max);
        Self {
            panels: match shape {
                TrendShape::Lines { panels, .. } => {
                    panels.iter().map(|spec| panel(spec, texts)).collect()
                }
                TrendShape::Ranks => Vec::new(),
                TrendShape::PValues => p_value_panel(scans).into_iter().collect(),
            },
            shares: Axis::linear(most * 100.0),
            bins,
        }
    }
}

/// Returns the bin of a token's rank, or `None` if it was picked by hand.
fn counted_bin(step: &Step) -> Option<usize> {
    let trace = &step.trace;
    trace
        .known_rank()
        .filter(|_| !trace.draw.is_by_hand())
        .map(rank_bin)
}

fn rank_words(step: &Step) -> String {
    let Some(rank) = step.trace.known_rank() else {
        return "rank unknown: not counted".to_owned();
    };
    let rank = grouped(f64::from(rank));
    match counted_bin(step) {
        Some(_) => format!("rank {rank}"),
        None => format!("rank {rank}, picked by hand: not counted"),
    }
}

fn panel(spec: &PanelSpec, texts: &[(usize, &Generation)]) -> Panel {
    let values = texts.iter().map(|(_, text)| (spec.values)(text));
    let lines: Vec<Vec<(usize, f64)>> = values.map(thinned).collect();
    let plotted = lines.iter().flatten().map(|(_, value)| *value);
    let largest = plotted.fold(0.0, f64::max);
    Panel {
        title: spec.title,
        axis: match spec.axis {
            TrendAxis::Linear => Axis::linear(largest),
            TrendAxis::Typical => Axis::linear(most_but_few(&lines)),
            TrendAxis::Share => Axis::Share,
            TrendAxis::Log => Axis::Log {
                n_decades: count(largest.max(10.0).log10().ceil()) as u32,
            },
        },
        lines,
    }
}

/// The title of a panel of p-values.
pub(super) const TITLE_P_VALUE: &str = "p-value";

fn p_value_panel(scans: &[&WatermarkScan]) -> Option<Panel> {
    let lines = scans.iter().map(|scan| p_value_line(scan));
    let lines: Vec<Vec<(usize, f64)>> = lines.collect();
    let values = lines.iter().flatten().map(|(_, value)| *value);
    (!lines.is_empty()).then(|| Panel {
        title: TITLE_P_VALUE,
        axis: Axis::p_value(values),
        lines: lines.clone(),
    })
}

/// Returns −log₁₀ p after each token.
pub(super) fn p_value_line(scan: &WatermarkScan) -> Vec<(usize, f64)> {
    let values = scan.p_values().iter();
    thinned(values.map(|p_value| Some(0.0 - p_value.log10())).collect())
}

fn scan_of<'s>(scans: &[Option<&'s WatermarkScan>], pane: usize) -> Option<&'s WatermarkScan> {
    scans.get(pane).copied().flatten()
}

/// Returns the end of an axis that covers about 98 % of the values, so that a rare pause does not
/// flatten the rest.
fn most_but_few(lines: &[Vec<(usize, f64)>]) -> f64 {
    let mut values: Vec<f64> = lines.iter().flatten().map(|(_, value)| *value).collect();
    values.sort_by(f64::total_cmp);
    let index = values.len() * 98 / 100;
    values
        .get(index.min(values.len().saturating_sub(1)))
        .map_or(1.0, |value| value * 1.2)
}

/// Numbers the values from 1, and keeps at most [`MAX_POINTS`] of them.
fn thinned(values: Vec<Option<f64>>) -> Vec<(usize, f64)> {
    let every = values.len().div_ceil(MAX_POINTS).max(1);
    let last = values.len().saturating_sub(1);
    let points = values.into_iter().enumerate();
    points
        .filter(|(index, _)| index % every == 0 || *index == last)
        .filter_map(|(index, value)| Some((index + 1, value?)))
        .collect()
}

fn rank_shares(text: &Generation) -> [f64; RANK_BINS.len()] {
    let counts = rank_counts(text);
    let n = counts.iter().sum::<usize>().max(1) as f64;
    counts.map(|count| count as f64 / n)
}
