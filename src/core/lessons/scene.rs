//! What a lesson sees of the window.

use super::cache_fields::CacheTimes;
use super::lesson::Curve;
use super::task_fields::TaskCurve;
use crate::analysis::Prices;
use crate::analysis::by_hand::Draws;
use crate::decoding::ChainConfig;
use crate::generation::{FinishReason, Generation};

/// The part of the window that checks and texts can read.
#[derive(Debug, Clone, Default)]
pub struct Scene<'a> {
    /// The text of each pane, from left to right.
    pub texts: Vec<Option<&'a Generation>>,
    /// The settings of each pane as they are now, which may not have generated its text.
    pub chains: Vec<Option<&'a ChainConfig>>,
    /// The place of the pinned token's pane, and the index of its step.
    pub pin: Option<(usize, usize)>,
    /// The name of the dock's tab, in lower case.
    pub tab: &'a str,
    /// The name of the tint, in lower case.
    pub tint: &'a str,
    /// The measurement of the KV cache, if there is one.
    pub cache: Option<&'a (dyn CacheTimes + 'static)>,
    /// The share of right answers to a list of tasks over a setting, if it was computed.
    pub tasks: Option<&'a (dyn TaskCurve + 'static)>,
    /// The coins tossed by hand, if there are any.
    pub hand: Option<&'a Draws>,
    /// The prices that were typed.
    pub prices: Prices,
    /// The curves that the question draws.
    pub curves: &'a [Curve],
}

impl<'a> Scene<'a> {
    /// Returns the text of the pane at this place.
    pub fn text(&self, place: usize) -> Option<&'a Generation> {
        self.texts.get(place).copied().flatten()
    }
}

/// Returns whether a text ended by itself; a text that is paused, was stopped or failed did not.
pub(super) fn has_ended(text: &Generation) -> bool {
    let is_end = |reason: &FinishReason| {
        !matches!(
            reason,
            FinishReason::Paused
                | FinishReason::Cancelled
                | FinishReason::Interrupted
                | FinishReason::Failed { .. }
        )
    };
    text.finish.as_ref().is_some_and(is_end)
}
