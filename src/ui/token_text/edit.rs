//! The field in which a text is edited in place: it begins at a token, and what follows the token is
//! pale. A word that is read from right to left is edited from its right edge to the left.

use std::sync::Arc;

use egui::emath::Rangef;
use egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use egui::text_edit::TextEditOutput;
use egui::text_selection::visuals::paint_cursor_end;
use egui::{
    Color32, Event, Frame, Galley, Key, Margin, Modifiers, Pos2, Rect, Shape, Stroke, StrokeKind,
    TextEdit, Ui, pos2, vec2,
};

use super::layout::Layout;
use super::typed_text::TypedText;
use super::visual_order::is_right_to_left;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::{Generation, PieceKind};
use crate::state::{BranchTarget, InPlaceEdit};

/// How much of the text after the token is shown, in characters.
const MAX_REST: usize = 4_000;

/// How far the field’s ring is from its letters, to the sides.
const PADDING: f32 = 2.0;

/// How the user ended editing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditEnd {
    Continue(BranchTarget),
    Cancel,
}

/// The text in which the field is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldFrame {
    /// The text's top left corner on the screen.
    pub origin: Pos2,
    /// The width of its lines.
    pub width: f32,
}

impl FieldFrame {
    /// Draws the field over the text from its token on. Returns how the user ended editing.
    pub(super) fn ui(
        self,
        ui: &mut Ui,
        layout: &Layout,
        generation: &Generation,
        edit: &mut InPlaceEdit,
    ) -> Option<EditEnd> {
        let piece = &generation.steps.get(edit.from.step)?.piece;
        let mut letters = piece.as_str().unwrap_or_default().chars();
        let is_rtl = letters.any(is_right_to_left);
        let place = EditPlace::of(layout, self, edit.from.step, is_rtl)?;
        edit_ui(ui, place, generation, edit)
    }
}

/// Where the field begins.
#[derive(Debug, Clone, Copy)]
struct EditPlace {
    /// The horizontal range of the lines, on the screen.
    line: Rangef,
    /// The horizontal range of the token, and the vertical range of its row, on the screen.
    token: Rangef,
    row: Rangef,
    /// Whether the token is read from right to left.
    is_rtl: bool,
    /// The bottom of the text.
    bottom: f32,
}

impl EditPlace {
    /// Finds the token of a step.
    fn of(
        layout: &Layout,
        FieldFrame { origin, width }: FieldFrame,
        step: usize,
        is_rtl: bool,
    ) -> Option<Self> {
        let found = layout.chunks().iter().find_map(|chunk| {
            chunk.rows.iter().find_map(|row| {
                let span = row.spans.iter().find(|span| span.step == Some(step))?;
                let y = origin.y + chunk.y.min;
                Some((span.x, Rangef::new(y + row.y.min, y + row.y.max)))
            })
        });
        let (token, row) = found?;
        Some(Self {
            line: Rangef::new(origin.x, origin.x + width),
            token: Rangef::new(origin.x + token.min, origin.x + token.max),
            row,
            is_rtl,
            bottom: origin.y + layout.height(),
        })
    }

    /// Returns the left and the right edge of the field of a token that is read from left to right, and
    /// the space before its first letter.
    fn field(self, edit: &InPlaceEdit) -> (Rangef, f32) {
        let Self { line, token, .. } = self;
        if edit.typed.is_empty() {
            // An empty text has no section that could begin at the token.
            (Rangef::new(token.min, line.max), 0.0)
        } else {
            (line, token.min - line.min)
        }
    }
}

fn edit_ui(
    ui: &mut Ui,
    place: EditPlace,
    generation: &Generation,
    edit: &mut InPlaceEdit,
) -> Option<EditEnd> {
    let end = end_keys(ui);
    cover(ui, place);
    if place.is_rtl {
        right_to_left_ui(ui, place, generation, edit);
        return end;
    }
    let theme = Theme::of(ui);
    let (x, indent) = place.field(edit);
    let bottom = place.bottom.max(place.row.max) + 2_000.0;
    let rect = Rect::from_x_y_ranges(x, Rangef::new(place.row.min, bottom));
    let under = ui.painter().add(Shape::Noop);
    let mut field = child_ui(ui, rect, "edit in place");
    let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, width: f32| {
        let mut job = LayoutJob::default();
        job.append(text.as_str(), indent, format(theme.text_1));
        job.wrap.max_width = width;
        ui.painter().layout_job(job)
    };
    let output = field_ui(&mut field, edit, &mut layouter);
    let at = output.galley_pos;
    let rows = output.galley.rows.iter().enumerate();
    let rows = rows.map(|(index, row)| {
        let rect = row.rect().translate(at.to_vec2());
        match index {
            0 => rect.with_min_x(place.token.min),
            _ => rect,
        }
    });
    ui.painter().set(under, Shape::Vec(ring(theme, rows)));
    rest_ui(ui, place, generation, (edit, at, &output.galley));
    end
}

