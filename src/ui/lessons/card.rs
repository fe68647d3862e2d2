//! The card of the running lesson, to the right of the panes.

use egui::{Align, Key, Layout, Modifiers, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui};
use egui::{RichText, pos2, vec2};

use super::bars::{answer_ui, guess_bar_ui};
use super::mark::{MarkedText, mark_ui, marked};
use super::matching::matching_ui;
use super::options::{confidence_ui, option_keys_ui, options_ui};
use super::order::order_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lessons::{
    CacheTimes, Lesson, LessonStep, Question, calibration_words, closeness, mean_excess,
};
use crate::plots::{NamedCurve, cache_curves_ui};
use crate::state::{AppState, Command, LessonCommand, LessonPhase, LessonRun, Page, Pane};
use crate::ui::keys::is_covered;

/// The width of the card, in points.
pub(in crate::ui) const CARD: f32 = 340.0;

const SIDE: f32 = 18.0;

/// The height of the row with the buttons.
const FOOT: f32 = 36.0;

/// The height of the curves.
const CURVES: f32 = 190.0;

/// What the card shows besides the lesson itself.
struct Evidence<'a> {
    marked: Option<MarkedText<'a>>,
    cache: Option<&'a dyn CacheTimes>,
    /// What the lesson is waiting for before it asks.
    waits_for: String,
}

/// Draws the card. It handles keys if `has_keys`, which is false while something covers the window.
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
    if state.lesson_is_done() {
        // Some settings are edited in place, without a command.
        commands.push(Command::Lesson(LessonCommand::Look));
    }
    let marked = state.lessons.run().and_then(marked);
    let evidence = Evidence {
        marked: marked.map(|(pane, n_tokens)| MarkedText {
            pane,
            n_tokens,
            text: state.panes.get(pane).and_then(Pane::generation),
        }),
        cache: state.lab.cache.times(),
        waits_for: waits_for(state),
    };
    let Some(run) = state.lessons.run_mut() else {
        return;
    };
    if has_keys && ui.memory(|memory| memory.focused().is_none()) {
        option_keys_ui(ui, run);
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
            body_ui(ui, &evidence, run, commands);
        });
    let foot = Rect::from_min_max(pos2(inside.left(), foot_top), inside.max);
    foot_ui(&mut child_ui(ui, foot, "lesson foot"), run, commands);
}

/// Goes on with the lesson if Enter was pressed outside of text fields. During a task, the key
/// belongs to what has the focus. Call it before drawing, so that no control consumes the key.
pub(in crate::ui) fn enter_key_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    let has_card = matches!(state.page, Page::Write | Page::Lab);
    let Some(run) = state.lessons.run().filter(|_| has_card) else {
        return;
    };
    let goes_on = match run.phase() {
        LessonPhase::Predict => run.can_say(),
        LessonPhase::See | LessonPhase::Why | LessonPhase::Ending => true,
        LessonPhase::Preparing | LessonPhase::Do => false,
    };
    let is_free = goes_on && !ui.text_edit_focused() && !is_covered(ui, state);
    if is_free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
        commands.push(Command::Lesson(LessonCommand::Next));
    }
}

