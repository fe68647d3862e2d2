//! The right of the Any setting view: one prompt, how its share of right answers depends on the number,
//! and its answers or the token sequences that its probability is the sum of.

use egui::{Frame, Label, Margin, Rect, ScrollArea, Sense, Ui, vec2};

use super::answers::answers_ui;
use super::any_setting::shown_curve;
use super::cell::{exact_ui, head_ui, right_words, task_ui, use_ui};
use super::cell_tasks::cell_tasks_ui;
use super::choice;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{percent, token_word};
use crate::lab::LabCommand;
use crate::lab::prompts::plot::{share_words, task_curve_ui};
use crate::lab::prompts::state::{ForkRun, TaskView};
use crate::lab::prompts::{ExactFound, PromptsCommand, Spelling, SweepRun};
use crate::state::{Command, capitalize};

/// The height of the curve of one prompt.
const CURVE: f32 = 168.0;

/// The maximum number of spellings that are shown, and of tokens in each.
const N_SPELLINGS: usize = 6;
const N_TOKENS: usize = 24;

/// Draws the selected prompt, and its answers at the selected values.
pub(super) fn show(
    ui: &mut Ui,
    run: &mut SweepRun,
    fork: Option<&ForkRun>,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    let settings = run.shown_settings();
    let cell = settings.checked_sub(run.sweep.n_panes());
    let Some(task) = run.shown_task() else {
        let words = "Select a prompt to see what its probability is the sum of.";
        let words = Face::Small.text(words).color(theme.text_3);
        ui.add(Label::new(words).wrap());
        return;
    };
    let words = found_words(run, (task, settings));
    let has_answers = !run.results.answers(task, settings).is_empty();
    let has_answers = run.is_drawn().then_some(has_answers);
    if head_ui(ui, run.results.place(run.base), &words, has_answers) {
        let command = PromptsCommand::Open {
            view: TaskView::AnySetting,
            task,
            pane: settings,
            answer: run.shown_answer(),
        };
        commands.push(Command::Lab(LabCommand::Prompts(command)));
    }
    if let Some(cell) = cell.filter(|_| run.sweep.columns.is_some()) {
        let clicked = cell_tasks_ui(ui, run, cell);
        ui.separator();
        if let Some(task) = clicked {
            run.select_task(task);
        }
    }
    ScrollArea::vertical()
        .id_salt((task, settings))
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 12.0);
            task_ui(ui, &run.results, task);
            if run.is_drawn() {
                exact_ui(ui, &run.results, task, settings);
                let shown = run.shown_answer();
                let clicked = answers_ui(ui, &run.results, (task, settings), shown);
                run.selected_answer = clicked.or(run.selected_answer);
                let at = (TaskView::AnySetting, (task, settings));
                choice::show(ui, &run.results, at, fork, commands);
            } else if let Some(exact) = run.results.exact(task, settings) {
                ui.separator();
                why_ui(ui, run, exact, settings);
            }
            ui.separator();
            if run.sweep.columns.is_none() {
                curve_ui(ui, run, task);
            }
            use_ui(ui, settings, TaskView::AnySetting, commands);
        });
}

/// Says what was found, at which values.
fn found_words(run: &SweepRun, (task, settings): (usize, usize)) -> String {
    let exact = run.results.exact_share(task, settings);
    let words = match exact {
        _ if run.is_drawn() => right_words(&run.results, task, settings),
        Some(share) => format!("{} right", share_words(share)),
        None => "not computed under these settings".to_owned(),
    };
    format!("{}{}", at_words(run, settings), capitalize(&words))
}

/// "T 0.8 · top-p 0.9: ", or an empty string if these are the settings of a pane.
fn at_words(run: &SweepRun, settings: usize) -> String {
    let Some(cell) = settings.checked_sub(run.sweep.n_panes()) else {
        return String::new();
    };
    let values = run.sweep.cell_words(cell);
    if run.sweep.columns.is_some() {
        return format!("{values}: ");
    }
    format!("{} {values}: ", run.sweep.axis.parameter.chip())
}

fn curve_ui(ui: &mut Ui, run: &SweepRun, task: usize) {
    let theme = Theme::of(ui);
    let name = run.sweep.axis.parameter.name().to_lowercase();
    let title = format!("This prompt at any {name}");
    ui.label(Face::SmallMedium.text(title).color(theme.text_1));
    let size = vec2(ui.available_width(), CURVE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let shown = shown_curve(run);
    // The labels of the axis reach into the margin.
    let rect = Rect::from_min_max(rect.min - vec2(8.0, 0.0), rect.max);
    task_curve_ui(ui, rect, shown, task);
}

/// Draws the likeliest token sequences that spell a right answer, each with its probability.
fn why_ui(ui: &mut Ui, run: &SweepRun, exact: &ExactFound, settings: usize) {
    let theme = Theme::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(Face::SmallMedium.text("Why exactly").color(theme.text_1));
        let letter = run.results.panes.get(settings).map(|pane| &pane.letter);
        let under = letter.map_or("these settings", String::as_str);
        let words = format!("the sum over all spellings, under {under}");
        ui.label(Face::Small.text(words).color(theme.text_3));
    });
    if let Some(refusal) = &exact.refusal {
        let words = Face::Small.text(capitalize(refusal)).color(theme.text_2);
        ui.add(Label::new(words).wrap());
    }
    for spelling in exact.spellings.iter().take(N_SPELLINGS) {
        spelling_ui(ui, run, spelling, settings);
    }
    let n_more = exact.spellings.len().saturating_sub(N_SPELLINGS);
    let rest = exact.spellings.iter().skip(N_SPELLINGS);
    let rest: f64 = rest
        .filter_map(|spelling| spelling.probs.get(settings))
        .sum();
    if n_more > 0 {
        let words = format!("{n_more} more, together {}", share_percent(rest));
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
}

/// Draws the tokens of a spelling and their probability.
fn spelling_ui(ui: &mut Ui, run: &SweepRun, spelling: &Spelling, settings: usize) {
    let theme = Theme::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        let (probs, end) = spelling.token_probs(settings);
        for (token, prob) in spelling.tokens.iter().zip(probs).take(N_TOKENS) {
            let piece = run.results.vocabulary_of(settings).piece(*token);
            token_ui(ui, &token_word(&piece), Face::Candidate);
            prob_ui(ui, prob);
        }
        if spelling.tokens.len() > N_TOKENS {
            ui.label(Face::Small.text("…").color(theme.text_3));
        }
        if let Some(end) = end {
            token_ui(ui, "end", Face::Special);
            prob_ui(ui, end);
        }
        let prob = spelling.probs.get(settings).copied().unwrap_or_default();
        let words = format!("= {}", share_percent(prob));
        ui.label(Face::Medium.text(words).color(theme.text_1));
    });
}

/// Draws the probability of the token before it.
fn prob_ui(ui: &mut Ui, prob: f64) {
    let words = Face::Micro.text(share_percent(prob));
    ui.label(words.color(Theme::of(ui).text_2));
}

/// Draws a token on its own fill.
fn token_ui(ui: &mut Ui, word: &str, face: Face) {
    let theme = Theme::of(ui);
    Frame::new()
        .fill(theme.surface_2)
        .corner_radius(4)
        .inner_margin(Margin::symmetric(6, 1))
        .show(ui, |ui| {
            let color = if face == Face::Special {
                theme.special_text
            } else {
                theme.text_1
            };
            ui.label(face.text(word).color(color));
        });
}

fn share_percent(share: f64) -> String {
    if share > 0.0 {
        percent(share)
    } else {
        "0 %".to_owned()
    }
}
