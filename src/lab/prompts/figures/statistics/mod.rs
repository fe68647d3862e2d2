//! What judged answers say about settings: shares of right answers with their intervals, differences
//! between settings prompt by prompt, votes among several answers, and the sentences that say it.
//!
//! The prompts are taken as a sample of prompts like them, in no particular order. This module knows
//! neither how answers were judged nor where they come from, and everything that it draws at random
//! comes from fixed seeds.

mod axis_sentence;
mod decided;
mod flips;
mod map_sentence;
mod paired;
mod sentence;
mod share;
#[cfg(test)]
mod tests;
mod votes;
mod words;

pub use axis_sentence::{AxisPoint, axis_sentence};
pub use decided::is_decided;
pub use map_sentence::map_sentence;
pub use paired::{Comparison, Paired, compare, differences, smallest_difference};
pub use sentence::{JudgedSetting, Verdict, sentence};
pub use share::{Interval, PromptShare, ShareEstimate};
pub use votes::{GroupedAnswer, majority_accuracies, majority_accuracy, pass_at_all, pass_at_k};
