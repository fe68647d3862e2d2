//! Reads a prompt, then writes the tokens of a text one by one, each with its evidence.

use std::sync::Arc;
use std::time::Instant;

use super::plan::{REWRITTEN, RewritePlan, RewriteUpdate};
use crate::decoding::{Coins, DecodingError, History, LogitsHash, SamplerChain, Taken, TokenId};
use crate::engine::{
    EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel, ReadingPrompt, Row,
    SequenceId,
};
use crate::generation::{ChatRecord, PromptRecord, Step, StepTime};

impl JobPlan for RewritePlan {
    fn priority(&self) -> JobPriority {
        JobPriority::High
    }

    /// Fails if the text does not fit into the context, or if its choices depend on more than the
    /// text before them.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let chain = model.spelled(&self.config.chain)?;
        REWRITTEN.check(&chain)?;
        let prompt = model.prompt(&self.prompt)?;
        let n_tokens = prompt.tokens.len() + self.tokens.len();
        let n_max = model.lm.n_context();
        if n_tokens > n_max {
            return Err(EngineError::TextTooLong { n_tokens, n_max });
        }
        Ok(Box::new(RewriteJob {
            text: prompt.text,
            chat: prompt.chat,
            n_prompt: prompt.tokens.len(),
            tokens: prompt.tokens,
            to_write: self.tokens.clone(),
            chain: SamplerChain::new(chain).with_detail(self.n_detail_bytes),
            seed: self.config.seed,
            began_at: Instant::now(),
            reading: None,
            sequence: None,
            n_written: 0,
        }))
    }
}

struct RewriteJob {
    text: String,
    chat: Option<ChatRecord>,
    n_prompt: usize,
    /// The prompt, and what was written after it.
    tokens: Vec<TokenId>,
    /// The tokens after the prompt.
    to_write: Vec<TokenId>,
    chain: SamplerChain,
    seed: u64,
    began_at: Instant,
    /// The prompt, once the model has begun to read it.
    reading: Option<ReadingPrompt>,
    /// The sequence that writes. `None` until the prompt was read.
    sequence: Option<SequenceId>,
    n_written: usize,
}

impl RewriteJob {
    /// Reads the next chunk of the prompt. Returns what it is once all of it was read.
    fn read_prompt(
        &mut self,
        context: &mut JobContext<'_>,
    ) -> Result<Option<RewriteUpdate>, EngineError> {
        let open = || context.open_prompt(self.tokens.clone());
        let reading = self.reading.get_or_insert_with(open);
        if !reading.is_read() {
            reading.read_chunk(context)?;
            return Ok(None);
        }
        self.sequence = Some(context.model.lm.fork(reading.sequence())?);
        let vocabulary = &context.model.vocabulary;
        let pieces = self.tokens.iter().map(|token| vocabulary.piece(*token));
        Ok(Some(RewriteUpdate::Started(Box::new(PromptRecord {
            text: self.text.clone(),
            chat: self.chat.clone(),
            pieces: pieces.collect(),
            tokens: self.tokens.clone(),
            n_prefilled: self.n_prompt,
            prefill_secs: self.began_at.elapsed().as_secs_f64(),
        }))))
    }

    /// Writes a token from the logits before it: as the chain draws it or, if it draws another one,
    /// as given.
    fn write(
        &mut self,
        token: TokenId,
        logits: &[f32],
        forward_secs: f64,
        context: &JobContext<'_>,
    ) -> Result<Step, EngineError> {
        let history = History::new(&self.tokens, self.n_prompt);
        let coins = Coins {
            seed: self.seed,
            position: self.tokens.len() as u64,
        };
        let position = self.n_written + 1;
        let failed = |source: DecodingError| EngineError::SamplingFailed { position, source };
        let drawn = self.chain.sample(logits, history, coins).map_err(failed)?;
        let sampled = if drawn.token == token {
            drawn
        } else {
            let given = Taken::Given(token);
            let taken = self.chain.take(logits, history, coins, given);
            taken.map_err(failed)?
        };
        self.tokens.push(token);
        self.n_written += 1;
        Ok(Step {
            token,
            piece: context.model.vocabulary.piece(token),
            trace: Arc::new(sampled.trace),
            time: StepTime {
                at_secs: self.began_at.elapsed().as_secs_f64(),
                forward_secs,
                n_batch: 1,
                ..StepTime::default()
            },
            draft: None,
            logits_hash: Some(LogitsHash::of(logits)),
        })
    }

    /// Writes the next token. The first follows from the logits of the prompt.
    fn step(
        &mut self,
        sequence: SequenceId,
        token: TokenId,
        context: &mut JobContext<'_>,
    ) -> Result<Step, EngineError> {
        if let Some(reading) = self.reading.take() {
            let step = self.write(token, reading.logits(), 0.0, context);
            reading.keep(context);
            return step;
        }
        let last = self.tokens.last().map(|last| Row {
            sequence,
            token: *last,
            logits_wanted: true,
        });
        let began_at = Instant::now();
        let logits = context.model.lm.forward(last.as_slice())?;
        let secs = began_at.elapsed().as_secs_f64();
        self.write(token, logits.row(0).unwrap_or_default(), secs, context)
    }
}

