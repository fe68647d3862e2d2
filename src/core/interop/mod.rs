//! Settings as text, in both directions: the `--pane` grammar, presets, other tools' formats, and the
//! API through which other programs ask.
//!
//! Pure functions. This module knows nothing about engines, threads or windows, and touches no
//! files.

pub mod api;
mod messages;
mod pane_spec;
pub mod presets;
pub mod tools;

pub use messages::{Messages, MessagesError, message_json};
pub use pane_spec::{
    GRAMMAR, PaneSpecError, VARY_GRAMMAR, filter_words, parse_axis, with_grammar_files,
};
