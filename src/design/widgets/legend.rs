//! The legend of a tint: each range on its own fill.

use egui::{Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::Tint;

/// The size of a swatch without a label, in points.
const SMALL_SWATCH: Vec2 = vec2(14.0, 14.0);

/// The labels of a tint's steps. A step without one does not occur, and is not shown.
type Labels = [&'static str; 5];

/// Shows the steps of a tint's scale, from expected to unexpected.
pub fn legend(ui: &mut Ui, tint: Tint, labels: Labels) {
    steps_ui(ui, tint, labels, swatch_ui);
}

/// Shows the steps of a tint's scale as swatches, each with its range as a tooltip.
pub fn small_legend(ui: &mut Ui, tint: Tint, labels: Labels) {
    steps_ui(ui, tint, labels, |ui, range, fill| {
        let (rect, response) = ui.allocate_exact_size(SMALL_SWATCH, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, range));
        paint_swatch(ui, rect, fill);
        response.on_hover_text(range);
    });
}

/// Shows each step of a tint's scale with `step_ui`, which takes its range and its fill.
fn steps_ui(
    ui: &mut Ui,
    tint: Tint,
    labels: Labels,
    step_ui: impl Fn(&mut Ui, &'static str, Color32),
) {
    if tint == Tint::None {
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let mut steps: Vec<_> = labels.into_iter().enumerate().collect();
        steps.retain(|(_, label)| !label.is_empty());
        if ui.layout().prefer_right_to_left() {
            steps.reverse();
        }
        for (step, range) in steps {
            step_ui(ui, range, Theme::of(ui).tint(tint, step));
        }
    });
}

fn paint_swatch(ui: &Ui, rect: Rect, fill: Color32) {
    ui.painter().rect_filled(rect, 3, fill);
    if fill == Color32::TRANSPARENT {
        let edge = Stroke::new(1.0, Theme::of(ui).stroke_2);
        ui.painter().rect_stroke(rect, 3, edge, StrokeKind::Inside);
    }
}

fn swatch_ui(ui: &mut Ui, range: &str, fill: Color32) {
    let theme = Theme::of(ui);
    let mut font = Face::SmallMedium.font();
    font.size = 11.0;
    let galley = ui
        .painter()
        .layout_no_wrap(range.to_owned(), font, theme.token_text);
    let size = vec2((galley.size().x + 14.0).ceil(), 18.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, range));
    paint_swatch(ui, rect, fill);
    let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
    ui.painter().galley(at.min, galley, theme.token_text);
}
