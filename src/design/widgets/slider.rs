//! A slider with a filled rail and a round handle.

use std::ops::RangeInclusive;

use egui::{Key, Rect, Response, Sense, Ui, WidgetInfo, emath::remap_clamp, pos2, vec2};

use super::fill::focus_ring;
use crate::design::theme::Theme;

const RAIL_HEIGHT: f32 = 4.0;
const HANDLE_RADIUS: f32 = 7.0;

/// The distance the handle moves per press of an arrow key, as a share of the rail.
const KEY_STEP: f64 = 0.01;

/// The share of the rail that stands for 0, if a logarithmic slider starts at 0.
const ZERO_SHARE: f64 = 0.04;

/// Shows a slider for a value, 28 points high.
pub(super) fn slider_ui(
    ui: &mut Ui,
    name: &str,
    scale: &Scale,
    width: f32,
    value: &mut f64,
) -> Response {
    let (rect, mut response) = ui.allocate_exact_size(vec2(width, 28.0), Sense::click_and_drag());
    let rail = rect.shrink2(vec2(HANDLE_RADIUS, (rect.height() - RAIL_HEIGHT) / 2.0));
    let before = *value;
    if let Some(pointer) = response.interact_pointer_pos() {
        let share = remap_clamp(pointer.x, rail.x_range(), 0.0..=1.0);
        *value = scale.value(share.into());
    }
    *value = scale.stepped(*value, key_steps(ui, &response));
    if (*value - before).abs() > f64::EPSILON {
        response.mark_changed();
    }
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), *value, name));
    if ui.is_rect_visible(rect) {
        let theme = Theme::of(ui);
        let x = rail.left() + rail.width() * scale.share(*value) as f32;
        let painter = ui.painter();
        painter.rect_filled(rail, RAIL_HEIGHT / 2.0, theme.surface_4);
        let filled = Rect::from_min_max(rail.min, pos2(x, rail.bottom()));
        painter.rect_filled(filled, RAIL_HEIGHT / 2.0, theme.text_2);
        painter.circle_filled(pos2(x, rail.center().y), HANDLE_RADIUS, theme.text_1);
        focus_ring(ui, &response, 6);
    }
    response
}

/// The mapping between values and positions along a slider.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) range: RangeInclusive<f64>,
    /// Whether equal distances stand for equal factors.
    pub(super) logarithmic: bool,
    /// Whether the left end is 0, although the logarithmic range starts above it.
    pub(super) from_zero: bool,
    /// The number of decimals to which values are rounded.
    pub(super) decimals: u8,
}

impl Scale {
    /// Returns the position of a value, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        if self.from_zero && value <= 0.0 {
            return 0.0;
        }
        let (from, to) = self.ends();
        let share = ((self.scaled(value) - from) / (to - from)).clamp(0.0, 1.0);
        let zero = self.zero_share();
        zero + (1.0 - zero) * share
    }

    /// Returns the rounded value at a position.
    fn value(&self, share: f64) -> f64 {
        let zero = self.zero_share();
        if share < zero / 2.0 {
            return 0.0;
        }
        let (from, to) = self.ends();
        let scaled = from + (to - from) * ((share - zero) / (1.0 - zero)).max(0.0);
        let value = if self.logarithmic {
            scaled.exp()
        } else {
            scaled
        };
        let per_unit = 10_f64.powi(self.decimals.into());
        let rounded = (value * per_unit).round() / per_unit;
        rounded.clamp(*self.range.start(), *self.range.end())
    }

    /// Returns the value after `n_steps` presses of an arrow key. Each press moves it by at least
    /// one unit of the last decimal.
    fn stepped(&self, value: f64, n_steps: f64) -> f64 {
        if n_steps == 0.0 {
            return value;
        }
        let share = self.share(value) + n_steps * KEY_STEP;
        let stepped = self.value(share.clamp(0.0, 1.0));
        if (stepped - value).abs() >= self.unit() / 2.0 {
            return stepped;
        }
        let min = if self.from_zero {
            0.0
        } else {
            *self.range.start()
        };
        let next = value + n_steps.signum() * self.unit();
        next.clamp(min, *self.range.end())
    }

    /// Returns one unit of the last decimal.
    fn unit(&self) -> f64 {
        0.1_f64.powi(self.decimals.into())
    }

    /// Returns the share of the rail that stands for 0, left of the range.
    const fn zero_share(&self) -> f64 {
        if self.from_zero { ZERO_SHARE } else { 0.0 }
    }

    fn ends(&self) -> (f64, f64) {
        (
            self.scaled(*self.range.start()),
            self.scaled(*self.range.end()),
        )
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic {
            value.max(f64::MIN_POSITIVE).ln()
        } else {
            value
        }
    }
}

/// Returns the presses of the right arrow key minus those of the left one, if the control has
/// focus.
pub fn key_steps(ui: &Ui, response: &Response) -> f64 {
    if !response.has_focus() {
        return 0.0;
    }
    let filter = egui::EventFilter {
        horizontal_arrows: true,
        ..egui::EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    ui.input(|input| {
        let right = input.num_presses(Key::ArrowRight);
        let left = input.num_presses(Key::ArrowLeft);
        right as f64 - left as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_positions_are_inverses() {
        for (range, logarithmic, share, value) in [
            (0.0..=2.0, false, 0.35, 0.7),
            (0.0..=1.0, false, 1.0, 1.0),
            (1.0..=1000.0, true, 1.0 / 3.0, 10.0),
        ] {
            let scale = Scale {
                range,
                logarithmic,
                from_zero: false,
                decimals: 2,
            };
            assert!((scale.value(share) - value).abs() < 1e-9);
            assert!((scale.share(value) - share).abs() < 1e-9);
        }
    }

    #[test]
    fn a_value_out_of_range_is_shown_at_the_end() {
        let scale = Scale {
            range: 0.0..=1.0,
            logarithmic: false,
            from_zero: false,
            decimals: 2,
        };
        assert!((scale.share(1.7) - 1.0).abs() < f64::EPSILON);
        assert!(scale.share(-1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_logarithmic_range_can_start_with_zero() {
        let scale = Scale {
            range: 1.0..=1000.0,
            logarithmic: true,
            from_zero: true,
            decimals: 0,
        };
        for (share, value) in [(0.0, 0.0), (0.04, 1.0), (0.36, 10.0), (1.0, 1000.0)] {
            assert!((scale.value(share) - value).abs() < 1e-9, "{share}");
            assert!((scale.share(value) - share).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn an_arrow_key_always_moves_the_value() {
        let scale = Scale {
            range: 1.0..=1000.0,
            logarithmic: true,
            from_zero: true,
            decimals: 0,
        };
        for (value, n_steps, next) in [
            (0.0, 1.0, 1.0),
            (1.0, 1.0, 2.0),
            (1.0, -1.0, 0.0),
            (0.0, -1.0, 0.0),
            (1000.0, 1.0, 1000.0),
            (500.0, 0.0, 500.0),
        ] {
            let stepped = scale.stepped(value, n_steps);
            assert!(
                (stepped - next).abs() < 1e-9,
                "{value} {n_steps}: {stepped}"
            );
        }
        assert!(scale.stepped(500.0, 1.0) > 520.0);
    }
}
