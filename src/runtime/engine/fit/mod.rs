//! Computes how likely given texts are under many chains. The model reads each text once; the
//! chains then run over the logits that it returned.

mod read_texts;
mod tokens;

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use self::read_texts::ReadRow;
use self::read_texts::{GuidedTexts, ReadTexts};
use super::early_layers::{OwnPass, exits_of};
use super::guide::{Guide, GuidedText};
use super::job::{Job, JobContext, JobPlan, JobPriority, JobUpdate};
use super::prefill::PREFILL_CHUNK;
use super::{EarlyExit, EngineError, LoadedModel, Row, SequenceId};
use crate::decoding::{ChainConfig, ChainLikelihood, GrammarState, History, LegalTokens, TokenId};
use crate::generation::{FitPlace, FitPlan, FitTokens, FitUpdate, Likelihood, Limits};

/// How many logits one pass may compute, so that a pass takes at most 16 MB.
const N_LOGITS: usize = 1 << 22;

/// How long chains run before requests are checked again.
const SLICE: Duration = Duration::from_millis(40);

impl JobPlan for FitPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::High
    }

    fn chains(&self) -> &[ChainConfig] {
        &self.chains
    }

    /// Fails if one of the texts has no token to score.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let texts = model.encode_texts(self)?;
        let guided = model.guided_texts(self, &texts)?;
        let n_rows = 1 + usize::from(guided.is_some());
        let n_row_bytes = n_rows * size_of::<f32>() * model.lm.n_vocab().max(1);
        let n_max_rows = self.n_logits_bytes / n_row_bytes;
        let first = self.chains.first();
        let grammar = first.map(|chain| model.grammar_of(chain, &Limits::default()));
        let grammar = grammar.transpose()?.flatten();
        let chains = self.chains.iter().map(|chain| model.spelled(chain));
        let job = FitJob::new(chains.collect::<Result<_, _>>()?, texts, n_max_rows)
            .constrained(grammar)
            .guided(guided);
        Ok(Box::new(job))
    }
}

/// A running fit.
struct FitJob {
    chains: Vec<ChainConfig>,
    read: ReadTexts,
    /// The initial state of the grammar that all chains share.
    grammar: Option<GrammarState>,
    /// The state of the grammar in the text that is being read.
    followed: Option<GrammarState>,
    /// The likelihoods so far, without the texts that have not been read yet.
    found: Vec<Likelihood>,
    is_announced: bool,
    /// The index of the text that is being read.
    text: usize,
    /// How many of its tokens have been read.
    n_read: usize,
    sequence: Option<SequenceId>,
    /// What guides the text that is being read.
    guide: Option<Guide>,
    /// How many chains have run over the logits that are held.
    n_computed: usize,
    /// How many rows of logits may be held.
    n_max_rows: usize,
}

/// What one call has done.
enum Pass {
    Read,
    /// These chains have run over all texts.
    Computed(Range<usize>),
    /// Chains have run over part of the texts.
    Partly,
    Finished,
}

impl FitJob {
    fn new(chains: Vec<ChainConfig>, texts: Vec<FitTokens>, n_max_rows: usize) -> Self {
        let unknown = Likelihood {
            ln_prob: 0.0,
            ruled_out: None,
        };
        Self {
            found: vec![unknown; chains.len()],
            chains,
            read: ReadTexts::of(texts),
            grammar: None,
            followed: None,
            is_announced: false,
            text: 0,
            n_read: 0,
            sequence: None,
            guide: None,
            n_computed: 0,
            n_max_rows: n_max_rows.max(1),
        }
    }

    /// Rules out what a grammar forbids. A check after the draw counts as a mask, which is
    /// equivalent for chains that neither cut nor reweight.
    fn constrained(mut self, grammar: Option<GrammarState>) -> Self {
        self.read.grammar = grammar.as_ref().map(|state| Arc::clone(state.rule()));
        self.grammar = grammar;
        self
    }

    /// Also reads what guides the texts.
    fn guided(mut self, guided: Option<GuidedTexts>) -> Self {
        self.read.guided = guided;
        self
    }

    /// Reuses the logits of an earlier fit if it has read the same texts.
    fn reuse(&mut self, read: ReadTexts) {
        if read.has_read_as(&self.read) {
            self.text = read.texts.len();
            self.read = read;
        }
    }

