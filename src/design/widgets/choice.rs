//! A row of a list to choose from: a name, a short summary and notes.

use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, Galley, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::fill::{ControlColors, focus_ring, paint_fill};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// A row to choose, as wide as the list and at least 32 points high.
#[derive(Debug, Clone)]
#[must_use = "show it in a Ui"]
pub struct Choice<'a> {
    name: &'a str,
    aside: &'a str,
    notes: &'a [&'a str],
    selected: bool,
}

const PADDING: f32 = 10.0;
const GAP: f32 = 12.0;

impl<'a> Choice<'a> {
    /// Creates a row with only a name.
    pub const fn new(name: &'a str) -> Self {
        Self {
            name,
            aside: "",
            notes: &[],
            selected: false,
        }
    }

    /// Adds a short text on the right, truncated with "…" if it does not fit.
    pub const fn aside(mut self, aside: &'a str) -> Self {
        self.aside = aside;
        self
    }

    /// Adds sentences below the name.
    pub const fn notes(mut self, notes: &'a [&'a str]) -> Self {
        self.notes = notes;
        self
    }

    /// Marks the row as the current choice.
    pub const fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    /// Shows the row.
    pub fn show(self, ui: &mut Ui) -> Response {
        let theme = Theme::of(ui);
        let width = ui.available_width();
        let inside = width - 2.0 * PADDING;
        let name = laid_out(ui, self.name, Face::Body, inside, 1);
        let aside_width = inside - name.size().x - GAP;
        let aside = laid_out(ui, self.aside, Face::Small, aside_width.max(0.0), 1);
        let notes: Vec<Arc<Galley>> = self
            .notes
            .iter()
            .filter(|note| !note.is_empty())
            .map(|note| laid_out(ui, note, Face::Micro, inside, usize::MAX))
            .collect();
        let below: f32 = notes.iter().map(|note| note.size().y).sum();
        let height = (name.size().y + below + 12.0).max(32.0).ceil();
        let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
        let (enabled, selected) = (ui.is_enabled(), self.selected);
        response.widget_info(|| WidgetInfo::selected(Role::MenuItem, enabled, selected, self.name));
        if !ui.is_rect_visible(rect) {
            return response;
        }

        let fill = if selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let text = theme.text_1;
        paint_fill(ui, &response, ControlColors { fill, text }, 6);
        let mut at = pos2(rect.left() + PADDING, rect.top() + 6.0);
        let right = pos2(rect.right() - PADDING - aside.size().x, at.y + 2.0);
        ui.painter().galley(right, aside, theme.text_2);
        let step = name.size().y;
        ui.painter().galley(at, name, text);
        at.y += step;
        for note in notes {
            let step = note.size().y;
            ui.painter().galley(at, note, theme.text_3);
            at.y += step;
        }
        focus_ring(ui, &response, 6);
        response
    }
}

fn laid_out(ui: &Ui, text: &str, face: Face, width: f32, rows: usize) -> Arc<Galley> {
    let mut job = LayoutJob::simple(text.to_owned(), face.font(), Color32::PLACEHOLDER, width);
    for section in &mut job.sections {
        section.format.line_height = Some(face.row());
    }
    job.wrap = TextWrapping {
        max_rows: rows,
        break_anywhere: rows == 1,
        ..TextWrapping::wrap_at_width(width)
    };
    ui.painter().layout_job(job)
}
