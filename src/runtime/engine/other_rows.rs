//! The rows of many guided texts: each text's own sequence, the sequence that guides it, and what
//! the guiding sequences have read before the texts begin.

use std::borrow::Cow;

use super::early_layers::{OwnPass, exits_of};
use super::prefill::PREFILL_CHUNK;
use super::{CausalLm, EngineError, LoadedModel, Logits, Row, SequenceId};
use crate::decoding::{Against, ChainConfig, DecodingError, TokenId};

/// The sequences of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowPair {
    pub own: SequenceId,
    /// The one that guides it, and which model reads it.
    pub other: Option<OtherSequence>,
}

/// A guiding sequence, by the model that reads it.
#[derive(Debug, Clone, Copy)]
pub(super) enum OtherSequence {
    SameModel(SequenceId),
    SecondModel(SequenceId),
}

impl OtherSequence {
    const fn id(self) -> SequenceId {
        match self {
            Self::SameModel(id) | Self::SecondModel(id) => id,
        }
    }

    fn model_and_id(
        self,
        model: &mut LoadedModel,
    ) -> Result<(&mut dyn CausalLm, SequenceId), EngineError> {
        match self {
            Self::SameModel(id) => Ok((&mut *model.lm, id)),
            Self::SecondModel(id) => Ok((model.second_lm()?, id)),
        }
    }

    fn fork(self, model: &mut LoadedModel) -> Result<Self, EngineError> {
        let (lm, id) = self.model_and_id(model)?;
        let fork = lm.fork(id)?;
        Ok(match self {
            Self::SameModel(_) => Self::SameModel(fork),
            Self::SecondModel(_) => Self::SecondModel(fork),
        })
    }

    /// Frees the sequence. If its model is gone, so is the sequence.
    pub(super) fn close(self, model: &mut LoadedModel) {
        if let Ok((lm, id)) = self.model_and_id(model) {
            lm.close(id);
        }
    }
}

impl RowPair {
    /// Forks both sequences.
    pub(super) fn fork(self, model: &mut LoadedModel) -> Result<Self, EngineError> {
        let own = model.lm.fork(self.own)?;
        match self.other.map(|other| other.fork(model)).transpose() {
            Ok(other) => Ok(Self { own, other }),
            Err(error) => {
                model.lm.close(own);
                Err(error)
            }
        }
    }

    /// Frees both sequences.
    pub(super) fn close(self, model: &mut LoadedModel) {
        model.lm.close(self.own);
        if let Some(other) = self.other {
            other.close(model);
        }
    }
}

/// The logits after the same text.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLogits<'a> {
    pub own: &'a [f32],
    /// The logits of the guiding row.
    pub other: Option<&'a [f32]>,
}

impl<'a> RowLogits<'a> {
    /// Returns the logits that these settings choose from: the mixture of both rows if the settings
    /// are guided.
    pub(super) fn for_chain(&self, chain: &ChainConfig) -> Result<Cow<'a, [f32]>, DecodingError> {
        match (&chain.guidance, self.other) {
            (Some(guidance), Some(other)) => Ok(Cow::Owned(guidance.mix(self.own, other)?)),
            (Some(_) | None, _) => Ok(Cow::Borrowed(self.own)),
        }
    }
}

/// The logits of both rows of several texts, from one step of the models.
pub(super) struct PairedLogits {
    n_texts: usize,
    /// The texts' own rows, then the guiding rows of the same model.
    main: Logits,
    /// The rows of the second model, or of early layers.
    others: Vec<Vec<f32>>,
}

impl PairedLogits {
    /// Reads one token of each text. `layers` are the early layers that guide them. Returns `None`
    /// if the model is not ready.
    pub(super) fn read(
        texts: &[(RowPair, TokenId)],
        layers: &[u32],
        model: &mut LoadedModel,
    ) -> Result<Option<Self>, EngineError> {
        let row = |sequence, token: &TokenId| Row {
            sequence,
            token: *token,
            logits_wanted: true,
        };
        let mut rows: Vec<Row> = texts
            .iter()
            .map(|(pair, token)| row(pair.own, token))
            .collect();
        let mut second = Vec::new();
        for (pair, token) in texts {
            match pair.other {
                Some(OtherSequence::SameModel(other)) => rows.push(row(other, token)),
                Some(OtherSequence::SecondModel(other)) => second.push(row(other, token)),
                None => {}
            }
        }
        if !model.lm.get_ready(&rows)? {
            return Ok(None);
        }
        let exits: Vec<_> = exits_of(0..texts.len(), layers).collect();
        let (main, early) = model.lm.forward_with_exits(&rows, &exits)?;
        let n_vocab = model.lm.n_vocab();
        let others = match second.as_slice() {
            [] => {
                let own = OwnPass {
                    last: &main,
                    early: &early,
                    first: 0,
                };
                let rows = own.guiding_rows(layers).into_iter();
                rows.map(|row| row.logits).collect()
            }
            rows => {
                let logits = model.second_lm()?.forward(rows)?;
                let rows = (0..rows.len()).filter_map(|index| logits.row(index));
                rows.map(|row| comparable(row, n_vocab)).collect()
            }
        };
        Ok(Some(Self {
            n_texts: texts.len(),
            main,
            others,
        }))
    }

