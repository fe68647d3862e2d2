//! The options of a question, from which the learner chooses one.

use egui::text::LayoutJob;
use egui::{Color32, Modifiers, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, focus_ring, paint_fill, switch_part};
use crate::lessons::{Confidence, Question};
use crate::state::{LessonPhase, LessonRun};
use crate::ui::keys::DIGITS;

/// Handles keys: digits choose an option, or the next one in an order or match question; there,
/// Backspace undoes the last choice.
pub(super) fn option_keys_ui(ui: &Ui, run: &mut LessonRun) {
    if run.phase() != LessonPhase::Predict {
        return;
    }
    let Some(question) = run.step().map(|step| step.question.clone()) else {
        return;
    };
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    for (index, key) in DIGITS.into_iter().enumerate().take(question.n_options()) {
        if !pressed(key) {
            continue;
        }
        match &question {
            Question::Order { .. } => run.guess.toggle_item(index),
            Question::Match { panes, .. } => run.guess.match_option(index, panes.len()),
            _ => run.guess.option = Some(index),
        }
    }
    let is_row = matches!(question, Question::Order { .. } | Question::Match { .. });
    if is_row && pressed(egui::Key::Backspace) {
        run.guess.take_back();
    }
}

/// Draws the options.
pub(super) fn options_ui(ui: &mut Ui, run: &mut LessonRun) {
    let labels = run.texts().labels.clone();
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (index, label) in labels.iter().enumerate() {
            let chosen = run.guess.option == Some(index);
            if option_ui(ui, index + 1, label, chosen) {
                run.guess.option = Some(index);
            }
        }
    });
}

/// Lets the learner choose how sure they are, if the question asks for it.
pub(super) fn confidence_ui(ui: &mut Ui, run: &mut LessonRun) {
    let asks = run
        .step()
        .is_some_and(|step| step.question.has_confidence());
    if !asks {
        return;
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for confidence in Confidence::ALL {
            let selected = run.guess.confidence == confidence;
            if switch_part(ui, confidence.name(), selected).clicked() {
                run.guess.confidence = confidence;
            }
        }
    });
}

/// Draws an option with its number. Returns whether it was clicked.
fn option_ui(ui: &mut Ui, number: usize, label: &str, chosen: bool) -> bool {
    let theme = Theme::of(ui);
    let width = ui.available_width();
    let mut job = LayoutJob::simple(
        label.to_owned(),
        Face::Candidate.font(),
        theme.text_1,
        width - 46.0,
    );
    for section in &mut job.sections {
        section.format.line_height = Some(Face::Candidate.row());
    }
    let galley = ui.painter().layout_job(job);
    let height = (galley.size().y + 14.0).max(32.0).ceil();
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    let name = format!("{number}: {label}");
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, &name));
    let fill = if chosen {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = theme.text_1;
    paint_fill(ui, &response, ControlColors { fill, text }, 6);
    let circle = pos2(rect.left() + 16.0, rect.top() + 16.0);
    let ring = egui::Stroke::new(1.5, if chosen { text } else { theme.text_3 });
    ui.painter().circle_stroke(circle, 6.0, ring);
    if chosen {
        ui.painter().circle_filled(circle, 3.0, text);
    }
    let at = pos2(rect.left() + 32.0, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, text);
    let key = Rect::from_min_max(pos2(rect.right() - 14.0, rect.top()), rect.max);
    let at = pos2(key.center().x, rect.top() + 16.0);
    let font = Face::Micro.font();
    ui.painter()
        .text(at, egui::Align2::CENTER_CENTER, number, font, theme.text_3);
    focus_ring(ui, &response, 6);
    response.clicked()
}
