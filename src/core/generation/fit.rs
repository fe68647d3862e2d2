//! Fits: how likely given texts are under many settings.

use serde::{Deserialize, Serialize};

use super::{PromptForm, PromptText};
use crate::decoding::{ChainConfig, TokenId};

/// A text whose likelihood is requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FitText {
    /// Text to tokenize. Without a prompt, its first token is not counted, because nothing precedes
    /// it.
    Typed {
        prompt: Option<PromptText>,
        text: String,
    },
    /// The tokens of a record. The first `n_prompt` are the prompt's.
    Recorded {
        tokens: Vec<TokenId>,
        n_prompt: usize,
        /// The form of the prompt, which also applies to a guidance prompt.
        form: PromptForm,
    },
}

impl FitText {
    /// Returns whether it has no fewer tokens than its prompt.
    pub const fn is_consistent(&self) -> bool {
        match self {
            Self::Typed { .. } => true,
            Self::Recorded {
                tokens, n_prompt, ..
            } => *n_prompt <= tokens.len(),
        }
    }

    /// Returns the form of its prompt.
    pub fn form(&self) -> PromptForm {
        match self {
            Self::Recorded { form, .. } => form.clone(),
            Self::Typed { prompt, .. } => {
                let form = prompt.as_ref().map(|prompt| prompt.form.clone());
                form.unwrap_or_default()
            }
        }
    }
}

/// Which texts to read, and the settings under which to compute their likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct FitPlan {
    pub texts: Vec<FitText>,
    /// In the order in which they are computed.
    pub chains: Vec<ChainConfig>,
    /// How much memory the logits of the texts may take. Texts whose logits need more are read and
    /// computed part by part.
    pub n_logits_bytes: usize,
}

impl FitPlan {
    /// The memory for logits to use unless there is a reason for another.
    pub const DEFAULT_LOGITS_BYTES: usize = 256 << 20;
}

/// A text as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitTokens {
    pub tokens: Vec<TokenId>,
    /// How many of the tokens belong to the prompt. At least 1, and fewer than all.
    pub n_prompt: usize,
    /// How many further tokens the context has no room for. They are not counted.
    pub n_left_out: usize,
}

impl FitTokens {
    /// Returns the tokens whose likelihood is computed.
    pub fn fitted(&self) -> &[TokenId] {
        self.tokens.get(self.n_prompt..).unwrap_or_default()
    }
}

/// How likely all texts together are under one chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Likelihood {
    /// The natural logarithm of the probability of all texts: −∞ if the chain can't generate one
    /// of them.
    #[serde(with = "super::any_float")]
    pub ln_prob: f64,
    /// The first token that the chain can't generate.
    pub ruled_out: Option<FitPlace>,
}

/// A token of the texts to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FitPlace {
    /// The index of the text.
    pub text: usize,
    /// The index of the token, counted from the end of the prompt.
    pub step: usize,
}

/// What a fit reports.
#[derive(Debug, Clone, PartialEq)]
pub enum FitUpdate {
    /// The texts were tokenized.
    Started { texts: Vec<FitTokens> },
    /// The model is reading the texts.
    Reading { n_read: usize, n_tokens: usize },
    /// The likelihood is known under these chains, given by their indices.
    Computed { found: Vec<(usize, Likelihood)> },
}
