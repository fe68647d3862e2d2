//! The Lessons page: a centered list.

use egui::{Align2, Color32, Key, Modifiers, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind};
use egui::{Ui, WidgetInfo, pos2, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, ControlColors, focus_ring, paint_fill};
use crate::lessons::{Lesson, closeness};
use crate::state::{Action, AppState, Command, LessonCommand};

/// The width of the list, in points.
const LIST: f32 = 680.0;

const ROW: f32 = 56.0;

/// Draws the page below the top bar.
pub(in crate::ui) fn lessons_ui(
    ui: &mut Ui,
    page: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let moved = keys_ui(ui, state, commands);
    let theme = Theme::of(ui);
    ui.painter().rect_filled(page, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(page, 8, edge, StrokeKind::Inside);
    let width = LIST.min(page.width() - 24.0);
    let side = (page.width() - width) / 2.0;
    let mut ui = child_ui(ui, page.shrink(1.0), "lessons");
    // The scroll bar is at the edge of the page, away from the rows.
    let scroll = ScrollArea::vertical().auto_shrink(false);
    scroll.show(&mut ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        ui.horizontal_top(|ui| {
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.set_width(width);
                list_ui(ui, moved, state, commands);
            });
        });
    });
}

fn list_ui(ui: &mut Ui, moved: bool, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.add_space(22.0);
    head_ui(ui, state, commands);
    for index in 0..state.lessons.list.len() {
        group_ui(ui, index, state);
        let row = row_ui(ui, index, state, commands);
        if moved && index == state.lessons.selected {
            ui.scroll_to_rect(row, None);
        }
    }
    ui.add_space(16.0);
}

/// Draws the heading of a group above its first lesson.
fn group_ui(ui: &mut Ui, index: usize, state: &AppState) {
    let group_at = |index: usize| state.lessons.list.get(index)?.group.as_deref();
    let before = index.checked_sub(1).and_then(group_at);
    let Some(group) = group_at(index).filter(|group| before != Some(group)) else {
        return;
    };
    ui.add_space(12.0);
    ui.horizontal(|ui| {
        ui.add_space(14.0);
        ui.label(Face::Strong.text(group).color(Theme::of(ui).text_1));
    });
    ui.add_space(4.0);
}

fn head_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let indented = |ui: &mut Ui, text: egui::RichText| {
        ui.horizontal(|ui| {
            ui.add_space(14.0);
            ui.label(text);
        });
    };
    ui.horizontal(|ui| {
        ui.add_space(14.0);
        ui.label(Face::Title.text("Lessons").color(theme.text_1));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add_space(14.0);
            files_ui(ui, state, commands);
        });
    });
    ui.add_space(6.0);
    let words = "Each takes a few minutes: predict, try it, see what happened, read why.";
    indented(ui, Face::Read.text(words).color(theme.text_2));
    ui.add_space(18.0);
}

/// Draws the buttons that open a lesson, create a new one, and save the learner's answers.
fn files_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = 8.0;
    for action in [
        Action::OpenLesson,
        Action::SaveNewLesson,
        Action::SaveLessonAnswers,
    ] {
        let command = action.command(state);
        let name = action.name(state);
        let button = Button::new(&name).quiet();
        let response = ui.add_enabled(command.is_ok(), button);
        match command {
            Ok(command) if response.clicked() => commands.push(command),
            Ok(_) => {}
            Err(reason) => {
                response.on_disabled_hover_text(reason);
            }
        }
    }
}

/// Arrow keys select a lesson and Enter starts it, unless a control has the focus. Returns whether
/// the selection moved.
fn keys_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) -> bool {
    if ui.memory(|memory| memory.focused().is_some()) || covers_page(state) {
        return false;
    }
    let before = state.lessons.selected;
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let lessons = &mut state.lessons;
    let last = lessons.list.len().saturating_sub(1);
    if pressed(Key::ArrowDown) {
        lessons.selected = (lessons.selected + 1).min(last);
    }
    if pressed(Key::ArrowUp) {
        lessons.selected = lessons.selected.saturating_sub(1);
    }
    if pressed(Key::Enter) {
        commands.push(Command::Lesson(LessonCommand::Start(lessons.selected)));
    }
    lessons.selected != before
}

