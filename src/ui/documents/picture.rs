//! Pictures of what is on screen.

use super::run::{copies, panes};
use super::{Render, RenderedDocument};
use crate::generation::Piece;
use crate::plots::{PlotChoices, PlottedRun, StepAt, VerifiedData};
use crate::state::{AppState, PictureDocument, Plot};
use crate::ui::loop_view::LoopPicture;
use crate::ui::pictures::{
    self, Look, XrayPicture, caption, dated, step_caption, styled_svg, tree_drawing,
    verified_drawing, xray_drawing,
};
use crate::ui::verified_data;

/// Draws a plot as SVG.
type Drawing = Box<dyn FnOnce() -> String + Send>;

impl RenderedDocument for PictureDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let draw = picture_drawing(state, self.plot, look)?;
        let format = self.format;
        Ok(Box::new(move || look.encode(&draw(), format)))
    }
}

/// Copies what a plot needs from the state. Fails if the state doesn't have it.
fn picture_drawing(state: &AppState, plot: Plot, look: Look) -> Result<Drawing, String> {
    let choices = PlotChoices {
        measure: state.view.score,
        cap: state.view.score_cap,
        in_one: state.view.score_layout.is_one_plot(),
        watermark: state.view.watermark,
        tint: state.view.tint,
        step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
        compare: state.view.compare,
        prices: state.view.prices,
    };
    let finished_at = state.run_header().finished_at;
    let texts = copies(state.generations());
    Ok(match plot {
        Plot::Xray => xray(shown_xray(state), look)?,
        Plot::ByHand => xray(hand_xray(state), look)?,
        Plot::Loop => {
            let shown = LoopPicture::shown(state).ok_or("There is no token to show")?;
            let caption = dated(&step_caption(shown.text(), shown.at), finished_at);
            Box::new(move || styled_svg(&shown, &caption, look))
        }
        Plot::Tree => {
            let tree = state.current_branch_tree();
            let caption = dated(&caption(&state.generations()), finished_at);
            Box::new(move || tree_drawing(&tree, &caption, look))
        }
        Plot::Gaps => {
            let (data, cause) = shown_verification(state).ok_or("The run was not verified")?;
            let caption = dated(&caption(&state.generations()), finished_at);
            Box::new(move || verified_drawing(&data, cause.as_deref(), &caption, look))
        }
        _ => Box::new(move || {
            let run = PlottedRun {
                panes: &panes(&texts),
                choices,
                finished_at,
            };
            pictures::drawing(plot, run, look)
        }),
    })
}

/// Returns the plot of the verification, and what explains a difference.
fn shown_verification(state: &AppState) -> Option<(VerifiedData, Option<String>)> {
    let cause = state.runs.verification.as_ref()?.cause();
    Some((verified_data(state)?, cause))
}

/// Returns what draws an X-ray with its caption.
fn xray(shown: Option<(XrayPicture, String)>, look: Look) -> Result<Drawing, String> {
    let (xray, caption) = shown.ok_or("Its probabilities are not known")?;
    Ok(Box::new(move || xray_drawing(&xray, &caption, look)))
}

/// Returns the X-ray of the step that the dock shows, under the pane's current settings.
fn shown_xray(state: &AppState) -> Option<(XrayPicture, String)> {
    let (place, step) = state.shown_step()?;
    let pane = state.panes.get(place)?;
    let generation = pane.generation()?;
    let at = StepAt { pane: place, step };
    let (chain, seed) = (&pane.settings.chain, state.seed_of(pane));
    let picture = XrayPicture::of_step(generation, at, chain, seed)?;
    let caption = step_caption(generation, at);
    Some((picture, dated(&caption, state.run_header().finished_at)))
}

/// Returns the X-ray of the logits set by hand.
fn hand_xray(state: &AppState) -> Option<(XrayPicture, String)> {
    let table = state.hand_table().ok()?;
    let place = state.hand_pane();
    let pane = state.panes.get(place)?;
    let piece = |token| Piece::text(state.by_hand.label(token));
    let chain = &pane.settings.chain;
    let picture = XrayPicture::by_hand(place, table, chain, piece);
    Some((
        picture,
        format!("Logits set by hand, seed {}", state.seed_of(pane)),
    ))
}
