//! Runs the rounds of a benchmark; each round measures every part once.

use super::bandwidth::{self, Bandwidth};
use super::figures::Figures;
use super::memory::{self, Memory};
use super::passage::{Passage, text};
use super::plan::{N_CONTEXT_STEPS, Part, Plan};
use super::{branch, decode, fork, futures, prefill, strategies};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::engine::{CausalLm, DeviceChoice, Prompt, Resident, Session};
use crate::generation::ModelOutline;

/// A model and the plan for measuring it.
pub(super) struct Bench {
    session: Session,
    plan: Plan,
    outline: ModelOutline,
    /// The program's memory before it loaded the model.
    before: Option<Resident>,
}

/// All measurements, in chronological order.
#[derive(Debug, Default)]
pub(super) struct Samples {
    pub bandwidth: Vec<bandwidth::Sample>,
    /// Prompt length and prefill time in seconds.
    pub prefill: Vec<(usize, f64)>,
    pub decode: Vec<decode::Sample>,
    /// Context length and step time in seconds.
    pub context: Vec<(usize, f64)>,
    pub fork: Vec<fork::Sample>,
    pub branch: Vec<branch::Sample>,
    pub futures: Vec<futures::Sample>,
    pub strategies: Vec<strategies::Sample>,
    pub memory: Option<Memory>,
}

/// What all rounds share.
struct Setup {
    prompt: Prompt,
    prompts: Vec<Prompt>,
    /// The text to branch from, if that is measured.
    branched: Option<Prompt>,
    passage: Option<Passage>,
    bandwidth: Option<Bandwidth>,
}

impl Bench {
    /// Creates a benchmark for a freshly loaded model.
    pub(super) const fn new(
        session: Session,
        plan: Plan,
        outline: ModelOutline,
        before: Option<Resident>,
    ) -> Self {
        Self {
            session,
            plan,
            outline,
            before,
        }
    }

    /// Returns the plan.
    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs all rounds. A short warm-up round, which is not counted, brings the weights into
    /// memory.
    pub(super) fn run(&mut self, progress: &mut Progress) -> Result<Figures, Failure> {
        let mut samples = Samples::default();
        progress.milestone("Preparing the prompts");
        let setup = self.setup(&mut samples)?;
        for round in 0..=self.plan.n_rounds {
            if round == 0 {
                progress.milestone("Warming up");
                self.round(&setup, 1, &mut Samples::default())?;
            } else {
                progress.milestone(&format!("Round {round} of {}", self.plan.n_rounds));
                if let Some(bandwidth) = &setup.bandwidth {
                    samples.bandwidth.push(bandwidth.measure()?);
                }
                self.round(&setup, usize::MAX, &mut samples)?;
            }
        }
        Ok(Figures::new(&self.plan, &self.outline, &samples))
    }

    /// Prepares what all rounds share. Memory is measured here, before the bandwidth buffer is
    /// allocated.
    fn setup(&mut self, samples: &mut Samples) -> Result<Setup, Failure> {
        let plan = &self.plan;
        let model = self.session.model();
        let tokenizer = &model.tokenizer;
        // The bandwidth of main memory only matters on the CPU.
        let is_on_cpu = model.info.device.starts_with(&DeviceChoice::Cpu.name());
        let n_prompt = if plan.continues_prompt() {
            plan.n_prompt
        } else {
            0
        };
        let prompt = text(n_prompt, tokenizer)?;
        let mut prompts = Vec::new();
        if plan.has(Part::Prefill) {
            for n_tokens in &plan.prefill {
                prompts.push(text(*n_tokens, tokenizer)?);
            }
        }
        let mut branched = None;
        if plan.has(Part::Branch) {
            branched = Some(text(plan.n_branch, tokenizer)?);
        }
        let mut passage = None;
        let n_passage = plan.n_passage();
        if n_passage > 0 {
            let tokens = text(n_passage, tokenizer)?.tokens;
            passage = Some(Passage::read(tokens, self.session.lm())?);
        }
        if plan.has(Part::Memory)
            && let Some(passage) = &passage
        {
            let lm = self.session.lm();
            samples.memory = memory::measure(plan, &self.outline, self.before, passage, lm)?;
        }
        Ok(Setup {
            prompt,
            prompts,
            branched,
            passage,
            bandwidth: (is_on_cpu && plan.has(Part::Decode))
                .then(|| Bandwidth::new(plan.n_threads)),
        })
    }

    /// Runs one round with at most `n_most` cases per part.
    fn round(
        &mut self,
        setup: &Setup,
        n_most: usize,
        samples: &mut Samples,
    ) -> Result<(), Failure> {
        let Self { session, plan, .. } = self;
        for prompt in setup.prompts.iter().take(n_most) {
            let secs = prefill::measure(prompt.clone(), session)?;
            samples.prefill.push((prompt.tokens.len(), secs));
        }
        if plan.has(Part::Decode) {
            for n_panes in plan.n_panes.iter().take(n_most) {
                samples.decode.push(match &setup.passage {
                    Some(passage) if plan.raw => {
                        let n_steps = plan.n_new - 1;
                        decode::raw(*n_panes, n_steps, plan.n_prompt, passage, session.lm())?
                    }
                    _ => decode::with_chain(*n_panes, plan.n_new, setup.prompt.clone(), session)?,
                });
            }
        }
        if let Some(text) = &setup.branched {
            samples.branch.push(branch::measure(text, session)?);
        }
        if plan.has(Part::Futures) {
            let widths = futures::WIDTHS.map(Some).into_iter().chain([None]);
            for width in widths.take(n_most) {
                let sample = futures::measure(width, &setup.prompt, session)?;
                samples.futures.push(sample);
            }
        }
        if plan.has(Part::Strategies) {
            for case in strategies::Case::ALL.into_iter().take(n_most) {
                let sample = strategies::measure(case, plan.n_new, &setup.prompt, session)?;
                samples.strategies.push(sample);
            }
        }
        if let Some(passage) = &setup.passage {
            if plan.has(Part::Context) {
                for n_tokens in plan.context.iter().take(n_most) {
                    let secs = step_secs(*n_tokens, passage, session.lm())?;
                    samples.context.push((*n_tokens, secs));
                }
            }
            if plan.has(Part::Fork) {
                let sample = fork::measure(plan.n_fork, passage, session.lm())?;
                samples.fork.push(sample);
            }
        }
        Ok(())
    }
}

/// Measures the time of one step of one pane at this context length, in seconds.
fn step_secs(n_tokens: usize, passage: &Passage, lm: &mut dyn CausalLm) -> Result<f64, Failure> {
    let sample = decode::raw(1, N_CONTEXT_STEPS, n_tokens, passage, lm)?;
    Ok(sample.secs / sample.n_steps as f64)
}