    /// Returns the rows of a text, by its index among the texts.
    pub(super) fn of(&self, place: usize) -> RowLogits<'_> {
        let other = self.others.get(place).map(Vec::as_slice);
        RowLogits {
            own: self.main.row(place).unwrap_or_default(),
            other: other.or_else(|| self.main.row(self.n_texts + place)),
        }
    }
}

/// Cuts or pads a row of the second model to the length of the main model's rows. Tokens that only
/// one of the models has can't be compared.
pub(super) fn comparable(row: &[f32], n_vocab: usize) -> Vec<f32> {
    let mut row = row.to_vec();
    row.resize(n_vocab, f32::NEG_INFINITY);
    row
}

/// The row that guides texts: what it has read of its prompt, or of the text of a single pane, and
/// the logits after that.
pub(super) struct OtherPrompt {
    tokens: Vec<TokenId>,
    sequence: OtherSequence,
    n_read: usize,
    n_context: usize,
    /// The vocabulary size of the main model.
    n_vocab: usize,
    logits: Option<Vec<f32>>,
}

impl OtherPrompt {
    /// Opens a sequence for what these settings move away from, in which `n_written` tokens of a text
    /// follow the prompt.
    pub(super) fn open(
        tokens: Vec<TokenId>,
        n_written: usize,
        against: &Against,
        model: &mut LoadedModel,
    ) -> Result<Self, EngineError> {
        let n_vocab = model.lm.n_vocab();
        let (lm, of): (&mut dyn CausalLm, fn(SequenceId) -> OtherSequence) =
            if *against == Against::Model {
                (model.second_lm()?, OtherSequence::SecondModel)
            } else {
                (&mut *model.lm, OtherSequence::SameModel)
            };
        let (n_tokens, n_max) = (tokens.len() + n_written, lm.n_context());
        if n_tokens > n_max {
            return Err(EngineError::PromptTooLong { n_tokens, n_max });
        }
        Ok(Self {
            sequence: of(lm.open_for(n_tokens)),
            tokens,
            n_read: 0,
            n_context: n_max,
            n_vocab,
            logits: None,
        })
    }

    /// Returns whether everything has been read, so that the logits after it are known.
    pub(super) const fn is_read(&self) -> bool {
        self.logits.is_some()
    }

    /// Returns the rows that it reads next: of the prompt, then of the tokens that the text has
    /// written. Requests logits for the last one if nothing is left to read after it.
    pub(super) fn rows(&self, written: &[TokenId]) -> Vec<Row> {
        let n_all = self.tokens.len() + written.len();
        let all = self.tokens.iter().chain(written).enumerate();
        let rows = all
            .skip(self.n_read)
            .take(PREFILL_CHUNK)
            .map(|(position, token)| Row {
                sequence: self.sequence.id(),
                token: *token,
                logits_wanted: position + 1 == n_all,
            });
        rows.collect()
    }

    /// Receives the logits after its next `n_rows` rows, if they were requested.
    pub(super) fn note(&mut self, n_rows: usize, logits: Option<&[f32]>) {
        self.n_read += n_rows;
        self.logits = logits.map(|row| comparable(row, self.n_vocab));
    }

    /// Reads the next chunk of the prompt.
    pub(super) fn read_chunk(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        let rows = self.rows(&[]);
        let (lm, _) = self.sequence.model_and_id(model)?;
        let logits = lm.forward(&rows)?;
        self.note(rows.len(), logits.row(0));
        Ok(())
    }

    /// Returns the logits after the prompt, once it has been read.
    pub(super) fn logits(&self) -> Option<&[f32]> {
        self.logits.as_deref()
    }

    /// Removes and returns the logits after everything that has been read.
    pub(super) const fn take_logits(&mut self) -> Option<Vec<f32>> {
        self.logits.take()
    }

    /// Reads the tokens that follow, and returns the logits after each.
    pub(super) fn read_on(
        &mut self,
        tokens: &[TokenId],
        model: &mut LoadedModel,
    ) -> Result<Vec<Vec<f32>>, EngineError> {
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let (lm, sequence) = self.sequence.model_and_id(model)?;
        let rows = tokens.iter().map(|token| Row {
            sequence,
            token: *token,
            logits_wanted: true,
        });
        let logits = lm.forward(&rows.collect::<Vec<_>>())?;
        let rows = (0..tokens.len()).filter_map(|index| logits.row(index));
        Ok(rows.map(|row| comparable(row, self.n_vocab)).collect())
    }

    /// Fails if the context has no room for this many tokens after the prompt.
    pub(super) const fn check_room_for(&self, n_tokens: usize) -> Result<(), EngineError> {
        if n_tokens >= self.n_room() {
            let (n_tokens, n_max) = (self.tokens.len() + n_tokens, self.n_context);
            return Err(EngineError::GuideTooLong { n_tokens, n_max });
        }
        Ok(())
    }

    /// Forks the sequence, to be continued after the prompt.
    pub(super) fn fork(&self, model: &mut LoadedModel) -> Result<OtherSequence, EngineError> {
        self.sequence.fork(model)
    }

    /// Returns how many tokens a text can have after the prompt, the last of which is never read.
    pub(super) const fn n_room(&self) -> usize {
        (self.n_context - self.tokens.len()).saturating_add(1)
    }

    /// Frees the sequence.
    pub(super) fn close(self, model: &mut LoadedModel) {
        self.sequence.close(model);
    }
}
