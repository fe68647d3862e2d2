//! On-screen sentences about chains, dialects, changes and divergence.

pub(super) mod chain;
pub(super) mod change;
pub(super) mod dialects;
pub(super) mod divergence;

pub use chain::describe;
pub use dialects::{why_it_parts, why_they_part};
pub use divergence::{DivergenceWords, divergence_words};
