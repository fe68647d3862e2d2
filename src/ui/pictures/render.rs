//! Renders pictures of several panes from their records.

use super::outlines::outlined;
use super::pdf::pdf;
use super::texts::TextsOfRun;
use super::xray::XrayOfRun;
use super::{Palette, PictureError, XrayPicture, caption, dated, png, step_caption, styled_svg};
use crate::export::CsvReader;
use crate::plots;
use crate::plots::{
    NextTokenData, PicturePlot, PlottedRun, ReplayedRuns, RunPicture, VerifiedData,
};
use crate::state::{BranchTree, PictureFormat, PictureStyle, Plot};
use crate::ui::compare::CompareOfRun;
use crate::ui::loop_view::LoopOfRun;

/// How pictures and tables look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    pub palette: Palette,
    pub style: PictureStyle,
    pub csv_reader: CsvReader,
    /// When an experiment finished, in seconds since 1970, for its files.
    pub finished_at: Option<u64>,
}

/// Returns how a picture is made from the texts of a run, or `None` if it shows something else.
pub fn run_picture(plot: Plot) -> Option<Box<dyn RunPicture>> {
    match plot {
        Plot::Xray => Some(Box::new(XrayOfRun)),
        Plot::Texts => Some(Box::new(TextsOfRun)),
        Plot::Compare => Some(Box::new(CompareOfRun)),
        Plot::Loop => Some(Box::new(LoopOfRun)),
        _ => plots::run_picture(plot),
    }
}

/// Renders a picture of a run as SVG, at its default size. The X-ray shows the step as it was
/// recorded.
pub fn drawing(plot: Plot, run: PlottedRun<'_>, look: Look) -> String {
    let picture = run_picture(plot);
    let drawn = picture.as_ref().and_then(|picture| picture.plot(run));
    // The picture of one step names only that pane's model, prompt and settings.
    let step = run
        .step()
        .filter(|_| picture.is_some_and(|picture| picture.is_of_step()));
    let caption = match step {
        Some((at, generation)) => step_caption(generation, at),
        None => caption(run.panes),
    };
    let caption = dated(&caption, run.finished_at);
    match drawn {
        Some(plot) => styled_svg(&*plot, &caption, look),
        None => styled_svg(&None::<NextTokenData>, &caption, look),
    }
}

/// Renders an X-ray as SVG.
pub fn xray_drawing(xray: &XrayPicture, caption: &str, look: Look) -> String {
    styled_svg(xray, caption, look)
}

/// Renders the tree of texts as SVG.
pub fn tree_drawing(tree: &BranchTree, caption: &str, look: Look) -> String {
    styled_svg(tree, caption, look)
}

/// Renders the plot of a verification as SVG. `cause` explains a difference, if known.
pub fn verified_drawing(
    data: &VerifiedData,
    cause: Option<&str>,
    caption: &str,
    look: Look,
) -> String {
    let (plot, words): (&dyn PicturePlot, Option<&str>) = match data {
        VerifiedData::Proven(data) => (data, Some(data.sentence())),
        VerifiedData::Gaps(data) => (data, cause),
    };
    match words {
        Some(words) => styled_svg(plot, &format!("{caption} · {words}"), look),
        None => styled_svg(plot, caption, look),
    }
}

/// Renders the strips of many replayed runs as SVG.
pub fn replayed_drawing(runs: &ReplayedRuns, caption: &str, look: Look) -> String {
    styled_svg(runs, caption, look)
}

/// Encodes an SVG drawing as the bytes of a file. The scale only affects a PNG.
pub fn encode(
    drawing: &str,
    format: PictureFormat,
    style: PictureStyle,
) -> Result<Vec<u8>, PictureError> {
    match format {
        PictureFormat::Pdf => pdf(drawing),
        PictureFormat::Svg if style.outlined_text => outlined(drawing).map(String::into_bytes),
        PictureFormat::Svg => Ok(drawing.as_bytes().to_vec()),
        PictureFormat::Png => png(drawing, style.scale.into()),
    }
}
