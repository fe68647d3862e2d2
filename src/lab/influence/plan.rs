//! What to leave out of a text, whose prediction to compare, and what the engine reports.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::generation::PromptText;

/// A text, what is left out of it, and which predictions are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfluencePlan {
    pub text: InfluenceText,
    pub unit: LeftOut,
    /// Whether parts of what follows the prompt are left out, too.
    pub also_written: bool,
}

/// The text that the model reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InfluenceText {
    /// A prompt, and the next token after it.
    Prompt(PromptText),
    /// A prompt, and each token of a text that follows it.
    Continued { prompt: PromptText, text: String },
    /// The tokens of a text that was written.
    Written {
        tokens: Vec<TokenId>,
        n_prompt: usize,
        /// The index of the token whose choice is looked at, counted from the first after the prompt,
        /// or `None` for all of them.
        step: Option<usize>,
    },
}

impl InfluenceText {
    /// Returns whether the token that is looked at, or all of them, follow the prompt.
    pub const fn is_consistent(&self) -> bool {
        match self {
            Self::Prompt(_) | Self::Continued { .. } => true,
            Self::Written {
                tokens,
                n_prompt,
                step,
            } => match (tokens.len().checked_sub(*n_prompt), step) {
                (Some(n_written), Some(step)) => *step < n_written,
                (n_written, None) => n_written.is_some(),
                (None, Some(_)) => false,
            },
        }
    }
}

/// What is left out at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftOut {
    #[default]
    Token,
    Word,
    Sentence,
}

impl LeftOut {
    /// All choices, in menu order.
    pub const ALL: [Self; 3] = [Self::Token, Self::Word, Self::Sentence];

    /// Returns its name: "token".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Word => "word",
            Self::Sentence => "sentence",
        }
    }
}

/// What is known once the text is tokenized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfluenceFacts {
    pub tokens: Vec<TokenId>,
    pub n_prompt: usize,
    /// The positions whose predictions are compared. The last may be the one after the text.
    pub targets: Range<usize>,
    /// Whether the whole text has more positions than that, for which there was no memory.
    pub is_cut: bool,
    /// What is left out, as ranges of positions, in order.
    pub parts: Vec<Range<usize>>,
}

impl InfluenceFacts {
    /// Returns the token whose probability is compared at a position, or `None` after the text.
    pub fn chosen(&self, position: usize) -> Option<TokenId> {
        self.tokens.get(position).copied()
    }

    /// Returns the positions whose predictions a part can change: those after it.
    pub fn compared(&self, part: &Range<usize>) -> Range<usize> {
        self.targets.start.max(part.end)..self.targets.end
    }

    /// Returns how many tokens the model reads in all: the text, and each variant from where it
    /// differs.
    pub fn n_rows(&self) -> usize {
        let variants = self.parts.iter().map(|part| self.n_rows_of(part));
        self.n_rows_before() + variants.sum::<usize>()
    }

    /// Returns how many tokens of the text are read before the last prediction.
    pub const fn n_rows_before(&self) -> usize {
        self.targets.end.saturating_sub(1)
    }

    /// Returns how many tokens of the text a variant does not read again: those before the part. The
    /// last of them is read again if the prediction right after the part is compared, because without
    /// the part, that prediction follows it.
    pub fn n_shared(&self, part: &Range<usize>) -> usize {
        let n_again = usize::from(self.compared(part).start == part.end);
        part.start.saturating_sub(n_again)
    }

    /// Returns how many tokens of a variant are read.
    pub fn n_rows_of(&self, part: &Range<usize>) -> usize {
        let n_tokens = self.n_rows_before().saturating_sub(part.len());
        n_tokens.saturating_sub(self.n_shared(part))
    }
}

/// What was found about the whole text, without leaving anything out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsItIs {
    /// The natural logarithm of the probability of the chosen token at each position. After the
    /// text, that of the most likely token.
    #[serde(with = "crate::generation::any_float::list")]
    pub ln_probs: Vec<f64>,
    /// The most likely token at the last position that is compared.
    pub top: TopToken,
    /// The token whose probability is compared at the last position.
    pub chosen: TokenId,
}

/// What leaving out a part changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Influence {
    /// The Kullback-Leibler divergence of the distribution with the part from that without it, in
    /// bits. The mean if several positions are compared.
    #[serde(with = "crate::generation::any_float")]
    pub bits: f64,
    /// The logarithms of the probabilities of the chosen tokens without the part, one for each
    /// position that is compared.
    #[serde(with = "crate::generation::any_float::list")]
    pub ln_probs: Vec<f64>,
    /// The most likely token at the last position.
    pub top: TopToken,
    /// The tokens that the text and the variant expect most at the last position, most likely first
    /// with the part, then most likely first without it.
    pub candidates: Vec<CandidateShift>,
}

/// The most likely token of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopToken {
    pub token: TokenId,
    pub prob: f64,
}

/// A token's probability with the part and without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CandidateShift {
    pub token: TokenId,
    pub with: f64,
    pub without: f64,
}

/// What the job reports.
#[derive(Debug, Clone, PartialEq)]
pub enum InfluenceUpdate {
    Started(InfluenceFacts),
    /// The whole text was read.
    Read(AsItIs),
    /// Parts were left out, each with its index.
    Found(Vec<(usize, Influence)>),
    /// More tokens were read.
    Advanced {
        n_rows: usize,
    },
}
