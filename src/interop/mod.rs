//! Settings as text, in both directions: the `--pane` grammar, presets, and the formats of other tools.
//!
//! Pure functions. This module knows no engine, thread or window, and touches no file.

mod pane_spec;
pub mod presets;
pub mod tools;

pub use pane_spec::{GRAMMAR, PaneSpecError, filter_words};
