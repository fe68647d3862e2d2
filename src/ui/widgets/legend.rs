//! The legend of a tint: each range on its own fill.

use egui::{Align2, Color32, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};

use crate::state::Tint;
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// Shows the steps of a tint's scale, from expected to unexpected.
pub fn legend(ui: &mut Ui, tint: Tint) {
    if tint == Tint::None {
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let mut swatches: Vec<_> = tint.legend().into_iter().enumerate().collect();
        if ui.layout().prefer_right_to_left() {
            swatches.reverse();
        }
        for (step, range) in swatches {
            swatch_ui(ui, range, Theme::of(ui).tint(tint, step));
        }
    });
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
    let painter = ui.painter();
    painter.rect_filled(rect, 3, fill);
    if fill == Color32::TRANSPARENT {
        let edge = Stroke::new(1.0, theme.stroke_2);
        painter.rect_stroke(rect, 3, edge, StrokeKind::Inside);
    }
    let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
    painter.galley(at.min, galley, theme.token_text);
}
