//! The application icon: four bars in the panes' colors. One description serves the window, the
//! packages' PNG files and the scalable SVG.

use std::fmt::Write as _;

use egui::Color32;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use crate::design::theme::Theme;
use crate::ui::pictures::PictureError;

/// The side of the icon's grid, in units.
const GRID: u32 = 64;

/// Left edge, top and bottom of each bar, in units of the grid.
const BARS: [[u32; 3]; 4] = [[10, 28, 54], [22, 12, 54], [34, 22, 54], [46, 34, 54]];

/// The width of a bar, in units; its ends are semicircles.
const BAR_WIDTH: u32 = 8;

/// The corner radius of the background, in units.
const CORNER: u32 = 14;

/// Returns the icon as SVG.
pub fn svg() -> String {
    let theme = Theme::dark_or_light(true);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {GRID} {GRID}\" width=\"{GRID}\" \
         height=\"{GRID}\">\n  <rect width=\"{GRID}\" height=\"{GRID}\" rx=\"{CORNER}\" fill=\"{}\"/>\n",
        hex(theme.surface_1),
    );
    for (place, [left, top, bottom]) in BARS.into_iter().enumerate() {
        let (height, radius) = (bottom - top, BAR_WIDTH / 2);
        let color = hex(theme.pane(place));
        // Writing to a string cannot fail.
        writeln!(
            svg,
            "  <rect x=\"{left}\" y=\"{top}\" width=\"{BAR_WIDTH}\" height=\"{height}\" \
             rx=\"{radius}\" fill=\"{color}\"/>"
        )
        .ok();
    }
    svg + "</svg>\n"
}

/// Returns the icon as a PNG file of `size` × `size` pixels.
pub fn png(size: u32) -> Result<Vec<u8>, PictureError> {
    pixmap(size)?
        .encode_png()
        .map_err(|error| PictureError::EncodingFailed {
            message: error.to_string(),
        })
}

/// Returns the icon as `size` × `size` pixels of RGBA with straight alpha.
pub fn rgba(size: u32) -> Result<Vec<u8>, PictureError> {
    let pixels = pixmap(size)?;
    let straight = pixels.pixels().iter().flat_map(|pixel| {
        let color = pixel.demultiply();
        [color.red(), color.green(), color.blue(), color.alpha()]
    });
    Ok(straight.collect())
}

fn pixmap(size: u32) -> Result<Pixmap, PictureError> {
    let tree = usvg::Tree::from_str(&svg(), &usvg::Options::default()).map_err(|error| {
        PictureError::Unreadable {
            message: error.to_string(),
        }
    })?;
    let mut pixels = Pixmap::new(size, size).ok_or(PictureError::TooLarge {
        width: size,
        height: size,
    })?;
    let scale = size as f32 / GRID as f32;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    Ok(pixels)
}

fn hex(color: Color32) -> String {
    let [red, green, blue, _] = color.to_array();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::{png, rgba};

    #[test]
    fn corners_are_transparent_and_bars_are_opaque() {
        for size in [16, 64, 256] {
            let pixels = rgba(size).unwrap();
            assert_eq!(pixels.len(), (size * size * 4) as usize);
            assert_eq!(pixels[3], 0, "{size}");
            let middle = ((size / 2 * size + size / 2) * 4) as usize;
            assert_eq!(pixels[middle + 3], 255, "{size}");
        }
    }

    #[test]
    fn a_png_begins_with_its_signature() {
        assert!(png(48).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    }
}
