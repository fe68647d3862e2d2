//! On-screen sentences about chains, dialects, changes and divergence.

pub(super) mod chain;
pub(super) mod change;
pub(super) mod dialects;
pub(super) mod divergence;

pub use chain::describe;
pub use dialects::{divergence_reasons, divergence_reasons_of};
pub use divergence::{DivergenceSummary, divergence_summary};
