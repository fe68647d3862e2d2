//! Models that our decoder does not support, run through candle-transformers.
//!
//! Each of these models holds one sequence and owns its cache. So panes are not batched, a
//! truncated sequence is prefilled again, and in some families so is a fork. Everything specific to
//! a family is in its row in `families`. No other module uses candle-transformers.

mod builders;
mod cache_size;
mod candle_model;
mod config;
mod families;
mod network;
mod plan;
mod recurrent_gemma;
mod sizes;
mod weight_store;

pub(super) use families::KNOWN;
pub(super) use plan::Plan;
