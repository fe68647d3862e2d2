//! Chains and engines: reorders a chain as an engine would, says how a chain departs from its
//! engine, and explains why two chains with the same numbers generate different texts.
//!
//! The engines themselves are data in `decoding::dialect`. Nothing here runs a chain.

mod departure;
mod order;
mod stage;
mod why;

pub use departure::{Departure, departure, short_name, spoken};
pub use order::{Numbers, ReorderedChain, in_order_of};
pub(in crate::analysis) use stage::is_temperature;
pub use why::explain_differences;
