//! The window icon, drawn pixel by pixel: the logo's four bars.

use eframe::egui::{Color32, IconData};

use crate::ui::theme::Theme;

const SIZE: usize = 64;

/// A rectangle in pixels; `right` and `bottom` are exclusive.
struct Bounds {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

/// The left edge and top of each bar.
const BARS: [(usize, usize); 4] = [(10, 28), (22, 12), (34, 22), (46, 34)];

/// The bottom of all bars.
const BOTTOM: usize = 54;

/// The width of a bar.
const WIDTH: usize = 8;

/// The corner radius of a bar: half its width, so that its ends are round.
const RADIUS: f32 = WIDTH as f32 / 2.0;

/// Returns the logo on the dark theme's background.
pub(super) fn icon() -> IconData {
    let theme = Theme::dark_or_light(true);
    let rgba = (0..SIZE * SIZE)
        .flat_map(|index| color_at(theme, index % SIZE, index / SIZE).to_array())
        .collect();
    IconData {
        rgba,
        width: SIZE as u32,
        height: SIZE as u32,
    }
}

fn color_at(theme: &Theme, x: usize, y: usize) -> Color32 {
    let tile = Bounds {
        left: 0,
        top: 0,
        right: SIZE,
        bottom: SIZE,
    };
    if !in_round_rect(x, y, &tile, 14.0) {
        return Color32::TRANSPARENT;
    }
    BARS.iter()
        .position(|&(left, top)| {
            let bar = Bounds {
                left,
                top,
                right: left + WIDTH,
                bottom: BOTTOM,
            };
            in_round_rect(x, y, &bar, RADIUS)
        })
        .map_or(theme.surface_1, |place| theme.pane(place))
}

/// Returns whether the center of a pixel is inside a rectangle with round corners.
fn in_round_rect(x: usize, y: usize, bounds: &Bounds, radius: f32) -> bool {
    let outside = |at: usize, from: usize, to: usize| {
        let at = at as f32 + 0.5;
        (from as f32 + radius - at)
            .max(at - (to as f32 - radius))
            .max(0.0)
    };
    let dx = outside(x, bounds.left, bounds.right);
    let dy = outside(y, bounds.top, bounds.bottom);
    dx.hypot(dy) <= radius
}

#[cfg(test)]
mod tests {
    use super::{SIZE, icon};

    #[test]
    fn the_icon_is_opaque_with_transparent_corners() {
        let icon = icon();
        assert_eq!(icon.rgba.len(), SIZE * SIZE * 4);
        assert_eq!(icon.rgba[3], 0);
        let middle = (SIZE / 2 * SIZE + SIZE / 2) * 4;
        assert_eq!(icon.rgba[middle + 3], 255);
    }
}
