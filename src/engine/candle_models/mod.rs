//! Models that our decoder does not know, run through candle-transformers.
//!
//! Its models read one sequence each and keep the cache to themselves: panes are not read together, a
//! cut text is read again, and in some families so is a fork. What a family needs stands in its row in
//! `families`, and nowhere else; no other module names candle-transformers.

mod builders;
mod config;
mod families;
mod kept;
mod lm;
mod networks;
mod plan;
mod recurrent_gemma;
mod shelf;
mod sizes;
mod state_spaces;

pub use families::KNOWN;
pub use plan::Plan;
