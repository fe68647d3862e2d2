//! Reads a prompt and the tokens that answers have in common, and draws the next one with the coin of
//! each answer.

use crate::decoding::Need::{DraftRows, Memory, SecondModel, SecondRow, TokenIds, WholeVocabulary};
use crate::decoding::{ChainConfig, Coins, History, Host, SamplerChain, TokenId};
use crate::engine::{
    EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel, ReadingPrompt,
};
use crate::lab::prompts::{ForkFound, ForkPlan};

/// One choice, without the text before it.
const ONE_CHOICE: Host = Host {
    offers: &[DraftRows, TokenIds],
    refusals: &[
        (
            Memory,
            "<what> adapts to what it has picked; open the answer as a pane to see this choice",
        ),
        (
            SecondRow,
            "with <what>, open the answer as a pane to see this choice",
        ),
        (
            SecondModel,
            "with <what>, open the answer as a pane to see this choice",
        ),
        (
            WholeVocabulary,
            "with <what>, open the answer as a pane to see this choice",
        ),
    ],
};

impl JobPlan for ForkPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Highest
    }

    /// Fails if the choice depends on more than the text before it.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let chain = model.spelled(&self.chain)?;
        ONE_CHOICE.check(&chain)?;
        Ok(Box::new(ForkJob {
            prompt: model.prompt(&self.prompt)?.tokens,
            shared: self.shared.clone(),
            chain,
            seeds: self.seeds.clone(),
            reading: None,
            is_done: false,
        }))
    }
}

struct ForkJob {
    prompt: Vec<TokenId>,
    shared: Vec<TokenId>,
    chain: ChainConfig,
    seeds: Vec<u64>,
    reading: Option<ReadingPrompt>,
    is_done: bool,
}

impl ForkJob {
    /// Draws with the coin of each seed from these logits.
    fn draw(&self, tokens: &[TokenId], logits: &[f32]) -> Result<ForkFound, EngineError> {
        let position = tokens.len();
        let history = History::new(tokens, self.prompt.len());
        let draws = self.seeds.iter().map(|seed| {
            let coins = Coins {
                seed: *seed,
                position: position as u64,
            };
            SamplerChain::new(self.chain.clone()).sample(logits, history, coins)
        });
        let draws = draws
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| EngineError::SamplingFailed { position, source })?;
        Ok(ForkFound {
            prompt: self.prompt.clone(),
            draws,
        })
    }
}

impl Job for ForkJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if self.is_done {
            return Ok(Some(JobUpdate::Finished));
        }
        let mut reading = match self.reading.take() {
            Some(reading) => reading,
            None => context.open_prompt([&self.prompt[..], &self.shared].concat()),
        };
        if !reading.is_read() {
            let read = reading.read_chunk(context);
            self.reading = Some(reading);
            return read.map(|()| None);
        }
        self.is_done = true;
        let found = self.draw(reading.tokens(), reading.logits());
        reading.keep(context);
        Ok(Some(JobUpdate::reported(found?)))
    }

    fn retire(self: Box<Self>, context: &mut JobContext<'_>) {
        if let Some(reading) = self.reading {
            reading.keep(context);
        }
    }
}
