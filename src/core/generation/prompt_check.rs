//! Whether a recorded prompt is what a model's tokenizer and chat template make of its text.

/// How a recorded prompt compares with what a model makes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptCheck {
    /// The text has these tokens, and the messages have this rendered text.
    Same,
    /// The tokens are the model's, but its template inserts today's date, so the rendered text can't
    /// be compared.
    Dated,
    /// The text has other tokens.
    OtherTokens,
    /// The template renders the messages as another text.
    OtherRendering,
    /// The model can't tokenize or render the text.
    Failed {
        /// The reason, which can be shown to the user.
        error: String,
    },
}
