//! Plots, tables and texts as pictures: the functions that draw them on screen draw them in an
//! offscreen window, whose shapes become SVG, and from that PNG.

mod cache_lab;
mod caption;
mod fit;
mod model_comparison;
mod palette;
mod png;
mod render;
mod shapes;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod texts;
mod xray;

use std::sync::{Arc, LazyLock};

use egui::epaint::text::{FallbackRequest, FontProvider as _};
use egui::{Context, Rect, UiBuilder, Vec2, ViewportId, ViewportInfo, pos2, vec2};
use egui_system_font_provider::SystemFontProvider;

pub use self::cache_lab::cache_drawing;
pub use self::caption::{caption, step_caption};
pub use self::fit::fit_drawing;
pub use self::model_comparison::model_comparison_drawing;
pub use self::palette::Palette;
pub use self::png::{PictureError, Pixels, pixels, png};
pub use self::render::{View, drawing, encode, tree_drawing, verified_drawing, xray_drawing};
pub use self::sweep::{QUALITY_AND_DIVERSITY, stability_drawing, sweep_drawing, sweep_pictures};
pub use self::texts::TextsPicture;
pub use self::xray::XrayPicture;
use crate::analysis::cache_lab::CacheLab;
use crate::analysis::model_comparison::ComparedModels;
use crate::design::fonts::Face;
use crate::design::style;
use crate::plots::{
    BeamTree, Curve, DraftStrip, FitPlot, GapData, NextTokenData, ProvenData, Scatter, ScoreData,
    SpeedData, StabilityPlot, SweepMap, Target, TrendData, beam_tree_ui, cache_lab_ui, curve_ui,
    draft_strip_ui, fit_curve_ui, fit_map_ui, gap_plot_ui, map_height, map_ui, model_comparison_ui,
    next_token_plot_ui, proven_ui, scatter_ui, score_plot_ui, speed_plot_ui, stability_ui,
    trend_plot_ui,
};
use crate::state::{BranchTree, PictureStyle};
use crate::ui::branches;
use crate::ui::futures::{self, picture::FuturesPicture};

