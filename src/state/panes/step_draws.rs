//! The Monte Carlo check of the step that the dock shows: 10,000 draws, some in each frame.

use super::pane::PaneId;
use crate::analysis::by_hand::StepDraws;
use crate::decoding::Coins;
use crate::state::{AppState, Effect, TextMark};

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

impl AppState {
    /// Returns the draws from the step that the dock shows, if the user asked for them.
    pub fn step_draws(&self) -> Option<&StepDraws> {
        let (place, step) = self.shown_step()?;
        let pane = self.panes.get(place)?;
        let generation = pane.generation()?;
        let drawn = self.drawn_step.as_ref()?;
        let is_shown =
            drawn.pane == pane.id && drawn.step == step && drawn.mark.is_beginning_of(generation);
        is_shown.then_some(&drawn.draws)
    }

    /// Begins to draw from the shown step. Returns no effects.
    pub(in crate::state) fn begin_step_draws(&mut self) -> Vec<Effect> {
        self.drawn_step = self.new_draws();
        Vec::new()
    }

    fn new_draws(&self) -> Option<ShownDraws> {
        let (place, step) = self.shown_step()?;
        let pane = self.panes.get(place)?;
        let generation = pane.generation()?;
        let coins = Coins {
            seed: generation.config.seed,
            position: (generation.prompt.tokens.len() + step) as u64,
        };
        Some(ShownDraws {
            pane: pane.id,
            step,
            mark: TextMark::of(generation, step + 1),
            draws: StepDraws::new(&generation.steps.get(step)?.trace, coins)?,
        })
    }

    /// Adds some draws. Returns whether all are done.
    pub(in crate::state) fn continue_step_draws(&mut self) -> bool {
        let Some(drawn) = &mut self.drawn_step else {
            return true;
        };
        let n_left = N_STEP_DRAWS.saturating_sub(drawn.draws.n());
        drawn.draws.draw(n_left.min(N_PER_FRAME));
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
