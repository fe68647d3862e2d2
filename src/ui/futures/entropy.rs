//! The entropy at each position across a pane's futures, as bars.

use egui::{Align2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2};

use super::{Shown, TITLE, heading};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The space for the numbers on the axes.
const LEFT: f32 = 20.0;
const BOTTOM: f32 = 16.0;

/// The maximum number of grid lines, 2 bits apart. 512 texts show at most 9 bits.
const MAX_MARKS: u32 = 16;

/// Draws the bars into the remaining space of `ui`.
pub(super) fn entropy_ui(ui: &mut Ui, shown: Shown<'_>) {
    let theme = Theme::of(ui);
    let whole = ui.available_rect_before_wrap();
    let bits = &shown.run.entropy_bits;
    let response = ui.interact(whole, ui.scope_id().with("bars"), Sense::hover());
    let values: Vec<String> = bits.iter().map(|bits| format!("{bits:.1}")).collect();
    let name = format!("Entropy by position, in bits: {}", values.join(", "));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name.as_str()));
    let (title, rest) = whole.split_top_bottom_at_y(whole.top() + TITLE);
    heading(ui, title, "Entropy by position", "bits, token by token");
    let area = Rect::from_min_max(
        pos2(rest.left() + LEFT, rest.top() + 4.0),
        pos2(rest.right(), rest.bottom() - BOTTOM),
    );
    let n_steps = (shown.top_bits / 2.0).ceil().max(1.0);
    let y = |bits: f64| area.bottom() - area.height() * (bits / (2.0 * n_steps)) as f32;
    let text = |at, align, text: String| {
        let font = Face::Micro.font();
        ui.painter().text(at, align, text, font, theme.text_3);
    };
    for mark in (0..=MAX_MARKS).take_while(|mark| f64::from(*mark) <= n_steps) {
        let bits = f64::from(2 * mark);
        let color = if mark == 0 {
            theme.stroke_2
        } else {
            theme.stroke_1
        };
        let line = y(bits).round() + 0.5;
        ui.painter()
            .hline(area.x_range(), line, Stroke::new(1.0, color));
        let at = pos2(area.left() - 6.0, y(bits));
        text(at, Align2::RIGHT_CENTER, format!("{bits}"));
    }
    let width = area.width() / bits.len().max(1) as f32;
    for (index, bits) in bits.iter().enumerate() {
        let left = area.left() + width * index as f32;
        let bar = Rect::from_min_max(
            pos2(left, y(*bits)),
            pos2(left + width - 1.5, area.bottom()),
        );
        if bar.height() >= 0.5 {
            ui.painter().rect_filled(bar, 1, theme.pane(shown.place));
        }
        let number = index + 1;
        if number == 1 || number.is_multiple_of(6) {
            let at = pos2(bar.center().x, area.bottom() + 3.0);
            text(at, Align2::CENTER_TOP, number.to_string());
        }
    }
    if let Some(pointer) = response.hover_pos() {
        let index = ((pointer.x - area.left()) / width.max(1e-3)).floor();
        let at = values
            .iter()
            .enumerate()
            .find(|(at, _)| (*at as f32 - index).abs() < 0.5);
        if let Some((index, bits)) = at {
            response.on_hover_text_at_pointer(format!("token {}: {bits} bits", index + 1));
        }
    }
    ui.allocate_rect(whole, Sense::hover());
}
