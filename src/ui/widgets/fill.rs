//! What hovering, pressing, focusing and disabling do to a control, the same for all of them.

use egui::{Color32, Frame, Margin, Response, Stroke, StrokeKind, Ui};

use crate::ui::theme::Theme;

/// The colors of a control that nobody touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// Behind its words.
    pub fill: Color32,
    /// Its words.
    pub text: Color32,
}

impl Rest {
    /// A plain button, a chip.
    pub const fn filled(theme: &Theme) -> Self {
        Self {
            fill: theme.surface_2,
            text: theme.text_2,
        }
    }

    /// A control without a fill of its own.
    pub const fn quiet(theme: &Theme) -> Self {
        Self {
            fill: Color32::TRANSPARENT,
            text: theme.text_2,
        }
    }
}

/// Paints the control's fill as its state asks, and gives the color for its words.
pub fn paint_fill(ui: &Ui, response: &Response, rest: Rest, radius: u8) -> Color32 {
    let theme = Theme::of(ui);
    if !ui.is_enabled() {
        // egui fades all that is disabled; here only the words are dimmed.
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

/// Around text that is typed: a fill and an edge that is seen on a popup too.
pub fn field_frame(ui: &Ui) -> Frame {
    let theme = Theme::of(ui);
    Frame::new()
        .fill(theme.surface_2)
        .stroke(Stroke::new(1.0, theme.stroke_2))
        .corner_radius(6)
        .inner_margin(Margin::symmetric(8, 6))
}

/// The ring around the control that has the keyboard: 2 wide, 1 outside. Paint it last.
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
