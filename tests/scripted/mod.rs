//! A model without weights whose logits are a function of the tokens it has read, for tests that
//! must know what a model predicts, and when.
//!
//! Its vocabulary is the 256 bytes, each with its value as the token id, and one end-of-text token.

#![allow(dead_code, reason = "each test crate uses only some of this module")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quartet::decoding::TokenId;
use quartet::engine::{CausalLm, EngineError, LoadedModel, Logits, Row, SequenceId, Tokenizer};
use quartet::generation::{ModelInfo, Provenance};
use serde_json::json;

/// The size of the vocabulary.
pub(crate) const N_VOCAB: usize = 257;

/// The end-of-text token, `</s>`.
pub(crate) const END: TokenId = TokenId(256);

type LogitsOf = dyn FnMut(&[TokenId]) -> Vec<f32> + Send;
type BeforeForward = dyn FnMut(&[Row]) + Send;

/// A model whose logits come from a closure.
pub(crate) struct ScriptedLm {
    n_context: usize,
    logits: Box<LogitsOf>,
    before_forward: Box<BeforeForward>,
    sequences: BTreeMap<SequenceId, Vec<TokenId>>,
    n_opened: u64,
    n_open: Arc<AtomicUsize>,
    n_bytes_per_token: Option<u64>,
}

impl ScriptedLm {
    /// A model with a context of `n_context` tokens. `logits` maps the tokens of a sequence to one
    /// logit for each token of the vocabulary.
    pub(crate) fn new(
        n_context: usize,
        logits: impl FnMut(&[TokenId]) -> Vec<f32> + Send + 'static,
    ) -> Self {
        Self {
            n_context,
            logits: Box::new(logits),
            before_forward: Box::new(|_| {}),
            sequences: BTreeMap::new(),
            n_opened: 0,
            n_open: Arc::default(),
            n_bytes_per_token: None,
        }
    }

    /// A model without preferences: its logits are pseudo-random, close to each other, and
    /// different for any two texts.
    pub(crate) fn babbling(n_context: usize) -> Self {
        Self::new(n_context, noise)
    }

    /// A model that knows one text by heart: after any `n` tokens, its top token is byte `n` of the
    /// text, or the end-of-text token once the text is complete.
    pub(crate) fn reciting(n_context: usize, text: &str) -> Self {
        let text = text.as_bytes().to_vec();
        Self::new(n_context, move |tokens| {
            let mut logits = noise(tokens);
            let favorite = text
                .get(tokens.len())
                .map_or(END.index(), |b| usize::from(*b));
            if let Some(logit) = logits.get_mut(favorite) {
                *logit += 6.0;
            }
            logits
        })
    }

    /// Calls `call` with the rows of each forward pass before it runs: to observe it, to block it,
    /// or to panic.
    #[must_use]
    pub(crate) fn before_forward(mut self, call: impl FnMut(&[Row]) + Send + 'static) -> Self {
        self.before_forward = Box::new(call);
        self
    }

    /// Reports that each token of a sequence takes this much memory, so that a session keeps texts
    /// and not just the newest prompt.
    #[must_use]
    pub(crate) const fn with_bytes_per_token(mut self, n_bytes: u64) -> Self {
        self.n_bytes_per_token = Some(n_bytes);
        self
    }

    /// A counter of the open sequences that stays readable after the model has moved.
    pub(crate) fn n_open(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.n_open)
    }

    /// Returns the model with its tokenizer.
    pub(crate) fn into_loaded(self) -> Result<LoadedModel, EngineError> {
        let tokenizer = byte_tokenizer()?;
        let info = ModelInfo {
            name: "Scripted".to_owned(),
            architecture: "scripted".to_owned(),
            device: "CPU".to_owned(),
            n_vocab: N_VOCAB,
            n_context: self.n_context,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..Provenance::default()
            },
            ..ModelInfo::default()
        };
        Ok(LoadedModel {
            lm: Box::new(self),
            vocabulary: Arc::new(tokenizer.vocabulary(N_VOCAB)),
            tokenizer,
            end_tokens: vec![END],
            chat: None,
            info: Arc::new(info),
            recommended_sampling: None,
            load_warning: None,
            second: None,
            own_second: None,
            grammar_trie: quartet::engine::GrammarTrie::default(),
            memory: quartet::kernels::ReturnedMemory::default(),
        })
    }

    fn add(&mut self, tokens: Vec<TokenId>) -> SequenceId {
        self.n_opened += 1;
        let id = SequenceId(self.n_opened);
        self.sequences.insert(id, tokens);
        self.n_open.store(self.sequences.len(), Ordering::Relaxed);
        id
    }

    fn tokens(&mut self, sequence: SequenceId) -> Result<&mut Vec<TokenId>, EngineError> {
        self.sequences
            .get_mut(&sequence)
            .ok_or(EngineError::UnknownSequence(sequence.0))
    }

    /// Checks all rows before any is read, so that a failed pass changes nothing.
    fn check(&self, rows: &[Row]) -> Result<(), EngineError> {
        let mut lengths: BTreeMap<SequenceId, usize> = BTreeMap::new();
        for row in rows {
            if row.token.index() >= N_VOCAB {
                let (token, n_vocab) = (row.token.0, N_VOCAB);
                return Err(EngineError::UnknownToken { token, n_vocab });
            }
            let Some(tokens) = self.sequences.get(&row.sequence) else {
                return Err(EngineError::UnknownSequence(row.sequence.0));
            };
            let length = lengths.entry(row.sequence).or_insert(tokens.len());
            *length += 1;
            if *length > self.n_context {
                let n_max = self.n_context;
                return Err(EngineError::ContextFull { n_max });
            }
        }
        Ok(())
    }
}

