//! One text, read by two models.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::generation::{GenerationConfig, ModelInfo, Piece, PieceKind};

/// What is known when two models begin to read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparisonFacts {
    /// How many tokens each model will predict. The first token of a text is not predicted.
    pub n_tokens: [usize; 2],
    /// The bytes of those tokens, special tokens excluded.
    pub n_bytes: [usize; 2],
    /// Whether both split the text into the same tokens, so that their distributions can be
    /// compared token by token.
    pub has_same_tokens: bool,
}

/// A token of the text as one model predicted it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedToken {
    pub token: TokenId,
    pub piece: Piece,
    /// The natural logarithm of its probability before any chain.
    #[serde(with = "crate::generation::any_float")]
    pub ln_prob: f64,
    /// Its rank, 1 for the most likely token.
    pub rank: u32,
    /// The most likely token.
    pub top: TokenId,
    pub top_piece: Piece,
    /// How far the most likely token is ahead of the second, in nats.
    #[serde(with = "crate::generation::any_float")]
    pub margin: f64,
}

/// How two distributions over the same tokens differ. The first is A, the second B.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DistributionGap {
    /// The Kullback–Leibler divergence D(A‖B) in nats (Kullback and Leibler 1951, "On Information
    /// and Sufficiency"), over the tokens that both vocabularies have.
    #[serde(with = "crate::generation::any_float")]
    pub kl: f64,
    /// By how much the distance between two likely tokens changed, in nats: the standard deviation
    /// over the pairs of A's ten most likely tokens. A margin below it can flip by chance.
    #[serde(with = "crate::generation::any_float")]
    pub noise: f64,
    /// For each of the settings, the token that it picks from A and from B.
    pub choices: Vec<[TokenId; 2]>,
}

/// A token that one or both models have predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparedToken {
    /// Both models predicted the same token.
    Both {
        predicted: Box<[PredictedToken; 2]>,
        gap: DistributionGap,
    },
    /// The models split the text differently, and one of them, 0 or 1, predicted this token.
    One {
        model: usize,
        predicted: Box<PredictedToken>,
    },
}

impl PredictedToken {
    /// Its surprise: −log2 of its probability.
    pub fn bits(&self) -> f64 {
        -self.ln_prob / std::f64::consts::LN_2
    }

    /// How many bytes it adds to the text; none if it is a special token.
    pub const fn n_text_bytes(&self) -> usize {
        match self.piece.kind {
            PieceKind::Text => self.piece.bytes.len(),
            PieceKind::Special => 0,
        }
    }
}

/// The text that two models read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ComparisonText {
    /// A text, which each model tokenizes.
    Typed(String),
    /// The tokens of the model that is loaded. Another vocabulary tokenizes their text.
    Tokens(Vec<TokenId>),
}

/// What to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonPlan {
    pub text: ComparisonText,
    /// The settings whose choices are compared.
    pub settings: Vec<GenerationConfig>,
}

/// What a comparison reports, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparisonUpdate {
    /// Both models begin to read.
    Started {
        facts: ComparisonFacts,
        /// The other model.
        model: Arc<ModelInfo>,
    },
    /// They predicted these tokens, the next of the text.
    Read(Vec<ComparedToken>),
}
