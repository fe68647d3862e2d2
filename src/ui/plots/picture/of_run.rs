//! A picture of several panes' writing, from the record alone.

use super::{Picture, PictureError, PicturePlot, caption, png, svg};
use crate::generation::Generation;
use crate::state::{PictureFormat, Plot, ScoreMeasure};
use crate::ui::plots::{NextTokenData, ScoreData, SpeedData, StepAt};

/// The pixels of a PNG for each point of the picture.
const PNG_SCALE: f32 = 2.0;

/// Which picture it is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// What is drawn.
    pub plot: Plot,
    /// What a bar of the score tells.
    pub measure: ScoreMeasure,
    /// Whose candidates are shown.
    pub step: Option<StepAt>,
    /// Whether it is drawn in the dark theme; else in the light one, on white.
    pub dark: bool,
}

/// A picture of these panes as SVG, at its usual size. A pane is its place in the list; one that has
/// written nothing keeps its letter.
pub fn drawing(panes: &[Option<&Generation>], view: View) -> String {
    let score = ScoreData::of(panes, view.measure);
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
    // One step of one pane says nothing of the others' model and prompt.
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

/// The bytes of a drawing's file.
pub fn encode(drawing: &str, format: PictureFormat) -> Result<Vec<u8>, PictureError> {
    match format {
        PictureFormat::Svg => Ok(drawing.as_bytes().to_vec()),
        PictureFormat::Png => png(drawing, PNG_SCALE),
    }
}
