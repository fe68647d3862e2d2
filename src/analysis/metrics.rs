//! The figures of a generation, computed from its record.

use crate::generation::Generation;

/// The figures that a pane shows. Speeds are nothing where there is no time to divide by.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// How many tokens the prompt has.
    pub n_prompt: usize,
    /// How many tokens were generated.
    pub n_generated: usize,
    /// Seconds from the request to the first token.
    pub first_token_secs: Option<f64>,
    /// Prompt tokens read a second; tokens that were still in the cache do not count.
    pub prefill_per_sec: Option<f64>,
    /// Tokens generated a second, from the first token on; reading the prompt is not in it.
    pub decode_per_sec: Option<f64>,
}

impl Metrics {
    /// Computes the figures.
    pub fn of(generation: &Generation) -> Self {
        let prompt = &generation.prompt;
        let first = generation.steps.first().map(|step| step.time.at_secs);
        let last = generation.steps.last().map(|step| step.time.at_secs);
        let decode_secs = last.zip(first).map(|(last, first)| last - first);
        Self {
            n_prompt: prompt.tokens.len(),
            n_generated: generation.steps.len(),
            first_token_secs: first,
            prefill_per_sec: rate(prompt.n_prefilled, Some(prompt.prefill_secs)),
            decode_per_sec: rate(generation.steps.len().saturating_sub(1), decode_secs),
        }
    }
}

fn rate(n: usize, secs: Option<f64>) -> Option<f64> {
    secs.filter(|secs| n > 0 && *secs > 0.0)
        .map(|secs| n as f64 / secs)
}

/// A point of the speed plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedPoint {
    /// The step's number, counted from 1.
    pub step: usize,
    /// Seconds from the request.
    pub at_secs: f64,
    /// Tokens a second over the last steps.
    pub per_sec: f64,
}

/// Tokens a second at each step, over a window of `n_window` steps that ends there.
///
/// The first step has no point: the time before it is prefill.
pub fn speed_series(generation: &Generation, n_window: usize) -> Vec<SpeedPoint> {
    let times: Vec<f64> = generation
        .steps
        .iter()
        .map(|step| step.time.at_secs)
        .collect();
    let mut points = Vec::new();
    for (index, &at_secs) in times.iter().enumerate().skip(1) {
        let start = index.saturating_sub(n_window.max(1));
        let elapsed_secs = times.get(start).map(|&start_secs| at_secs - start_secs);
        if let Some(per_sec) = rate(index - start, elapsed_secs) {
            points.push(SpeedPoint {
                step: index + 1,
                at_secs,
                per_sec,
            });
        }
    }
    points
}
