//! Why a grammar can't be used.

/// A place in the text of a grammar, counted from 1. Columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    pub line: usize,
    pub column: usize,
}

/// Why a grammar can't be used. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// The grammar has a mistake.
    #[error("{}{message}", at(*place))]
    Invalid {
        /// Where it is, if that is known.
        place: Option<TextPlace>,
        message: String,
    },

    /// No text at all matches the grammar, not even the empty one.
    #[error("The grammar matches no text: its rules never come to an end")]
    Empty,

    /// The grammar requires text that no token of the model can produce.
    #[error(
        "This model’s tokenizer can’t produce {}, which the grammar requires",
        quoted(text)
    )]
    Inexpressible {
        /// What the grammar requires next. Empty if there are several possibilities.
        text: String,
    },

    /// Compiling or following the grammar would take too much time or memory.
    #[error("The grammar is too complex: {message}")]
    TooComplex { message: String },
}

impl GrammarError {
    /// A mistake at a place.
    pub(super) fn at(place: TextPlace, message: impl Into<String>) -> Self {
        Self::Invalid {
            place: Some(place),
            message: message.into(),
        }
    }

    /// A mistake somewhere in the grammar.
    pub(super) fn somewhere(message: impl Into<String>) -> Self {
        Self::Invalid {
            place: None,
            message: message.into(),
        }
    }
}

impl TextPlace {
    /// Returns the place of a byte in a text.
    pub(super) fn of_byte(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

fn at(place: Option<TextPlace>) -> String {
    place.map_or_else(String::new, |TextPlace { line, column }| {
        format!("Line {line}, column {column}: ")
    })
}

fn quoted(text: &str) -> String {
    if text.is_empty() {
        "any text".to_owned()
    } else {
        format!("‘{text}’")
    }
}
