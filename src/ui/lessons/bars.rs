//! The bar on which the learner guesses a probability, and the bars that show the answer.

use egui::{
    Align2, Color32, Key, Label, Rect, Sense, Ui, WidgetInfo, emath::remap_clamp, pos2, vec2,
};

use super::mark::{MarkedText, right_mark_ui};
use super::matching::right_match_ui;
use super::order::right_order_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{focus_ring, key_steps};
use crate::generation::formatting::percent;
use crate::lessons::{Confidence, Question};
use crate::state::{Answer, Command, LessonCommand, LessonRun};

/// The space for the token before the bar, in points.
const LABEL: f32 = 64.0;

/// The space for the number after the bar.
const NUMBER: f32 = 44.0;

const ROW: f32 = 34.0;

/// The height of the track, and the size of its grip.
const TRACK: f32 = 10.0;
const GRIP: egui::Vec2 = vec2(14.0, 22.0);

/// The rectangles of a row and of its bar's track.
struct BarRow {
    rect: Rect,
    track: Rect,
}

fn row(ui: &mut Ui, label: &str, sense: Sense) -> (BarRow, egui::Response) {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let theme = Theme::of(ui);
    let at = pos2(rect.left() + LABEL - 10.0, rect.center().y + 3.0);
    let font = Face::Read.font();
    let mut job = egui::text::LayoutJob::simple_singleline(label.to_owned(), font, theme.text_1);
    job.wrap = egui::text::TextWrapping::truncate_at_width(LABEL - 10.0);
    let galley = ui.painter().layout_job(job);
    let at = Align2::RIGHT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(at.min, galley, theme.text_1);
    let track = Rect::from_min_max(
        pos2(rect.left() + LABEL, rect.bottom() - TRACK - 8.0),
        pos2(rect.right() - NUMBER, rect.bottom() - 8.0),
    );
    (BarRow { rect, track }, response)
}

impl BarRow {
    fn x_of(&self, prob: f64) -> f32 {
        self.track.left() + self.track.width() * prob as f32
    }

    /// Paints the probability from before the task, above the track.
    fn paint_before(&self, ui: &Ui, before: Option<f64>) {
        if let Some(before) = before {
            let min = pos2(self.track.left(), self.track.top() - 10.0);
            let bar = Rect::from_min_max(min, pos2(self.x_of(before), self.track.top() - 2.0));
            ui.painter().rect_filled(bar, 2, Theme::of(ui).bar_before);
        }
    }

    fn paint(&self, ui: &Ui, prob: f64, color: Color32) {
        let max = pos2(
            self.x_of(prob).max(self.track.left() + 1.0),
            self.track.bottom(),
        );
        let bar = Rect::from_min_max(self.track.min, max);
        ui.painter().rect_filled(bar, 2, color);
    }

    /// Outlines a probability that is not known yet.
    fn paint_unknown(&self, ui: &Ui) {
        let stroke = egui::Stroke::new(1.0, Theme::of(ui).stroke_2);
        for y in [self.track.top(), self.track.bottom()] {
            let ends = [pos2(self.track.left(), y), pos2(self.track.right(), y)];
            let edge = egui::Shape::dashed_line(&ends, stroke, 2.0, 3.0);
            ui.painter().extend(edge);
        }
    }

    fn paint_number(&self, ui: &Ui, words: &str) {
        let at = pos2(self.rect.right(), self.track.center().y);
        let color = Theme::of(ui).text_2;
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, words, Face::Small.font(), color);
    }

    /// Marks the guess with a vertical line.
    fn paint_guess(&self, ui: &Ui, guess: f64) {
        let x = self.x_of(guess);
        let line = Rect::from_center_size(pos2(x, self.track.center().y), vec2(2.0, TRACK + 10.0));
        ui.painter().rect_filled(line, 0, Theme::of(ui).text_1);
    }
}

