//! Compares beam search with as many panes, and drafts with plain decoding.

use std::time::Instant;

use super::decode::config;
use crate::cli::failure::Failure;
use crate::decoding::selector::BeamSearch;
use crate::decoding::{ChainConfig, PromptLookup, Selector};
use crate::engine::{Progress, Prompt, Session};
use crate::generation::{FinishReason, GenerationId};

/// The number of beams, and of the panes that they are compared with.
const N_BEAMS: u32 = 8;

/// What is measured. Each case comes after the one that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Greedy,
    Drafts,
    Panes,
    Beams,
}

impl Case {
    pub(super) const ALL: [Self; 4] = [Self::Greedy, Self::Drafts, Self::Panes, Self::Beams];

    pub(super) fn name(self) -> String {
        match self {
            Self::Greedy => "one pane, greedy".to_owned(),
            Self::Drafts => format!("one pane, greedy, {}", PromptLookup::USUAL),
            Self::Panes => format!("{N_BEAMS} panes, greedy"),
            Self::Beams => format!("one pane, {N_BEAMS} beams"),
        }
    }

    /// Returns the case that this one is compared with.
    pub(super) const fn baseline(self) -> Self {
        match self {
            Self::Greedy | Self::Drafts => Self::Greedy,
            Self::Panes | Self::Beams => Self::Panes,
        }
    }

    const fn n_panes(self) -> u64 {
        match self {
            Self::Panes => N_BEAMS as u64,
            _ => 1,
        }
    }

    fn chain(self) -> ChainConfig {
        let greedy = ChainConfig::greedy();
        match self {
            Self::Greedy | Self::Panes => greedy,
            Self::Drafts => ChainConfig {
                drafts: Some(PromptLookup::USUAL.into()),
                ..greedy
            },
            Self::Beams => ChainConfig {
                selector: Selector::BeamSearch(BeamSearch {
                    width: N_BEAMS,
                    length_penalty: 1.0,
                    early_stopping: 0,
                }),
                ..greedy
            },
        }
    }
}

/// The time of one case, excluding prefill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub case: Case,
    pub secs: f64,
    /// The number of forward passes.
    pub n_passes: usize,
    /// The number of tokens that they generated in the first pane.
    pub n_tokens: usize,
}

/// Generates `n_new` tokens in each pane.
pub(super) fn measure(
    case: Case,
    n_new: usize,
    prompt: &Prompt,
    session: &mut Session,
) -> Result<Sample, Failure> {
    let panes = (0..case.n_panes()).map(|pane| {
        let mut config = config(pane, n_new);
        config.chain = case.chain();
        (GenerationId(pane), config)
    });
    session.generate(prompt.clone(), panes, Instant::now());
    let mut progress = Vec::new();
    let (mut started_at, mut n_passes, mut n_tokens) = (None, 0, 0);
    while session.is_busy() {
        session.advance(&mut progress);
        n_passes += usize::from(started_at.is_some());
        for event in progress.drain(..) {
            match event {
                Progress::Started { .. } => started_at = Some(Instant::now()),
                Progress::Stepped {
                    id: GenerationId(0),
                    ..
                } => n_tokens += 1,
                Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => return Err(Failure::run(error)),
                _ => {}
            }
        }
    }
    let started_at = started_at.ok_or_else(|| Failure::run("the panes did not start"))?;
    Ok(Sample {
        case,
        secs: started_at.elapsed().as_secs_f64(),
        n_passes,
        // The first token comes from the prefill.
        n_tokens: n_tokens - 1,
    })
}
