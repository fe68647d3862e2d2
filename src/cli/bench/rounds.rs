//! Round after round: all that is measured takes its turn in each.

use super::bandwidth::{self, Bandwidth};
use super::figures::Figures;
use super::memory::{self, Memory};
use super::passage::{Passage, text};
use super::plan::{N_CONTEXT_STEPS, Part, Plan};
use super::{decode, fork, prefill};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::engine::{CausalLm, DeviceChoice, Prompt, Resident, Session};
use crate::generation::ModelOutline;

/// A model, and what is to be measured of it.
pub(super) struct Bench {
    session: Session,
    plan: Plan,
    outline: ModelOutline,
    /// What the program held before it loaded the model.
    before: Option<Resident>,
}

/// All that was measured, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Samples {
    pub bandwidth: Vec<bandwidth::Sample>,
    /// How many tokens were read, and in how many seconds.
    pub prefill: Vec<(usize, f64)>,
    pub decode: Vec<decode::Sample>,
    /// After how many tokens, and how many seconds a token took.
    pub context: Vec<(usize, f64)>,
    pub fork: Vec<fork::Sample>,
    pub memory: Option<Memory>,
}

/// What all rounds share.
struct Stage {
    prompt: Prompt,
    prompts: Vec<Prompt>,
    passage: Option<Passage>,
    bandwidth: Option<Bandwidth>,
}

impl Bench {
    /// A model that has read nothing.
    pub const fn new(
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

    /// What is to be measured.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Measures. A short round before the first is not counted: it brings the weights into memory.
    pub fn run(&mut self, progress: &mut Progress) -> Result<Figures, Failure> {
        let mut samples = Samples::default();
        progress.happened("Reading the texts");
        let stage = self.stage(&mut samples)?;
        for round in 0..=self.plan.n_rounds {
            if round == 0 {
                progress.happened("Warming up");
                self.round(&stage, 1, &mut Samples::default())?;
            } else {
                progress.happened(&format!("Round {round} of {}", self.plan.n_rounds));
                if let Some(bandwidth) = &stage.bandwidth {
                    samples.bandwidth.push(bandwidth.measure()?);
                }
                self.round(&stage, usize::MAX, &mut samples)?;
            }
        }
        Ok(Figures::new(&self.plan, &self.outline, &samples))
    }

    /// Reads what all rounds begin with. Memory is measured in between, before there is a buffer for the
    /// bandwidth.
    fn stage(&mut self, samples: &mut Samples) -> Result<Stage, Failure> {
        let plan = &self.plan;
        let model = self.session.model();
        let tokenizer = &model.tokenizer;
        // The bandwidth is that of the machine's memory.
        let is_on_cpu = model.info.device.starts_with(&DeviceChoice::Cpu.name());
        // Only texts that panes write go on from it.
        let n_prompt = if plan.has(Part::Decode) {
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
        let mut passage = None;
        let n_passage = plan.n_passage();
        if n_passage > 0 {
            let tokens = text(n_passage, tokenizer)?.tokens;
            passage = Some(Passage::read(tokens, self.session.lm())?);
        }
        if plan.has(Part::Memory)
            && let Some(passage) = &passage
        {
            let at = (passage, self.session.lm());
            samples.memory = memory::measure(plan, &self.outline, self.before, at)?;
        }
        Ok(Stage {
            prompt,
            prompts,
            passage,
            bandwidth: (is_on_cpu && plan.has(Part::Decode))
                .then(|| Bandwidth::new(plan.n_threads)),
        })
    }

    /// One round, of which each part measures so many cases at most.
    fn round(
        &mut self,
        stage: &Stage,
        n_most: usize,
        samples: &mut Samples,
    ) -> Result<(), Failure> {
        let Self { session, plan, .. } = self;
        for prompt in stage.prompts.iter().take(n_most) {
            let secs = prefill::measure(prompt.clone(), session)?;
            samples.prefill.push((prompt.tokens.len(), secs));
        }
        if plan.has(Part::Decode) {
            for n_panes in plan.n_panes.iter().take(n_most) {
                samples.decode.push(match &stage.passage {
                    Some(passage) if plan.raw => {
                        let (n_steps, start) = (plan.n_new - 1, (passage, plan.n_prompt));
                        decode::raw(*n_panes, n_steps, start, session.lm())?
                    }
                    _ => decode::with_chain(*n_panes, plan.n_new, stage.prompt.clone(), session)?,
                });
            }
        }
        if let Some(passage) = &stage.passage {
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

/// How long one token of one pane takes after so many others, in seconds.
fn step_secs(n_tokens: usize, passage: &Passage, lm: &mut dyn CausalLm) -> Result<f64, Failure> {
    let sample = decode::raw(1, N_CONTEXT_STEPS, (passage, n_tokens), lm)?;
    Ok(sample.secs / sample.n_steps as f64)
}