/// Says what the lesson is waiting for: the texts, or a measurement and its progress.
fn waits_for(state: &AppState) -> String {
    let measuring = state
        .lab
        .cache
        .run
        .as_ref()
        .filter(|run| run.status.is_running());
    measuring.map_or_else(
        || "Preparing the window…".to_owned(),
        |run| format!("Measuring. {}", run.summary()),
    )
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
    let part = phase.name();
    let words = if run.again().is_some() {
        format!("Asked again: {part}")
    } else {
        format!("Step {} of {n_steps}: {part}", step.min(n_steps))
    };
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

fn body_ui(ui: &mut Ui, evidence: &Evidence<'_>, run: &mut LessonRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    again_ui(ui, run);
    let texts = run.texts().clone();
    let begins = question_begins(ui, run);
    match run.phase() {
        LessonPhase::Preparing => {
            let words = Face::Small.text(evidence.waits_for.as_str());
            ui.label(words.color(theme.text_3));
        }
        LessonPhase::Predict => {
            ui.label(serif(&texts.ask).color(theme.text_1));
            curves_ui(ui, evidence, run);
            question_ui(ui, begins, evidence, run, commands);
        }
        LessonPhase::Do => {
            ui.label(serif(&texts.task).color(theme.text_1));
            let words = "The card continues as soon as you have done that, however you do it.";
            ui.label(Face::Small.text(words).color(theme.text_3));
        }
        LessonPhase::See => {
            ui.label(serif(&texts.verdict).color(theme.text_1));
            curves_ui(ui, evidence, run);
            answer_ui(ui, evidence.marked.as_ref(), run);
            divider_ui(ui);
            ui.label(serif(&texts.see).color(theme.text_1));
        }
        LessonPhase::Why => why_ui(ui, run),
        LessonPhase::Ending => ending_ui(ui, run),
    }
}

/// Draws the control with which the learner answers the question.
fn question_ui(
    ui: &mut Ui,
    begins: bool,
    evidence: &Evidence<'_>,
    run: &mut LessonRun,
    commands: &mut Vec<Command>,
) {
    let Some(question) = run.step().map(|step| step.question.clone()) else {
        return;
    };
    match (question, &evidence.marked) {
        (Question::Probability { .. }, _) => return guess_bar_ui(ui, begins, run, commands),
        (Question::Mark { .. }, Some(marked)) => return mark_ui(ui, begins, marked, run, commands),
        (Question::Mark { .. }, None) => return,
        (Question::Order { .. }, _) => order_ui(ui, run),
        (Question::Match { .. }, _) => matching_ui(ui, run),
        (Question::Token { .. } | Question::Choice { .. }, _) => options_ui(ui, run),
    }
    if begins && let Some(focused) = ui.memory(egui::Memory::focused) {
        // Digits choose an option, so no text field may have the focus.
        ui.memory_mut(|memory| memory.surrender_focus(focused));
    }
    confidence_ui(ui, run);
}

/// Says that the question was missed in another lesson.
fn again_ui(ui: &mut Ui, run: &LessonRun) {
    let Some(again) = run.again().filter(|_| run.phase() < LessonPhase::See) else {
        return;
    };
    let words = format!("You missed this in ‘{}’; try again.", again.lesson.title);
    ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
}

/// Draws the curves of the question. Until the answer is shown, they have numbers instead of names.
fn curves_ui(ui: &mut Ui, evidence: &Evidence<'_>, run: &LessonRun) {
    let (Some(step), Some(lab)) = (run.step(), evidence.cache) else {
        return;
    };
    if step.curves.is_empty() {
        return;
    }
    let is_seen = run.phase() >= LessonPhase::See;
    let curves = ["One", "Two"].into_iter().zip(&step.curves);
    let curves = curves.map(|(name, curve)| NamedCurve {
        points: lab.points(*curve),
        name: if is_seen { curve.name() } else { name }.to_owned(),
    });
    let curves: Vec<NamedCurve> = curves.collect();
    let size = vec2(ui.available_width(), CURVES);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    cache_curves_ui(ui, rect, &curves);
}

/// Returns whether a question has just appeared.
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
    if let Some(excess) = mean_excess(&run.scores()) {
        let words = score_words(&run.lesson, excess);
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
    if let Some(words) = calibration_words(&run.scores()) {
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
}

/// Says how close the predictions of a lesson were on average.
fn score_words(lesson: &Lesson, excess: f64) -> String {
    if !lesson.bits {
        return format!("On average, your guesses were {}.", closeness(excess));
    }
    let mut words = format!(
        "On average, your predictions cost {excess:.2} bits more than the best possible; 0 is \
         perfect."
    );
    let is_probability = |step: &LessonStep| matches!(step.question, Question::Probability { .. });
    if lesson.steps.iter().all(is_probability) {
        words.push_str(" Always saying 50 % costs at most 1 bit.");
    }
    words
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
            let is_doing = run.phase() == LessonPhase::Do;
            let label = "Set the text back";
            if is_doing && ui.add(Button::new(label).quiet()).clicked() {
                send(LessonCommand::SetBack);
            }
            let can_skip = run.again().is_some() && run.phase() < LessonPhase::See;
            if can_skip && ui.add(Button::new("Not now").quiet()).clicked() {
                send(LessonCommand::SkipAgain);
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
