//! Splits a text at the token boundaries that two models share, so that models with different
//! tokenizers can be compared.

use crate::lab::models::{ComparedModels, PredictedToken};

/// A part of the text that begins and ends at a token boundary of both models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Span {
    /// The bytes of A's tokens.
    pub bytes: Vec<u8>,
    /// How many tokens each model splits it into.
    pub n_tokens: [usize; 2],
    /// Its surprisal under each model, in bits.
    pub bits: [f64; 2],
}

impl Span {
    fn add(&mut self, model: usize, token: &PredictedToken) {
        if model == 0 && token.n_text_bytes() > 0 {
            self.bytes.extend_from_slice(&token.piece.bytes);
        }
        if let (Some(n), Some(bits)) = (self.n_tokens.get_mut(model), self.bits.get_mut(model)) {
            *n += 1;
            *bits += token.bits();
        }
    }

    /// Returns the text, with replacement characters for incomplete characters.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl ComparedModels {
    /// Splits the part that both models have predicted into spans. Anything before the first shared
    /// boundary is left out: the first token of a text is not predicted, and may be longer in one.
    pub fn spans(&self) -> Vec<Span> {
        let mut tokens = self.predicted.each_ref().map(|tokens| tokens.iter());
        // Positions count the bytes left, because a tokenizer may add a space in front.
        let mut left = self.facts.n_bytes;
        let mut is_shared = left[0] == left[1];
        let mut span = Span::default();
        let mut spans = Vec::new();
        loop {
            // Advances the model that is behind.
            let model = usize::from(left[1] > left[0]);
            let Some((tokens, left_of)) = tokens.get_mut(model).zip(left.get_mut(model)) else {
                return spans;
            };
            let Some(token) = tokens.next() else {
                return spans;
            };
            *left_of = left_of.saturating_sub(token.n_text_bytes());
            span.add(model, token);
            if left[0] != left[1] || (is_shared && span.n_tokens.contains(&0)) {
                continue;
            }
            let span = std::mem::take(&mut span);
            if std::mem::replace(&mut is_shared, true) {
                spans.push(span);
            }
        }
    }
}
