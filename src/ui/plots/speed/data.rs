//! What the speed plot shows: tokens a second at each token, and who shared a forward pass.

use crate::analysis::{SpeedPoint, speed_series};
use crate::generation::{Generation, Step};
use crate::ui::plots::scale::{axis_steps, axis_tokens, count};
use crate::ui::words::speed;

/// Over how many steps a point of the line looks back.
pub(super) const N_WINDOW: usize = 16;

/// The most points of a line; more can't be seen.
const N_POINTS: usize = 400;

/// Tokens a second, pane by pane.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedData {
    /// The panes that have written at least two tokens.
    pub lines: Vec<SpeedLine>,
    /// Tokens a second from mark to mark of the axis.
    pub mark_step: f64,
    /// How many marks it has above zero; the line has room below the last.
    pub n_marks: u32,
    /// How many tokens the axis reaches.
    pub n_axis: usize,
    /// The shortest and the longest time from a request to its first token, in seconds.
    pub first_token_secs: Option<(f64, f64)>,
    /// Tokens a second of all panes together, where all of them ran in one batch.
    pub together_per_sec: Option<f64>,
}

/// One pane's line.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedLine {
    /// The pane, by its place among the panes.
    pub pane: usize,
    /// How it is called.
    pub name: String,
    /// The line, from left to right.
    pub points: Vec<LinePoint>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// The token, counted from 1.
    pub token_number: usize,
    /// Tokens a second over the last steps.
    pub per_sec: f64,
    /// The pane's place in the band of those that shared this forward pass, in stripes from the
    /// middle; 0 where it ran apart.
    pub stripe: f64,
}

impl SpeedData {
    /// The speed of these panes.
    pub fn of(panes: &[Option<&Generation>]) -> Self {
        let writing: Vec<(usize, &Generation)> = panes
            .iter()
            .enumerate()
            .filter_map(|(pane, generation)| Some((pane, (*generation)?)))
            .filter(|(_, generation)| generation.steps.len() > 1)
            .collect();
        let series: Vec<Vec<SpeedPoint>> = writing
            .iter()
            .map(|(_, generation)| speed_series(generation, N_WINDOW))
            .collect();
        let lines: Vec<SpeedLine> = writing
            .iter()
            .enumerate()
            .map(|(index, (pane, generation))| SpeedLine {
                pane: *pane,
                name: generation.name.clone(),
                points: line(index, &writing, &series),
            })
            .collect();
        let speeds = lines.iter().flat_map(|line| &line.points);
        let largest = speeds.map(|point| point.per_sec).fold(0.0, f64::max);
        let (mark_step, n_marks) = axis_steps(largest * 1.05);
        let longest = writing.iter().map(|(_, generation)| generation.steps.len());
        Self {
            mark_step,
            n_marks,
            n_axis: axis_tokens(longest.max().unwrap_or(0)),
            first_token_secs: first_tokens(panes),
            together_per_sec: together(&writing),
            lines,
        }
    }

    /// Whether panes shared forward passes, so that their lines are set side by side.
    pub(super) fn has_bands(&self) -> bool {
        let mut points = self.lines.iter().flat_map(|line| &line.points);
        points.any(|point| point.stripe.abs() > 0.1)
    }

    /// Unit, sum and time to the first token, from long to short.
    pub(super) fn subtitles(&self) -> Vec<String> {
        let first = self.first_token_secs.map(|(low, high)| {
            let (low, high) = (millis(low), millis(high));
            if low == high {
                format!("{low} ms")
            } else {
                format!("{low}–{high} ms")
            }
        });
        let sum = self.together_per_sec.map(speed);
        match (sum, first) {
            (Some(sum), Some(first)) => vec![
                format!("tokens a second · {sum} together · first after {first}"),
                format!("tok/s · {sum} together · first after {first}"),
                format!("tok/s · {sum} together · first {first}"),
                format!("{sum} tok/s together · {first}"),
                format!("{sum} tok/s"),
            ],
            (None, Some(first)) => vec![
                format!("tokens a second · first after {first}"),
                format!("tok/s · first after {first}"),
                "tok/s".to_owned(),
            ],
            _ => vec!["tokens a second".to_owned(), "tok/s".to_owned()],
        }
    }
}

fn millis(secs: f64) -> usize {
    count((secs * 1000.0).round())
}

fn first_tokens(panes: &[Option<&Generation>]) -> Option<(f64, f64)> {
    let firsts = panes
        .iter()
        .flatten()
        .filter_map(|generation| generation.steps.first())
        .map(|step| step.time.at_secs);
    firsts.fold(None, |range, secs| match range {
        None => Some((secs, secs)),
        Some((low, high)) => Some((f64::min(low, secs), f64::max(high, secs))),
    })
}

