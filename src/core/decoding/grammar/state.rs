//! One text on its way through a grammar.

use std::sync::Arc;

use llguidance::{Matcher, api::StopReason};

use super::compile::Purpose;
use super::{GrammarError, GrammarRule, GrammarVocabulary, LegalTokens, compile};
use crate::decoding::TokenId;

/// Follows one text through a grammar, token by token. A clone can follow another text from the
/// same point.
#[derive(Clone)]
pub struct GrammarState {
    rule: Arc<GrammarRule>,
    vocabulary: Arc<GrammarVocabulary>,
    matcher: Matcher,
    /// The tokens that the matcher has followed.
    followed: Vec<u32>,
    /// Whether the tokens that end a text may be drawn.
    may_end: bool,
    /// Whether a token was illegal. From then on, no token is legal.
    is_broken: bool,
}

impl GrammarState {
    /// Compiles a grammar, and stands at the beginning of a text.
    pub fn new(
        rule: &Arc<GrammarRule>,
        vocabulary: &Arc<GrammarVocabulary>,
    ) -> Result<Self, GrammarError> {
        let mut state = Self {
            rule: Arc::clone(rule),
            vocabulary: Arc::clone(vocabulary),
            matcher: matcher_of(rule, Purpose::Write, vocabulary)?,
            followed: Vec::new(),
            may_end: true,
            is_broken: false,
        };
        // A grammar that the tokenizer can't begin is reported before anything is generated.
        state.legal()?;
        Ok(state)
    }

    /// Lets no token end the text: it stops only when the grammar allows nothing more.
    #[must_use]
    pub const fn without_end_tokens(mut self) -> Self {
        self.may_end = false;
        self
    }

    /// Whether an end-of-text token is legal wherever the grammar accepts the text.
    pub fn may_end(&self) -> bool {
        self.may_end && !self.vocabulary.end_tokens().is_empty()
    }

    /// The grammar that it follows.
    pub const fn rule(&self) -> &Arc<GrammarRule> {
        &self.rule
    }

    /// Whether the text has left the grammar, so that nothing constrains it any longer.
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether the grammar accepts the text and nothing can follow.
    pub fn is_complete(&self) -> bool {
        !self.is_broken && self.matcher.is_stopped() && self.matcher.stop_reason().is_ok()
    }

    /// Whether the grammar accepts the text as it is.
    pub fn accepts(&mut self) -> bool {
        let may_end = |matcher: &mut Matcher| matcher.is_accepting().unwrap_or(false);
        self.is_complete() || !self.is_broken && may_end(&mut self.matcher)
    }

    /// Returns the tokens that may come next. There is at least one, unless the grammar is
    /// complete.
    pub fn legal(&mut self) -> Result<LegalTokens, GrammarError> {
        let mut mask = self
            .matcher
            .compute_mask_or_eos()
            .map_err(|error| self.failed(&error.to_string()))?;
        self.vocabulary.complete(&mut mask);
        if !self.may_end {
            for token in self.vocabulary.end_tokens() {
                mask.disallow_token(token.0);
            }
        }
        let legal = LegalTokens::new(mask);
        if legal.n_legal() == 0 && !self.matcher.is_accepting().unwrap_or(false) {
            return Err(self.inexpressible());
        }
        Ok(legal)
    }

    /// Follows the next token of the text. Returns whether it was legal.
    pub fn accept(&mut self, token: TokenId) -> bool {
        if self.is_broken {
            return false;
        }
        let held = self.vocabulary.held(token);
        let n_consumed = self.matcher.try_consume_tokens(&[held.0]);
        let is_end = || self.vocabulary.end_tokens().contains(&token);
        let was_legal = match n_consumed {
            Ok(1) => {
                self.followed.push(held.0);
                true
            }
            // A complete text may still be ended by an end token.
            Ok(_) => self.is_complete() && is_end(),
            Err(_) => false,
        };
        self.is_broken = !was_legal;
        was_legal
    }

    /// Explains why the library gave up. Its message contains the name of the stop reason, which a
    /// matcher that gave up no longer has.
    fn failed(&self, message: &str) -> GrammarError {
        let is = |reason: StopReason| message.contains(&format!("{reason:?}"));
        if is(StopReason::NoExtensionBias) {
            return self.inexpressible();
        }
        let line = compile::first_line(message).to_owned();
        if is(StopReason::LexerTooComplex) || is(StopReason::ParserTooComplex) {
            GrammarError::TooComplex { message: line }
        } else {
            GrammarError::somewhere(line)
        }
    }

    /// Names the first character that the grammar requires next, if there is only one way to
    /// continue.
    fn inexpressible(&self) -> GrammarError {
        // A matcher that gave up can't tell, so another one follows the text again.
        let matcher = matcher_of(&self.rule, Purpose::Write, &self.vocabulary);
        let required = matcher.ok().and_then(|mut matcher| {
            matcher.consume_tokens(&self.followed).ok()?;
            let bytes = matcher.compute_ff_bytes();
            String::from_utf8_lossy(&bytes).chars().next()
        });
        let text = required.map_or_else(String::new, String::from);
        GrammarError::Inexpressible { text }
    }
}

impl std::fmt::Debug for GrammarState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GrammarState({})", self.rule)
    }
}

/// Follows a text byte by byte, whatever model wrote it.
#[derive(Clone)]
pub struct GrammarChecker {
    matcher: Matcher,
}

impl GrammarChecker {
    /// Compiles a grammar, and stands at the beginning of a text.
    pub fn new(rule: &GrammarRule) -> Result<Self, GrammarError> {
        let matcher = matcher_of(rule, Purpose::Check, &GrammarVocabulary::bytes()?)?;
        // Every byte is a token, so it is the grammar's own doing if none may begin a text.
        let begins = matcher
            .clone()
            .compute_mask_or_eos()
            .map(|mask| mask.num_set() > 0);
        match begins {
            Ok(false) => Err(GrammarError::Empty),
            Err(error) if error.to_string().contains("NoExtensionBias") => Err(GrammarError::Empty),
            // Any other error is reported when a text is followed.
            Ok(true) | Err(_) => Ok(Self { matcher }),
        }
    }

    /// Follows the next bytes of a text. Returns whether a text that begins this way can match the
    /// grammar.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let tokens: Vec<u32> = bytes.iter().map(|byte| u32::from(*byte)).collect();
        let n_consumed = self.matcher.try_consume_tokens(&tokens);
        n_consumed.is_ok_and(|n_consumed| n_consumed == tokens.len())
    }

    /// Whether the grammar accepts the text as it is.
    pub fn accepts(&mut self) -> bool {
        self.matcher.is_accepting().unwrap_or(false)
    }
}

impl std::fmt::Debug for GrammarChecker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GrammarChecker")
    }
}

/// Compiles a grammar for a vocabulary.
fn matcher_of(
    rule: &GrammarRule,
    purpose: Purpose,
    vocabulary: &GrammarVocabulary,
) -> Result<Matcher, GrammarError> {
    let grammar = compile::grammar_of(rule, purpose)?;
    let parser = compile::parser_of(rule, grammar, &vocabulary.factory)?;
    Ok(Matcher::new(Ok(parser)))
}
