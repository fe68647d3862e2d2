//! A model's vocabulary as a trie of bytes, which grammars walk.

use std::collections::HashMap;
use std::sync::Arc;

use llguidance::toktrie::{
    ApproximateTokEnv, InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie,
};
use llguidance::{ParserFactory, earley::SlicedBiasComputer};

use super::GrammarError;
use crate::decoding::TokenId;

/// The longest token that the trie can hold.
const MAX_TOKEN_BYTES: usize = 1000;

/// A vocabulary prepared for grammars. Preparing takes a moment, so it is shared.
pub struct GrammarVocabulary {
    pub(super) factory: ParserFactory,
    n_vocab: usize,
    /// The tokens that write the same bytes as another one, each with the one that the trie holds.
    same_bytes: Vec<(TokenId, TokenId)>,
    end_tokens: Vec<TokenId>,
}

impl GrammarVocabulary {
    /// Prepares a vocabulary, given the bytes that each token writes, by id. Tokens that write no
    /// text are empty: they are never legal, except `end_tokens` when the text may end.
    pub fn new(mut words: Vec<Vec<u8>>, end_tokens: &[TokenId]) -> Result<Self, GrammarError> {
        let n_vocab = words.len();
        let mut first: HashMap<&[u8], TokenId> = HashMap::with_capacity(n_vocab);
        let mut same_bytes = Vec::new();
        for (id, word) in (0..).map(TokenId).zip(&words) {
            if !word.is_empty() {
                let held = *first.entry(word).or_insert(id);
                if held != id {
                    same_bytes.push((id, held));
                }
            }
        }
        drop(first);
        let dropped: Vec<TokenId> = same_bytes
            .iter()
            .map(|(id, _)| *id)
            .chain(end_tokens.iter().copied())
            .collect();
        for id in dropped {
            if let Some(word) = words.get_mut(id.index()) {
                word.clear();
            }
        }
        for word in &mut words {
            if word.len() > MAX_TOKEN_BYTES {
                word.clear();
            }
        }
        // The library needs a token that ends a text. This one is beyond the row of logits.
        words.push(Vec::new());
        let mut ends: Vec<u32> = end_tokens.iter().map(|token| token.0).collect();
        ends.retain(|id| (*id as usize) < n_vocab);
        if ends.is_empty() {
            ends.push(n_vocab as u32);
        }
        let info = TokRxInfo::new(words.len() as u32, n_vocab as u32);
        let trie = TokTrie::from(&info, &words).with_eos_tokens(&ends);
        let slices = SlicedBiasComputer::general_slices();
        Ok(Self {
            factory: factory(trie, &slices)?,
            n_vocab,
            same_bytes,
            end_tokens: end_tokens.to_vec(),
        })
    }

    /// A vocabulary of one token per byte, whose id is the byte. It follows texts without a model.
    pub(super) fn bytes() -> Result<Self, GrammarError> {
        let words: Vec<Vec<u8>> = (0..=u8::MAX)
            .map(|byte| vec![byte])
            .chain([vec![]])
            .collect();
        let n_vocab = words.len();
        let info = TokRxInfo::new(n_vocab as u32, u32::from(u8::MAX) + 1);
        Ok(Self {
            factory: factory(TokTrie::from(&info, &words), &[])?,
            n_vocab,
            same_bytes: Vec::new(),
            end_tokens: Vec::new(),
        })
    }

    /// The tokens that end a text.
    pub(super) fn end_tokens(&self) -> &[TokenId] {
        &self.end_tokens
    }

    /// Returns the token that represents this one in the trie: the one that writes the same bytes.
    pub(super) fn held(&self, token: TokenId) -> TokenId {
        let place = self.same_bytes.binary_search_by_key(&token, |(id, _)| *id);
        let pair = place.ok().and_then(|place| self.same_bytes.get(place));
        pair.map_or(token, |(_, held)| *held)
    }

    /// Adds the tokens that write the same bytes as legal ones, and drops ids that are not tokens.
    pub(super) fn complete(&self, legal: &mut SimpleVob) {
        for (token, held) in &self.same_bytes {
            if legal.is_allowed(held.0) {
                legal.allow_token(token.0);
            }
        }
        legal.disallow_token(self.n_vocab as u32);
    }
}

impl std::fmt::Debug for GrammarVocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GrammarVocabulary({} tokens)", self.n_vocab)
    }
}

/// Prepares a parser factory that neither logs nor quotes whole grammars in errors.
fn factory(trie: TokTrie, slices: &[String]) -> Result<ParserFactory, GrammarError> {
    let env: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
    let capabilities = InferenceCapabilities::default();
    let mut factory = ParserFactory::new(&env, capabilities, slices)
        .map_err(|error| GrammarError::somewhere(error.to_string()))?;
    factory.quiet();
    let limits = factory.limits_mut();
    limits.verbose_errors = false;
    Ok(factory)
}
