//! Votes between texts whose settings were hidden.

use serde::{Deserialize, Serialize};

/// A vote. The texts themselves are not kept: model, prompt, settings and seed reproduce them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlindVote {
    /// The name of the model.
    pub model: String,
    pub prompt: String,
    /// The maximum number of tokens per text.
    pub n_tokens: usize,
    /// In the order of their places on screen.
    pub shown: Vec<BlindText>,
    /// The index of the text that was picked among those shown. `None` for "can't tell".
    #[serde(default)]
    pub picked: Option<usize>,
}

/// A text that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlindText {
    /// In the grammar of `--pane`.
    pub settings: String,
    pub seed: u64,
}
