//! The data of the speed plot: tokens per second at each token, and which panes shared a forward
//! pass.

use crate::analysis::{SpeedPoint, speed_series};
use crate::generation::formatting::speed;
use crate::generation::{Generation, Step};
use crate::plots::scale::{axis_end, axis_steps, count};

/// The number of steps that each point of a line averages over.
pub(super) const N_WINDOW: usize = 16;

/// The maximum number of points in a line; more would be invisible.
const MAX_POINTS: usize = 400;

/// The decode speed of each pane.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedData {
    /// The panes that have generated at least two tokens.
    pub lines: Vec<SpeedLine>,
    /// The step between the marks of the axis, in tokens per second.
    pub mark_step: f64,
    /// The number of marks above zero; all lines stay below the last.
    pub n_marks: u32,
    /// The length of the token axis.
    pub n_axis: usize,
    /// The shortest and longest time to first token, in seconds.
    pub first_token_secs: Option<(f64, f64)>,
    /// The combined speed in tokens per second, if all panes ran in one batch.
    pub combined_per_sec: Option<f64>,
}

/// One pane's line.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedLine {
    /// The pane's index.
    pub pane: usize,
    /// The pane's name.
    pub name: String,
    /// In the order of their tokens.
    pub points: Vec<LinePoint>,
}

/// One point of a pane's line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// The token's position in the generated text, counted from 1.
    pub token_number: usize,
    /// Tokens per second, averaged over the last steps.
    pub per_sec: f64,
    /// Whether other panes shared this forward pass.
    pub sharing: Sharing,
}

/// Whether a pane shared a forward pass with others, and which of them draws the shared line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    Alone,
    /// The first of the panes that shared it.
    First,
    /// Another of them.
    Other,
}

impl SpeedData {
    /// Computes the speed of these panes.
    pub fn of(panes: &[Option<&Generation>]) -> Self {
        let generating: Vec<(usize, &Generation)> = panes
            .iter()
            .enumerate()
            .filter_map(|(pane, generation)| Some((pane, (*generation)?)))
            .filter(|(_, generation)| !generation.is_scored() && generation.steps.len() > 1)
            .collect();
        let series: Vec<Vec<SpeedPoint>> = generating
            .iter()
            .map(|(_, generation)| speed_series(generation, N_WINDOW))
            .collect();
        let lines: Vec<SpeedLine> = generating
            .iter()
            .enumerate()
            .map(|(index, (pane, generation))| SpeedLine {
                pane: *pane,
                name: generation.shown_name(),
                points: line(index, &generating, &series),
            })
            .collect();
        let speeds = lines.iter().flat_map(|line| &line.points);
        let largest = speeds.map(|point| point.per_sec).fold(0.0, f64::max);
        let (mark_step, n_marks) = axis_steps(largest * 1.05);
        let all_ended = panes.iter().flatten().all(|text| text.finish.is_some());
        let longest = generating
            .iter()
            .map(|(_, generation)| generation.steps.len());
        Self {
            mark_step,
            n_marks,
            n_axis: axis_end(longest.max().unwrap_or(0), all_ended),
            first_token_secs: first_token_secs(panes),
            combined_per_sec: combined_speed(&generating),
            lines,
        }
    }

    /// Returns whether panes shared forward passes, so that one line stands for several.
    pub(super) fn has_bands(&self) -> bool {
        let mut points = self.lines.iter().flat_map(|line| &line.points);
        points.any(|point| point.sharing != Sharing::Alone)
    }

    /// Returns the unit, the combined speed and the time to first token, from long to short.
    pub(super) fn subtitles(&self) -> Vec<String> {
        let first = self.first_token_secs.map(|(low, high)| {
            let (low, high) = (millis(low), millis(high));
            if low == high {
                format!("{low} ms")
            } else {
                format!("{low}–{high} ms")
            }
        });
        let combined = self.combined_per_sec.map(speed);
        match (combined, first) {
            (Some(combined), Some(first)) => vec![
                format!("tokens per second · {combined} combined · first token after {first}"),
                format!("tok/s · {combined} combined · first token after {first}"),
                format!("tok/s · {combined} combined · first {first}"),
                format!("{combined} tok/s combined · {first}"),
                format!("{combined} tok/s"),
            ],
            (None, Some(first)) => vec![
                format!("tokens per second · first token after {first}"),
                format!("tok/s · first after {first}"),
                "tok/s".to_owned(),
            ],
            _ => vec!["tokens per second".to_owned(), "tok/s".to_owned()],
        }
    }
}

fn millis(secs: f64) -> usize {
    count((secs * 1000.0).round())
}

/// Returns the shortest and longest time to first token, in seconds.
fn first_token_secs(panes: &[Option<&Generation>]) -> Option<(f64, f64)> {
    let firsts = panes
        .iter()
        .flatten()
        .filter(|generation| !generation.is_scored())
        .filter_map(|generation| generation.steps.first())
        .map(|step| step.time.at_secs);
    firsts.fold(None, |range, secs| match range {
        None => Some((secs, secs)),
        Some((low, high)) => Some((f64::min(low, secs), f64::max(high, secs))),
    })
}

