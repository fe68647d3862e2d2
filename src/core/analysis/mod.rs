//! Figures and explanations computed from recorded generations: pure functions over `generation`
//! and `decoding`.
//!
//! This module knows nothing about models, threads, files or windows, and never runs a model.

pub mod by_hand;
mod coarse;
mod comparison;
pub mod contradictions;
mod conversation;
pub mod dialects;
mod divergence;
mod drafts;
pub mod futures;
mod given_conversation;
pub mod grammar;
mod joined_turns;
mod linter;
mod metrics;
pub mod replay;
mod smallest_change;
mod suspects;
pub mod sweep;
mod text_loop;
mod text_metrics;
mod text_score;
mod text_tree;
mod thinking;
pub mod token_kinds;
mod token_scale;
pub mod trend;
mod turn_metrics;
pub mod watermark;
mod what_if;
mod why;
pub mod xray;

pub use coarse::{coarse_order, stand_ins};
pub use comparison::{ForkComparison, JensenShannon, TextComparison};
pub use conversation::{SharedBeginning, messages_after, turn_messages};
pub use divergence::{Divergence, DivergenceTracker, first_divergence};
pub use drafts::{DraftPass, DraftPasses, Verdict, VerifiedToken};
pub use given_conversation::{GivenAnswer, GivenConversation, GivenError};
pub use joined_turns::JoinedTurns;
pub use linter::{Importance, Lint, Remedy, Tally, ignored_formats, lint_chain};
pub use metrics::{Metrics, SpeedPoint, speed_series};
pub use smallest_change::{ChangedTo, SettingChange, Side, SmallestChange};
pub use text_loop::TextLoop;
pub use text_metrics::{Prices, Repeat, TextMetrics, have_different_tokenizers};
pub use text_score::{Cut, TextScore};
pub use text_tree::{TreeLine, TreeText, text_tree};
pub use thinking::{Thought, ThoughtScan};
pub use token_scale::TokenScale;
pub use turn_metrics::{TurnMetrics, turn_metrics};
pub use what_if::{WhatIfReader, WhatIfVerdict, can_redraw};
pub use why::{Why, smallest_change_words};
