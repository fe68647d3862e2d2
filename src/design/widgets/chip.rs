//! A chip: a short summary of a setting that opens its editor when clicked.

use egui::{
    Color32, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, Widget, WidgetInfo, pos2,
    vec2,
};

use super::fill::{ControlColors, focus_ring, paint_fill};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;

/// A short summary of a setting, 24 points high.
#[derive(Debug, Clone)]
#[must_use = "add it to a Ui"]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of a widget"
)]
pub struct Chip<'a> {
    value: &'a str,
    label: &'a str,
    aside: &'a str,
    name: &'a str,
    chevron: bool,
    open: bool,
    filled: bool,
    invalid: bool,
    max_width: f32,
}

impl<'a> Chip<'a> {
    /// Creates a chip that shows this value.
    pub const fn new(value: &'a str) -> Self {
        Self {
            value,
            label: "",
            aside: "",
            name: value,
            chevron: false,
            open: false,
            filled: true,
            invalid: false,
            max_width: f32::INFINITY,
        }
    }

    /// Adds a label before the value.
    pub const fn label(mut self, label: &'a str) -> Self {
        self.label = label;
        self
    }

    /// Adds words after the value.
    pub const fn aside(mut self, aside: &'a str) -> Self {
        self.aside = aside;
        self
    }

    /// Sets an accessible name that differs from the value.
    pub const fn name(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Adds an arrow, to show that something opens below.
    pub const fn chevron(mut self) -> Self {
        self.chevron = true;
        self
    }

    /// Shows the chip as open or selected.
    pub const fn open(mut self, open: bool) -> Self {
        self.open = open;
        self
    }

    /// Removes its fill unless it is hovered.
    pub const fn quiet(mut self) -> Self {
        self.filled = false;
        self
    }

    /// Marks the value as invalid.
    pub const fn invalid(mut self, invalid: bool) -> Self {
        self.invalid = invalid;
        self
    }

    /// Sets a maximum width in points; a longer value is truncated with "…".
    pub const fn max_width(mut self, max_width: f32) -> Self {
        self.max_width = max_width;
        self
    }

    /// Returns its width in points, if its value is not truncated.
    pub fn width(&self, ui: &Ui) -> f32 {
        (self.around(ui) + Face::Small.width(ui, self.value)).ceil()
    }

    /// Returns the width of everything but the value.
    fn around(&self, ui: &Ui) -> f32 {
        let beside = |text: &str| match text {
            "" => 0.0,
            text => Face::Small.width(ui, text) + GAP,
        };
        let chevron = if self.chevron { CHEVRON + GAP } else { 0.0 };
        2.0 * PADDING + beside(self.label) + beside(self.aside) + chevron
    }

    const fn colors(&self, theme: &Theme) -> ControlColors {
        if self.open {
            ControlColors {
                fill: theme.surface_3,
                text: theme.text_1,
            }
        } else if self.filled {
            ControlColors::filled(theme)
        } else {
            ControlColors::quiet(theme)
        }
    }
}

const PADDING: f32 = 8.0;
const GAP: f32 = 5.0;
const CHEVRON: f32 = 12.0;

impl Widget for Chip<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        let font = Face::Small.font();
        let around = self.around(ui);
        let [label, aside] = [self.label, self.aside].map(|text| {
            (!text.is_empty()).then(|| {
                ui.painter()
                    .layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER)
            })
        });
        let mut job = egui::text::LayoutJob::simple_singleline(
            self.value.to_owned(),
            font,
            Color32::PLACEHOLDER,
        );
        job.wrap = egui::text::TextWrapping::truncate_at_width(self.max_width - around);
        let value = ui.painter().layout_job(job);
        let width = (around + value.size().x).ceil();
        let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), self.name));
        if !ui.is_rect_visible(rect) {
            return response;
        }

        let theme = Theme::of(ui);
        let mut text = paint_fill(ui, &response, self.colors(theme), 6);
        if self.invalid {
            text = theme.error;
            let edge = Stroke::new(1.0, theme.error);
            ui.painter().rect_stroke(rect, 6, edge, StrokeKind::Inside);
        }
        let mut x = rect.left() + PADDING;
        let middle = |height: f32| rect.center().y - height / 2.0;
        if let Some(label) = label {
            let at = pos2(x, middle(label.size().y));
            x += label.size().x + GAP;
            ui.painter().galley(at, label, theme.text_3);
        }
        let at = pos2(x, middle(value.size().y));
        x += value.size().x + GAP;
        ui.painter().galley(at, value, text);
        if let Some(aside) = aside {
            let at = pos2(x, middle(aside.size().y));
            ui.painter().galley(at, aside, theme.text_3);
        }
        if self.chevron {
            let center = pos2(rect.right() - PADDING - CHEVRON / 2.0, rect.center().y);
            let square = Rect::from_center_size(center, Vec2::splat(CHEVRON));
            Icon::Down.paint(ui.painter(), square, text);
        }
        focus_ring(ui, &response, 6);
        response
    }
}
