//! Renders pictures of several panes from their records.

use super::{
    Palette, Picture, PictureError, TextsPicture, XrayPicture, caption, png, step_caption, svg,
};
use crate::analysis::trend::Trend;
use crate::analysis::watermark::{WatermarkScan, first_mark};
use crate::decoding::watermark::Watermark;
use crate::generation::Generation;
use crate::plots::{
    BeamTree, DraftStrip, NextTokenData, PicturePlot, ScoreData, SpeedData, StepAt, TrendData,
    VerifiedData,
};
use crate::state::{BranchTree, PictureFormat, PictureStyle, Plot, ScoreCap, ScoreMeasure, Tint};

/// Which picture to render, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct View {
    pub plot: Plot,
    /// What the bars of the score show, and its cap.
    pub measure: ScoreMeasure,
    pub cap: ScoreCap,
    /// Whether the score shows all panes in one plot.
    pub in_one: bool,
    /// What the color behind a token shows.
    pub tint: Tint,
    /// The watermark to look for; `None` means the first that a text's chain embeds.
    pub watermark: Option<Watermark>,
    /// The step whose candidates the next-token plot and the X-ray show.
    pub step: Option<StepAt>,
    pub palette: Palette,
    pub style: PictureStyle,
}

/// Renders a picture of these panes as SVG, at its default size. A pane's index determines its
/// letter, so panes without text keep their place in the list. The X-ray shows the step as it was
/// recorded.
pub fn drawing(panes: &[Option<&Generation>], view: View) -> String {
    let mut score = ScoreData::capped(panes, view.measure, view.cap);
    score.in_one = view.in_one;
    let speed = SpeedData::of(panes);
    let chains = panes.iter().flatten().map(|text| &text.config.chain);
    let watermark = view.watermark.or_else(|| first_mark(chains));
    let texts = TextsPicture::of(panes, view.tint, watermark);
    let step = view.step.and_then(|at| {
        let generation = panes.get(at.pane).copied().flatten()?;
        Some((at, generation))
    });
    let candidates =
        step.and_then(|(at, generation)| NextTokenData::of(at.pane, generation, at.step));
    let candidates = candidates.as_ref();
    let xray = step.and_then(|(at, generation)| {
        let config = &generation.config;
        XrayPicture::of_step(generation, at, &config.chain, config.seed)
    });
    let kind = match view.plot {
        Plot::Trend(kind) => kind,
        _ => Trend::Kept,
    };
    let scans: Vec<Option<WatermarkScan>> = match (kind, watermark) {
        (Trend::Watermark, Some(mark)) => {
            let scan = |text: &Generation| WatermarkScan::of_text(mark, text);
            panes.iter().map(|text| text.map(scan)).collect()
        }
        _ => Vec::new(),
    };
    let scans: Vec<Option<&WatermarkScan>> = scans.iter().map(Option::as_ref).collect();
    let trend = TrendData::with_scans(panes, kind, &scans);
    let trees = panes.iter().enumerate();
    let mut trees = trees.filter_map(|(place, text)| BeamTree::of(place, (*text)?));
    let beams = trees.next();
    let mut strips = panes.iter().enumerate();
    let drafts = strips.find_map(|(place, text)| DraftStrip::of(place, (*text)?, None));
    let empty: &dyn PicturePlot = &None::<&NextTokenData>;
    let plot: &dyn PicturePlot = match (view.plot, &xray) {
        (Plot::Score, _) => &score,
        (Plot::Speed, _) => &speed,
        (Plot::Trend(_), _) => &trend,
        (Plot::Texts, _) => &texts,
        (Plot::Xray, Some(xray)) => xray,
        (Plot::Beams, _) => beams.as_ref().map_or(empty, |tree| tree),
        (Plot::Drafts, _) => drafts.as_ref().map_or(empty, |strip| strip),
        // Without a recorded step there is no X-ray, and nothing was set by hand. `tree_drawing`
        // draws the tree, and `verified_drawing` a run beside its repetition.
        (Plot::NextToken | Plot::Xray | Plot::ByHand | Plot::Tree | Plot::Gaps, _) => &candidates,
    };
    // The picture of one step names only that pane's model, prompt and settings.
    let caption = match (view.plot, step) {
        (Plot::NextToken | Plot::Xray, Some((at, generation))) => step_caption(generation, at),
        _ => caption(panes),
    };
    picture_of(plot, &caption, view)
}

/// Renders an X-ray as SVG.
pub fn xray_drawing(xray: &XrayPicture, caption: &str, view: View) -> String {
    picture_of(xray, caption, view)
}

/// Renders the tree of texts as SVG.
pub fn tree_drawing(tree: &BranchTree, panes: &[Option<&Generation>], view: View) -> String {
    picture_of(tree, &caption(panes), view)
}

/// Renders the plot of a verification as SVG. `cause` explains a difference, if known.
pub fn verified_drawing(
    data: &VerifiedData,
    cause: Option<&str>,
    panes: &[Option<&Generation>],
    view: View,
) -> String {
    let (plot, words): (&dyn PicturePlot, Option<&str>) = match data {
        VerifiedData::Proven(data) => (data, Some(data.sentence())),
        VerifiedData::Gaps(data) => (data, cause),
    };
    let mut caption = caption(panes);
    if let Some(words) = words {
        caption = format!("{caption} · {words}");
    }
    picture_of(plot, &caption, view)
}

fn picture_of(plot: &dyn PicturePlot, caption: &str, view: View) -> String {
    svg(&Picture {
        plot,
        caption,
        size: size(plot.default_size(), view.style.width),
        palette: view.palette,
        transparent: view.style.transparent,
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