    fn reading(&self) -> FitUpdate {
        let texts = &self.read.texts;
        let before = texts.iter().take(self.text);
        let n_before: usize = before.map(|text| text.tokens.len()).sum();
        FitUpdate::Reading {
            n_read: n_before + self.n_read,
            n_tokens: texts.iter().map(|text| text.tokens.len()).sum(),
        }
    }

    fn is_read(&self) -> bool {
        self.text >= self.read.texts.len()
    }

    /// Returns whether to read on before the chains run.
    fn wants_logits(&self) -> bool {
        !self.is_read() && self.read.places.len() < self.n_max_rows && self.n_computed == 0
    }

    fn read_chunk(&mut self, model: &mut LoadedModel) -> Result<Pass, EngineError> {
        let Some(text) = self.read.texts.get(self.text) else {
            return Ok(Pass::Read);
        };
        // Nothing follows the last token, so it is never read.
        let n_to_read = text.tokens.len().saturating_sub(1);
        let n_rows = (N_LOGITS / model.lm.n_vocab().max(1)).clamp(1, PREFILL_CHUNK);
        let n_free = self.n_max_rows - self.read.places.len();
        let n_prompt_left = text.n_prompt.saturating_sub(1 + self.n_read);
        let n_rows = n_rows.min(n_prompt_left.saturating_add(n_free));
        let end = (self.n_read + n_rows).min(n_to_read);
        let sequence = match self.sequence {
            Some(sequence) => sequence,
            None => *self.sequence.insert(model.lm.open_for(n_to_read)),
        };
        if let Some(guided) = &self.read.guided {
            let guide = self.guide.get_or_insert_with(|| guided.guide_of(self.text));
            // The last token is never read.
            if guide.reads_prompt(text.fitted().len().saturating_sub(1), model)? {
                return Ok(Pass::Read);
            }
        }
        let is_wanted = |position: usize| position + 1 >= text.n_prompt;
        let rows: Vec<Row> = (self.n_read..end)
            .filter_map(|position| {
                Some(Row {
                    sequence,
                    token: *text.tokens.get(position)?,
                    logits_wanted: is_wanted(position),
                })
            })
            .collect();
        let layers = self.guide.as_ref().map_or(&[][..], Guide::layers);
        let wanted = rows.iter().enumerate().filter(|(_, row)| row.logits_wanted);
        let exits: Vec<EarlyExit> = exits_of(wanted.map(|(index, _)| index), layers).collect();
        let (logits, early) = model.lm.forward_with_exits(&rows, &exits)?;
        let own = OwnPass {
            last: &logits,
            early: &early,
            first: 0,
        };
        let guided = GuidedText {
            tokens: &text.tokens,
            n_prompt: text.n_prompt,
        };
        let others = match &mut self.guide {
            Some(guide) => guide.rows(guided, self.n_read..end, &own, model)?,
            None => Vec::new(),
        };
        if self.n_read == 0 {
            self.followed.clone_from(&self.grammar);
        }
        let wanted = (self.n_read..end).filter(|position| is_wanted(*position));
        let mut read = Vec::new();
        for (index, position) in wanted.enumerate() {
            if let (Some(own), Some(next)) = (logits.row(index), text.tokens.get(position + 1)) {
                let row = ReadRow {
                    own,
                    other: others.get(index).map(|row| row.logits.as_slice()),
                    legal: legal(self.followed.as_mut(), *next)?,
                };
                let place = FitPlace {
                    text: self.text,
                    step: position + 1 - text.n_prompt,
                };
                read.push((place, row));
            }
        }
        self.read.reserve(self.n_max_rows, model.lm.n_vocab());
        for (place, row) in read {
            self.read.push(place, row);
        }
        self.n_read = end;
        if end >= n_to_read {
            self.close(model);
            self.text += 1;
            self.n_read = 0;
        }
        Ok(Pass::Read)
    }

