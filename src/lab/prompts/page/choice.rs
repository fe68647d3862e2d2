//! Below the answers: the choice at which right and wrong ones part.

use egui::{Label, Sense, Ui, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::generation::Vocabulary;
use crate::lab::LabCommand;
use crate::lab::prompts::PromptsCommand;
use crate::lab::prompts::figures::{ForkChoice, TaskResults};
use crate::lab::prompts::plot::{CHOICE, candidate_words, choice_ui};
use crate::lab::prompts::state::{ForkRun, TaskView};
use crate::state::{Command, RunStatus, capitalize};

/// Draws the choice of the shown cell, or the button that asks for it.
pub(super) fn show(
    ui: &mut Ui,
    results: &TaskResults,
    (view, at): (TaskView, (usize, usize)),
    asked: Option<&ForkRun>,
    commands: &mut Vec<Command>,
) {
    let Some(fork) = results.fork(at.0, at.1) else {
        return;
    };
    let asked = asked.filter(|asked| asked.is_of(view, at, &fork));
    let theme = Theme::of(ui);
    let small = |words: &str| Face::Small.text(words).color(theme.text_2);
    match asked.map(|asked| (&asked.status, &asked.choice)) {
        None if results.is_served(at.1) => {
            let words = "A server reports only part of each distribution: open the answers as panes \
                to see what it reported here.";
            ui.add(Label::new(small(words)).wrap());
        }
        None => {
            let hint = "The candidates, the coin of each answer, and the smallest change";
            let button = Button::new("Why they part").quiet();
            if ui.add(button).on_hover_text(hint).clicked() {
                let (task, pane) = at;
                let command = PromptsCommand::ExplainFork { view, task, pane };
                commands.push(Command::Lab(LabCommand::Prompts(command)));
            }
        }
        Some((_, Some(choice))) => explained_ui(ui, results.vocabulary_of(at.1), choice),
        Some((RunStatus::Failed { error }, None)) => {
            ui.add(Label::new(small(&capitalize(error))).wrap());
        }
        Some((_, None)) => {
            ui.label(small("Reading the prompt and the tokens before the choice"));
        }
    }
}

fn explained_ui(ui: &mut Ui, vocabulary: &Vocabulary, choice: &ForkChoice) {
    let theme = Theme::of(ui);
    let title = "Where right and wrong part";
    ui.label(Face::SmallMedium.text(title).color(theme.text_1));
    let size = vec2(ui.available_width(), CHOICE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    choice_ui(ui, rect, choice, vocabulary);
    let mut lines = vec![candidate_words(choice, vocabulary).join("   ")];
    if choice.differs {
        let words = "A stage tosses its own coin, so the candidates differ between the answers. \
            These are the candidates of the first answer.";
        lines.push(words.to_owned());
    }
    for draw in &choice.draws {
        if let Some(change) = &draw.change {
            let verdict = if draw.is_right { "right" } else { "wrong" };
            lines.push(format!("Answer {}, {verdict}. {change}", draw.answer + 1));
        }
    }
    for words in lines {
        ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
    }
}
