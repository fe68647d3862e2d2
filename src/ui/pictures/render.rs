//! Renders pictures of several panes from their records.

use super::texts::TextsOfRun;
use super::xray::XrayOfRun;
use super::{Palette, Picture, PictureError, XrayPicture, caption, png, step_caption, svg};
use crate::generation::Generation;
use crate::plots;
use crate::plots::{NextTokenData, PicturePlot, PlottedRun, RunPicture, VerifiedData};
use crate::state::{BranchTree, PictureFormat, PictureStyle, Plot};

/// How pictures look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    pub palette: Palette,
    pub style: PictureStyle,
}

/// Returns how a picture is made from the texts of a run, or `None` if it shows something else.
pub fn run_picture(plot: Plot) -> Option<Box<dyn RunPicture>> {
    match plot {
        Plot::Xray => Some(Box::new(XrayOfRun)),
        Plot::Texts => Some(Box::new(TextsOfRun)),
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
    match drawn {
        Some(plot) => picture_of(&*plot, &caption, look),
        None => picture_of(&None::<NextTokenData>, &caption, look),
    }
}

/// Renders an X-ray as SVG.
pub fn xray_drawing(xray: &XrayPicture, caption: &str, look: Look) -> String {
    picture_of(xray, caption, look)
}

/// Renders the tree of texts as SVG.
pub fn tree_drawing(tree: &BranchTree, panes: &[Option<&Generation>], look: Look) -> String {
    picture_of(tree, &caption(panes), look)
}

/// Renders the plot of a verification as SVG. `cause` explains a difference, if known.
pub fn verified_drawing(
    data: &VerifiedData,
    cause: Option<&str>,
    panes: &[Option<&Generation>],
    look: Look,
) -> String {
    let (plot, words): (&dyn PicturePlot, Option<&str>) = match data {
        VerifiedData::Proven(data) => (data, Some(data.sentence())),
        VerifiedData::Gaps(data) => (data, cause),
    };
    let mut caption = caption(panes);
    if let Some(words) = words {
        caption = format!("{caption} · {words}");
    }
    picture_of(plot, &caption, look)
}

fn picture_of(plot: &dyn PicturePlot, caption: &str, look: Look) -> String {
    svg(&Picture {
        plot,
        caption,
        size: size(plot.default_size(), look.style.width),
        palette: look.palette,
        transparent: look.style.transparent,
    })
}

/// Scales a picture's default size to the wanted width, if any.
fn size([width, height]: [f32; 2], wanted: Option<u16>) -> [f32; 2] {
    match wanted.map(f32::from) {
        Some(wanted) => [wanted, (height * wanted / width).round()],
        None => [width, height],
    }
}

/// Encodes an SVG drawing as the bytes of a file. The scale only affects a PNG.
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
