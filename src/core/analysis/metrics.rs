//! Token counts and speeds of a generation, computed from its record.

use crate::generation::Generation;

/// The metrics that a pane shows. A speed is `None` if no time has elapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// The number of tokens in the prompt.
    pub n_prompt: usize,
    /// The number of generated tokens.
    pub n_generated: usize,
    /// Time to first token, measured from the request.
    pub first_token_secs: Option<f64>,
    /// Prefill speed in tokens per second, excluding tokens that were already in the KV cache.
    pub prefill_per_sec: Option<f64>,
    /// Decode speed in tokens per second, measured from the first token on, so excluding prefill.
    pub decode_per_sec: Option<f64>,
}

impl Metrics {
    /// Computes the metrics of a finished or running generation. A text that was scored has no
    /// speed, because many of its tokens share a forward pass.
    pub fn of(generation: &Generation) -> Self {
        let prompt = &generation.prompt;
        if generation.is_scored() {
            return Self {
                n_prompt: prompt.tokens.len(),
                n_generated: generation.steps.len(),
                ..Self::default()
            };
        }
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
    /// Seconds since the request.
    pub at_secs: f64,
    /// Tokens per second over the window that ends at this step.
    pub per_sec: f64,
}

/// Computes the decode speed at each step, averaged over the last `n_window` steps.
///
/// The first step has no point because the time before it is prefill. A text that was scored has
/// none at all.
pub fn speed_series(generation: &Generation, n_window: usize) -> Vec<SpeedPoint> {
    if generation.is_scored() {
        return Vec::new();
    }
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