/// Draws egui's field, which takes all keys. A new one gets the focus, and all of its text is selected.
fn field_ui(
    ui: &mut Ui,
    edit: &mut InPlaceEdit,
    layouter: &mut dyn FnMut(&Ui, &dyn egui::TextBuffer, f32) -> Arc<Galley>,
) -> TextEditOutput {
    let mut output = TextEdit::multiline(&mut edit.typed)
        .frame(Frame::NONE)
        .margin(Margin::ZERO)
        .desired_rows(1)
        .desired_width(ui.max_rect().width())
        .layouter(layouter)
        .show(ui);
    let response = output.response.response.clone();
    response.clone().accessible_name("Edit the text");
    if std::mem::take(&mut edit.is_new) {
        response.request_focus();
        // Typing replaces the token.
        let end = CCursor::new(edit.typed.chars().count());
        let all = CCursorRange::two(CCursor::new(0), end);
        output.state.cursor.set_char_range(Some(all));
        output.state.clone().store(ui.ctx(), response.id);
    }
    output
}

/// Returns how the user ended editing by a key. Call it before the field takes the keys.
fn end_keys(ui: &Ui) -> Option<EditEnd> {
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::Enter) {
        Some(EditEnd::Continue(BranchTarget::NewPane))
    } else if take_plain_enter(ui) {
        Some(EditEnd::Continue(BranchTarget::InPlace))
    } else if pressed(Modifiers::NONE, Key::Escape) {
        Some(EditEnd::Cancel)
    } else {
        None
    }
}

/// Takes an Enter that was pressed alone. Shift, which makes it a line break, may be up again in the
/// same frame. Returns whether there was one.
pub(super) fn take_plain_enter(ui: &Ui) -> bool {
    let is_plain = |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, modifiers, .. } if modifiers.is_none());
    ui.input_mut(|input| {
        let n_events = input.events.len();
        input.events.retain(|event| !is_plain(event));
        input.events.len() < n_events
    })
}

/// Covers the text from the token on.
fn cover(ui: &Ui, place: EditPlace) {
    let fill = Theme::of(ui).surface_1;
    let line = place.line.expand(8.0);
    let first = if place.is_rtl {
        Rangef::new(line.min, place.token.max)
    } else {
        Rangef::new(place.token.min, line.max)
    };
    let first = Rect::from_x_y_ranges(first, place.row);
    let rest = Rangef::new(place.row.max, place.bottom + 8.0);
    for rect in [first, Rect::from_x_y_ranges(line, rest)] {
        ui.painter().rect_filled(rect, 0, fill);
    }
}

fn format(color: Color32) -> TextFormat {
    TextFormat {
        line_height: Some(Face::Read.row()),
        ..TextFormat::simple(Face::Read.font(), color)
    }
}

/// Returns a fill and a ring for each row of the field.
fn ring(theme: &Theme, rows: impl Iterator<Item = Rect>) -> Vec<Shape> {
    let shapes = rows.flat_map(|row| {
        let right = row.right().max(row.left() + PADDING);
        let rect = row.with_max_x(right).expand2(vec2(PADDING, -1.0));
        let stroke = Stroke::new(1.5, theme.accent);
        [
            Shape::rect_filled(rect, 4, theme.accent_bg),
            Shape::rect_stroke(rect, 4, stroke, StrokeKind::Inside),
        ]
    });
    shapes.collect()
}

