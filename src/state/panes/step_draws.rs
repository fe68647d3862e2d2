//! The Monte Carlo check of the step that the dock shows: 10,000 draws, some in each frame.

use super::pane::{Pane, PaneId};
use crate::analysis::by_hand::StepDraws;
use crate::decoding::Coins;
use crate::state::TextMark;

/// The number of draws from a step.
pub const N_STEP_DRAWS: u32 = 10_000;

/// How many draws a frame adds, few enough that the bars visibly grow.
const N_PER_FRAME: u32 = 250;

/// The draws from one step of one text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct ShownDraws {
    pane: PaneId,
    step: usize,
    mark: TextMark,
    draws: StepDraws,
}

impl ShownDraws {
    /// Returns the draws if they are from this step.
    pub(in crate::state) fn of(&self, pane: &Pane, step: usize) -> Option<&StepDraws> {
        let generation = pane.generation()?;
        let is_it =
            self.pane == pane.id && self.step == step && self.mark.is_beginning_of(generation);
        is_it.then_some(&self.draws)
    }

    /// Begins to draw from a step.
    pub(in crate::state) fn begin(pane: &Pane, step: usize) -> Option<Self> {
        let generation = pane.generation()?;
        let coins = Coins {
            seed: generation.config.seed,
            position: (generation.prompt.tokens.len() + step) as u64,
        };
        Some(Self {
            pane: pane.id,
            step,
            mark: TextMark::of(generation, step + 1),
            draws: StepDraws::new(&generation.steps.get(step)?.trace, coins)?,
        })
    }

    /// Adds some draws. Returns whether all are done.
    pub(in crate::state) fn go_on(&mut self) -> bool {
        let n_left = N_STEP_DRAWS.saturating_sub(self.draws.n());
        self.draws.draw(n_left.min(N_PER_FRAME));
        n_left <= N_PER_FRAME
    }
}

#[cfg(test)]
mod tests {
    use super::N_STEP_DRAWS;
    use crate::state::tests::written;
    use crate::state::{Command, Pin};

    #[test]
    fn the_draws_grow_from_frame_to_frame_and_belong_to_their_step() {
        let mut state = written();
        assert_eq!(state.step_draws(), None);
        state.apply(Command::DrawStep);
        assert!(!state.review(|| true));
        let n = state.step_draws().unwrap().n();
        assert!(n > 0 && n < N_STEP_DRAWS);
        while !state.review(|| true) {}
        assert_eq!(state.step_draws().unwrap().n(), N_STEP_DRAWS);
        let pane = state.panes[0].id;
        state.apply(Command::Pin(Pin { pane, step: 0 }));
        assert_eq!(state.step_draws(), None);
    }
}
