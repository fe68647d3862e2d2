//! Reads a prompt, then beginnings of its right answers, and adds up their probabilities.

use super::spelling::Spelled;
use super::tree::{After, Beginning, SpellingTree};
use crate::decoding::{ChainLikelihood, TokenId};
use crate::engine::{
    EngineError, JobContext, LoadedModel, PREFILL_CHUNK, ReadingPrompt, Row, SequenceId,
};
use crate::generation::hosts::EXACT_ANSWERS;
use crate::generation::{Limits, THOUGHT_TAGS};
use crate::lab::prompts::{ExactFound, ExactShare, TasksPlan};

/// How many beginnings are read together.
const N_TOGETHER: usize = 8;

/// How many probabilities of spellings are kept for show, over all tasks.
const N_MAX_SPELLED: usize = 16_000_000;

/// The chains under which answers have a probability that can be computed.
pub(super) struct ExactChains {
    /// `None` for the chains without one.
    likelihoods: Vec<Option<ChainLikelihood>>,
    /// Why a chain has none, if none has.
    refusal: Option<String>,
    /// How many probabilities of spellings each task may keep.
    n_spelled: usize,
}

impl ExactChains {
    pub(super) fn new(plan: &TasksPlan, model: &LoadedModel) -> Result<Self, EngineError> {
        let mut refusal = None;
        let mut likelihoods = Vec::new();
        for (index, chain) in plan.exact.iter().enumerate() {
            if plan.elsewhere.contains(&index) {
                likelihoods.push(None);
                continue;
            }
            let chain = model.spelled(chain)?;
            let refused = EXACT_ANSWERS.check(&chain).err();
            let likelihood = match &refused {
                Some(_) => None,
                None => ChainLikelihood::new(&chain),
            };
            refusal = refusal.or(refused.map(|refused| refused.to_string()));
            likelihoods.push(likelihood);
        }
        if thinks(model) {
            likelihoods.fill_with(|| None);
            refusal = Some("The model thinks before it answers".to_owned());
        }
        let is_known = likelihoods.iter().any(Option::is_some);
        Ok(Self {
            likelihoods,
            refusal: refusal.filter(|_| !is_known),
            n_spelled: N_MAX_SPELLED / plan.tasks.len().max(1),
        })
    }

    /// Returns whether any of the chains has a probability.
    pub(super) fn is_empty(&self) -> bool {
        self.likelihoods.iter().all(Option::is_none)
    }

    /// Returns what is found where nothing can be computed.
    pub(super) fn nothing(&self) -> ExactFound {
        ExactFound {
            shares: vec![None; self.likelihoods.len()],
            spellings: Vec::new(),
            refusal: self.refusal.clone(),
        }
    }

    fn known(&self) -> Vec<ChainLikelihood> {
        self.likelihoods.iter().flatten().cloned().collect()
    }

    /// Puts values of the known chains where those chains are.
    fn spread<T>(&self, values: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
        let mut values = values.into_iter();
        let known = self.likelihoods.iter().map(Option::is_some);
        known
            .map(|is_known| if is_known { values.next() } else { None })
            .collect()
    }
}

/// Returns whether the model knows tags of thoughts. Its answers may then begin with a thought, and
/// those can't be listed.
fn thinks(model: &LoadedModel) -> bool {
    let mut pieces = model.vocabulary.iter();
    pieces.any(|(_, piece)| {
        let mut tags = THOUGHT_TAGS.iter();
        tags.any(|tags| piece.bytes == tags.closing.as_bytes())
    })
}

/// Computes how likely the right answers to one task are.
pub(super) struct ExactJob {
    /// The tokens of the prompt, and what the cache holds of them.
    prompt: ReadingPrompt,
    chains: Vec<ChainLikelihood>,
    tree: SpellingTree,
    /// The beginnings that are being read, each with a sequence of its own.
    reading: Vec<SequenceId>,
}

