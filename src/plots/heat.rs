//! The color ramp of heat maps: its steps, its legend, and how the user points at cells.

use egui::{Align2, Pos2, Rect, Ui, Vec2, pos2, vec2};

use super::{TextRun, count, paint_text};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The size of a step of the legend.
const SWATCH: Vec2 = vec2(9.0, 8.0);

/// How the user interacted with a grid of cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapResponse {
    /// The cell under the pointer.
    pub hovered: Option<usize>,
    /// The cell that was clicked.
    pub clicked: Option<usize>,
}

/// Returns the step of the color ramp for a place on the scale, from 0 to 1.
pub fn heat_step(place: f64) -> usize {
    count((place * Theme::N_HEAT as f64).floor()).min(Theme::N_HEAT - 1)
}

/// Shows the color ramp with its two ends, aligned to the right. Returns its rectangle.
pub fn heat_legend(ui: &Ui, right_center: Pos2, ends: &[String; 2]) -> Rect {
    let theme = Theme::of(ui);
    let [least, most] = ends;
    let run = |words| TextRun::new(words, Face::Micro, theme.text_3);
    let last = paint_text(ui, right_center, Align2::RIGHT_CENTER, run(most));
    if least.is_empty() && most.is_empty() {
        return last;
    }
    let width = SWATCH.x * Theme::N_HEAT as f32;
    let left = last.left() - 6.0 - width;
    for step in 0..Theme::N_HEAT {
        let center = pos2(left + (step as f32 + 0.5) * SWATCH.x, right_center.y);
        let swatch = Rect::from_center_size(center, SWATCH);
        ui.painter().rect_filled(swatch, 0, theme.heat(step));
    }
    let at = pos2(left - 6.0, right_center.y);
    let first = paint_text(ui, at, Align2::RIGHT_CENTER, run(least));
    first.union(last)
}

/// Returns the width of the color ramp with these ends.
pub fn heat_legend_width(ui: &Ui, ends: &[String; 2]) -> f32 {
    let words: f32 = ends
        .iter()
        .map(|end| Face::Micro.width(ui, end) + 6.0)
        .sum();
    words + SWATCH.x * Theme::N_HEAT as f32
}
