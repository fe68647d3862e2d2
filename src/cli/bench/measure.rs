//! The measurements: one prompt, read anew each time, continued by some number of panes.

use std::time::Instant;

use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::decoding::{ChainConfig, TokenId};
use crate::engine::{self, Prompt, Session};
use crate::generation::{EndOfText, FinishReason, GenerationConfig, GenerationId, Limits};

/// What the prompt is made of; any text would do.
const PASSAGE: &str = "Once upon a time there was a little fox who lived at the edge of a forest. ";

/// How much is read and written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    /// Tokens of the prompt.
    pub n_prompt: usize,
    /// Tokens that each pane writes.
    pub n_new: usize,
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// How many panes wrote together.
    pub n_panes: usize,
    /// How long reading the prompt took, in seconds.
    pub prefill_secs: f64,
    /// From the first token of the first pane to the last token of the last one, in seconds.
    pub decode_secs: f64,
    /// From the request to the last token, in seconds.
    pub total_secs: f64,
}

/// Measures each number of panes once a round, in turn. A round before the first is not counted: it
/// brings the weights into memory.
pub(super) fn rounds(
    n_panes: &[usize],
    n_rounds: usize,
    lengths: Lengths,
    session: &mut Session,
    progress: &mut Progress,
) -> Result<Vec<Sample>, Failure> {
    let prompt = prompt(lengths.n_prompt, session)?;
    let mut samples = Vec::new();
    for round in 0..=n_rounds {
        progress.happened(&match round {
            0 => "Warming up".to_owned(),
            round => format!("Round {round} of {n_rounds}"),
        });
        for &n_panes in n_panes {
            let sample = measure(n_panes, lengths.n_new, prompt.clone(), session)?;
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    progress.done();
    Ok(samples)
}

fn prompt(n_tokens: usize, session: &Session) -> Result<Prompt, Failure> {
    let tokenizer = &session.model().tokenizer;
    let mut text = String::new();
    let mut tokens: Vec<TokenId> = Vec::new();
    while tokens.len() < n_tokens {
        text.push_str(PASSAGE);
        tokens = tokenizer
            .encode(&text)
            .map_err(|error| Failure::run(error.to_string()))?;
    }
    tokens.truncate(n_tokens);
    Ok(Prompt {
        text,
        chat: None,
        tokens,
    })
}

fn measure(
    n_panes: usize,
    n_new: usize,
    prompt: Prompt,
    session: &mut Session,
) -> Result<Sample, Failure> {
    let panes = (0..n_panes as u64).map(|pane| (GenerationId(pane), config(pane, n_new)));
    // The prompt of the run before would still be in the cache, and nothing would be read.
    session.forget_prompt();
    let asked_at = Instant::now();
    session.generate(prompt, panes, asked_at);

    let mut sample = Sample {
        n_panes,
        prefill_secs: 0.0,
        decode_secs: 0.0,
        total_secs: 0.0,
    };
    let mut first_token_secs = None;
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        for progress in progress.drain(..) {
            match progress {
                engine::Progress::Started { prompt, .. } => {
                    sample.prefill_secs = prompt.prefill_secs;
                }
                engine::Progress::Stepped { step, .. } => {
                    first_token_secs.get_or_insert(step.time.at_secs);
                    sample.total_secs = step.time.at_secs;
                }
                engine::Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => return Err(Failure::run(error)),
                engine::Progress::Reading { .. } | engine::Progress::Finished { .. } => {}
            }
        }
    }
    sample.decode_secs = sample.total_secs - first_token_secs.unwrap_or(0.0);
    Ok(sample)
}

fn config(seed: u64, n_new: usize) -> GenerationConfig {
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
