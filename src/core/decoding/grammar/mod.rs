//! Constrained decoding: which tokens may come next so that a text stays within a grammar.
//!
//! A [`GrammarRule`] is a setting. A [`GrammarState`] follows one text through it, and says which
//! tokens are legal. [`GrammarDraw`] lets a chain draw among them. This folder is the only user of
//! llguidance, which parses grammars and walks the vocabulary.

mod compile;
mod draw;
mod error;
mod formats;
mod gbnf;
#[cfg(test)]
mod hostile;
mod legal;
mod report;
mod rule;
mod schema_depth;
mod schema_numbers;
mod state;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use draw::GrammarDraw;
pub use error::{GrammarError, TextPlace};
pub use legal::LegalTokens;
pub use report::GrammarReport;
pub use rule::{GrammarKind, GrammarMode, GrammarRule};
pub use state::{GrammarChecker, GrammarState};
pub use vocabulary::GrammarVocabulary;
