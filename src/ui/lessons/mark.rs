//! Marks a token: with a click in the text, or on a scale that extends beyond the text's end.

use egui::{
    Align2, Key, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, emath::remap, pos2, vec2,
};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{focus_ring, key_steps};
use crate::generation::Generation;
use crate::generation::formatting::token_word;
use crate::lessons::Question;
use crate::plots::count;
use crate::state::{Command, LessonCommand, LessonRun};

/// The height of the scale, and the size of its grip.
const SCALE: f32 = 46.0;
const TRACK: f32 = 10.0;
const GRIP: egui::Vec2 = vec2(14.0, 22.0);

/// The text in which the learner marks a token.
pub(super) struct MarkedText<'a> {
    /// The index of the pane.
    pub pane: usize,
    pub n_tokens: usize,
    pub text: Option<&'a Generation>,
}

impl MarkedText<'_> {
    fn n_written(&self) -> usize {
        self.text
            .map_or(0, |text| text.steps.len())
            .min(self.n_tokens)
    }

    /// "token 12, ‘warm’", or "token 40, not written yet".
    fn words(&self, number: usize) -> String {
        let step = self.text.and_then(|text| text.steps.get(number - 1));
        match step {
            Some(step) => format!("token {number}, ‘{}’", token_word(&step.piece)),
            None => format!("token {number}, not written yet"),
        }
    }
}

/// Returns the index of the pane whose text is marked, and the number of tokens to choose from.
pub(super) fn marked(run: &LessonRun) -> Option<(usize, usize)> {
    match run.step()?.question {
        Question::Mark { pane, n_tokens, .. } => Some((pane, n_tokens)),
        _ => None,
    }
}

/// Draws the scale, with the grip at the marked token.
pub(super) fn mark_ui(
    ui: &mut Ui,
    begins: bool,
    marked: &MarkedText<'_>,
    run: &LessonRun,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let said = run.guess.mark;
    let (rect, track) = scale_rects(ui);
    let id = ui.scope_id().with("mark");
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let is_free = ui.memory(|memory| memory.focused().is_none());
    if said.is_none() && (is_free || begins) {
        response.request_focus();
    }
    let mut number = said;
    if let Some(pointer) = response.interact_pointer_pos() {
        let ends = 1.0..=marked.n_tokens as f32;
        let at = remap(pointer.x, track.x_range(), ends);
        number = Some(count(f64::from(at.round())).max(1));
    }
    let steps = key_steps(ui, &response);
    if steps != 0.0 {
        let by = if ui.input(|input| input.modifiers.shift) {
            10.0
        } else {
            1.0
        };
        let from = said.unwrap_or_else(|| marked.n_written().max(1)) as f64;
        number = Some(count(from + steps * by).max(1));
    }
    let number = number.map(|number| number.min(marked.n_tokens));
    if let Some(number) = number.filter(|number| said != Some(*number)) {
        commands.push(Command::Lesson(LessonCommand::Mark(number)));
    }
    if response.has_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
        commands.push(Command::Lesson(LessonCommand::Next));
    }
    let value = number.unwrap_or_else(|| marked.n_written().max(1));
    response.widget_info(|| WidgetInfo::slider(true, value as f64, "Marked token"));
    paint_track(ui, track, marked);
    let x = x_of(track, marked, value);
    let grip = Rect::from_center_size(pos2(x, track.center().y), GRIP);
    if number.is_some() {
        ui.painter().rect_filled(grip, 4, theme.text_1);
    } else {
        ui.painter().rect_filled(grip, 4, theme.surface_1);
        let edge = Stroke::new(1.5, theme.text_1);
        ui.painter().rect_stroke(grip, 4, edge, StrokeKind::Inside);
    }
    focus_ring(ui, &response.with_new_rect(grip), 4);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(number) = number {
            ui.label(Face::Small.text("Your mark").color(theme.text_2));
            let words = Face::SmallMedium.text(marked.words(number));
            ui.label(words.color(theme.text_1));
        }
    });
    let hint = "Click a token in the text, drag, or press ← →";
    ui.label(Face::Small.text(hint).color(theme.text_3));
}

/// Draws the scale with the correct token and the marked one.
pub(super) fn right_mark_ui(ui: &mut Ui, marked: &MarkedText<'_>, run: &LessonRun, truth: usize) {
    let theme = Theme::of(ui);
    let (_, track) = scale_rects(ui);
    paint_track(ui, track, marked);
    let line = |x: f32, color| {
        let size = vec2(3.0, TRACK + 12.0);
        let rect = Rect::from_center_size(pos2(x, track.center().y), size);
        ui.painter().rect_filled(rect, 1, color);
    };
    line(x_of(track, marked, truth), theme.pane(marked.pane));
    if let Some(said) = run.guess.mark {
        line(x_of(track, marked, said), theme.text_1);
    }
    let words = format!("in color: {} · plain line: your mark", marked.words(truth));
    ui.label(Face::Micro.text(words).color(theme.text_3));
}

fn scale_rects(ui: &mut Ui) -> (Rect, Rect) {
    let size = vec2(ui.available_width(), SCALE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let top = rect.top() + 8.0;
    let track = Rect::from_min_max(
        pos2(rect.left() + GRIP.x / 2.0, top),
        pos2(rect.right() - GRIP.x / 2.0, top + TRACK),
    );
    (rect, track)
}

fn x_of(track: Rect, marked: &MarkedText<'_>, number: usize) -> f32 {
    let last = marked.n_tokens.max(2);
    let ends = 1.0..=last as f32;
    remap(number.min(last) as f32, ends, track.x_range())
}

/// Draws the track, filled as far as the text has been written, and its token numbers.
fn paint_track(ui: &Ui, track: Rect, marked: &MarkedText<'_>) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let n_written = marked.n_written();
    if n_written > 0 {
        let right = x_of(track, marked, n_written);
        painter.rect_filled(track.with_max_x(right), 2, theme.surface_4);
    }
    let edge = Stroke::new(1.0, theme.stroke_3);
    painter.rect_stroke(track, 2, edge, StrokeKind::Inside);
    let mut numbers = vec![(1, Align2::LEFT_TOP), (marked.n_tokens, Align2::RIGHT_TOP)];
    if n_written > 1 && n_written < marked.n_tokens {
        numbers.push((n_written, Align2::CENTER_TOP));
    }
    for (number, align) in numbers {
        let at = pos2(x_of(track, marked, number), track.bottom() + 8.0);
        let font = Face::Micro.font();
        painter.text(at, align, number, font, theme.text_3);
    }
}
