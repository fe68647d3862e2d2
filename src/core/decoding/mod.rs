//! Logits in, one token out: filters, a selector, and the evidence of what they did.
//!
//! It is arithmetic only and knows nothing about tensors, threads, clocks, files or windows.
//!
//! ```
//! use quartet_core::decoding::filters::{Temperature, TopP};
//! use quartet_core::decoding::{ChainConfig, Coins, Filter, History, SamplerChain};
//!
//! let config = ChainConfig::sampled([
//!     Filter::Temperature(Temperature { temperature: 0.7 }),
//!     Filter::TopP(TopP { p: 0.9 }),
//! ]);
//! let coins = Coins { seed: 7, position: 0 };
//! let sampled = SamplerChain::new(config).sample(&[2.0, 1.0, -3.0], History::empty(), coins)?;
//!
//! assert_eq!(sampled.trace.stages[0].n_kept, 3);
//! assert_eq!(sampled.trace.stages[1].n_kept, 2);
//! let draw = sampled.trace.draw;
//! assert!(draw.coin.is_some_and(|coin| draw.below <= coin && coin < draw.below + draw.prob));
//! # Ok::<(), quartet_core::decoding::DecodingError>(())
//! ```

#![allow(
    clippy::inline_always,
    reason = "only code inlined into a dispatch is compiled for the CPU’s instruction set"
)]

mod candidates;
mod chain;
mod chain_config;
mod character_parts;
mod coin;
mod detail;
mod detail_bytes;
pub mod dialect;
mod drafts;
mod error;
mod evidence;
mod filter;
mod filter_spec;
pub mod filters;
mod grammar;
mod guidance;
mod history;
mod known;
mod likelihood;
mod logits_hash;
mod model_drafts;
mod needs;
pub mod rules;
pub mod selector;
mod served_head;
mod setting;
mod softmax;
mod speculation;
mod split_mix;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod token;
mod trace;
pub mod watermark;
mod what_if;
mod what_if_stages;

pub use candidates::{Candidate, Candidates, Crossing};
pub use chain::{Sampled, SamplerChain, Taken};
pub use chain_config::{ChainConfig, Stage, stages_from};
pub use character_parts::CharacterParts;
pub use coin::Coins;
pub use detail::{Detail, Summary};
pub use detail_bytes::DetailBytes;
pub use drafts::{Draft, Drafts, PromptLookup};
pub use error::DecodingError;
pub use evidence::raw_rank;
pub use filter::{Filter, FilterKind, StageContext};
pub use filter_spec::{FilterSpec, Phase, Ranking, Usage};
pub use grammar::{
    GrammarChecker, GrammarDraw, GrammarError, GrammarKind, GrammarMode, GrammarReport,
    GrammarRule, GrammarState, GrammarVocabulary, LegalTokens, TextPlace,
};
pub use guidance::{
    Against, AgainstSpec, EarlyLayers, Guidance, MixedRow, Mixture, most_divergent,
};
pub use history::History;
pub use known::{FinalProb, KnownPart, KnownStageNumbers};
pub use likelihood::ChainLikelihood;
pub use logits_hash::LogitsHash;
pub use model_drafts::{DraftRule, Drafter, ModelDrafts, Verified, pick};
pub use needs::{Host, Need, Refusal};
pub use rules::Rules;
pub use selector::{Selector, SelectorSpec, SelectorState, Tosses};
pub use served_head::ServedHead;
pub use setting::{Field, Limits, ParamSpec, Scale, SettingError};
pub use softmax::Softmax;
pub use split_mix::SplitMix64;
pub use token::TokenId;
pub use trace::{ASSUMED_VOCABULARY, Draw, Evidence, Picked, RankedCandidate, StageReport, Trace};
pub use what_if::{WhatIf, rechoice, what_if, what_if_prob, what_if_rules_out};
pub use what_if_stages::{KnownCount, KnownProb, KnownStage, WhatIfStages, what_if_stages};
