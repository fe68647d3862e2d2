//! What each token of a text says about a watermark.

use std::collections::{BTreeMap, BTreeSet};

use super::{GreenTokens, GumbelKey, Tournament, Watermark, context_of};
use crate::decoding::TokenId;

/// How many bytes the kept green lists may take together.
const N_MAX_KEPT: usize = 32 << 20;

/// What one token says about a watermark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenMark {
    /// Too little text precedes it.
    NoContext,
    /// The same tokens preceded an earlier one, so it says nothing new.
    Repeated,
    /// How well it matches the mark: for a green list 1 if it is green and 0 otherwise; for
    /// Gumbel-max −ln(1 − u) of its number u, which is 1 on average in unmarked text; for
    /// SynthID-Text the number of its bits that are 1.
    Scored(f64),
}

/// Scores the tokens of a text one by one. It needs no model, only the size of its vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkScorer {
    mark: Watermark,
    n_vocab: u32,
    green: Option<GreenTokens>,
    tournament: Option<Tournament>,
    text: Vec<TokenId>,
    marks: Vec<TokenMark>,
    /// Green lists that were needed before, by the token they follow.
    green_after: BTreeMap<TokenId, Vec<bool>>,
    /// The contexts that no longer count; for a green list, with the token after them.
    seen: BTreeSet<Vec<u32>>,
}

impl MarkScorer {
    /// Creates a scorer at the beginning of a text.
    pub fn new(mark: Watermark, n_vocab: u32) -> Self {
        let green = match mark {
            Watermark::GreenList(list) => Some(GreenTokens::new(list, n_vocab)),
            _ => None,
        };
        let tournament = matches!(mark, Watermark::SynthId(_)).then(Tournament::new);
        Self {
            mark,
            n_vocab,
            green,
            tournament,
            green_after: BTreeMap::new(),
            text: Vec::new(),
            marks: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// What it looks for.
    pub const fn watermark(&self) -> Watermark {
        self.mark
    }

    /// The size of the vocabulary.
    pub const fn n_vocab(&self) -> u32 {
        self.n_vocab
    }

    /// The tokens so far.
    pub fn text(&self) -> &[TokenId] {
        &self.text
    }

    /// What each token so far says.
    pub fn marks(&self) -> &[TokenMark] {
        &self.marks
    }

    /// The share of all tokens that is green after any text; 0 for other marks.
    pub fn green_share(&self) -> f64 {
        self.green.as_ref().map_or(0.0, |green| {
            f64::from(green.n_green()) / f64::from(self.n_vocab.max(1))
        })
    }

    /// Adds the next token of the text, and returns what it says.
    pub fn push(&mut self, token: TokenId) -> TokenMark {
        let mark = self.mark_of(token);
        self.text.push(token);
        self.marks.push(mark);
        mark
    }

    fn mark_of(&mut self, token: TokenId) -> TokenMark {
        let n_before = self.mark.n_before();
        let mut context = context_of(&self.text, n_before);
        match self.mark {
            Watermark::GreenList(_) => {
                if self.text.len() < n_before {
                    return TokenMark::NoContext;
                }
                context.push(token.0);
                // Shuffling the vocabulary takes long, so a repeated context must not.
                if !self.seen.insert(context) {
                    return TokenMark::Repeated;
                }
                match self.is_green(token) {
                    Some(is_green) => TokenMark::Scored(f64::from(u8::from(is_green))),
                    None => TokenMark::NoContext,
                }
            }
            Watermark::GumbelMark(mark) => {
                let number = GumbelKey::new(mark, &context).uniform(token);
                if self.seen.insert(context) {
                    TokenMark::Scored(-(-number).ln_1p())
                } else {
                    TokenMark::Repeated
                }
            }
            Watermark::SynthId(synth) => {
                let tournament = self.tournament.as_ref();
                let Some(tournament) = tournament.filter(|_| self.text.len() >= n_before) else {
                    return TokenMark::NoContext;
                };
                let hash = Tournament::hash_of(&self.text, n_before);
                let bits = tournament.bits(hash, token, &synth.keys);
                if self.seen.insert(context) {
                    TokenMark::Scored(bits.count_ones().into())
                } else {
                    TokenMark::Repeated
                }
            }
        }
    }

    /// Returns whether the next token is green, or `None` if the text is too short to decide. Keeps
    /// the green lists of frequent tokens, because most tokens of a long text follow one of them.
    fn is_green(&mut self, token: TokenId) -> Option<bool> {
        let green = self.green.as_ref()?;
        let last = *self.text.last()?;
        if !green.depends_on_last_only() {
            return green.is_green(&self.text, token);
        }
        if let Some(list) = self.green_after.get(&last) {
            return list.get(token.0 as usize).copied();
        }
        let n_kept = self.green_after.len() + 1;
        if n_kept.saturating_mul(self.n_vocab as usize) > N_MAX_KEPT {
            return green.is_green(&self.text, token);
        }
        let list = green.after(last);
        let is_green = list.get(token.0 as usize).copied();
        self.green_after.insert(last, list);
        is_green
    }
}