const fn covers_page(state: &AppState) -> bool {
    state.dialogs.palette.is_some()
        || state.dialogs.settings.is_some()
        || state.dialogs.help.is_some()
        || state.models.dialog_open
        || state.dialogs.path_field.is_some()
}

/// Draws the row of a lesson. Returns its rectangle.
fn row_ui(ui: &mut Ui, index: usize, state: &mut AppState, commands: &mut Vec<Command>) -> Rect {
    let size = vec2(ui.available_width(), ROW);
    let Some(lesson) = state.lessons.list.get(index).cloned() else {
        return Rect::NOTHING;
    };
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let selected = index == state.lessons.selected;
    let aside = aside_words(state, &lesson);
    let label = format!(
        "Lesson {}: {}, {}, {aside}",
        index + 1,
        lesson.title,
        lesson.summary
    );
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, selected, &label));
    if response.clicked() || response.gained_focus() {
        state.lessons.selected = index;
    }
    if response.double_clicked() {
        commands.push(Command::Lesson(LessonCommand::Start(index)));
    }
    let theme = Theme::of(ui);
    let fill = if selected {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = theme.text_1;
    paint_fill(ui, &response, ControlColors { fill, text }, 8);
    let painter = ui.painter();
    let number = (index + 1).to_string();
    let at = pos2(rect.left() + 30.0, rect.center().y);
    painter.text(
        at,
        Align2::RIGHT_CENTER,
        number,
        Face::Small.font(),
        theme.text_3,
    );
    let left = rect.left() + 44.0;
    let at = pos2(left, rect.top() + 17.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        &lesson.title,
        Face::Read.font(),
        text,
    );
    let at = pos2(left, rect.top() + 38.0);
    painter.text(
        at,
        Align2::LEFT_CENTER,
        &lesson.summary,
        Face::Small.font(),
        theme.text_3,
    );
    focus_ring(ui, &response, 8);
    if selected {
        action_ui(ui, rect, index, state, commands);
        return rect;
    }
    let mut right = rect.right() - 14.0;
    if state.lessons.progress.score_of(&lesson.id).is_some() {
        let center = pos2(right - 8.0, rect.center().y);
        let square = Rect::from_center_size(center, vec2(16.0, 16.0));
        Icon::Check.paint(ui.painter(), square, theme.text_2);
        right -= 26.0;
    }
    let at = pos2(right, rect.center().y);
    let font = Face::Small.font();
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, aside, font, theme.text_3);
    rect
}

/// Draws the selected row's Start or Resume button, or why the lesson can't start.
fn action_ui(ui: &mut Ui, row: Rect, index: usize, state: &AppState, commands: &mut Vec<Command>) {
    let Some(lesson) = state.lessons.list.get(index) else {
        return;
    };
    let is_begun = state.lessons.progress.begun_at(&lesson.id).is_some();
    let inside = row.shrink2(vec2(14.0, 14.0));
    let mut ui = child_ui(ui, inside, ("action", index));
    let theme = Theme::of(&ui);
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let Some(reason) = state.lesson_blocked(lesson) else {
            let label = if is_begun { "Resume" } else { "Start" };
            if ui.add(Button::new(label).primary().hint("↵")).clicked() {
                commands.push(Command::Lesson(LessonCommand::Start(index)));
            }
            return;
        };
        if reason.contains("built-in") {
            let button = Button::new("Switch to it").raised();
            if ui.add(button).clicked() {
                commands.push(Command::LoadEmbeddedModel);
            }
        }
        ui.label(Face::Small.text(reason).color(theme.text_2));
    });
}

/// Returns a lesson's score, or how far the learner got, or how long it takes.
fn aside_words(state: &AppState, lesson: &Lesson) -> String {
    let progress = &state.lessons.progress;
    if let Some(excess) = progress.score_of(&lesson.id) {
        return if lesson.bits {
            format!("{excess:.2} bits per guess")
        } else {
            format!("guesses {}", closeness(excess))
        };
    }
    match progress.begun_at(&lesson.id) {
        Some(step) => format!("at step {step} of {}", lesson.steps.len()),
        None => format!("{} minutes", lesson.minutes),
    }
}