/// Returns the line of the generation at `index`, thinned to the visible resolution. The last point
/// is always kept.
fn line(
    index: usize,
    generating: &[(usize, &Generation)],
    series: &[Vec<SpeedPoint>],
) -> Vec<LinePoint> {
    let own = series.get(index).map_or(&[][..], Vec::as_slice);
    let stride = own.len().div_ceil(MAX_POINTS).max(1);
    let last = own.len().saturating_sub(1);
    own.iter()
        .enumerate()
        .filter(|(at, _)| at % stride == 0 || *at == last)
        .map(|(at, point)| {
            let sharers = sharers(index, point.step - 1, generating);
            let sharing = match sharers.as_slice() {
                [] | [_] => Sharing::Alone,
                [first, ..] if *first == index => Sharing::First,
                _ => Sharing::Other,
            };
            let speeds = sharers
                .iter()
                .filter_map(|sharer| series.get(*sharer)?.get(at))
                .map(|point| point.per_sec);
            LinePoint {
                token_number: point.step,
                per_sec: speeds.sum::<f64>() / sharers.len().max(1) as f64,
                sharing,
            }
        })
        .collect()
}

/// Returns the indices in `generating` of those that computed this step in the same forward pass.
fn sharers(index: usize, step: usize, generating: &[(usize, &Generation)]) -> Vec<usize> {
    let own = generating
        .get(index)
        .and_then(|(_, own)| own.steps.get(step));
    (0..)
        .zip(generating)
        .filter(|(other_index, (_, other))| {
            let shared = own.zip(other.steps.get(step));
            *other_index == index || shared.is_some_and(|(own, other)| one_pass(own, other))
        })
        .map(|(other_index, _)| other_index)
        .collect()
}

/// Returns whether one forward pass computed both steps. Two passes never take exactly the same
/// time: the clock counts nanoseconds.
#[expect(clippy::float_cmp, reason = "the same measurement, stored twice")]
fn one_pass(a: &Step, b: &Step) -> bool {
    let (a, b) = (&a.time, &b.time);
    a.n_batch > 1 && a.n_batch == b.n_batch && a.forward_secs == b.forward_secs
}

/// Returns the speed of all panes together, excluding their first tokens, if they ran in one batch.
fn combined_speed(generating: &[(usize, &Generation)]) -> Option<f64> {
    let in_one_batch = generating.len() > 1 && sharers(0, 1, generating).len() == generating.len();
    if !in_one_batch {
        return None;
    }
    let (mut n_tokens, mut start, mut end) = (0, f64::INFINITY, 0.0);
    for (_, generation) in generating {
        let first = generation.steps.first()?.time.at_secs;
        let last = generation.steps.last()?.time.at_secs;
        n_tokens += generation.steps.len() - 1;
        start = f64::min(start, first);
        end = f64::max(end, last);
    }
    (end > start).then(|| n_tokens as f64 / (end - start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::testing::generation;

    fn generated(n_tokens: usize, secs_per_token: f64) -> Generation {
        let mut generation = generation(&vec![(" fox", 0.5); n_tokens]);
        for (index, step) in generation.steps.iter_mut().enumerate() {
            step.time.at_secs = 0.02 + index as f64 * secs_per_token;
            step.time.forward_secs = secs_per_token * 0.9;
        }
        generation
    }

    #[test]
    fn the_time_to_first_token_does_not_count_towards_the_speed() {
        let generation = generated(10, 0.002);
        let data = SpeedData::of(&[Some(&generation)]);
        for point in &data.lines[0].points {
            assert!((point.per_sec - 500.0).abs() < 1e-6);
        }
        assert_eq!(data.lines[0].points[0].token_number, 2);
        assert_eq!(data.first_token_secs, Some((0.02, 0.02)));
        assert_eq!(
            data.subtitles()[0],
            "tokens per second · first token after 20 ms"
        );
    }

    #[test]
    fn panes_of_one_batch_form_one_band() {
        let (long, short) = (generated(6, 0.002), generated(4, 0.002));
        let data = SpeedData::of(&[Some(&long), None, Some(&short)]);
        let sharing = |line: usize| -> Vec<Sharing> {
            data.lines[line]
                .points
                .iter()
                .map(|point| point.sharing)
                .collect()
        };
        let (first, alone) = (Sharing::First, Sharing::Alone);
        assert_eq!(sharing(0), [first, first, first, alone, alone]);
        assert_eq!(sharing(1), [Sharing::Other; 3]);
        assert!(data.has_bands());
        let speeds = |line: usize| data.lines[line].points[0].per_sec;
        assert!((speeds(0) - speeds(1)).abs() < 1e-9, "one line for both");
        assert_eq!(data.lines[1].pane, 2);
        // 5 + 3 tokens in 10 ms.
        assert!((data.combined_per_sec.unwrap() - 800.0).abs() < 1e-6);
    }

    #[test]
    fn panes_that_ran_separately_have_no_combined_speed() {
        let (one, other) = (generated(6, 0.002), generated(6, 0.004));
        let data = SpeedData::of(&[Some(&one), Some(&other)]);
        assert!(!data.has_bands());
        assert_eq!(data.combined_per_sec, None);
    }

    #[test]
    fn long_lines_are_thinned_but_keep_their_last_point() {
        let generation = generated(2000, 0.002);
        let data = SpeedData::of(&[Some(&generation)]);
        let points = &data.lines[0].points;
        assert!(points.len() <= MAX_POINTS + 1, "{}", points.len());
        assert_eq!(points.last().unwrap().token_number, 2000);
    }

    #[test]
    fn one_token_has_no_speed() {
        let generation = generated(1, 0.002);
        let data = SpeedData::of(&[Some(&generation), None]);
        assert_eq!(data.lines, []);
        assert!(data.first_token_secs.is_some());
    }
}
