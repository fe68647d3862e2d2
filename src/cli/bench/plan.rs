//! What to measure: which parts, and with how many tokens, within the model's context.

use clap::ValueEnum;

use super::branch::N_POSITION;
use crate::cli::failure::Failure;

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Prefill speed by prompt length
    Prefill,
    /// Decode speed by number of panes, and where the time goes
    Decode,
    /// Time per token by context length
    Context,
    /// Time and memory of forking a sequence
    Fork,
    /// Time to the first token of a branch at token 300, compared with a fresh run
    Branch,
    /// Speed of drawing 64 futures of 24 tokens, by how many are drawn together
    Futures,
    /// Beam search compared with as many panes, and drafts with plain decoding
    Strategies,
    /// Memory use
    Memory,
}

/// What the arguments request.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanRequest {
    /// The parts to measure; all of them if empty.
    pub parts: Vec<Part>,
    /// The numbers of panes to decode in one batch.
    pub n_panes: Vec<usize>,
    /// The length of the prompt that the panes continue.
    pub n_prompt: usize,
    /// Tokens to generate in each pane.
    pub n_new: usize,
    /// Prompt lengths for prefill; the defaults if empty.
    pub prefill: Vec<usize>,
    /// Context lengths at which to time a step; the defaults if empty.
    pub context: Vec<usize>,
    /// Whether to fix the tokens instead of sampling them.
    pub raw: bool,
    pub n_threads: usize,
    pub n_rounds: usize,
}

/// What to measure; every length fits the model's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The parts to measure; all of them if empty.
    parts: Vec<Part>,
    /// The numbers of panes to decode in one batch, ascending.
    pub n_panes: Vec<usize>,
    /// The length of the prompt that the panes continue.
    pub n_prompt: usize,
    /// Tokens to generate in each pane.
    pub n_new: usize,
    /// Prompt lengths for prefill, ascending.
    pub prefill: Vec<usize>,
    /// Context lengths at which to time a step, ascending.
    pub context: Vec<usize>,
    /// The length of the sequence to fork.
    pub n_fork: usize,
    /// The length of the text to branch from.
    pub n_branch: usize,
    /// Whether to fix the tokens instead of sampling them.
    pub raw: bool,
    pub n_threads: usize,
    pub n_rounds: usize,
}

/// How many steps are timed at each context length.
pub(super) const N_CONTEXT_STEPS: usize = 8;

const DEFAULT_PREFILL: [usize; 4] = [64, 128, 512, 1024];
const DEFAULT_CONTEXT: [usize; 5] = [64, 512, 1024, 2048, 4096];
const DEFAULT_N_FORK: usize = 2048;

impl Plan {
    /// Checks a request against the model's context. Default lengths are cut to fit; explicit
    /// lengths that do not fit are an error.
    pub(super) fn new(request: PlanRequest, n_context: usize) -> Result<Self, Failure> {
        let n_most = n_context.saturating_sub(N_CONTEXT_STEPS);
        let mut plan = Self {
            prefill: lengths(request.prefill, &DEFAULT_PREFILL, n_context)?,
            context: lengths(request.context, &DEFAULT_CONTEXT, n_most)?,
            n_fork: DEFAULT_N_FORK.min(n_most),
            n_branch: N_POSITION.min(n_most),
            parts: request.parts,
            n_panes: request.n_panes,
            n_prompt: request.n_prompt,
            n_new: request.n_new,
            raw: request.raw,
            n_threads: request.n_threads,
            n_rounds: request.n_rounds,
        };
        plan.n_panes.sort_unstable();
        plan.n_panes.dedup();
        let n_all = plan.n_prompt.saturating_add(plan.n_new);
        let writes = plan.has(Part::Memory) || plan.continues_prompt();
        // The last token is generated but not fed back.
        if writes && n_all > n_context.saturating_add(1) {
            return Err(Failure::usage(format!(
                "{} prompt tokens and {} new tokens exceed this model’s context of {n_context}",
                plan.n_prompt, plan.n_new
            )));
        }
        Ok(plan)
    }

    /// Returns whether any part other than memory continues the prompt.
    pub(super) fn continues_prompt(&self) -> bool {
        [Part::Decode, Part::Futures, Part::Strategies]
            .into_iter()
            .any(|part| self.has(part))
    }

    /// Returns whether this part is measured. If no part is named, all but futures and strategies
    /// are.
    pub(super) fn has(&self, part: Part) -> bool {
        // Running panes one after another takes minutes with a large model, so futures must be
        // requested.
        let is_special = matches!(part, Part::Futures | Part::Strategies);
        let is_usual = self.parts.is_empty() && !is_special;
        is_usual || self.parts.contains(&part)
    }

    /// Returns the required length of the passage that the measured sequences start with, or 0 if
    /// none needs it.
    pub(super) fn n_passage(&self) -> usize {
        let n_context = self.context.iter().copied().max().unwrap_or(0);
        [
            (self.has(Part::Decode) && self.raw).then_some(self.n_prompt),
            self.has(Part::Memory).then_some(self.n_prompt),
            self.has(Part::Context).then_some(n_context),
            self.has(Part::Fork).then_some(self.n_fork),
        ]
        .into_iter()
        .flatten()
        .max()
        .unwrap_or(0)
    }
}

/// Returns the requested lengths, or the defaults cut to fit, in ascending order without
/// duplicates.
fn lengths(requested: Vec<usize>, default: &[usize], n_most: usize) -> Result<Vec<usize>, Failure> {
    if let Some(n_tokens) = requested.iter().find(|n_tokens| **n_tokens > n_most) {
        return Err(Failure::usage(format!(
            "{n_tokens} tokens exceed the {n_most} that can be measured with this model"
        )));
    }
    let mut lengths: Vec<usize> = if requested.is_empty() {
        // Lengths that do not fit are replaced by the longest that does.
        let fitting = default.iter().map(|n_tokens| (*n_tokens).min(n_most));
        fitting.filter(|n_tokens| *n_tokens > 0).collect()
    } else {
        requested
    };
    lengths.sort_unstable();
    lengths.dedup();
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::{Part, Plan, PlanRequest};

    fn request() -> PlanRequest {
        PlanRequest {
            n_panes: vec![4, 1, 4],
            n_prompt: 100,
            n_new: 20,
            n_rounds: 1,
            ..PlanRequest::default()
        }
    }

    #[test]
    fn default_lengths_are_cut_to_the_context() {
        let plan = Plan::new(request(), 1000).unwrap();
        assert_eq!(plan.n_panes, [1, 4]);
        assert_eq!(plan.prefill, [64, 128, 512, 1000]);
        assert_eq!(plan.context, [64, 512, 992]);
        assert_eq!(plan.n_fork, 992);
        assert_eq!(plan.n_passage(), 992);
        assert!(plan.has(Part::Fork) && !plan.has(Part::Futures));
    }

    #[test]
    fn only_the_measured_parts_must_fit() {
        assert!(Plan::new(request(), 119).is_ok());
        assert!(Plan::new(request(), 118).is_err());
        let prefill = PlanRequest {
            parts: vec![Part::Prefill],
            ..request()
        };
        let plan = Plan::new(prefill, 50).unwrap();
        assert_eq!((plan.prefill.clone(), plan.n_passage()), (vec![50], 0));
        let too_long = PlanRequest {
            context: vec![64, 993],
            ..request()
        };
        assert!(Plan::new(too_long, 1000).is_err());
    }
}