    /// Runs the next chains over the logits that are held, several at a time.
    fn compute(&mut self, n_vocab: usize) -> Result<Pass, EngineError> {
        let begun_at = Instant::now();
        let begin = self.n_computed;
        let n_threads = rayon::current_num_threads().max(1);
        while self.n_computed < self.chains.len() && begun_at.elapsed() < SLICE {
            let end = (self.n_computed + n_threads).min(self.chains.len());
            let chains = self.n_computed..end;
            let sums: Result<Vec<Likelihood>, EngineError> = chains
                .into_par_iter()
                .map(|chain| self.likelihood(chain, n_vocab))
                .collect();
            let places = self.found.iter_mut().skip(self.n_computed);
            for (place, sum) in places.zip(sums?) {
                *place = sum;
            }
            self.n_computed = end;
        }
        let chains = begin..self.n_computed;
        if self.is_read() {
            return Ok(if chains.is_empty() {
                Pass::Finished
            } else {
                Pass::Computed(chains)
            });
        }
        if self.n_computed >= self.chains.len() {
            self.n_computed = 0;
            self.read.clear();
        }
        Ok(Pass::Partly)
    }

    /// Returns a chain's likelihood so far, with the tokens added whose logits are held.
    fn likelihood(&self, chain: usize, n_vocab: usize) -> Result<Likelihood, EngineError> {
        let impossible = |ruled_out| Likelihood {
            ln_prob: f64::NEG_INFINITY,
            ruled_out,
        };
        let (Some(config), Some(before)) = (self.chains.get(chain), self.found.get(chain)) else {
            return Ok(impossible(None));
        };
        let Some(mut likelihood) = ChainLikelihood::new(config) else {
            return Ok(impossible(None));
        };
        let mut sum = *before;
        if sum.ruled_out.is_some() {
            return Ok(sum);
        }
        for (index, place) in self.read.places.iter().enumerate() {
            let Some(text) = self.read.texts.get(place.text) else {
                continue;
            };
            let position = text.n_prompt + place.step;
            let (before, token) = (text.tokens.get(..position), text.tokens.get(position));
            let (Some(before), Some(token)) = (before, token) else {
                continue;
            };
            let history = History::new(before, text.n_prompt);
            let ln_prob = self
                .read
                .row(index, n_vocab, config)
                .and_then(|logits| likelihood.ln_prob(&logits, history, *token))
                .map_err(|source| EngineError::SamplingFailed { position, source })?;
            if ln_prob.is_infinite() {
                return Ok(impossible(Some(*place)));
            }
            sum.ln_prob += ln_prob;
        }
        Ok(sum)
    }

    fn close(&mut self, model: &mut LoadedModel) {
        if let Some(mut guide) = self.guide.take() {
            guide.close(model);
        }
        if let Some(sequence) = self.sequence.take() {
            model.lm.close(sequence);
        }
    }
}

impl Job for FitJob {
    /// Runs one forward pass, or chains for a short time.
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if let Some(read) = context.take_kept() {
            self.reuse(read);
        }
        if !self.is_announced {
            self.is_announced = true;
            let texts = self.read.texts.clone();
            return Ok(Some(JobUpdate::reported(FitUpdate::Started { texts })));
        }
        let passed = if self.wants_logits() {
            self.read_chunk(context.model)?
        } else {
            self.compute(context.model.lm.n_vocab())?
        };
        Ok(match passed {
            Pass::Read => Some(JobUpdate::reported(self.reading())),
            Pass::Computed(chains) => {
                let found = chains.filter_map(|chain| Some((chain, *self.found.get(chain)?)));
                let found = found.collect();
                Some(JobUpdate::reported(FitUpdate::Computed { found }))
            }
            Pass::Partly => None,
            Pass::Finished => Some(JobUpdate::Finished),
        })
    }

    /// Frees the sequences, and leaves the logits for the next fit if they cover all texts.
    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        self.close(context.model);
        let n_tokens: usize = self.read.texts.iter().map(|text| text.fitted().len()).sum();
        let is_whole = self.is_read() && self.read.places.len() == n_tokens;
        *context.kept = if is_whole {
            Some(Box::new(self.read))
        } else {
            None
        };
    }
}

/// Returns the legal tokens, or `None` if there is no grammar or the text has left it, and advances
/// past the next token.
fn legal(
    grammar: Option<&mut GrammarState>,
    next: TokenId,
) -> Result<Option<LegalTokens>, EngineError> {
    let Some(grammar) = grammar.filter(|grammar| !grammar.is_broken()) else {
        return Ok(None);
    };
    let legal = grammar.legal()?;
    grammar.accept(next);
    Ok(Some(legal))
}
