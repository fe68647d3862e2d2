//! What guidance moves away from, and the one description of each.

use serde::{Deserialize, Serialize};

use super::{EarlyLayers, Guidance};

/// Where the other row comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The same model, which reads this text in place of the prompt. If it is empty, the last token
    /// of the prompt takes its place, as in transformers.
    Prompt(String),
    /// The second model, which reads the same text.
    Model,
    /// The same model after its first layers.
    Layers(EarlyLayers),
}

/// All there is to know about something that guidance moves away from, besides its rows.
#[derive(Debug)]
pub struct AgainstSpec {
    /// The name, as people say it.
    pub name: &'static str,
    /// What it is called in a sentence: "the second model".
    pub noun: &'static str,
    /// What gives its row: "second run".
    pub run: &'static str,
    /// What gives its row and the pane's own: "both runs".
    pub both: &'static str,
    /// What its row costs, even if it changes nothing: "runs every step twice".
    pub cost: &'static str,
    /// What guidance against it does, in two sentences.
    pub help: &'static str,
    /// Author, year, title and arXiv number of the papers.
    pub source: &'static str,
    /// What such guidance adds to the name of a pane: "guidance", "contrast".
    pub adds: &'static str,
    /// An example in the words of `--pane`, and what it does.
    pub example: [&'static str; 2],
    /// The guidance as it is chosen from a menu, at usual values.
    pub usual: fn() -> Guidance,
}

impl AgainstSpec {
    /// The help, and below it the source.
    pub fn help_with_source(&self) -> String {
        format!("{}\n\n{}", self.help, self.source)
    }
}

const PROMPT: AgainstSpec = AgainstSpec {
    name: "Second prompt",
    noun: "the other prompt",
    run: "second run",
    both: "both runs",
    cost: "runs every step twice",
    help: "The same model also reads another prompt, and the text moves away from what it would write \
           there: classifier-free guidance. Each token costs two rows of the forward pass.",
    source: "Sanchez et al. 2023, \"Stay on topic with Classifier-Free Guidance\", arXiv 2306.17806",
    adds: "guidance",
    example: [
        "guide 1.5 against \"A sad story:\"",
        "Moves the probabilities away from those after this text in place of the prompt; without a \
         text, after the prompt’s last token.",
    ],
    usual: || Guidance {
        scale: Some(1.5),
        cutoff: 0.0,
        against: Against::Prompt(String::new()),
    },
};

const MODEL: AgainstSpec = AgainstSpec {
    name: "Second model",
    noun: "the second model",
    run: "second run",
    both: "both runs",
    cost: "runs every step twice",
    help: "A smaller model reads the same text, and tokens that this model prefers more strongly gain: \
           contrastive decoding. Choose the smaller model below its numbers.",
    source: "Li et al. 2022, \"Contrastive Decoding: Open-ended Text Generation as Optimization\", \
             arXiv 2210.15097; in the form of O’Brien, Lewis 2023, \"Contrastive Decoding Improves \
             Reasoning in Large Language Models\", arXiv 2309.09117",
    adds: "contrast",
    example: [
        "guide 1.5 cutoff 0.1 against model",
        "Contrastive decoding: moves them away from those of the model of --draft-model, among \
         tokens at least 0.1 times as likely as the top one.",
    ],
    usual: || Guidance {
        scale: Some(1.5),
        cutoff: 0.1,
        against: Against::Model,
    },
};

impl Against {
    /// The descriptions of all, in menu order.
    pub const SPECS: [&'static AgainstSpec; 3] = [&PROMPT, &MODEL, &EarlyLayers::SPEC];

    /// The description of this one.
    pub const fn spec(&self) -> &'static AgainstSpec {
        match self {
            Self::Prompt(_) => &PROMPT,
            Self::Model => &MODEL,
            Self::Layers(_) => &EarlyLayers::SPEC,
        }
    }

    /// The text that is read in place of the prompt, if it is one.
    pub const fn prompt(&self) -> Option<&str> {
        match self {
            Self::Prompt(text) => Some(text.as_str()),
            Self::Model | Self::Layers(_) => None,
        }
    }

    /// The layers of the text's own pass that give the other row, one of them for each token. Empty
    /// if another sequence gives it.
    pub const fn layers(&self) -> &[u32] {
        match self {
            Self::Prompt(_) | Self::Model => &[],
            Self::Layers(layers) => layers.as_slice(),
        }
    }
}

impl std::fmt::Display for Against {
    /// The words of `--pane` after "against".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model => f.write_str("model"),
            Self::Layers(layers) => write!(f, "layers {layers}"),
            Self::Prompt(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, "\"{escaped}\"")
            }
        }
    }
}
