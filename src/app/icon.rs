//! The window's icon: the mark of four bars, made of pixels here so that no file has to be kept.

use eframe::egui::{Color32, IconData};

use crate::ui::theme::Theme;

const SIZE: usize = 64;

/// Left edge, top and bottom of each bar, in 64ths.
const BARS: [(usize, usize, usize); 4] = [(10, 28, 54), (22, 12, 54), (34, 22, 54), (46, 34, 54)];

const WIDTH: usize = 8;

/// Half a bar's width, by which its ends are round.
const RADIUS: f32 = WIDTH as f32 / 2.0;

/// The mark on the window's dark ground.
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
    if !in_round_rect(x, y, (0, 0, SIZE, SIZE), 14.0) {
        return Color32::TRANSPARENT;
    }
    BARS.iter()
        .position(|&(left, top, bottom)| {
            in_round_rect(x, y, (left, top, left + WIDTH, bottom), RADIUS)
        })
        .map_or(theme.surface_1, |place| theme.pane(place))
}

/// Whether the middle of a pixel lies in a rectangle with round corners.
fn in_round_rect(
    x: usize,
    y: usize,
    (left, top, right, bottom): (usize, usize, usize, usize),
    radius: f32,
) -> bool {
    let outside = |at: usize, from: usize, to: usize| {
        let at = at as f32 + 0.5;
        (from as f32 + radius - at)
            .max(at - (to as f32 - radius))
            .max(0.0)
    };
    let (dx, dy) = (outside(x, left, right), outside(y, top, bottom));
    dx.hypot(dy) <= radius
}

#[cfg(test)]
mod tests {
    use super::{SIZE, icon};

    #[test]
    fn the_icon_is_whole_and_its_corners_are_clear() {
        let icon = icon();
        assert_eq!(icon.rgba.len(), SIZE * SIZE * 4);
        assert_eq!(icon.rgba[3], 0);
        let middle = (SIZE / 2 * SIZE + SIZE / 2) * 4;
        assert_eq!(icon.rgba[middle + 3], 255);
    }
}
