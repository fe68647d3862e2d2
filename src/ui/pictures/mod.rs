//! Plots, tables and texts as pictures: the functions that draw them on screen draw them in an
//! offscreen window, whose shapes become SVG, and from that PNG.

mod caption;
mod palette;
mod png;
mod render;
mod shapes;
#[cfg(test)]
mod tests;
mod text;
mod texts;
mod xray;

use std::sync::{Arc, LazyLock};

use egui::epaint::text::{FallbackRequest, FontProvider as _};
use egui::{Context, Rect, UiBuilder, Vec2, ViewportId, ViewportInfo, pos2, vec2};
use egui_system_font_provider::SystemFontProvider;

pub use self::caption::{caption, step_caption};
pub(crate) use self::caption::{model_words, shortened};
pub use self::palette::Palette;
pub use self::png::{PictureError, Pixels, pixels, png};
pub use self::render::{
    Look, drawing, encode, run_picture, tree_drawing, verified_drawing, xray_drawing,
};
pub use self::texts::TextsPicture;
pub use self::xray::XrayPicture;
use crate::design::fonts::Face;
use crate::design::style;
use crate::plots::{CAPTION_GAP, MARGIN, PicturePlot};
use crate::state::PictureStyle;

/// Renders a plot of the Lab as SVG, at its default height.
pub(crate) fn lab_svg(
    plot: &dyn PicturePlot,
    caption: &str,
    palette: Palette,
    style: PictureStyle,
) -> String {
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
    shapes::document(size, picture.plot.title(), picture.caption, &clipped_shapes)
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
    picture.plot.draw(&mut inner, picture.palette.paper());
}
