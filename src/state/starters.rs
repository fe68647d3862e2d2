//! Starter prompts: each makes one point with the texts of a new window's four panes.

use super::PromptMode;

/// A prompt and what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starter {
    /// The label on its button.
    pub name: &'static str,
    /// What to look for after generating.
    pub explanation: &'static str,
    pub prompt: &'static str,
}

impl Starter {
    /// Returns the starters of a prompt mode, in menu order.
    pub const fn all(mode: PromptMode) -> &'static [Self] {
        match mode {
            PromptMode::Raw => RAW,
            PromptMode::Chat => CHAT,
        }
    }
}

/// The prompt of a new window.
pub(super) const DEFAULT_PROMPT: &str = "Once upon a time";

/// Chosen for the built-in model; its model card lists the figures.
const RAW: &[Starter] = &[
    Starter {
        name: "Greedy loops",
        explanation: "The greedy text ends in a loop; the sampled texts don’t repeat themselves",
        prompt: DEFAULT_PROMPT,
    },
    Starter {
        name: "Sampling drifts",
        explanation: "Pure sampling loses the thread; the greedy text keeps it",
        prompt: "The shoemaker had",
    },
    Starter {
        name: "A sure thing",
        explanation: "The model has no doubt about the first token, so every pane picks it",
        prompt: "Once upon a",
    },
    Starter {
        name: "A toss-up",
        explanation: "Two first tokens are almost equally likely, and the coin decides between them",
        prompt: "The bear was sad because",
    },
    Starter {
        name: "A list",
        explanation: "Many words could come next, and each pane continues the list differently",
        prompt: "In the basket she put apples, pears,",
    },
];

const CHAT: &[Starter] = &[
    Starter {
        name: "A fact",
        explanation: "The first tokens are almost certain, so the panes agree for a while",
        prompt: "Why is the sky blue?",
    },
    Starter {
        name: "Ideas",
        explanation: "Many answers are good, so the panes diverge early",
        prompt: "Name three uses of a paper clip",
    },
    Starter {
        name: "A story",
        explanation: "Each token leaves room for many others",
        prompt: "Tell a story in four sentences",
    },
];
