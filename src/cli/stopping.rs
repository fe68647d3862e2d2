//! The arguments that say when a text is complete.

use clap::Args;

use crate::generation::{EndOfText, Limits};

/// What ends a text besides its length.
#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// A text that stops generation; repeat for more stop sequences
    #[arg(long = "stop", value_name = "TEXT", allow_hyphen_values = true)]
    stop_strings: Vec<String>,

    /// Keep generating after the model’s end-of-text tokens
    #[arg(long)]
    ignore_eos: bool,
}

impl StopArguments {
    /// Returns the limits for texts of at most `max_new_tokens` tokens.
    pub(crate) fn limits(&self, max_new_tokens: usize) -> Limits {
        Limits {
            max_new_tokens,
            stop_strings: self.stop_strings.clone(),
            end_of_text: if self.ignore_eos {
                EndOfText::Ignored
            } else {
                EndOfText::Stops
            },
        }
    }
}
