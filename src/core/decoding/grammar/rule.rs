//! A grammar as a setting: its kind, its text, and when it is applied.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::{GrammarChecker, GrammarError, compile};
use crate::decoding::dialect::Dialect;

/// The texts that a pane may write, and how the chain is constrained to them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GrammarRule {
    kind: GrammarKind,
    /// The grammar as the user wrote it. Empty for [`GrammarKind::Json`].
    #[serde(default, skip_serializing_if = "str::is_empty")]
    text: Arc<str>,
    #[serde(default)]
    mode: GrammarMode,
    #[serde(skip)]
    checked: Checked,
}

/// Whether the grammar can be compiled, once that has been checked. It follows from the kind and
/// the text.
#[derive(Debug, Clone, Default)]
struct Checked(OnceLock<Result<(), GrammarError>>);

impl PartialEq for Checked {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Checked {}

impl Hash for Checked {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

/// The language in which a grammar is written, in menu order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrammarKind {
    /// Any JSON value.
    Json,
    /// A JSON value that is valid under a JSON Schema.
    Schema,
    /// A text that a regular expression matches from its first to its last character.
    Regex,
    /// One of several texts, one per line.
    Choices,
    /// A context-free grammar in llguidance's variant of Lark.
    Lark,
    /// A context-free grammar in llama.cpp's notation.
    Gbnf,
}

/// When the grammar is applied to the chain. Texts have the same probabilities either way, as long
/// as the chain neither cuts nor reweights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrammarMode {
    /// Illegal tokens are masked before the first stage, as in vLLM and transformers.
    #[default]
    Mask,
    /// A token is drawn first, and drawn again with a mask only if it is illegal, as in llama.cpp.
    Check,
}

/// The size of the longest grammar that is accepted. Larger ones take too long to compile.
pub(super) const MAX_BYTES: usize = 256 << 10;

impl GrammarRule {
    /// The name of its stage.
    pub const NAME: &'static str = "Grammar";

    /// What it does, in two sentences.
    pub const HELP: &'static str = "Allows only tokens that keep the text within a grammar, and the \
        end only where the grammar accepts it. The X-ray shows what it forbids, and the distortion \
        shows how far the text is from what the model would have written.";

    /// Creates a rule that masks.
    pub fn new(kind: GrammarKind, text: &str) -> Self {
        Self {
            kind,
            text: text.into(),
            mode: GrammarMode::Mask,
            checked: Checked::default(),
        }
    }

    /// The same grammar with another mode.
    #[must_use]
    pub fn with_mode(self, mode: GrammarMode) -> Self {
        Self { mode, ..self }
    }

    /// The language of the grammar.
    pub const fn kind(&self) -> GrammarKind {
        self.kind
    }

    /// The grammar as the user wrote it.
    pub const fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// When it is applied to the chain.
    pub const fn mode(&self) -> GrammarMode {
        self.mode
    }

    /// Whether both rules are written the same and so allow the same texts.
    pub fn allows_same_as(&self, other: &Self) -> bool {
        self.kind == other.kind && (self.kind == GrammarKind::Json || self.text == other.text)
    }

    /// Checks that the grammar can be compiled. The first call takes as long as compiling it.
    pub fn validate(&self) -> Result<(), GrammarError> {
        let check = || GrammarChecker::new(self).map(|_| ());
        self.checked.0.get_or_init(check).clone()
    }

    /// What it is called after a plus: "Greedy + JSON".
    pub const fn noun(&self) -> &'static str {
        match self.kind {
            GrammarKind::Json => "JSON",
            GrammarKind::Schema => "JSON Schema",
            GrammarKind::Regex => "regex",
            GrammarKind::Choices => "choices",
            GrammarKind::Lark | GrammarKind::Gbnf => "grammar",
        }
    }

    /// Returns the formats of a JSON Schema that are ignored, as JSON Schema asks of those that a
    /// program doesn't know.
    pub fn ignored_formats(&self) -> Vec<String> {
        match self.kind {
            GrammarKind::Schema => compile::ignored_formats(&self.text),
            _ => Vec::new(),
        }
    }

    /// What it is called where a text stops in the middle of it: "the JSON is unfinished".
    pub const fn subject(&self) -> &'static str {
        match self.kind {
            GrammarKind::Json | GrammarKind::Schema => "JSON",
            GrammarKind::Regex => "regular expression",
            GrammarKind::Choices => "choice",
            GrammarKind::Lark | GrammarKind::Gbnf => "grammar",
        }
    }

    /// Returns whether the grammar accepts a whole text. Compiles the grammar.
    pub fn accepts(&self, text: &[u8]) -> Result<bool, GrammarError> {
        let mut checker = GrammarChecker::new(self)?;
        Ok(checker.push(text) && checker.accepts())
    }

    /// Iterates over the choices of [`GrammarKind::Choices`].
    pub fn choices(text: &str) -> impl Iterator<Item = &str> {
        text.lines().filter(|choice| !choice.is_empty())
    }
}