/// Draws the bar that the learner drags, and focuses it when the question `begins`. Enter submits
/// the prediction.
pub(super) fn guess_bar_ui(
    ui: &mut Ui,
    begins: bool,
    run: &mut LessonRun,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let label = run.texts().labels.first().cloned().unwrap_or_default();
    let before = run.texts().before.first().copied().flatten();
    let (row, response) = row(ui, &label, Sense::click_and_drag());
    let said = run.guess.prob;
    let is_free = ui.memory(|memory| memory.focused().is_none());
    if said.is_none() && (is_free || begins) {
        response.request_focus();
    }
    if let Some(pointer) = response.interact_pointer_pos() {
        let share: f32 = remap_clamp(pointer.x, row.track.x_range(), 0.0..=1.0);
        run.guess.say(f64::from(share));
    }
    let steps = key_steps(ui, &response);
    if steps != 0.0 {
        let by = if ui.input(|input| input.modifiers.shift) {
            0.1
        } else {
            0.01
        };
        run.guess.say(said.unwrap_or(0.5) + steps * by);
    }
    if response.has_focus() {
        typed_ui(ui, run);
        if ui.input(|input| input.key_pressed(Key::Enter)) {
            commands.push(Command::Lesson(LessonCommand::Next));
        }
    }
    let shown = run.guess.prob;
    let value = shown.unwrap_or(0.5);
    response.widget_info(|| {
        WidgetInfo::slider(
            true,
            (value * 100.0).round(),
            format!("Guess for ‘{label}’, percent"),
        )
    });
    row.paint_before(ui, before);
    let edge = egui::Stroke::new(1.0, theme.stroke_3);
    ui.painter()
        .rect_stroke(row.track, 2, edge, egui::StrokeKind::Inside);
    if let Some(shown) = shown {
        row.paint(ui, shown, asked_color(theme, run));
    }
    let center = pos2(row.x_of(value), row.track.center().y);
    let grip = Rect::from_center_size(center, GRIP);
    ui.painter().rect_filled(grip, 4, theme.text_1);
    for dx in [-2.0, 2.0] {
        let line = egui::Stroke::new(1.0, theme.surface_1);
        let y = center.y - 4.0..=center.y + 4.0;
        ui.painter().vline(center.x + dx, y, line);
    }
    focus_ring(ui, &response.with_new_rect(grip), 4);
    comparison_ui(ui, run, &[]);
    guess_ui(ui, shown);
}

/// Draws the bars for comparison. `probs` is empty until the answer is shown.
fn comparison_ui(ui: &mut Ui, run: &LessonRun, probs: &[f64]) {
    let theme = Theme::of(ui);
    let texts = run.texts();
    let bars = texts.labels.iter().zip(&texts.before).enumerate().skip(1);
    for (index, (label, before)) in bars {
        let (row, _) = row(ui, label, Sense::hover());
        row.paint_before(ui, *before);
        if let Some(prob) = probs.get(index) {
            row.paint(ui, *prob, theme.bar_after);
            row.paint_number(ui, &percent(*prob));
        } else {
            row.paint_unknown(ui);
        }
    }
}

/// Draws the guess so far, and how to change it.
fn guess_ui(ui: &mut Ui, shown: Option<f64>) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(shown) = shown {
            ui.label(Face::Small.text("Your guess").color(theme.text_2));
            let said = Face::SmallMedium.text(percent(shown));
            ui.label(said.color(theme.text_1));
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let hint = "drag, ← →, or type";
            ui.label(Face::Small.text(hint).color(theme.text_3));
        });
    });
}

/// Lets the learner type a percentage of two digits.
fn typed_ui(ui: &Ui, run: &mut LessonRun) {
    let typed = ui.input(|input| {
        let digit = |event: &egui::Event| match event {
            egui::Event::Text(text) => text.parse::<u8>().ok().filter(|digit| *digit < 10),
            _ => None,
        };
        input.events.iter().find_map(digit)
    });
    if let Some(digit) = typed {
        let before = run.guess.prob.map_or(0.0, |prob| (prob * 100.0).round());
        let tens = if before < 10.0 { before * 10.0 } else { 0.0 };
        run.guess.say((tens + f64::from(digit)) / 100.0);
    }
}

