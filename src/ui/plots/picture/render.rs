//! Renders pictures of several panes from their records.

use super::{
    Palette, Picture, PictureError, PicturePlot, TextsPicture, XrayPicture, caption, png,
    step_caption, svg,
};
use crate::generation::Generation;
use crate::state::{PictureFormat, Plot, ScoreCap, ScoreMeasure, Tint, Trend};
use crate::ui::plots::{NextTokenData, ScoreData, SpeedData, StepAt, TrendData};

/// The PNG's pixels per point of the picture.
const PNG_SCALE: f32 = 2.0;

/// Which picture to render, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    pub plot: Plot,
    /// What the bars of the score show, and its cap.
    pub measure: ScoreMeasure,
    pub cap: ScoreCap,
    /// What the color behind a token shows.
    pub tint: Tint,
    /// The step whose candidates the next-token plot and the X-ray show.
    pub step: Option<StepAt>,
    pub palette: Palette,
}

/// Renders a picture of these panes as SVG, at its usual size. A pane's index determines its letter,
/// so panes without text keep their place in the list. The X-ray shows the step as it was recorded.
pub fn drawing(panes: &[Option<&Generation>], view: View) -> String {
    let score = ScoreData::capped(panes, view.measure, view.cap);
    let speed = SpeedData::of(panes);
    let texts = TextsPicture::of(panes, view.tint);
    let step = view.step.and_then(|at| {
        let generation = panes.get(at.pane).copied().flatten()?;
        Some((at, generation))
    });
    let candidates =
        step.and_then(|(at, generation)| NextTokenData::of(at.pane, generation, at.step));
    let xray = step.and_then(|(at, generation)| {
        let config = &generation.config;
        XrayPicture::of_step(generation, at, &config.chain, config.seed)
    });
    let kind = match view.plot {
        Plot::Trend(kind) => kind,
        _ => Trend::Kept,
    };
    let trend = TrendData::of(panes, kind);
    let plot = match (view.plot, &xray) {
        (Plot::Score, _) => PicturePlot::Score(&score),
        (Plot::Speed, _) => PicturePlot::Speed(&speed),
        (Plot::Trend(_), _) => PicturePlot::Trend(&trend),
        (Plot::Texts, _) => PicturePlot::Texts(&texts),
        (Plot::Xray, Some(xray)) => PicturePlot::Xray(xray),
        // Without a recorded step there is nothing to see through, and nothing set by hand.
        (Plot::NextToken | Plot::Xray | Plot::ByHand, _) => {
            PicturePlot::NextToken(candidates.as_ref())
        }
    };
    // The picture of one step names only that pane's model and prompt.
    let caption = match (view.plot, step) {
        (Plot::NextToken | Plot::Xray, Some((at, generation))) => step_caption(generation, at),
        _ => caption(panes),
    };
    svg(&Picture {
        plot,
        caption: &caption,
        size: plot.usual_size(),
        palette: view.palette,
    })
}

/// Renders an X-ray as SVG.
pub fn xray_drawing(xray: &XrayPicture, caption: &str, palette: Palette) -> String {
    let plot = PicturePlot::Xray(xray);
    svg(&Picture {
        plot,
        caption,
        size: plot.usual_size(),
        palette,
    })
}

/// Encodes an SVG drawing as the bytes of a file.
pub fn encode(drawing: &str, format: PictureFormat) -> Result<Vec<u8>, PictureError> {
    match format {
        PictureFormat::Svg => Ok(drawing.as_bytes().to_vec()),
        PictureFormat::Png => png(drawing, PNG_SCALE),
    }
}
