//! The message of a turn: its first lines, in the order in which they are read.

use egui::emath::Rangef;
use egui::{Align2, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::layout::Layout;
use super::line_span;
use super::transcript::Transcript;
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The maximum number of lines.
const MAX_ROWS: usize = 4;

/// More characters than these lines hold.
const MAX_CHARS: usize = 1_000;

/// A message with its layout.
#[derive(Debug, Default)]
pub(super) struct MessageView {
    message: String,
    transcript: Transcript,
    layout: Layout,
}

impl MessageView {
    /// Draws the message. If it is cut, it is shown whole under the pointer.
    pub(super) fn ui(&mut self, ui: &mut Ui, message: &str) {
        if self.message != message || self.transcript.plain().is_empty() {
            message.clone_into(&mut self.message);
            let start: String = message.chars().take(MAX_CHARS).collect();
            self.transcript = Transcript::of_message(&start);
            self.layout.clear();
        }
        let color = Theme::of(ui).prompt_text;
        let line = line_span(ui.available_width());
        self.layout.update(ui, &self.transcript, line.span());
        let rows = self.layout.chunks().iter().flat_map(|chunk| {
            let rows = chunk.rows.iter();
            rows.map(|row| (chunk.y.min + row.y.max, row.after(ELLIPSIS)))
        });
        let rows: Vec<(f32, f32)> = rows.take(MAX_ROWS + 1).collect();
        let is_cut = rows.len() > MAX_ROWS || message.chars().nth(MAX_CHARS).is_some();
        let last = rows.get(..MAX_ROWS.min(rows.len())).and_then(<[_]>::last);
        let (height, end) = last.copied().unwrap_or_default();
        let height = height.max(Face::Read.row());
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let at = pos2(rect.left() + line.min, rect.top());
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        for (chunk, galley) in self
            .layout
            .visible(ui, &self.transcript, Rangef::new(0.0, height))
        {
            painter.galley(at + vec2(0.0, chunk.y.min), galley, color);
        }
        if is_cut {
            let left = end.min(line.span() - ELLIPSIS).max(0.0);
            let corner = pos2(at.x + left, rect.bottom());
            painter.text(corner, Align2::LEFT_BOTTOM, "…", Face::Read.font(), color);
        }
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, message));
        if is_cut {
            response.on_hover_text(message);
        }
    }
}

/// The width of the sign that something is cut, in points.
const ELLIPSIS: f32 = 14.0;

#[cfg(test)]
mod tests {
    use egui::{Context, RawInput};

    use super::MessageView;
    use crate::design::fonts::Face;
    use crate::design::style;

    /// Draws a message. Returns its view and its height.
    fn drawn(message: &str) -> (MessageView, f32) {
        let ctx = Context::default();
        style::install(&ctx);
        let (mut view, mut height) = (MessageView::default(), 0.0);
        let output = ctx.run_ui(RawInput::default(), |ui| {
            ui.set_width(300.0);
            ui.spacing_mut().item_spacing.y = 0.0;
            let top = ui.next_widget_position().y;
            view.ui(ui, message);
            height = ui.next_widget_position().y - top;
        });
        output.drop_without_applying_deltas();
        (view, height)
    }

    #[test]
    fn a_long_message_is_cut_after_four_lines() {
        for (message, n_rows) in [("", 1.0), ("Hi", 1.0), (&*"word ".repeat(10_000), 4.0)] {
            let n_drawn = drawn(message).1 / Face::Read.row();
            assert!(
                (n_drawn - n_rows).abs() < 0.1,
                "{n_drawn} rows instead of {n_rows}"
            );
        }
    }

    #[test]
    fn a_message_is_read_from_right_to_left_where_its_letters_are() {
        let (view, _) = drawn("שלום עולם");
        assert!(view.layout.chunks()[0].rows[0].is_right_to_left);
    }
}
