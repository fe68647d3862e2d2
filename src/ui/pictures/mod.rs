//! Plots, tables and texts as pictures: the functions that draw them on screen draw them in an
//! offscreen window, whose shapes become SVG, and from that PDF and PNG.

mod caption;
mod outlines;
mod palette;
mod pdf;
mod png;
mod render;
mod shapes;
#[cfg(test)]
mod tests;
mod text;
mod texts;
mod vector;
#[cfg(test)]
mod vector_tests;
mod xray;

use std::sync::{Arc, LazyLock};

use egui::epaint::text::{FallbackRequest, FontProvider as _};
use egui::{Context, Rect, UiBuilder, Vec2, ViewportId, ViewportInfo, pos2, vec2};
use egui_system_font_provider::SystemFontProvider;

pub use self::caption::{caption, dated, step_caption};
pub(crate) use self::caption::{model_words, shortened};
pub use self::palette::Palette;
pub use self::png::{PictureError, Pixels, pixels, png};
pub use self::render::{
    Look, drawing, encode, replayed_drawing, run_picture, tree_drawing, verified_drawing,
    xray_drawing,
};
pub use self::texts::TextsPicture;
pub use self::xray::XrayPicture;
use crate::design::fonts::Face;
use crate::design::style;
use crate::design::theme::Theme;
use crate::plots::{CAPTION_GAP, CAPTION_ROOM, MARGIN, PicturePlot};

/// Renders a plot of the Lab as SVG. Its caption ends with the date of the results.
pub(crate) fn lab_drawing(plot: &dyn PicturePlot, caption: &str, look: Look) -> String {
    styled_svg(plot, &dated(caption, look.finished_at), look)
}

/// Renders a plot as SVG, at its usual width or that of the look. The page is as tall as the plot
/// and its caption need.
pub(crate) fn styled_svg(plot: &dyn PicturePlot, caption: &str, look: Look) -> String {
    let [usual, _] = plot.default_size();
    let shown_width = look.style.width.points().unwrap_or(usual);
    let [width, height] = plot.size_at(shown_width);
    let ctx = context(look.palette);
    let caption_height = measured(&ctx, vec2(width, height), |ui| {
        caption_galley(ui, caption, width - 2.0 * MARGIN).size().y
    });
    let picture = Picture {
        plot,
        caption,
        size: [
            width,
            height + (caption_height - CAPTION_ROOM).max(0.0).ceil(),
        ],
        palette: look.palette,
        transparent: look.style.transparent,
    };
    painted(&ctx, &picture, shown_width)
}

/// A standalone picture of one plot.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    pub plot: &'a dyn PicturePlot,
    /// The line below the plot, which names the model and the prompt.
    pub caption: &'a str,
    /// Width and height, in points.
    pub size: [f32; 2],
    pub palette: Palette,
    /// Whether the background is left out, so that what is behind the picture shows through.
    pub transparent: bool,
}

/// Plots measure their axes in one frame and use the result in the next.
const N_FRAMES: usize = 3;

/// Fonts for scripts that the bundled faces lack, loaded once and only if needed.
static SYSTEM_FONTS: LazyLock<SystemFontProvider> = LazyLock::new(SystemFontProvider::new);

/// High enough that glyph positions are not rounded to whole points.
const PIXELS_PER_POINT: f32 = 4.0;

/// Renders a picture as SVG. Labels stay text, in the window's faces.
pub fn svg(picture: &Picture<'_>) -> String {
    let [width, _] = picture.size;
    painted(&context(picture.palette), picture, width)
}

/// Renders a picture as SVG that is shown at this width.
fn painted(ctx: &Context, picture: &Picture<'_>, shown_width: f32) -> String {
    let size = Vec2::from(picture.size).max(vec2(160.0, 120.0));
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
    let page = shapes::Page {
        size,
        shown: size * (shown_width / size.x).min(1.0),
        title: picture.plot.title(),
        caption: picture.caption,
    };
    page.document(&clipped_shapes)
}

/// Draws into an area of this size and returns the height that `draw` found.
fn measured(ctx: &Context, size: Vec2, mut draw: impl FnMut(&mut egui::Ui) -> f32) -> f32 {
    let mut height = 0.0;
    // A font that is loaded in the first frame is used in the next.
    for _ in 0..N_FRAMES {
        let mut output = ctx.run_ui(input(size), |ui| {
            let rect = Rect::from_min_size(pos2(0.0, 0.0), size);
            height = draw(&mut ui.new_child(UiBuilder::new().max_rect(rect)));
        });
        output.textures_delta.clear();
    }
    height
}

fn caption_galley(ui: &egui::Ui, caption: &str, width: f32) -> Arc<egui::Galley> {
    let color = Theme::of(ui).text_3;
    ui.painter()
        .layout(caption.to_owned(), Face::Micro.font(), color, width)
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
        let caption = caption_galley(ui, picture.caption, area.width());
        let top = area.bottom() - caption.size().y;
        ui.painter()
            .galley(pos2(area.left(), top), caption, theme.text_3);
        area.max.y = top - CAPTION_GAP;
    }
    let mut inner = ui.new_child(UiBuilder::new().max_rect(area));
    picture.plot.draw(&mut inner, picture.palette.paper());
}
