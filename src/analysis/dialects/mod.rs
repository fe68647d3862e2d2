//! Chains as engines order them: brought into an engine's order, told apart from it, and the reasons
//! why two that have the same numbers give different texts.
//!
//! The engines themselves are data in `decoding::dialect`; nothing here runs a chain.

mod departure;
mod order;
mod stage;
mod why;

pub use departure::{Departure, departure, short_name, spoken};
pub use order::{InOrder, Numbers, in_order_of};
pub(in crate::analysis) use stage::is_temperature;
pub use why::why_these_differ;
