//! A notice: a sentence about a problem, shown where it occurred, with buttons for what to do.

use egui::{Color32, Frame, Margin, Rect, Ui, Vec2};

use super::Button;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;

/// How serious a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    Warning,
    Error,
}

impl NoticeKind {
    /// Returns the fill and the icon's color.
    const fn colors(self, theme: &Theme) -> (Color32, Color32) {
        match self {
            Self::Warning => (theme.warning_bg, theme.warning),
            Self::Error => (theme.error_bg, theme.error),
        }
    }
}

/// A sentence about a problem, with buttons for what to do.
#[derive(Debug, Clone)]
#[must_use = "show it in a Ui"]
pub struct Notice<'a> {
    kind: NoticeKind,
    text: &'a str,
    actions: &'a [&'a str],
}

impl<'a> Notice<'a> {
    /// Creates a notice without buttons.
    pub const fn new(kind: NoticeKind, text: &'a str) -> Self {
        Self {
            kind,
            text,
            actions: &[],
        }
    }

    /// Adds a button for each action.
    pub const fn actions(mut self, actions: &'a [&'a str]) -> Self {
        self.actions = actions;
        self
    }

    /// Shows the notice at the available width. Returns the index of the clicked action.
    pub fn show(self, ui: &mut Ui) -> Option<usize> {
        let theme = Theme::of(ui);
        let (fill, color) = self.kind.colors(theme);
        notice_frame(ui, fill, (Icon::Warning, color), |ui| {
            self.content_ui(ui, theme)
        })
    }

    fn content_ui(&self, ui: &mut Ui, theme: &Theme) -> Option<usize> {
        ui.label(Face::Small.text(self.text).color(theme.text_1));
        if self.actions.is_empty() {
            return None;
        }
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            let mut clicked = None;
            for (index, action) in self.actions.iter().enumerate() {
                if ui.add(Button::new(action)).clicked() {
                    clicked = Some(index);
                }
            }
            clicked
        })
        .inner
    }
}

/// Draws a filled frame at the available width, with an icon beside the content.
pub fn notice_frame<R>(
    ui: &mut Ui,
    fill: Color32,
    (icon, color): (Icon, Color32),
    content: impl FnOnce(&mut Ui) -> R,
) -> R {
    let frame = Frame::new()
        .fill(fill)
        .corner_radius(8)
        .inner_margin(Margin::symmetric(12, 10));
    let content = |ui: &mut Ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            let (_, rect) = ui.allocate_space(Vec2::new(14.0, 16.0));
            let square = Rect::from_center_size(rect.center(), Vec2::splat(14.0));
            icon.paint(ui.painter(), square, color);
            ui.vertical(|ui| {
                ui.set_width(ui.available_width());
                content(ui)
            })
            .inner
        })
        .inner
    };
    frame.show(ui, content).inner
}
