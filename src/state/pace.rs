//! The pace of generation: full speed, slow enough to watch, or step by step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AppState, Effect};
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
}

impl AppState {
    /// Returns whether texts are generated token by token, on request.
    pub fn is_step_mode(&self) -> bool {
        self.pace == Pace::Step
    }

    /// Changes the pace from the next token on. Step mode stops what is being generated, so that
    /// the next token is requested by hand.
    pub(super) fn set_pace(&mut self, pace: Pace) -> Vec<Effect> {
        let before = std::mem::replace(&mut self.pace, pace);
        if before == pace {
            return Vec::new();
        }
        if before == Pace::Step || pace == Pace::Step {
            for pane in &mut self.panes {
                pane.upcoming = None;
            }
        }
        let mut effects = vec![self.pace_effect()];
        if pace == Pace::Step {
            effects.extend(self.stop_all());
        }
        effects
    }

    /// Returns the request that tells a new engine the pace, unless the default applies.
    pub(super) fn pace_request(&self) -> Option<Effect> {
        let waits = !self.pace.interval().is_zero();
        waits.then(|| self.pace_effect())
    }

    pub(super) const fn pace_effect(&self) -> Effect {
        let interval = self.pace.interval();
        Effect::Send(Request::SetPace { interval })
    }
}
