//! Renders a plot of several panes from their records.

use super::{Picture, PictureError, PicturePlot, caption, png, svg};
use crate::generation::Generation;
use crate::state::{PictureFormat, PictureStyle, Plot, ScoreMeasure};
use crate::ui::plots::{NextTokenData, ScoreData, SpeedData, StepAt};

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
    pub style: PictureStyle,
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
    // The plot of one step names only that pane's model, prompt and settings.
    let shown =
        |place: usize| view.plot != Plot::NextToken || view.step.map(|at| at.pane) == Some(place);
    let named: Vec<Option<&Generation>> = (0..)
        .zip(panes)
        .map(|(place, text)| text.filter(|_| shown(place)))
        .collect();
    let caption = caption(&named);
    svg(&Picture {
        plot,
        caption: &caption,
        size: size(plot.usual_size(), view.style.width),
        dark: view.dark,
        transparent: view.style.transparent,
    })
}

/// Returns the size of a picture that is this wide, with the usual proportions.
fn size([width, height]: [f32; 2], wanted: Option<u16>) -> [f32; 2] {
    match wanted.map(f32::from) {
        Some(wanted) => [wanted, (height * wanted / width).round()],
        None => [width, height],
    }
}

/// Encodes an SVG drawing as the bytes of a file. An SVG has no pixels, so the scale is that of a PNG.
pub fn encode(
    drawing: &str,
    format: PictureFormat,
    style: PictureStyle,
) -> Result<Vec<u8>, PictureError> {
    match format {
        PictureFormat::Svg => Ok(drawing.as_bytes().to_vec()),
        PictureFormat::Png => png(drawing, style.scale.into()),
    }
}
