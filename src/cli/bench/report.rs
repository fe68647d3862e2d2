//! The figures of a benchmark: medians, as a table for people and as JSON for programs.

use serde::Serialize;

use super::measure::{Lengths, Sample};
use crate::generation::ModelInfo;

/// What a benchmark found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    format_version: u32,
    model: ModelInfo,
    load_secs: f64,
    rounds: usize,
    prompt_tokens: usize,
    max_tokens: usize,
    /// One for each number of panes, as they were asked for.
    runs: Vec<Run>,
}

/// The medians for one number of panes.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Run {
    panes: usize,
    /// Prompt tokens read a second.
    prefill_per_sec: f64,
    /// Tokens written a second, by all panes together.
    decode_per_sec: f64,
    /// Milliseconds from one token of a pane to its next.
    step_ms: f64,
    /// From the request to the last token, in seconds.
    total_secs: f64,
    /// How many times as long writing takes as it does for one pane; nothing where that was not
    /// measured.
    time_against_one: Option<f64>,
}

impl Report {
    /// Takes the medians.
    pub fn new(
        info: &ModelInfo,
        load_secs: f64,
        rounds: usize,
        lengths: Lengths,
        samples: &[Sample],
    ) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for sample in samples {
            if !runs.iter().any(|run| run.panes == sample.n_panes) {
                runs.push(Run::new(sample.n_panes, lengths, samples));
            }
        }
        Self {
            format_version: 1,
            model: info.clone(),
            load_secs,
            rounds,
            prompt_tokens: lengths.n_prompt,
            max_tokens: lengths.n_new,
            runs,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Vec<u8> {
        // Plain data has no part that JSON lacks, so this does not fail.
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}

impl Run {
    fn new(n_panes: usize, lengths: Lengths, samples: &[Sample]) -> Self {
        let median_of = |n_panes: usize, secs: fn(&Sample) -> f64| {
            let of_panes = samples.iter().filter(|sample| sample.n_panes == n_panes);
            median(of_panes.map(secs).collect())
        };
        let decode_secs = |sample: &Sample| sample.decode_secs;
        let secs = median_of(n_panes, decode_secs).unwrap_or(f64::NAN);
        let prefill_secs = median_of(n_panes, |sample| sample.prefill_secs);
        let n_steps = (lengths.n_new - 1) as f64;
        Self {
            panes: n_panes,
            prefill_per_sec: lengths.n_prompt as f64 / prefill_secs.unwrap_or(f64::NAN),
            decode_per_sec: n_steps * n_panes as f64 / secs,
            step_ms: 1000.0 * secs / n_steps,
            total_secs: median_of(n_panes, |sample| sample.total_secs).unwrap_or(f64::NAN),
            time_against_one: median_of(1, decode_secs).map(|one| secs / one),
        }
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { model, .. } = self;
        let through = model.implementation.name();
        let through = through.map_or_else(String::new, |name| format!(" through {name}"));
        writeln!(
            f,
            "{}, {:.1} M weights, {}, on {}{}; opened in {:.2} s",
            model.name,
            model.n_params as f64 / 1e6,
            model.quantization,
            model.device,
            through,
            self.load_secs
        )?;
        writeln!(
            f,
            "{} prompt tokens, {} new tokens in each pane; medians of {} rounds\n",
            self.prompt_tokens, self.max_tokens, self.rounds
        )?;
        writeln!(
            f,
            "panes  prefill tok/s  decode tok/s  ms a step  time against 1 pane"
        )?;
        for run in &self.runs {
            let ratio = run
                .time_against_one
                .map_or("–".to_owned(), |ratio| format!("{ratio:.2} ×"));
            writeln!(
                f,
                "{:>5}  {:>13.0}  {:>12.0}  {:>9.2}  {ratio:>19}",
                run.panes, run.prefill_per_sec, run.decode_per_sec, run.step_ms
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        for (values, expected) in [
            (vec![], None),
            (vec![3.0], Some(3.0)),
            (vec![9.0, 1.0], Some(5.0)),
            (vec![9.0, 1.0, 2.0], Some(2.0)),
        ] {
            assert_eq!(median(values), expected);
        }
    }

    #[test]
    fn speeds_are_counted_over_all_panes_and_times_over_one() {
        let sample = |n_panes, decode_secs| Sample {
            n_panes,
            prefill_secs: 0.5,
            decode_secs,
            total_secs: decode_secs + 0.5,
        };
        let lengths = Lengths {
            n_prompt: 100,
            n_new: 11,
        };
        let samples = [
            sample(1, 1.0),
            sample(4, 1.5),
            sample(1, 1.0),
            sample(4, 1.5),
        ];
        let report = Report::new(&ModelInfo::default(), 0.1, 2, lengths, &samples);
        let four = Run {
            panes: 4,
            prefill_per_sec: 200.0,
            decode_per_sec: 40.0 / 1.5,
            step_ms: 150.0,
            total_secs: 2.0,
            time_against_one: Some(1.5),
        };
        assert_eq!(report.runs.len(), 2);
        assert_eq!(report.runs[1], four);
        let table = report.to_string();
        assert_eq!(
            table.lines().last(),
            Some("    4            200            27     150.00               1.50 ×")
        );
    }
}