impl GrammarKind {
    /// Every kind, in menu order.
    pub const ALL: [Self; 6] = [
        Self::Json,
        Self::Schema,
        Self::Regex,
        Self::Choices,
        Self::Lark,
        Self::Gbnf,
    ];

    /// Its word in a `--pane` description.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Schema => "schema",
            Self::Regex => "regex",
            Self::Choices => "choices",
            Self::Lark => "lark",
            Self::Gbnf => "gbnf",
        }
    }

    /// Its name in a menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "Any JSON",
            Self::Schema => "JSON Schema",
            Self::Regex => "Regular expression",
            Self::Choices => "Choices",
            Self::Lark => "Lark grammar",
            Self::Gbnf => "GBNF grammar",
        }
    }

    /// What it allows, in one sentence.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Json => "The text is one JSON value.",
            Self::Schema => "The text is a JSON value that is valid under this schema.",
            Self::Regex => "The whole text matches this regular expression, in Rust’s syntax.",
            Self::Choices => "The text is one of these lines.",
            Self::Lark => {
                "A context-free grammar in llguidance’s variant of Lark; begins at start."
            }
            Self::Gbnf => "A context-free grammar in llama.cpp’s notation; begins at root.",
        }
    }

    /// A short grammar to begin with.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Json => "",
            Self::Schema => {
                "{\n  \"type\": \"object\",\n  \"properties\": {\n    \"animal\": { \"enum\": [\"fox\", \
                 \"owl\", \"hen\"] },\n    \"age\": { \"type\": \"integer\", \"minimum\": 0, \
                 \"maximum\": 99 }\n  },\n  \"required\": [\"animal\", \"age\"],\n  \
                 \"additionalProperties\": false\n}"
            }
            Self::Regex => "[^eE]*",
            Self::Choices => " yes\n no\n maybe",
            Self::Lark => "start: (\" \" WORD)+ \".\"\nWORD: /[a-z]+/",
            Self::Gbnf => "root ::= (\" \" word)+ \".\"\nword ::= [a-z]+",
        }
    }
}

impl GrammarMode {
    /// Every mode, in menu order.
    pub const ALL: [Self; 2] = [Self::Mask, Self::Check];

    /// How an engine applies a grammar.
    pub const fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::LlamaCpp | Dialect::Ollama => Self::Check,
            _ => Self::Mask,
        }
    }

    /// Its name in a menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mask => "Mask before the chain",
            Self::Check => "Check after the draw",
        }
    }

    /// What it does, in two sentences.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Mask => {
                "Removes illegal tokens before the first stage. vLLM and llguidance do this."
            }
            Self::Check => {
                "Draws a token first, and draws again with a mask only if it is illegal. llama.cpp \
                 does this."
            }
        }
    }
}

impl std::fmt::Display for GrammarRule {
    /// The words of its chip: "grammar [^eE]*".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// The longest grammar that a chip shows in full.
        const N_SHOWN: usize = 16;
        let is_short = self.text.chars().count() <= N_SHOWN && !self.text.contains('\n');
        match self.kind {
            GrammarKind::Json => f.write_str("JSON"),
            GrammarKind::Schema => f.write_str("JSON Schema"),
            GrammarKind::Regex if is_short => write!(f, "grammar {}", self.text),
            GrammarKind::Choices => {
                let n = Self::choices(&self.text).count();
                write!(f, "{n} {}", if n == 1 { "choice" } else { "choices" })
            }
            _ => write!(f, "{} grammar", self.kind.key()),
        }
    }
}
