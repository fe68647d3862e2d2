//! Measures decode speed for panes in one batch, and where the time of their steps goes.

use std::time::Instant;

use super::passage::Passage;
use crate::cli::failure::Failure;
use crate::decoding::ChainConfig;
use crate::engine::{CausalLm, ForwardTimes, Progress, Prompt, Session};
use crate::generation::{EndOfText, FinishReason, GenerationConfig, GenerationId, Limits};

/// The time of a run of decode steps.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sample {
    pub n_panes: usize,
    /// Tokens fed per pane.
    pub n_steps: usize,
    /// The time of all steps.
    pub secs: f64,
    /// The time spent in their forward passes.
    pub times: ForwardTimes,
}

/// A starting point for timing steps.
struct Start {
    at: Instant,
    times: ForwardTimes,
}

impl Start {
    fn now(lm: &dyn CausalLm) -> Self {
        Self {
            times: lm.times(),
            at: Instant::now(),
        }
    }

    fn sample(&self, n_panes: usize, n_steps: usize, lm: &dyn CausalLm) -> Sample {
        let secs = self.at.elapsed().as_secs_f64();
        let (before, after) = (self.times, lm.times());
        Sample {
            n_panes,
            n_steps,
            secs,
            times: ForwardTimes {
                product_secs: after.product_secs - before.product_secs,
                attention_secs: after.attention_secs - before.attention_secs,
                head_secs: after.head_secs - before.head_secs,
                total_secs: after.total_secs - before.total_secs,
            },
        }
    }
}

/// Measures full decode steps, including sampling and recording, as in the window.
pub(super) fn with_chain(
    n_panes: usize,
    n_new: usize,
    prompt: Prompt,
    session: &mut Session,
) -> Result<Sample, Failure> {
    let panes = (0..n_panes as u64).map(|pane| (GenerationId(pane), config(pane, n_new)));
    session.generate(prompt, panes, Instant::now());
    let mut start = None;
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        let mut started = false;
        for event in progress.drain(..) {
            match event {
                Progress::Started { .. } => started = true,
                Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => return Err(Failure::run(error)),
                _ => {}
            }
        }
        if started {
            start = Some(Start::now(&*session.model().lm));
        }
    }
    let start = start.ok_or_else(|| Failure::run("the panes did not start"))?;
    // The first token comes from the prefill.
    Ok(start.sample(n_panes, n_new - 1, &*session.model().lm))
}

/// Measures forward passes alone, with tokens fixed in advance.
pub(super) fn raw(
    n_panes: usize,
    n_steps: usize,
    n_prompt: usize,
    passage: &Passage,
    lm: &mut dyn CausalLm,
) -> Result<Sample, Failure> {
    let mut sequences = Vec::new();
    for _ in 0..n_panes {
        sequences.push(passage.first(n_prompt, lm)?);
    }
    let start = Start::now(lm);
    for index in 0..n_steps {
        passage.step(index, &sequences, lm)?;
    }
    let sample = start.sample(n_panes, n_steps, lm);
    for sequence in sequences {
        lm.close(sequence);
    }
    Ok(sample)
}

/// Returns settings that sample from all tokens and ignore the end of text.
pub(super) fn config(seed: u64, n_new: usize) -> GenerationConfig {
    GenerationConfig {
        chain: ChainConfig::sampled([]),
        seed,
        limits: Limits {
            max_new_tokens: n_new,
            stop_strings: Vec::new(),
            end_of_text: EndOfText::Ignored,
        },
    }
}
