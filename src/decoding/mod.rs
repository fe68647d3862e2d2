//! Logits in, one token out: the filters, the draw, and the evidence of both.
//!
//! Arithmetic only. This module knows no tensor, no thread, no clock, no file and no window.

mod candidates;
mod chain;
mod coin;
mod error;
mod filter;
pub mod filters;
mod history;
mod selector;
mod token;
mod trace;

pub use candidates::{Candidate, Candidates};
pub use chain::{ChainConfig, Sampled, SamplerChain, Stage};
pub use coin::Coins;
pub use error::DecodingError;
pub use filter::Filter;
pub use history::History;
pub use selector::Selector;
pub use token::TokenId;
pub use trace::{Draw, Evidence, RankedCandidate, StageReport, Trace};