impl Job for RewriteJob {
    /// Runs one forward pass.
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        let Some(sequence) = self.sequence else {
            let started = self.read_prompt(context)?;
            return Ok(started.map(JobUpdate::reported));
        };
        let Some(token) = self.to_write.get(self.n_written).copied() else {
            return Ok(Some(JobUpdate::Finished));
        };
        let step = self.step(sequence, token, context)?;
        let stepped = RewriteUpdate::Stepped(Box::new(step));
        Ok(Some(JobUpdate::reported(stepped)))
    }

    fn retire(self: Box<Self>, context: &mut JobContext<'_>) {
        if let Some(sequence) = self.sequence {
            context.model.lm.close(sequence);
        }
        if let Some(reading) = self.reading {
            reading.keep(context);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::time::Instant;

    use super::{RewritePlan, RewriteUpdate};
    use crate::decoding::filters::Temperature;
    use crate::decoding::{Against, ChainConfig, Filter, Guidance, TokenId};
    use crate::engine::{Compute, JobUpdate, Progress, Session, Synthetic};
    use crate::generation::{
        GenerationConfig, GenerationId, Limits, PromptRecord, PromptText, Step,
    };

    /// More than all logits of a step take.
    const N_DETAIL_BYTES: usize = 1 << 20;

    fn session() -> Session {
        let tiny = Synthetic::find("tiny", "f32", 1).unwrap();
        let mut keep_going = |_| ControlFlow::Continue(());
        let model = tiny.open(&Compute::on_cpu(), &mut keep_going);
        Session::new(model.unwrap().unwrap())
    }

    fn config() -> GenerationConfig {
        let heat = Filter::Temperature(Temperature { temperature: 0.9 });
        GenerationConfig {
            chain: ChainConfig::sampled([heat]),
            seed: 7,
            limits: Limits {
                max_new_tokens: 20,
                ..Limits::default()
            },
        }
    }

    /// Generates a text.
    fn written(session: &mut Session) -> Vec<Step> {
        let prompt = session.prompt("Once upon").unwrap();
        let panes = vec![(GenerationId(1), config())];
        session.set_detail(N_DETAIL_BYTES);
        session.generate(prompt, panes, Instant::now());
        let mut steps = Vec::new();
        while session.is_busy() {
            let mut progress = Vec::new();
            session.advance(&mut progress);
            steps.extend(progress.into_iter().filter_map(|progress| match progress {
                Progress::Stepped { step, .. } => Some(*step),
                _ => None,
            }));
        }
        steps
    }

    fn plan(steps: &[Step]) -> RewritePlan {
        RewritePlan {
            prompt: PromptText::raw("Once upon"),
            tokens: steps.iter().map(|step| step.token).collect(),
            config: config(),
            n_detail_bytes: N_DETAIL_BYTES,
        }
    }

    /// Writes a text again.
    fn rewritten(session: &mut Session, plan: &RewritePlan) -> (PromptRecord, Vec<Step>) {
        session.run_job(GenerationId(2), plan, None).unwrap();
        let (mut prompt, mut steps) = (None, Vec::new());
        while session.has_jobs() {
            let Some((_, update)) = session.advance_job() else {
                continue;
            };
            match update {
                JobUpdate::Reported(report) => match report.take() {
                    Some(RewriteUpdate::Started(read)) => prompt = Some(*read),
                    Some(RewriteUpdate::Stepped(step)) => steps.push(*step),
                    None => panic!("another report"),
                },
                JobUpdate::Finished => {}
                other => panic!("{other:?}"),
            }
        }
        (prompt.unwrap(), steps)
    }

    #[test]
    fn a_text_is_written_again_with_the_same_evidence_bit_for_bit() {
        let mut session = session();
        let before = written(&mut session);
        assert_eq!(before.len(), 20);
        for _ in 0..2 {
            let (prompt, after) = rewritten(&mut session, &plan(&before));
            assert_eq!(prompt.text, "Once upon");
            assert_eq!(prompt.tokens.len(), prompt.pieces.len());
            let evidence = |steps: &[Step]| -> Vec<_> {
                let steps = steps.iter();
                let of = |step: &Step| (step.token, step.trace.clone(), step.logits_hash);
                steps.map(of).collect()
            };
            assert_eq!(evidence(&after), evidence(&before));
            session.clear_prefix_cache();
        }
    }

    #[test]
    fn a_token_that_the_chain_would_not_draw_is_written_as_given() {
        let mut session = session();
        let mut plan = plan(&written(&mut session));
        plan.tokens[3] = TokenId(plan.tokens[3].0 ^ 1);
        let (_, after) = rewritten(&mut session, &plan);
        let tokens: Vec<TokenId> = after.iter().map(|step| step.token).collect();
        assert_eq!(tokens, plan.tokens);
    }

    #[test]
    fn what_depends_on_more_than_the_text_is_refused() {
        let mut session = session();
        let mut guided = plan(&[]);
        guided.config.chain.guidance = Some(Guidance::usual(Against::Model));
        let refused = session.run_job(GenerationId(2), &guided, None).unwrap_err();
        let words = refused.to_string();
        assert!(
            words.ends_with("generate the text again on Write"),
            "{words}"
        );
        let mut long = plan(&[]);
        long.tokens = vec![TokenId(5); 1 << 20];
        assert!(session.run_job(GenerationId(2), &long, None).is_err());
    }
}