/// Returns the color of the pane that the question is about, or the accent color if there is none.
fn asked_color(theme: &Theme, run: &LessonRun) -> Color32 {
    let question = run.step().map(|step| &step.question);
    let pane = match question {
        Some(Question::Probability { asked, .. }) => asked.answer.pane(),
        Some(Question::Token { top, .. }) => top.pane(),
        _ => None,
    };
    pane.map_or(theme.accent, |pane| theme.pane(pane))
}

/// Draws the prediction beside the answer. `marked` is the text in which a token was marked.
pub(super) fn answer_ui(ui: &mut Ui, marked: Option<&MarkedText<'_>>, run: &LessonRun) {
    let theme = Theme::of(ui);
    let texts = run.texts();
    match &texts.answer {
        Some(Answer::Probability(probs)) => {
            let label = texts.labels.first().map_or("", String::as_str);
            let truth = probs.first().copied().unwrap_or_default();
            let before = texts.before.first().copied().flatten();
            let (row, _) = row(ui, label, Sense::hover());
            row.paint_before(ui, before);
            row.paint(ui, truth, asked_color(theme, run));
            row.paint_number(ui, &percent(truth));
            if let Some(guess) = run.guess.prob {
                row.paint_guess(ui, guess);
            }
            comparison_ui(ui, run, probs);
            let words = if before.is_some() {
                "line: your guess · gray bar above: before"
            } else {
                "line: your guess"
            };
            ui.label(Face::Micro.text(words).color(theme.text_3));
        }
        Some(Answer::Token { probs, .. }) => {
            for (index, (label, prob)) in texts.labels.iter().zip(probs).enumerate() {
                let is_guess = run.guess.option == Some(index);
                let (row, _) = row(ui, label, Sense::hover());
                let color = if is_guess {
                    asked_color(theme, run)
                } else {
                    theme.bar_after
                };
                row.paint(ui, *prob, color);
                row.paint_number(ui, &percent(*prob));
            }
            let words = "in color: your guess";
            ui.label(Face::Micro.text(words).color(theme.text_3));
        }
        Some(Answer::Choice(right)) => choices_ui(ui, run, *right),
        Some(Answer::Order { order, values }) => right_order_ui(ui, run, order, values),
        Some(Answer::Match(right)) => right_match_ui(ui, run, right),
        Some(Answer::Mark(truth)) => {
            if let Some(marked) = marked {
                right_mark_ui(ui, marked, run, *truth);
            }
        }
        None => {}
    }
    said_confidence_ui(ui, run);
}

/// Draws the statements, with the correct one and the chosen one marked.
fn choices_ui(ui: &mut Ui, run: &LessonRun, right: usize) {
    let theme = Theme::of(ui);
    for (index, label) in run.texts().labels.iter().enumerate() {
        let is_right = index == right;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            let (square, _) = ui.allocate_exact_size(vec2(16.0, 18.0), Sense::hover());
            if is_right {
                let icon = Rect::from_center_size(square.center(), vec2(14.0, 14.0));
                Icon::Check.paint(ui.painter(), icon, theme.text_1);
            }
            let color = if is_right { theme.text_1 } else { theme.text_3 };
            let mut words = label.clone();
            if run.guess.option == Some(index) {
                words.push_str("  (your guess)");
            }
            ui.add(Label::new(Face::Candidate.text(words).color(color)).wrap());
        });
    }
}

/// Shows how sure the learner was, if the question asked for it.
fn said_confidence_ui(ui: &mut Ui, run: &LessonRun) {
    if run
        .step()
        .is_some_and(|step| step.question.has_confidence())
    {
        let confidence: Confidence = run.guess.confidence;
        let words = format!("You said: {}", confidence.name().to_lowercase());
        ui.label(Face::Micro.text(words).color(Theme::of(ui).text_3));
    }
}
