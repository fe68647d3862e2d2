//! Renders a plot of several panes from their records.

use super::{Picture, PictureError, PicturePlot, caption, png, svg};
use crate::generation::Generation;
use crate::state::{PictureFormat, Plot, ScoreMeasure};
use crate::ui::plots::{NextTokenData, ScoreData, SpeedData, StepAt};

/// The PNG's pixels per point of the picture.
const PNG_SCALE: f32 = 2.0;

/// Which plot to render, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub plot: Plot,
    /// What the bars of the score show.
    pub measure: ScoreMeasure,
    /// Whether the score shows all panes in one plot.
    pub in_one: bool,
    /// The step whose candidates the next-token plot shows.
    pub step: Option<StepAt>,
    /// Whether to use the dark theme instead of the light one on white.
    pub dark: bool,
}

/// Renders a plot of these panes as SVG, at its usual size. A pane's index determines its letter,
/// so panes without text keep their place in the list.
pub fn drawing(panes: &[Option<&Generation>], view: View) -> String {
    let mut score = ScoreData::of(panes, view.measure);
    score.in_one = view.in_one;
    let speed = SpeedData::of(panes);
    let candidates = view.step.and_then(|StepAt { pane, step }| {
        let generation = panes.get(pane).copied().flatten()?;
        NextTokenData::of(pane, generation, step)
    });
    let plot = match view.plot {
        Plot::Score => PicturePlot::Score(&score),
        Plot::NextToken => PicturePlot::NextToken(candidates.as_ref()),
        Plot::Speed => PicturePlot::Speed(&speed),
    };
    // The plot of one step names only that pane's model and prompt.
    let caption = match (view.plot, view.step) {
        (Plot::NextToken, Some(StepAt { pane, .. })) => {
            caption(&[panes.get(pane).copied().flatten()])
        }
        _ => caption(panes),
    };
    svg(&Picture {
        plot,
        caption: &caption,
        size: plot.usual_size(),
        dark: view.dark,
    })
}

/// Encodes an SVG drawing as the bytes of a file.
pub fn encode(drawing: &str, format: PictureFormat) -> Result<Vec<u8>, PictureError> {
    match format {
        PictureFormat::Svg => Ok(drawing.as_bytes().to_vec()),
        PictureFormat::Png => png(drawing, PNG_SCALE),
    }
}
