//! The right of the Table view: the answers in the selected cell.

use egui::{Align, Label, Layout, ScrollArea, Ui};

use super::answers::answers_ui;
use super::{choice, overview};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{BADGE, Button, badge};
use crate::generation::formatting::counted;
use crate::lab::LabCommand;
use crate::lab::prompts::figures::TaskResults;
use crate::lab::prompts::figures::tasks::{Task, TaskPrompt};
use crate::lab::prompts::plot::share_words;
use crate::lab::prompts::state::{ForkRun, TaskView};
use crate::lab::prompts::{PromptsCommand, TasksRun};
use crate::state::{Command, capitalize};

/// The maximum length of the part of a prompt that is shown, in bytes.
const N_PROMPT: usize = 4000;

/// The maximum length of the part of an expected answer that is shown, in bytes.
const N_EXPECTED: usize = 200;

/// Draws the selected cell.
pub(super) fn show(
    ui: &mut Ui,
    run: &mut TasksRun,
    fork: Option<&ForkRun>,
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = 6.0;
    let Some((task, pane)) = run.selected else {
        overview::show(ui, run);
        return;
    };
    let has_answers = !run.results.answers(task, pane).is_empty();
    let words = right_words(&run.results, task, pane);
    if head_ui(ui, run.results.place(pane), &words, Some(has_answers)) {
        let answer = run.shown_answer();
        let command = PromptsCommand::Open {
            view: TaskView::Table,
            task,
            pane,
            answer,
        };
        commands.push(Command::Lab(LabCommand::Prompts(command)));
    }
    ScrollArea::vertical()
        .id_salt((task, pane))
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 12.0);
            task_ui(ui, &run.results, task);
            exact_ui(ui, &run.results, task, pane);
            let shown = run.shown_answer();
            if let Some(clicked) = answers_ui(ui, &run.results, (task, pane), shown) {
                run.selected_answer = Some(clicked);
            }
            let at = (TaskView::Table, (task, pane));
            choice::show(ui, &run.results, at, fork, commands);
            ui.add_space(4.0);
            use_ui(ui, pane, TaskView::Table, commands);
        });
}

/// Draws the badge, what was found, and the button that opens an answer as a pane, unless nothing is
/// drawn and `has_answers` is `None`. Returns whether it was clicked.
pub(super) fn head_ui(ui: &mut Ui, place: usize, words: &str, has_answers: Option<bool>) -> bool {
    let mut is_clicked = false;
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        badge(ui, place, BADGE);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(has_answers) = has_answers {
                let open = Button::new("Open as pane").icon(Icon::Plus).hint("↵");
                is_clicked = ui.add_enabled(has_answers, open).clicked();
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = Face::Medium.text(words).color(Theme::of(ui).text_1);
                ui.add(Label::new(words).truncate());
            });
        });
    });
    is_clicked
}

/// Draws the button that uses the settings that are described.
pub(super) fn use_ui(ui: &mut Ui, pane: usize, view: TaskView, commands: &mut Vec<Command>) {
    let hint = "Write with these settings in a new pane";
    let button = Button::new("Use these settings").icon(Icon::Plus).quiet();
    if ui.add(button).on_hover_text(hint).clicked() {
        let command = PromptsCommand::UseSettings { pane, view };
        commands.push(Command::Lab(LabCommand::Prompts(command)));
    }
}

/// "3 of 5 right".
pub(super) fn right_words(results: &TaskResults, task: usize, pane: usize) -> String {
    if let Some((n_right, n)) = results.n_right(task, pane) {
        return format!("{n_right} of {n} right");
    }
    match results.answers(task, pane).len() {
        0 if results.error_of(task, pane).is_some() => "Not answered".to_owned(),
        0 => "Not answered yet".to_owned(),
        n => counted(n, "answer"),
    }
}

/// Draws the prompt and what is expected.
pub(super) fn task_ui(ui: &mut Ui, results: &TaskResults, task: usize) {
    let theme = Theme::of(ui);
    let Some(own) = results.tasks().get(task) else {
        return;
    };
    let text = match &own.prompt {
        TaskPrompt::Text { text, .. } => text.as_str(),
        TaskPrompt::Messages { messages, .. } => messages.last().map_or("", |last| &last.content),
    };
    let text = text.trim_end();
    // The end of a long prompt is what is asked.
    let start = text.ceil_char_boundary(text.len().saturating_sub(N_PROMPT));
    let shown = text.get(start..).unwrap_or_default();
    let shown = if start > 0 {
        format!("… {shown}")
    } else {
        shown.to_owned()
    };
    ScrollArea::vertical()
        .id_salt("prompt")
        .max_height(130.0)
        .stick_to_bottom(true)
        .show(ui, |ui| {
            let words = Face::Read.text(shown).color(theme.prompt_text);
            ui.add(Label::new(words).wrap());
        });
    if !own.checks.is_empty() {
        let words = format!("expects {}", expected(own));
        let words = Face::Small.text(words).color(theme.text_2);
        ui.add(Label::new(words).wrap());
    }
}

/// Returns what is expected: a text in quotation marks, with the spaces that count, or the checks.
fn expected(task: &Task) -> String {
    if let [check] = task.checks.as_slice()
        && let Some([text]) = check.exact_texts()
    {
        let end = text.floor_char_boundary(N_EXPECTED);
        let rest = if end < text.len() { " …" } else { "" };
        return format!("‘{}{rest}’", text.get(..end).unwrap_or_default());
    }
    task.expected_words()
}

/// Says how likely a right answer is, or why that can't be computed.
pub(super) fn exact_ui(ui: &mut Ui, results: &TaskResults, task: usize, pane: usize) {
    let Some(exact) = results.exact(task, pane) else {
        return;
    };
    let words = match (results.exact_share(task, pane), &exact.refusal) {
        (Some(share), _) => format!("{} right", share_words(share)),
        (None, Some(refusal)) => refusal.clone(),
        (None, None) => return,
    };
    let words = Face::Small
        .text(capitalize(&words))
        .color(Theme::of(ui).text_2);
    ui.add(Label::new(words).wrap());
}
