//! Buttons with words: plain ones, and the one that does something new.

use egui::{Color32, Rect, Response, Role, Sense, Ui, Vec2, Widget, WidgetInfo, pos2, vec2};

use super::fill::{Rest, focus_ring, paint_fill};
use crate::ui::fonts::Face;
use crate::ui::icons::Icon;
use crate::ui::theme::Theme;

/// How much a button asks for attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Primary,
    Ready,
    Plain,
    Quiet,
}

/// A button with words, and perhaps an icon before them and a shortcut after them.
#[derive(Debug, Clone)]
#[must_use = "add it to a Ui"]
pub struct Button<'a> {
    label: &'a str,
    name: &'a str,
    hint: &'a str,
    icon: Option<Icon>,
    rank: Rank,
    face: Face,
    size: Vec2,
    radius: u8,
}

impl<'a> Button<'a> {
    /// A plain button, 28 high, as wide as its words.
    pub const fn new(label: &'a str) -> Self {
        Self {
            label,
            name: label,
            hint: "",
            icon: None,
            rank: Rank::Plain,
            face: Face::Medium,
            size: vec2(0.0, 28.0),
            radius: 6,
        }
    }

    /// The button that starts and stops, 36 high. It is striking only where it would do something
    /// new.
    pub const fn run(label: &'a str, new: bool) -> Self {
        Self {
            rank: if new { Rank::Primary } else { Rank::Ready },
            face: Face::Run,
            size: vec2(0.0, 36.0),
            radius: 8,
            ..Self::new(label)
        }
    }

    /// The main answer of a dialog, 28 high.
    pub const fn primary(mut self) -> Self {
        self.rank = Rank::Primary;
        self.face = Face::Strong;
        self
    }

    /// On a notice, which is filled as a plain button is.
    pub const fn raised(mut self) -> Self {
        self.rank = Rank::Ready;
        self
    }

    /// Without a fill until it is pointed at.
    pub const fn quiet(mut self) -> Self {
        self.rank = Rank::Quiet;
        self
    }

    /// With an icon before its words.
    pub const fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// With its shortcut after its words.
    pub const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = hint;
        self
    }

    /// What a screen reader says instead of its words.
    pub const fn name(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// At least so wide, in points; its words stay in the middle.
    pub const fn width(mut self, width: f32) -> Self {
        self.size.x = width;
        self
    }

    const fn rest(&self, theme: &Theme) -> Rest {
        match self.rank {
            Rank::Primary => Rest {
                fill: theme.primary,
                text: theme.primary_text,
            },
            Rank::Ready => Rest {
                fill: theme.surface_3,
                text: theme.text_1,
            },
            Rank::Plain => Rest::filled(theme),
            Rank::Quiet => Rest::quiet(theme),
        }
    }

    /// Paints the fill and gives the colors of the words and of the hint.
    fn paint_fill(&self, ui: &Ui, response: &Response) -> (Color32, Color32) {
        let theme = Theme::of(ui);
        let rest = self.rest(theme);
        match self.rank {
            Rank::Primary if ui.is_enabled() => {
                let touched = response.hovered() || response.is_pointer_button_down_on();
                let fill = if touched {
                    theme.primary_hover
                } else {
                    rest.fill
                };
                ui.painter().rect_filled(response.rect, self.radius, fill);
                (rest.text, rest.text.gamma_multiply(0.68))
            }
            Rank::Primary => {
                let text = paint_fill(ui, response, Rest::filled(theme), self.radius);
                (text, theme.text_3)
            }
            Rank::Ready | Rank::Plain | Rank::Quiet => {
                (paint_fill(ui, response, rest, self.radius), theme.text_3)
            }
        }
    }
}

/// Between the icon, the words and the hint.
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
        let mut put = |galley: std::sync::Arc<egui::Galley>, color| {
            let at = pos2(x, rect.center().y - galley.size().y / 2.0);
            x += galley.size().x + GAP;
            ui.painter().galley(at, galley, color);
        };
        put(label, text);
        if let Some(hint) = hint {
            put(hint, hint_text);
        }
        focus_ring(ui, &response, self.radius);
        response
    }
}
