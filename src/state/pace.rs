//! The pace of generation: full speed, slow enough to watch, or step by step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Effect;
use crate::worker::Request;

/// How fast texts are generated on screen. The measured speed excludes the waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    #[default]
    FullSpeed,
    /// Slow enough to watch.
    Slow,
    /// Step mode: one token at a time, on request.
    Step,
}

impl Pace {
    /// All paces, in menu order.
    pub const ALL: [Self; 3] = [Self::FullSpeed, Self::Slow, Self::Step];

    /// Returns its name: "Full speed".
    pub const fn name(self) -> &'static str {
        match self {
            Self::FullSpeed => "Full speed",
            Self::Slow => "8 tokens per second",
            Self::Step => "Step by step",
        }
    }

    /// Returns the minimum time between two decode steps.
    const fn interval(self) -> Duration {
        match self {
            Self::Slow => Duration::from_millis(125),
            // In step mode, the engine pauses after the requested tokens by itself.
            Self::FullSpeed | Self::Step => Duration::ZERO,
        }
    }

    /// Returns the request that tells the engine the pace.
    pub(super) const fn request(self) -> Effect {
        let interval = self.interval();
        Effect::Send(Request::SetPace { interval })
    }

    /// Returns the same for a new engine, or `None` if the default applies.
    pub(super) fn first_request(self) -> Option<Effect> {
        let waits = !self.interval().is_zero();
        waits.then(|| self.request())
    }
}
