//! The card of the lesson that is running, on the right of the panes.

use egui::{Align, Key, Layout, Modifiers, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui};
use egui::{RichText, pos2, vec2};

use super::bars::{answer_bars_ui, guess_bar_ui};
use super::options::{option_keys_ui, options_ui};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lessons::{Prediction, Question, calibration_words, mean_excess};
use crate::state::{AppState, Command, LessonCommand, LessonPhase, LessonRun};

/// The width of the card, in points.
pub(in crate::ui) const CARD: f32 = 340.0;

const SIDE: f32 = 18.0;

/// The height of the row with the buttons.
const FOOT: f32 = 36.0;

/// Draws the card. `has_keys` says whether nothing covers the window, so that keys are the card's.
pub(in crate::ui) fn card_ui(
    ui: &mut Ui,
    card: Rect,
    has_keys: bool,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    ui.painter().rect_filled(card, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(card, 8, edge, StrokeKind::Inside);
    let number = state.lessons.selected + 1;
    let n_lessons = state.lessons.list.len();
    let missed = state.lessons.missed();
    let Some(run) = state.lessons.run_mut() else {
        return;
    };
    if has_keys && ui.memory(|memory| memory.focused().is_none()) {
        option_keys_ui(ui, run);
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
            commands.push(Command::Lesson(LessonCommand::Next));
        }
    }
    let inside = card.shrink2(vec2(SIDE, 16.0));
    let mut head = child_ui(ui, inside, "lesson head");
    head_ui(
        &mut head,
        &format!("Lesson {number} of {n_lessons}"),
        run,
        commands,
    );
    let top = head.min_rect().bottom() + 14.0;
    let foot_top = inside.bottom() - FOOT;
    let body = Rect::from_min_max(
        pos2(inside.left(), top),
        pos2(inside.right(), foot_top - 12.0),
    );
    let mut ui_body = child_ui(ui, body, "lesson body");
    ScrollArea::vertical()
        .id_salt((run.lesson.id.as_str(), run.step_index(), run.phase().name()))
        .auto_shrink(false)
        .show(&mut ui_body, |ui| {
            ui.spacing_mut().item_spacing.y = 10.0;
            body_ui(ui, run, commands);
            if run.phase() == LessonPhase::Ending
                && let Some(missed) = missed
            {
                missed_ui(ui, run, &missed);
            }
        });
    let foot = Rect::from_min_max(pos2(inside.left(), foot_top), inside.max);
    foot_ui(&mut child_ui(ui, foot, "lesson foot"), run, commands);
}

fn head_ui(ui: &mut Ui, place: &str, run: &LessonRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    ui.horizontal(|ui| {
        ui.label(Face::Small.text(place).color(theme.text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, Icon::Close, "Leave the lesson").clicked() {
                commands.push(Command::Lesson(LessonCommand::Leave));
            }
        });
    });
    ui.label(
        Face::Title
            .text(run.lesson.title.as_str())
            .color(theme.text_1),
    );
    ui.add_space(6.0);
    parts_ui(ui, run);
}

/// Draws the four parts of the step, the current one in full color.
fn parts_ui(ui: &mut Ui, run: &LessonRun) {
    let theme = Theme::of(ui);
    let width = (ui.available_width() - 3.0 * 4.0) / 4.0;
    let (row, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::hover());
    let (step, n_steps) = (run.step_index() + 1, run.lesson.steps.len());
    let phase = run.phase();
    let words = format!("Step {} of {n_steps}: {}", step.min(n_steps), phase.name());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    let mut left = row.left();
    for part in LessonPhase::PARTS {
        let bar = Rect::from_min_size(pos2(left, row.top()), vec2(width, 2.0));
        let reached = part <= phase;
        let color = if reached {
            theme.text_1
        } else {
            theme.surface_4
        };
        ui.painter().rect_filled(bar, 1.0, color);
        let color = if part == phase {
            theme.text_1
        } else {
            theme.text_3
        };
        let at = pos2(left, row.top() + 8.0);
        ui.painter().text(
            at,
            egui::Align2::LEFT_TOP,
            part.name(),
            Face::SmallMedium.font(),
            color,
        );
        left += width + 4.0;
    }
}

fn serif(text: &str) -> RichText {
    Face::Why.text(text)
}

