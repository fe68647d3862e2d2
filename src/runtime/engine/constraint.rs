//! Constrains one text to its pane's grammar, and times the masking.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::{EngineError, LoadedModel};
use crate::decoding::{
    ChainConfig, GrammarDraw, GrammarError, GrammarState, GrammarVocabulary, LegalTokens, TokenId,
};
use crate::generation::{EndOfText, Limits, PieceKind};

/// The vocabulary of a model, prepared for grammars when the first one is used.
#[derive(Default)]
pub struct GrammarTrie(OnceLock<Result<Arc<GrammarVocabulary>, GrammarError>>);

impl LoadedModel {
    /// Compiles the grammar of a chain, if it has one. Returns its state at the beginning of a
    /// text.
    pub fn grammar_of(
        &self,
        chain: &ChainConfig,
        limits: &Limits,
    ) -> Result<Option<GrammarState>, GrammarError> {
        let Some(rule) = &chain.grammar else {
            return Ok(None);
        };
        let vocabulary = self.grammar_trie.0.get_or_init(|| {
            let is_end = |token: &TokenId| self.end_tokens.contains(token);
            let words = self
                .vocabulary
                .iter()
                .map(|(token, piece)| match piece.kind {
                    PieceKind::Text if !is_end(&token) => piece.bytes.clone(),
                    _ => Vec::new(),
                });
            GrammarVocabulary::new(words.collect(), &self.end_tokens).map(Arc::new)
        });
        let state = GrammarState::new(rule, vocabulary.as_ref().map_err(Clone::clone)?)?;
        Ok(Some(match limits.end_of_text {
            EndOfText::Stops => state,
            EndOfText::Ignored => state.without_end_tokens(),
        }))
    }
}

/// The grammar that constrains a text while it is generated.
#[derive(Debug, Clone)]
pub(super) enum Constraint {
    /// The chain has no grammar.
    Free,
    Grammar(Box<GrammarProgress>),
    /// The grammar can't be used, so the text fails at its first token.
    Invalid(GrammarError),
}

/// The progress of a text through its grammar, with the tokens that may come next.
#[derive(Debug, Clone)]
pub(super) struct GrammarProgress {
    state: GrammarState,
    legal: Result<Arc<LegalTokens>, GrammarError>,
    mask_secs: f64,
}

impl Constraint {
    /// Starts at the beginning of a text.
    pub(super) fn begin(model: &LoadedModel, chain: &ChainConfig, limits: &Limits) -> Self {
        match model.grammar_of(chain, limits) {
            Ok(state) => Self::at(state),
            Err(error) => Self::Invalid(error),
        }
    }

    /// Starts at this state of a grammar, if there is one.
    pub(super) fn at(state: Option<GrammarState>) -> Self {
        state.map_or(Self::Free, |state| {
            Self::Grammar(Box::new(GrammarProgress::at(state)))
        })
    }

    /// Advances past the next token of the text.
    pub(super) fn follow(&mut self, token: TokenId) {
        if let Self::Grammar(following) = self {
            following.state.accept(token);
            following.renew();
        }
    }

    /// Returns the draw among the legal tokens, or `None` if every token is legal.
    pub(super) fn draw<'a>(
        &'a self,
        logits: &'a [f32],
    ) -> Result<Option<GrammarDraw<'a>>, EngineError> {
        let following = match self {
            Self::Free => return Ok(None),
            Self::Invalid(error) => return Err(error.clone().into()),
            Self::Grammar(following) => following,
        };
        if following.state.is_broken() {
            return Ok(None);
        }
        let legal = following.legal.as_ref().map_err(Clone::clone)?;
        Ok(Some(GrammarDraw {
            rule: following.state.rule(),
            legal,
            logits,
        }))
    }

    /// Returns whether the grammar accepts the text and nothing can follow.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Grammar(following) => following.is_complete(),
            Self::Free | Self::Invalid(_) => false,
        }
    }

    /// Returns whether the grammar would accept the text with this token and nothing could follow.
    pub(super) fn is_complete_with(&self, token: TokenId) -> bool {
        let Self::Grammar(following) = self else {
            return false;
        };
        let mut state = following.state.clone();
        if !state.accept(token) || state.is_complete() {
            return state.is_complete();
        }
        // Otherwise an end-of-text token or more text can follow, so the mask need not be computed.
        !state.may_end() && state.accepts() && GrammarProgress::at(state).is_complete()
    }

    /// Returns whether the grammar accepts the text as it is. `None` without a grammar.
    pub(super) fn accepts(&self) -> Option<bool> {
        match self {
            Self::Grammar(following) => {
                Some(following.is_complete() || following.state.clone().accepts())
            }
            Self::Free | Self::Invalid(_) => None,
        }
    }

    /// Returns how long it took to find the tokens that may come next. `None` without a grammar.
    pub(super) fn mask_secs(&self) -> Option<f64> {
        match self {
            Self::Grammar(following) if !following.state.is_broken() => Some(following.mask_secs),
            _ => None,
        }
    }
}

impl GrammarProgress {
    fn at(state: GrammarState) -> Self {
        let nothing = GrammarError::Inexpressible {
            text: String::new(),
        };
        let mut following = Self {
            state,
            legal: Err(nothing),
            mask_secs: 0.0,
        };
        following.renew();
        following
    }

    /// Finds the tokens that may come next.
    fn renew(&mut self) {
        if self.state.is_broken() {
            return;
        }
        let started_at = Instant::now();
        self.legal = self.state.legal().map(Arc::new);
        self.mask_secs = started_at.elapsed().as_secs_f64();
    }

    fn is_complete(&self) -> bool {
        let has_none = self.legal.as_ref().is_ok_and(|legal| legal.n_legal() == 0);
        self.state.is_complete() || !self.state.is_broken() && has_none
    }
}