/// Draws the field of a token that is read from right to left. egui's own field takes the keys, and
/// what it draws is invisible.
fn right_to_left_ui(
    ui: &mut Ui,
    place: EditPlace,
    generation: &Generation,
    edit: &mut InPlaceEdit,
) {
    swap_arrows(ui);
    let theme = Theme::of(ui);
    let bottom = place.bottom.max(place.row.max) + 2_000.0;
    let x = Rangef::new(place.line.min, place.token.max);
    let rect = Rect::from_x_y_ranges(x, Rangef::new(place.row.min, bottom));
    let mut field = child_ui(ui, rect, "edit in place");
    let visuals = field.visuals_mut();
    visuals.text_cursor.stroke.color = Color32::TRANSPARENT;
    visuals.selection.bg_fill = Color32::TRANSPARENT;
    let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, width: f32| {
        let mut job = LayoutJob::default();
        job.append(text.as_str(), 0.0, format(Color32::TRANSPARENT));
        job.wrap.max_width = width;
        ui.painter().layout_job(job)
    };
    let mut output = field_ui(&mut field, edit, &mut layouter);
    let response = output.response.response.clone();
    let mut typed = TypedText::lay_out(ui, &edit.typed, rect.width());
    if let Some(pointer) = response
        .interact_pointer_pos()
        .filter(|_| response.clicked())
    {
        let index = typed.index_at(pointer - rect.min.to_vec2());
        let range = CCursorRange::one(CCursor::new(index));
        output.state.cursor.set_char_range(Some(range));
        output.state.clone().store(ui.ctx(), response.id);
    }
    let rows = typed.row_rects().into_iter();
    let rows: Vec<Rect> = rows.map(|row| row.translate(rect.min.to_vec2())).collect();
    let last = rows.last().map_or(place.row.max, Rect::bottom);
    let under = ring(theme, rows.into_iter());
    ui.painter().add(Shape::Vec(under));
    let range = output.state.cursor.char_range();
    let selected = range.map_or(0..0, |range| {
        let [from, to] = range.sorted_cursors();
        from.index.0..to.index.0
    });
    typed.paint(ui, rect.min, theme.text_1, selected);
    if let Some(range) = range.filter(|_| response.has_focus()) {
        let caret = typed.caret(range.primary.index.0);
        let caret = caret.translate(rect.min.to_vec2());
        paint_cursor_end(ui.painter(), ui.visuals(), caret);
    }
    // What is read after the field stands below it.
    let rest = rest_of(generation, edit.from.step);
    let at = pos2(place.line.min, last);
    TypedText::lay_out(ui, &rest, place.line.span()).paint(ui, at, theme.disabled, 0..0);
}

/// Lets the arrow keys go where they point: egui’s field takes the next character to be on the right.
fn swap_arrows(ui: &Ui) {
    ui.input_mut(|input| {
        for event in &mut input.events {
            if let Event::Key { key, .. } = event {
                *key = match key {
                    Key::ArrowLeft => Key::ArrowRight,
                    Key::ArrowRight => Key::ArrowLeft,
                    _ => *key,
                };
            }
        }
    });
}

/// Paints what followed the token, after the field.
fn rest_ui(
    ui: &Ui,
    place: EditPlace,
    generation: &Generation,
    (edit, at, field): (&InPlaceEdit, Pos2, &Galley),
) {
    let color = Theme::of(ui).disabled;
    let rest = rest_of(generation, edit.from.step);
    let last = field
        .rows
        .last()
        .map(|row| row.rect().translate(at.to_vec2()));
    let mut job = LayoutJob::default();
    job.wrap.max_width = place.line.span();
    let (left, top) = match last {
        Some(last) if field.rows.len() > 1 => (last.right(), last.top()),
        Some(last) => (last.right().max(place.token.min), last.top()),
        None => (place.token.min, place.row.min),
    };
    let indent = left + 2.0 * PADDING - place.line.min;
    job.append(&rest, indent, format(color));
    let galley = ui.painter().layout_job(job);
    ui.painter()
        .galley(pos2(place.line.min, top), galley, color);
}

/// Returns the beginning of the text after a step.
fn rest_of(generation: &Generation, step: usize) -> String {
    let mut bytes = Vec::new();
    for step in generation.steps.iter().skip(step + 1) {
        if step.piece.kind == PieceKind::Text {
            bytes.extend_from_slice(&step.piece.bytes);
        }
        if bytes.len() > MAX_REST {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
