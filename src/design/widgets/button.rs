//! Buttons with a text label, in several degrees of emphasis.

use egui::{Color32, Rect, Response, Role, Sense, Ui, Vec2, Widget, WidgetInfo, pos2, vec2};

use super::fill::{ControlColors, focus_ring, paint_fill};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;

/// How strongly a button stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emphasis {
    Primary,
    Raised,
    Plain,
    Quiet,
}

/// A button with a text label, and optionally an icon before it and a shortcut after it.
#[derive(Debug, Clone)]
#[must_use = "add it to a Ui"]
pub struct Button<'a> {
    label: &'a str,
    name: &'a str,
    hint: &'a str,
    icon: Option<Icon>,
    emphasis: Emphasis,
    face: Face,
    size: Vec2,
    radius: u8,
}

impl<'a> Button<'a> {
    /// Creates a plain button, 28 points high and as wide as its label.
    pub const fn new(label: &'a str) -> Self {
        Self {
            label,
            name: label,
            hint: "",
            icon: None,
            emphasis: Emphasis::Plain,
            face: Face::Medium,
            size: vec2(0.0, 28.0),
            radius: 6,
        }
    }

    /// Creates the button that starts and stops generation, 36 points high. `primary` makes it
    /// stand out, for when it would generate something new.
    pub const fn run(label: &'a str, primary: bool) -> Self {
        Self {
            emphasis: if primary {
                Emphasis::Primary
            } else {
                Emphasis::Raised
            },
            face: Face::Run,
            size: vec2(0.0, 36.0),
            radius: 8,
            ..Self::new(label)
        }
    }

    /// Makes it the main button of a dialog.
    pub const fn primary(mut self) -> Self {
        self.emphasis = Emphasis::Primary;
        self.face = Face::Strong;
        self
    }

    /// Makes it visible on a notice, whose fill is that of a plain button.
    pub const fn raised(mut self) -> Self {
        self.emphasis = Emphasis::Raised;
        self
    }

    /// Removes its fill unless it is hovered.
    pub const fn quiet(mut self) -> Self {
        self.emphasis = Emphasis::Quiet;
        self
    }

    /// Adds an icon before its label.
    pub const fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// Adds a shortcut after its label.
    pub const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = hint;
        self
    }

    /// Sets an accessible name that differs from its label.
    pub const fn name(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Sets a minimum width in points; the label stays centered.
    pub const fn width(mut self, width: f32) -> Self {
        self.size.x = width;
        self
    }

    const fn colors(&self, theme: &Theme) -> ControlColors {
        match self.emphasis {
            Emphasis::Primary => ControlColors {
                fill: theme.primary,
                text: theme.primary_text,
            },
            Emphasis::Raised => ControlColors {
                fill: theme.surface_3,
                text: theme.text_1,
            },
            Emphasis::Plain => ControlColors::filled(theme),
            Emphasis::Quiet => ControlColors::quiet(theme),
        }
    }

    /// Paints the fill. Returns the colors of the label and of the shortcut.
    fn paint_fill(&self, ui: &Ui, response: &Response) -> (Color32, Color32) {
        let theme = Theme::of(ui);
        let colors = self.colors(theme);
        match self.emphasis {
            Emphasis::Primary if ui.is_enabled() => {
                let active = response.hovered() || response.is_pointer_button_down_on();
                let fill = if active {
                    theme.primary_hover
                } else {
                    colors.fill
                };
                ui.painter().rect_filled(response.rect, self.radius, fill);
                (colors.text, colors.text.gamma_multiply(0.68))
            }
            Emphasis::Primary => {
                let text = paint_fill(ui, response, ControlColors::filled(theme), self.radius);
                (text, theme.text_3)
            }
            Emphasis::Raised | Emphasis::Plain | Emphasis::Quiet => {
                (paint_fill(ui, response, colors, self.radius), theme.text_3)
            }
        }
    }
}

/// The gap between the icon, the label and the shortcut.
const GAP: f32 = 8.0;

impl Widget for Button<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        let painter = ui.painter();
        let layout = |text: &str, face: Face| {
            painter.layout_no_wrap(text.to_owned(), face.font(), Color32::PLACEHOLDER)
        };
        let label = layout(self.label, self.face);
        let hint = (!self.hint.is_empty()).then(|| layout(self.hint, Face::Micro));
        let icon_width = self.icon.map_or(0.0, |_| 16.0 + GAP);
        let hint_width = hint.as_ref().map_or(0.0, |hint| hint.size().x + GAP);
        let content = icon_width + label.size().x + hint_width;
        let width = self.size.x.max((content + 20.0).ceil());
        let (rect, response) = ui.allocate_exact_size(vec2(width, self.size.y), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), self.name));
        if !ui.is_rect_visible(rect) {
            return response;
        }

        let (text, hint_text) = self.paint_fill(ui, &response);
        let mut x = rect.center().x - content / 2.0;
        if let Some(icon) = self.icon {
            let center = pos2(x + 8.0, rect.center().y);
            let square = Rect::from_center_size(center, Vec2::splat(16.0));
            icon.paint(ui.painter(), square, text);
            x += icon_width;
        }
        let mut paint = |galley: std::sync::Arc<egui::Galley>, color| {
            let at = pos2(x, rect.center().y - galley.size().y / 2.0);
            x += galley.size().x + GAP;
            ui.painter().galley(at, galley, color);
        };
        paint(label, text);
        if let Some(hint) = hint {
            paint(hint, hint_text);
        }
        focus_ring(ui, &response, self.radius);
        response
    }
}