impl ExactJob {
    pub(super) fn new(
        prompt: Vec<TokenId>,
        chains: &ExactChains,
        limits: &Limits,
        context: &mut JobContext<'_>,
    ) -> Self {
        let chains = chains.known();
        // The last token of an answer is never read, so it needs no room.
        let n_context = context.model.lm.n_context().saturating_add(1);
        let n_room = n_context.saturating_sub(prompt.len());
        Self {
            tree: SpellingTree::new(chains.len(), limits.max_new_tokens.min(n_room)),
            prompt: context.open_prompt(prompt),
            chains,
            reading: Vec::new(),
        }
    }

    /// Runs one forward pass. Returns whether everything was read.
    pub(super) fn advance(
        &mut self,
        right: &[String],
        limits: &Limits,
        context: &mut JobContext<'_>,
    ) -> Result<bool, EngineError> {
        if !self.prompt.is_read() {
            self.prompt.read_chunk(context)?;
            return Ok(false);
        }
        let beginnings = self.tree.take(N_TOGETHER);
        if beginnings.is_empty() {
            return Ok(true);
        }
        let logits = self.read(&beginnings, context.model)?;
        let model = &*context.model;
        let spelled = Spelled {
            texts: right,
            limits,
            end_tokens: &model.end_tokens,
            vocabulary: &model.vocabulary,
        };
        let prompt = self.prompt.tokens();
        for (beginning, logits) in beginnings.iter().zip(&logits) {
            let position = prompt.len() + beginning.tokens.len();
            self.tree
                .grow(
                    beginning,
                    After { prompt, logits },
                    &mut self.chains,
                    &spelled,
                )
                .map_err(|source| EngineError::SamplingFailed { position, source })?;
        }
        Ok(false)
    }

    /// Returns the logits after each beginning.
    fn read(
        &mut self,
        beginnings: &[Beginning],
        model: &mut LoadedModel,
    ) -> Result<Vec<Vec<f32>>, EngineError> {
        let mut rows = Vec::new();
        for beginning in beginnings
            .iter()
            .filter(|beginning| !beginning.tokens.is_empty())
        {
            let sequence = model.lm.fork(self.prompt.sequence())?;
            // From here on, retiring the job closes the sequence.
            self.reading.push(sequence);
            let last = beginning.tokens.len() - 1;
            rows.extend(
                beginning
                    .tokens
                    .iter()
                    .enumerate()
                    .map(|(index, token)| Row {
                        sequence,
                        token: *token,
                        logits_wanted: index == last,
                    }),
            );
        }
        let mut found = Vec::new();
        let mut next = 0;
        let chunks: Vec<&[Row]> = rows.chunks(PREFILL_CHUNK).collect();
        for chunk in chunks {
            let logits = model.lm.forward(chunk)?;
            found.extend(
                (0..logits.n_rows()).filter_map(|row| logits.row(row).map(<[f32]>::to_vec)),
            );
        }
        for sequence in self.reading.drain(..) {
            model.lm.close(sequence);
        }
        let all = beginnings.iter().map(|beginning| {
            if beginning.tokens.is_empty() {
                return self.prompt.logits().to_vec();
            }
            next += 1;
            found.get(next - 1).cloned().unwrap_or_default()
        });
        Ok(all.collect())
    }

    /// Returns what was found, and keeps the prompt for reuse.
    pub(super) fn finish(self, chains: &ExactChains, context: &mut JobContext<'_>) -> ExactFound {
        self.prompt.keep(context);
        let (shares, mut spellings) = self.tree.into_found();
        let mut n_spelled = 0;
        spellings.retain(|spelling| {
            n_spelled += (spelling.prefix_probs.len() + 1) * chains.likelihoods.len();
            n_spelled <= chains.n_spelled
        });
        for spelling in &mut spellings {
            let rows = spelling.prefix_probs.iter_mut();
            for probs in rows.chain([&mut spelling.probs]) {
                let spread = chains.spread(std::mem::take(probs)).into_iter();
                *probs = spread.map(Option::unwrap_or_default).collect();
            }
        }
        let shares: Vec<Option<ExactShare>> = chains.spread(shares);
        ExactFound {
            shares,
            spellings,
            refusal: None,
        }
    }

    /// Frees the sequences.
    pub(super) fn retire(mut self, context: &mut JobContext<'_>) {
        for sequence in self.reading.drain(..) {
            context.model.lm.close(sequence);
        }
        self.prompt.keep(context);
    }
}
