//! How all controls look when hovered, pressed, focused or disabled.

use egui::{Color32, Frame, Margin, Response, Stroke, StrokeKind, Ui};

use crate::design::theme::Theme;

/// The colors of a control at rest: not hovered, pressed or disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlColors {
    pub fill: Color32,
    pub text: Color32,
}

impl ControlColors {
    /// The colors of a plain button or chip.
    pub const fn filled(theme: &Theme) -> Self {
        Self {
            fill: theme.surface_2,
            text: theme.text_2,
        }
    }

    /// The colors of a control without a fill.
    pub const fn quiet(theme: &Theme) -> Self {
        Self {
            fill: Color32::TRANSPARENT,
            text: theme.text_2,
        }
    }
}

/// Paints a control's fill according to its state. Returns the color for its text.
pub fn paint_fill(ui: &Ui, response: &Response, rest: ControlColors, radius: u8) -> Color32 {
    let theme = Theme::of(ui);
    if !ui.is_enabled() {
        // egui fades disabled widgets. Undo that for the fill, so that only the text is dimmed.
        let mut painter = ui.painter().clone();
        painter.set_opacity(painter.opacity() / ui.visuals().disabled_alpha());
        painter.rect_filled(response.rect, radius, rest.fill);
        return theme.text_2;
    }
    let (fill, text) = if response.is_pointer_button_down_on() {
        (theme.surface_4, theme.text_1)
    } else if response.hovered() {
        (theme.surface_3, theme.text_1)
    } else {
        (rest.fill, rest.text)
    };
    ui.painter().rect_filled(response.rect, radius, fill);
    text
}

/// Returns the frame of a text field: a fill, and an edge that is visible on a popup too.
pub fn field_frame(ui: &Ui) -> Frame {
    let theme = Theme::of(ui);
    Frame::new()
        .fill(theme.surface_2)
        .stroke(Stroke::new(1.0, theme.stroke_2))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(8, 6))
}

/// Paints the ring around a focused control: 2 points wide, 1 point outside it. Call it last.
pub fn focus_ring(ui: &Ui, response: &Response, radius: u8) {
    if response.has_focus() {
        ui.painter().rect_stroke(
            response.rect.expand(1.0),
            radius + 1,
            Stroke::new(2.0, Theme::of(ui).focus),
            StrokeKind::Outside,
        );
    }
}