fn body_ui(ui: &mut Ui, run: &mut LessonRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let texts = run.texts().clone();
    let begins = question_begins(ui, run);
    match run.phase() {
        LessonPhase::Preparing => {
            ui.label(
                Face::Small
                    .text("Preparing the window…")
                    .color(theme.text_3),
            );
        }
        LessonPhase::Predict => {
            ui.label(serif(&texts.ask).color(theme.text_1));
            let is_probability = matches!(
                run.step().map(|step| &step.question),
                Some(Question::Probability { .. })
            );
            if is_probability {
                guess_bar_ui(ui, begins, run, commands);
            } else {
                if begins && let Some(focused) = ui.memory(egui::Memory::focused) {
                    // Digits choose, so they must not go into a text field.
                    ui.memory_mut(|memory| memory.surrender_focus(focused));
                }
                options_ui(ui, run);
            }
            divider_ui(ui);
            let next = format!("Next: {}", in_sentence(&texts.task));
            ui.label(Face::Small.text(next).color(theme.text_2));
        }
        LessonPhase::Do => {
            ui.label(serif(&texts.task).color(theme.text_1));
            let words = "The card goes on as soon as that is done, whichever way you do it.";
            ui.label(Face::Small.text(words).color(theme.text_3));
        }
        LessonPhase::See => {
            ui.label(serif(&texts.verdict).color(theme.text_1));
            answer_bars_ui(ui, run);
            divider_ui(ui);
            ui.label(serif(&texts.see).color(theme.text_1));
        }
        LessonPhase::Why => why_ui(ui, run),
        LessonPhase::Ending => ending_ui(ui, run),
    }
}

/// Returns whether a question is shown for the first time.
fn question_begins(ui: &Ui, run: &LessonRun) -> bool {
    let is_shown = run.phase() == LessonPhase::Predict;
    let was_shown = ui.data_mut(|data| {
        let shown = data.get_temp_mut_or_default(egui::Id::unique("lesson question"));
        std::mem::replace(shown, is_shown)
    });
    is_shown && !was_shown
}

fn why_ui(ui: &mut Ui, run: &mut LessonRun) {
    let theme = Theme::of(ui);
    let texts = run.texts().clone();
    ui.label(serif(&texts.why).color(theme.text_1));
    let Some(more) = texts.more else {
        return;
    };
    if run.reads_on {
        divider_ui(ui);
        ui.label(serif(&more).color(theme.text_2));
    } else if ui.add(Button::new("Read on")).clicked() {
        run.reads_on = true;
    }
}

fn ending_ui(ui: &mut Ui, run: &LessonRun) {
    let theme = Theme::of(ui);
    ui.label(serif(&run.lesson.ending).color(theme.text_1));
    divider_ui(ui);
    if let Some(bits) = mean_excess(&run.scores()) {
        let words = format!(
            "Your predictions cost {bits:.2} bits each above the best possible. 0 is perfect; \
             saying 50 % each time costs 1 bit at most."
        );
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
    if let Some(words) = calibration_words(&run.scores()) {
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
}

/// Asks something again that was missed in another lesson, to be answered in one's head.
fn missed_ui(ui: &mut Ui, run: &mut LessonRun, missed: &Prediction) {
    let theme = Theme::of(ui);
    divider_ui(ui);
    let words = "You missed this one in another lesson. What would you say now?";
    ui.label(Face::Small.text(words).color(theme.text_2));
    ui.label(serif(&missed.asked).color(theme.text_1));
    if run.reads_on {
        let words = format!("You said: {}. The answer: {}.", missed.said, missed.answer);
        ui.label(serif(&words).color(theme.text_2));
    } else if ui.add(Button::new("Show the answer")).clicked() {
        run.reads_on = true;
    }
}

fn foot_ui(ui: &mut Ui, run: &LessonRun, commands: &mut Vec<Command>) {
    let mut send = |command| commands.push(Command::Lesson(command));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let primary = match run.phase() {
            LessonPhase::Preparing => None,
            LessonPhase::Predict => Some("That’s my guess"),
            LessonPhase::Do => {
                if ui.add(Button::new("Show me")).clicked() {
                    send(LessonCommand::ShowMe);
                }
                None
            }
            LessonPhase::See => Some("Why"),
            LessonPhase::Why => Some("Continue"),
            LessonPhase::Ending => Some("Finish"),
        };
        if let Some(label) = primary {
            let can = run.phase() != LessonPhase::Predict || run.can_say();
            let button = Button::run(label, true).hint("↵");
            let response = ui.add_enabled(can, button);
            if response
                .on_disabled_hover_text("Make a prediction first")
                .clicked()
            {
                send(LessonCommand::Next);
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let goes_back = run.phase() == LessonPhase::Why;
            if goes_back && ui.add(Button::new("Back").quiet()).clicked() {
                send(LessonCommand::Back);
            }
        });
    });
}

fn divider_ui(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 9.0), Sense::hover());
    let line = Stroke::new(1.0, Theme::of(ui).stroke_1);
    let range = rect.left() - SIDE..=rect.right() + SIDE;
    ui.painter().hline(range, rect.center().y, line);
}

/// Begins a sentence in lower case, after a colon.
fn in_sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