/// What a picture shows.
#[derive(Debug, Clone, Copy)]
pub enum PicturePlot<'a> {
    Score(&'a ScoreData<'a>),
    /// The candidates of one step; `None` draws an empty plot.
    NextToken(Option<&'a NextTokenData>),
    Speed(&'a SpeedData),
    Xray(&'a XrayPicture),
    Texts(&'a TextsPicture<'a>),
    Trend(&'a TrendData<'a>),
    /// What could follow a token.
    Futures(&'a FuturesPicture<'a>),
    /// All texts of one prompt.
    Tree(&'a BranchTree),
    /// A run beside its repetition.
    Gaps(&'a GapData),
    /// Who chose each token of a run.
    Proven(&'a ProvenData),
    /// How far a text stays the same under other settings.
    Stability(StabilityPlot<'a>),
    /// How likely texts are under many settings.
    Fit(FitPlot<'a>),
    /// What the KV cache costs and saves.
    Cache(&'a CacheLab),
    /// The probabilities of the same text under two models.
    Models(&'a ComparedModels),
    /// A metric over the cells of a sweep.
    SweepMap(&'a SweepMap),
    /// A metric over the values of one parameter.
    SweepCurve(&'a Curve),
    /// Two metrics of a sweep against each other.
    SweepScatter(&'a Scatter),
    /// The tree of a beam search.
    Beams(&'a BeamTree),
    /// The passes of speculative decoding.
    Drafts(&'a DraftStrip<'a>),
}

/// Renders a plot of the Lab as SVG, at its default height.
fn lab_svg(plot: PicturePlot<'_>, caption: &str, palette: Palette, style: PictureStyle) -> String {
    let [width, height] = plot.default_size();
    svg(&Picture {
        plot,
        caption,
        size: [style.width.map_or(width, f32::from), height],
        palette,
        transparent: style.transparent,
    })
}

/// A standalone picture of one plot.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    pub plot: PicturePlot<'a>,
    /// The line below the plot, which names the model and the prompt.
    pub caption: &'a str,
    /// Width and height, in points.
    pub size: [f32; 2],
    pub palette: Palette,
    /// Whether the background is left out, so that what is behind the picture shows through.
    pub transparent: bool,
}

impl PicturePlot<'_> {
    /// Returns a size that is legible in an article, in points. Texts and tables are as tall as
    /// their content.
    pub fn default_size(&self) -> [f32; 2] {
        match self {
            Self::Score(_) | Self::Gaps(_) => [960.0, 420.0],
            // Its caption ends with the verdict.
            Self::Proven(data) => [960.0, data.height() + AROUND + 32.0],
            Self::NextToken(_) => [560.0, 440.0],
            Self::Xray(xray) => [960.0, xray.height() + AROUND],
            Self::Texts(texts) => {
                let width = texts.width();
                [width + 2.0 * MARGIN, texts.height(width) + AROUND]
            }
            Self::Futures(_) => [960.0, 640.0],
            Self::Tree(tree) => [960.0, branches::picture::height(tree) + AROUND],
            Self::Stability(_) => [720.0, 760.0],
            Self::Fit(plot) if plot.fit.setup.columns.is_some() => [720.0, 760.0],
            Self::Speed(_)
            | Self::Trend(_)
            | Self::Fit(_)
            | Self::SweepCurve(_)
            | Self::SweepScatter(_) => [720.0, 420.0],
            Self::Cache(_) => [960.0, 680.0],
            Self::Models(_) => [960.0, 600.0],
            Self::Drafts(strip) => [960.0, strip.height() + AROUND],
            Self::Beams(tree) => {
                let size = tree.size();
                [size.x.max(560.0) + 2.0 * MARGIN, size.y + AROUND]
            }
            Self::SweepMap(map) => {
                let n_rows = map.rows.len();
                let cell = (480.0 / n_rows.max(1) as f32).clamp(8.0, 44.0);
                [720.0, map_height(n_rows, cell) + AROUND]
            }
        }
    }
}

/// The margin around the plot, in points.
const MARGIN: f32 = 20.0;

/// The space above the caption, and the height around a plot with a caption of two lines, in
/// points.
const CAPTION_GAP: f32 = 12.0;
const AROUND: f32 = 2.0 * MARGIN + CAPTION_GAP + 32.0;

/// Plots measure their axes in one frame and use the result in the next.
const N_FRAMES: usize = 3;

/// Fonts for scripts that the bundled faces lack, loaded once and only if needed.
static SYSTEM_FONTS: LazyLock<SystemFontProvider> = LazyLock::new(SystemFontProvider::new);

/// High enough that glyph positions are not rounded to whole points.
const PIXELS_PER_POINT: f32 = 4.0;

/// Renders a picture as SVG. Labels stay text, in the window's faces.
pub fn svg(picture: &Picture<'_>) -> String {
    let size = Vec2::from(picture.size).max(vec2(160.0, 120.0));
    let ctx = context(picture.palette);
    let mut clipped_shapes = Vec::new();
    for _ in 0..N_FRAMES {
        let mut output = ctx.run_ui(input(size), |ui| draw(ui, picture, size));
        // SVG text does not use the font texture.
        output.textures_delta.clear();
        clipped_shapes = std::mem::take(&mut output.shapes);
    }
    if picture.palette == Palette::Print {
        palette::to_grays(&mut clipped_shapes);
    }
    shapes::document(size, picture.plot.name(), picture.caption, &clipped_shapes)
}

/// Creates an offscreen window.
fn context(palette: Palette) -> Context {
    let ctx = Context::default();
    style::install(&ctx);
    ctx.add_font_provider(Arc::new(|request: &FallbackRequest<'_>| {
        SYSTEM_FONTS.font_for(request)
    }));
    ctx.set_theme(if palette == Palette::Dark {
        egui::Theme::Dark
    } else {
        egui::Theme::Light
    });
    ctx
}

impl PicturePlot<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Score(data) => data.measure.name(),
            Self::NextToken(_) => "Next token",
            Self::Speed(_) => "Speed",
            Self::Xray(xray) => xray.title,
            Self::Texts(_) => "The texts",
            Self::Trend(data) => data.kind.spec().name,
            Self::Futures(_) => "Futures",
            Self::Tree(_) => "The tree",
            Self::Gaps(_) => "Then and now",
            Self::Proven(_) => "What was proven",
            Self::Stability(_) => "Where the text diverges",
            Self::Fit(_) => "How likely the text is",
            Self::Cache(_) => "The KV cache",
            Self::Models(_) => "Two models, one text",
            Self::SweepMap(map) => &map.title,
            Self::SweepCurve(curve) => &curve.title,
            Self::SweepScatter(scatter) => &scatter.title,
            Self::Beams(_) => "The beams",
            Self::Drafts(_) => "The drafts",
        }
    }
}

fn input(size: Vec2) -> egui::RawInput {
    let mut input = egui::RawInput {
        screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), size)),
        ..egui::RawInput::default()
    };
    let viewport = ViewportInfo {
        native_pixels_per_point: Some(PIXELS_PER_POINT),
        ..ViewportInfo::default()
    };
    input.viewports.insert(ViewportId::ROOT, viewport);
    input
}

fn draw(ui: &mut egui::Ui, picture: &Picture<'_>, size: Vec2) {
    let theme = picture.palette.theme();
    let page = Rect::from_min_size(pos2(0.0, 0.0), size);
    if !picture.transparent {
        ui.painter().rect_filled(page, 0, picture.palette.paper());
    }

    let mut area = page.shrink(MARGIN);
    if !picture.caption.is_empty() {
        let caption = ui.painter().layout(
            picture.caption.to_owned(),
            Face::Micro.font(),
            theme.text_3,
            area.width(),
        );
        let top = area.bottom() - caption.size().y;
        ui.painter()
            .galley(pos2(area.left(), top), caption, theme.text_3);
        area.max.y = top - CAPTION_GAP;
    }
    let mut inner = ui.new_child(UiBuilder::new().max_rect(area));
    match picture.plot {
        PicturePlot::Score(data) => {
            score_plot_ui(&mut inner, data, Target::Picture);
        }
        PicturePlot::NextToken(data) => next_token_plot_ui(&mut inner, data, Target::Picture),
        PicturePlot::Speed(data) => speed_plot_ui(&mut inner, data, Target::Picture),
        PicturePlot::Xray(xray) => xray.draw(&mut inner),
        PicturePlot::Texts(texts) => {
            texts.draw(&mut inner);
        }
        PicturePlot::Trend(data) => {
            trend_plot_ui(&mut inner, data, Target::Picture);
        }
        PicturePlot::Futures(data) => futures::picture::draw(&mut inner, data),
        PicturePlot::Gaps(data) => gap_plot_ui(&mut inner, data, picture.palette.paper()),
        PicturePlot::Proven(data) => proven_ui(&mut inner, data),
        PicturePlot::Tree(tree) => {
            branches::picture::draw(&mut inner, tree, picture.palette.paper());
        }
        PicturePlot::Stability(plot) => {
            stability_ui(&inner, area, plot, Target::Picture);
        }
        PicturePlot::Fit(plot) if plot.fit.setup.columns.is_some() => {
            fit_map_ui(&inner, area, plot, Target::Picture);
        }
        PicturePlot::Fit(plot) => {
            fit_curve_ui(&inner, area, plot, Target::Picture);
        }
        PicturePlot::Cache(lab) => cache_lab_ui(&inner, area, lab),
        PicturePlot::Models(compared) => model_comparison_ui(&inner, area, compared),
        PicturePlot::SweepMap(map) => {
            map_ui(&inner, area, map, None, Target::Picture);
        }
        PicturePlot::SweepCurve(curve) => {
            curve_ui(&inner, area, curve, None, Target::Picture);
        }
        PicturePlot::SweepScatter(scatter) => {
            scatter_ui(&inner, area, scatter, None, Target::Picture);
        }
        PicturePlot::Drafts(strip) => {
            draft_strip_ui(&mut inner, area, strip, Target::Picture);
        }
        PicturePlot::Beams(tree) => beam_tree_ui(&mut inner, area, tree, Target::Picture),
    }
}