/// The line of the generation at `index`, thinned to what can be seen; its last point stays.
fn line(
    index: usize,
    writing: &[(usize, &Generation)],
    series: &[Vec<SpeedPoint>],
) -> Vec<LinePoint> {
    let own = series.get(index).map_or(&[][..], Vec::as_slice);
    let stride = own.len().div_ceil(N_POINTS).max(1);
    let last = own.len().saturating_sub(1);
    own.iter()
        .enumerate()
        .filter(|(at, _)| at % stride == 0 || *at == last)
        .map(|(at, point)| {
            let sharers = sharers(index, point.step - 1, writing);
            let place = sharers.iter().position(|sharer| *sharer == index);
            let middle = (sharers.len() as f64 - 1.0) / 2.0;
            let speeds = sharers
                .iter()
                .filter_map(|sharer| series.get(*sharer)?.get(at))
                .map(|point| point.per_sec);
            LinePoint {
                token_number: point.step,
                per_sec: speeds.sum::<f64>() / sharers.len().max(1) as f64,
                stripe: place.map_or(0.0, |place| middle - place as f64),
            }
        })
        .collect()
}

/// Which generations made this step in the same forward pass, by index in `writing`.
fn sharers(index: usize, step: usize, writing: &[(usize, &Generation)]) -> Vec<usize> {
    let own = writing.get(index).and_then(|(_, own)| own.steps.get(step));
    (0..)
        .zip(writing)
        .filter(|(other_index, (_, other))| {
            let shared = own.zip(other.steps.get(step));
            *other_index == index || shared.is_some_and(|(own, other)| one_pass(own, other))
        })
        .map(|(other_index, _)| other_index)
        .collect()
}

/// Whether two panes' steps came out of one forward pass. Two passes of exactly the same length
/// don't occur: the clock counts nanoseconds.
#[expect(clippy::float_cmp, reason = "the same measurement, stored twice")]
fn one_pass(a: &Step, b: &Step) -> bool {
    let (a, b) = (&a.time, &b.time);
    a.n_batch > 1 && a.n_batch == b.n_batch && a.forward_secs == b.forward_secs
}

/// All tokens after the first ones, over the time in which they were written.
fn together(writing: &[(usize, &Generation)]) -> Option<f64> {
    let in_one_batch = writing.len() > 1 && sharers(0, 1, writing).len() == writing.len();
    if !in_one_batch {
        return None;
    }
    let (mut n_tokens, mut start, mut end) = (0, f64::INFINITY, 0.0);
    for (_, generation) in writing {
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

    fn written(n_tokens: usize, secs_a_token: f64) -> Generation {
        let mut generation = generation(&vec![(" fox", 0.5); n_tokens]);
        for (index, step) in generation.steps.iter_mut().enumerate() {
            step.time.at_secs = 0.02 + index as f64 * secs_a_token;
            step.time.forward_secs = secs_a_token * 0.9;
        }
        generation
    }

    #[test]
    fn the_time_before_the_first_token_is_never_in_the_line() {
        let generation = written(10, 0.002);
        let data = SpeedData::of(&[Some(&generation)]);
        for point in &data.lines[0].points {
            assert!((point.per_sec - 500.0).abs() < 1e-6);
        }
        assert_eq!(data.lines[0].points[0].token_number, 2);
        assert_eq!(data.first_token_secs, Some((0.02, 0.02)));
        assert_eq!(data.subtitles()[0], "tokens a second · first after 20 ms");
    }

    #[test]
    fn panes_of_one_batch_are_stripes_of_one_band() {
        let (long, short) = (written(6, 0.002), written(4, 0.002));
        let data = SpeedData::of(&[Some(&long), None, Some(&short)]);
        let stripes = |line: usize| -> Vec<f64> {
            data.lines[line]
                .points
                .iter()
                .map(|point| point.stripe)
                .collect()
        };
        assert_eq!(stripes(0), [0.5, 0.5, 0.5, 0.0, 0.0]);
        assert_eq!(stripes(1), [-0.5, -0.5, -0.5]);
        assert_eq!(data.lines[1].pane, 2);
        // 5 + 3 tokens in 10 ms.
        assert!((data.together_per_sec.unwrap() - 800.0).abs() < 1e-6);
    }

    #[test]
    fn a_pane_that_ran_apart_has_its_own_line_and_no_sum_is_named() {
        let (one, other) = (written(6, 0.002), written(6, 0.004));
        let data = SpeedData::of(&[Some(&one), Some(&other)]);
        let stripes = data.lines.iter().flat_map(|line| &line.points);
        assert!(stripes.clone().all(|point| point.stripe == 0.0));
        assert_eq!(data.together_per_sec, None);
    }

    #[test]
    fn long_lines_are_thinned_and_keep_their_end() {
        let generation = written(2000, 0.002);
        let data = SpeedData::of(&[Some(&generation)]);
        let points = &data.lines[0].points;
        assert!(points.len() <= N_POINTS + 1, "{}", points.len());
        assert_eq!(points.last().unwrap().token_number, 2000);
    }

    #[test]
    fn one_token_is_no_speed() {
        let generation = written(1, 0.002);
        let data = SpeedData::of(&[Some(&generation), None]);
        assert_eq!(data.lines, []);
        assert!(data.first_token_secs.is_some());
    }
}
