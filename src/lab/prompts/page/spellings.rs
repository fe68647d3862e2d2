//! The right of the Any setting view: one prompt, how its probability depends on the number, and the
//! token sequences that it is the sum of.

use egui::{Frame, Label, Margin, Rect, ScrollArea, Sense, Ui, vec2};

use super::cell::task_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{BADGE, Button, badge};
use crate::generation::formatting::{percent, token_word};
use crate::lab::LabCommand;
use crate::lab::prompts::plot::{ExactCurve, share_words, task_curve_ui};
use crate::lab::prompts::state::TaskView;
use crate::lab::prompts::{CurveRun, ExactFound, PromptsCommand, Spelling};
use crate::state::{Command, capitalize};

/// The height of the curve of one prompt.
const CURVE: f32 = 168.0;

/// The maximum number of spellings that are shown, and of tokens in each.
const N_SPELLINGS: usize = 6;
const N_TOKENS: usize = 24;

/// Draws the selected prompt.
pub(super) fn show(ui: &mut Ui, run: &CurveRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    let Some(task) = run.shown_task() else {
        let words = "Select a prompt to see what its probability is the sum of.";
        let words = Face::Small.text(words).color(theme.text_3);
        ui.add(Label::new(words).wrap());
        return;
    };
    let share = run.results.exact_share(task, run.base);
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        badge(ui, run.base, BADGE);
        let words = match share {
            Some(share) => format!("{} right", share_words(share)),
            None => "not computed under these settings".to_owned(),
        };
        let words = Face::Medium.text(capitalize(&words)).color(theme.text_1);
        ui.add(Label::new(words).truncate());
    });
    ScrollArea::vertical()
        .id_salt(task)
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 12.0);
            task_ui(ui, &run.results, task);
            if let Some(exact) = run.results.exact(task) {
                ui.separator();
                why_ui(ui, run, exact);
            }
            ui.separator();
            curve_ui(ui, run, task);
            use_ui(ui, run, commands);
        });
}

/// Draws the button that uses the settings that all values share.
fn use_ui(ui: &mut Ui, run: &CurveRun, commands: &mut Vec<Command>) {
    let hint = "Write with these settings in a new pane";
    let button = Button::new("Use these settings").icon(Icon::Plus).quiet();
    if ui.add(button).on_hover_text(hint).clicked() {
        let command = PromptsCommand::UseSettings {
            pane: run.base,
            view: TaskView::AnySetting,
        };
        commands.push(Command::Lab(LabCommand::Prompts(command)));
    }
}

fn curve_ui(ui: &mut Ui, run: &CurveRun, task: usize) {
    let theme = Theme::of(ui);
    let name = run.curve.axis.parameter.name().to_lowercase();
    let title = format!("This prompt at any {name}");
    ui.label(Face::SmallMedium.text(title).color(theme.text_1));
    let size = vec2(ui.available_width(), CURVE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let shown = ExactCurve {
        base: run.base,
        ..ExactCurve::new(&run.results, &run.curve, &run.reading)
    };
    // The labels of the axis reach into the margin.
    let rect = Rect::from_min_max(rect.min - vec2(8.0, 0.0), rect.max);
    task_curve_ui(ui, rect, shown, task);
}

/// Draws the likeliest token sequences that spell a right answer, each with its probability.
fn why_ui(ui: &mut Ui, run: &CurveRun, exact: &ExactFound) {
    let theme = Theme::of(ui);
    let letter = run.results.panes.get(run.base).map(|pane| &pane.letter);
    ui.horizontal_wrapped(|ui| {
        ui.label(Face::SmallMedium.text("Why exactly").color(theme.text_1));
        let words = format!(
            "the sum over all spellings, under {}",
            letter.map_or("", String::as_str)
        );
        ui.label(Face::Small.text(words).color(theme.text_3));
    });
    if let Some(refusal) = &exact.refusal {
        let words = Face::Small.text(capitalize(refusal)).color(theme.text_2);
        ui.add(Label::new(words).wrap());
    }
    for spelling in exact.spellings.iter().take(N_SPELLINGS) {
        spelling_ui(ui, run, spelling);
    }
    let n_more = exact.spellings.len().saturating_sub(N_SPELLINGS);
    let rest = exact.spellings.iter().skip(N_SPELLINGS);
    let rest: f64 = rest
        .filter_map(|spelling| spelling.probs.get(run.base))
        .sum();
    if n_more > 0 {
        let words = format!("{n_more} more, together {}", share_percent(rest));
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
}

/// Draws the tokens of a spelling and their probability.
fn spelling_ui(ui: &mut Ui, run: &CurveRun, spelling: &Spelling) {
    let theme = Theme::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        let (probs, end) = spelling.token_probs(run.base);
        for (token, prob) in spelling.tokens.iter().zip(probs).take(N_TOKENS) {
            let piece = run.results.vocabulary().piece(*token);
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
        let prob = spelling.probs.get(run.base).copied().unwrap_or_default();
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
