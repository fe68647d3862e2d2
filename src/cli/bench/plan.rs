//! What is measured: which parts, and with how many tokens, as the context allows.

use clap::ValueEnum;

use crate::cli::failure::Failure;

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Tokens a second while a prompt is read
    Prefill,
    /// Tokens a second while panes write, and where the time goes
    Decode,
    /// Milliseconds a token after longer and longer texts
    Context,
    /// How long it takes to go two ways from one text
    Fork,
    /// How much memory is held
    Memory,
}

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Lengths {
    /// Which parts; all where none is named.
    pub parts: Vec<Part>,
    /// How many panes write together.
    pub n_panes: Vec<usize>,
    /// Tokens of the prompt that panes continue.
    pub n_prompt: usize,
    /// Tokens that each pane writes.
    pub n_new: usize,
    /// Lengths of prompts that are only read; the usual ones where there is none.
    pub prefill: Vec<usize>,
    /// After how many tokens a step is timed; the usual numbers where there is none.
    pub context: Vec<usize>,
    /// Whether nothing is drawn from the logits.
    pub raw: bool,
    /// How many threads the processor computes with.
    pub n_threads: usize,
    /// How often each is measured.
    pub n_rounds: usize,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    parts: Vec<Part>,
    /// How many panes write together.
    pub n_panes: Vec<usize>,
    /// Tokens of the prompt that panes continue.
    pub n_prompt: usize,
    /// Tokens that each pane writes.
    pub n_new: usize,
    /// Lengths of prompts that are only read.
    pub prefill: Vec<usize>,
    /// After how many tokens a step is timed.
    pub context: Vec<usize>,
    /// How many tokens the text has from which forks go.
    pub n_fork: usize,
    /// Whether nothing is drawn from the logits.
    pub raw: bool,
    /// How many threads the processor computes with.
    pub n_threads: usize,
    /// How often each is measured.
    pub n_rounds: usize,
}

/// How many tokens are timed together where the context grows.
pub(super) const N_CONTEXT_STEPS: usize = 8;

const USUAL_PREFILL: [usize; 4] = [64, 128, 512, 1024];
const USUAL_CONTEXT: [usize; 5] = [64, 512, 1024, 2048, 4096];
const N_USUAL_FORK: usize = 2048;

impl Plan {
    /// As much as was asked for, for a model that reads so many tokens. Usual lengths are left out where
    /// they are too long; those that were named must fit.
    pub fn new(asked: Lengths, n_context: usize) -> Result<Self, Failure> {
        let n_most = n_context.saturating_sub(N_CONTEXT_STEPS);
        let mut plan = Self {
            prefill: chosen(asked.prefill, &USUAL_PREFILL, n_context)?,
            context: chosen(asked.context, &USUAL_CONTEXT, n_most)?,
            n_fork: N_USUAL_FORK.min(n_most),
            parts: asked.parts,
            n_panes: asked.n_panes,
            n_prompt: asked.n_prompt,
            n_new: asked.n_new,
            raw: asked.raw,
            n_threads: asked.n_threads,
            n_rounds: asked.n_rounds,
        };
        plan.n_panes.sort_unstable();
        plan.n_panes.dedup();
        let n_all = plan.n_prompt.saturating_add(plan.n_new);
        let writes = plan.has(Part::Decode) || plan.has(Part::Memory);
        // The last token is written and not read.
        if writes && n_all > n_context.saturating_add(1) {
            return Err(Failure::usage(format!(
                "{} prompt tokens and {} new ones are more than the {n_context} that this model reads",
                plan.n_prompt, plan.n_new
            )));
        }
        Ok(plan)
    }

    /// Whether this part is measured.
    pub fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// How long the text must be that all sequences of our own begin with; nothing where there are none.
    pub fn n_passage(&self) -> usize {
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

/// The lengths that were named, or the usual ones that fit; in order, each once.
fn chosen(named: Vec<usize>, usual: &[usize], n_most: usize) -> Result<Vec<usize>, Failure> {
    if let Some(n_tokens) = named.iter().find(|n_tokens| **n_tokens > n_most) {
        return Err(Failure::usage(format!(
            "{n_tokens} tokens are more than the {n_most} that can be measured with this model"
        )));
    }
    let mut lengths = if named.is_empty() {
        // The longest that fits takes the place of those that do not.
        let usual = usual.iter().map(|n_tokens| (*n_tokens).min(n_most));
        usual.filter(|n_tokens| *n_tokens > 0).collect()
    } else {
        named
    };
    lengths.sort_unstable();
    lengths.dedup();
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::{Lengths, Part, Plan};

    fn asked() -> Lengths {
        Lengths {
            n_panes: vec![4, 1, 4],
            n_prompt: 100,
            n_new: 20,
            n_rounds: 1,
            ..Lengths::default()
        }
    }

    #[test]
    fn the_usual_lengths_are_cut_to_the_context() {
        let plan = Plan::new(asked(), 1000).unwrap();
        assert_eq!(plan.n_panes, [1, 4]);
        assert_eq!(plan.prefill, [64, 128, 512, 1000]);
        assert_eq!(plan.context, [64, 512, 992]);
        assert_eq!(plan.n_fork, 992);
        assert_eq!(plan.n_passage(), 992);
        assert!(plan.has(Part::Fork));
    }

    #[test]
    fn only_what_is_measured_must_fit() {
        assert!(Plan::new(asked(), 119).is_ok());
        assert!(Plan::new(asked(), 118).is_err());
        let prefill = Lengths {
            parts: vec![Part::Prefill],
            ..asked()
        };
        let plan = Plan::new(prefill, 50).unwrap();
        assert_eq!((plan.prefill.clone(), plan.n_passage()), (vec![50], 0));
        let too_long = Lengths {
            context: vec![64, 993],
            ..asked()
        };
        assert!(Plan::new(too_long, 1000).is_err());
    }
}