impl CausalLm for ScriptedLm {
    fn n_vocab(&self) -> usize {
        N_VOCAB
    }

    fn n_context(&self) -> usize {
        self.n_context
    }

    fn open(&mut self) -> SequenceId {
        self.add(Vec::new())
    }

    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError> {
        let tokens = self.tokens(parent)?.clone();
        Ok(self.add(tokens))
    }

    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError> {
        self.tokens(sequence)?.truncate(n);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.remove(&sequence);
        self.n_open.store(self.sequences.len(), Ordering::Relaxed);
    }

    fn n_read(&self, sequence: SequenceId) -> usize {
        self.sequences.get(&sequence).map_or(0, Vec::len)
    }

    fn n_cache_bytes(&self, sequences: &[SequenceId]) -> Option<u64> {
        let n_tokens: usize = sequences.iter().map(|id| self.n_read(*id)).sum();
        Some(self.n_bytes_per_token? * n_tokens as u64)
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        (self.before_forward)(rows);
        self.check(rows)?;
        let mut values = Vec::new();
        for row in rows {
            let tokens = self
                .sequences
                .get_mut(&row.sequence)
                .ok_or(EngineError::UnknownSequence(row.sequence.0))?;
            tokens.push(row.token);
            if row.logits_wanted {
                values.extend((self.logits)(tokens));
            }
        }
        Ok(Logits::new(values, N_VOCAB))
    }
}

/// Logits between −2 and 2 that depend on every token read and on their order, so that a sequence
/// that was forked or truncated wrongly does not go unnoticed.
fn noise(tokens: &[TokenId]) -> Vec<f32> {
    let seed = tokens
        .iter()
        .fold(0, |hash, token| mix(hash ^ u64::from(token.0)));
    (0..N_VOCAB as u64)
        .map(|token| (mix(seed ^ (token << 32)) >> 40) as f32 / (1_u64 << 22) as f32 - 2.0)
        .collect()
}

/// Mixes the bits of a number (`SplitMix64`: Steele, Lea, Flood 2014, "Fast Splittable Pseudorandom
/// Number Generators").
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn byte_tokenizer() -> Result<Tokenizer, EngineError> {
    let mut vocab: serde_json::Map<String, serde_json::Value> = (0..=255_u8)
        .map(|byte| (format!("<0x{byte:02X}>"), byte.into()))
        .collect();
    vocab.insert("</s>".to_owned(), END.0.into());
    let end = json!({
        "id": END.0, "content": "</s>", "special": true,
        "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
    });
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": [end],
        "model": { "type": "BPE", "byte_fallback": true, "vocab": vocab, "merges": [] },
    });
    Tokenizer::from_json(tokenizer.to_string().as_bytes(), "")
}

#[test]
fn the_tokens_of_a_scripted_model_are_bytes() {
    let model = ScriptedLm::babbling(8).into_loaded().unwrap();
    let tokens = model.tokenizer.encode("é\n</s>").unwrap();
    assert_eq!(tokens, [0xC3, 0xA9, 0x0A, END.0].map(TokenId));
    assert_eq!(model.vocabulary.piece(TokenId(0xC3)).bytes, [0xC3]);
    assert_eq!(model.vocabulary.piece(END).to_string(), "</s>");
}

fn row(sequence: SequenceId, token: u32) -> Row {
    Row {
        sequence,
        token: TokenId(token),
        logits_wanted: true,
    }
}

#[test]
fn a_scripted_fork_and_its_parent_are_independent() {
    let mut lm = ScriptedLm::babbling(8);
    let parent = lm.open();
    lm.forward(&[row(parent, 1), row(parent, 2)]).unwrap();
    let child = lm.fork(parent).unwrap();
    let together = lm.forward(&[row(parent, 3), row(child, 4)]).unwrap();

    let fresh = lm.open();
    let alone = lm
        .forward(&[row(fresh, 1), row(fresh, 2), row(fresh, 4)])
        .unwrap();
    assert_eq!(together.row(1), alone.row(2));
    assert_ne!(together.row(0), alone.row(2));
}

#[test]
fn a_scripted_pass_that_fails_reads_nothing() {
    let mut lm = ScriptedLm::babbling(1);
    let sequence = lm.open();
    let rows = [row(sequence, 1), row(sequence, 2)];
    assert!(matches!(
        lm.forward(&rows),
        Err(EngineError::ContextFull { n_max: 1 })
    ));
    assert_eq!(lm.n_read(sequence), 0);
    lm.close(sequence);
    assert!(matches!(
        lm.forward(&[row(sequence, 1)]),
        Err(EngineError::UnknownSequence(_))
    ));
}
