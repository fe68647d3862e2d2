//! The footer of a pane: its status and token counts, or what its changed settings would alter, and
//! the lint icon.

use egui::{Align, Color32, Label, Layout, Sense, Ui, vec2};

use super::figures::{bits_per_character, of_steps};
use super::keys::key_words;
use super::layout::Breakpoint;
use super::lint_notice::lint_sign_ui;
use super::text_measures::measures_tooltip;
use crate::analysis::contradictions::Contradiction;
use crate::analysis::grammar::GrammarTotals;
use crate::analysis::watermark::Verdict;
use crate::analysis::{Metrics, TextScore, Thought, have_different_tokenizers};
use crate::decoding::GrammarRule;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, focus_ring};
use crate::generation::formatting::{counted, grouped, pane_letter, speed};
use crate::generation::{FinishReason, Generation};
use crate::state::{
    Action, AppState, BranchCommand, BranchTarget, Command, ConversationCommand, EditScope,
    InPlaceEdit, MessageEdit, Pane, PaneStatus, WhatIfSummary, WhatIfs,
};

/// The minimum gap between the text on the left and the text on the right.
const GAP: f32 = 8.0;

/// The width at which the button that continues in a new pane fits beside what is kept.
const MIN_NEW_PANE: f32 = 280.0;

/// The link that continues an interrupted text.
const CONTINUE: &str = "Continue";

/// Draws the footer. Returns the step to scroll to if the user clicked the what-if count.
pub(super) fn footer_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> Option<usize> {
    let what_ifs = pane.what_ifs();
    let Some(words) = what_ifs.and_then(WhatIfs::words) else {
        if status_ui(ui, breakpoint, pane, state) {
            commands.push(Command::Branch(BranchCommand::Continue(pane.id)));
        }
        return None;
    };
    let clicked = what_if_ui(ui, pane, &words, state);
    what_ifs?.first_changed().filter(|_| clicked)
}

/// Draws the footer of a text that is being edited in place: what is kept, or what is wrong with
/// what was typed; and the buttons that end editing.
pub(super) fn edit_footer_ui(
    ui: &mut Ui,
    edit: &InPlaceEdit,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let text = state.pane(edit.from.pane).and_then(Pane::generation);
    let n_steps = text.map_or(0, |text| text.steps.len());
    let problem = text.and_then(|text| edit.tokens(text).err());
    let words = if let Some(problem) = problem {
        Face::Small.text(problem).color(theme.error)
    } else {
        let kept = grouped(edit.from.step as f64);
        let words = format!("Keeps {kept} of {}", counted(n_steps, "token"));
        Face::Small.text(words).color(theme.text_2)
    };
    let can_continue = problem.is_none();
    let can_add_pane = can_continue && state.panes.has_room();
    let keys = key_words(ui, Action::Generate);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().interact_size.y = 24.0;
        ui.spacing_mut().item_spacing.x = 2.0;
        let mut ended = None;
        if icon_button(ui, Icon::Close, "Stop editing (Esc)").clicked() {
            ended = Some(BranchCommand::Edit(None));
        }
        let button = Button::new("Continue").hint("↵").quiet();
        if ui.add_enabled(can_continue, button).clicked() {
            ended = Some(BranchCommand::FinishEdit(BranchTarget::InPlace));
        }
        if ui.available_width() > MIN_NEW_PANE {
            let button = Button::new("New pane").hint(&keys).quiet();
            if ui.add_enabled(can_add_pane, button).clicked() {
                ended = Some(BranchCommand::FinishEdit(BranchTarget::NewPane));
            }
        }
        commands.extend(ended.map(Command::Branch));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(words).truncate());
        });
    });
}

/// Draws the status on the left and the token counts on the right. If the text was interrupted, offers
/// to continue it; returns whether that was clicked.
fn status_ui(ui: &mut Ui, breakpoint: Breakpoint, pane: &Pane, state: &AppState) -> bool {
    let model_ready = state.models.of(pane).is_some();
    let prices = state.view.prices;
    let theme = Theme::of(ui);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if let Some(generation) = pane.latest() {
            // Where the text breaks the grammar matters more than the speed, and takes its space.
            let is_wrong = contradiction_of(pane, state).is_some() || break_step(pane).is_some();
            let breakpoint = if is_wrong {
                Breakpoint::Small
            } else {
                breakpoint
            };
            let counts = counts(ui, breakpoint, generation, state);
            let label = ui.label(Face::Small.text(counts).color(theme.text_3));
            if let Some(metrics) = pane.text_metrics() {
                label.on_hover_text(measures_tooltip(metrics, prices));
            }
        }
        ui.spacing_mut().item_spacing.x = 4.0;
        lint_sign_ui(ui, pane);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let left_out =
                (pane.is_left_out && state.is_replying()).then(|| "Left out of replies".to_owned());
            let instead = state.panes.reads_words(pane).or(left_out);
            let status = match instead.filter(|_| pane.status.failure().is_none()) {
                Some(words) => (false, words, theme.text_2),
                None => status_text(ui, &pane.status, model_ready),
            };
            let can_continue = state.can_continue(pane);
            let reserved = if can_continue {
                Face::Small.width(ui, CONTINUE) + ui.spacing().item_spacing.x
            } else {
                0.0
            };
            if let Some(found) = contradiction_of(pane, state) {
                let (words, short) = contradiction_words(found);
                wrong_ui(ui, &words, &short, reserved);
            } else if let Some(step) = break_step(pane) {
                let words = format!("Breaks the grammar at token {}", step + 1);
                let short = format!("Breaks at token {}", step + 1);
                wrong_ui(ui, &words, &short, reserved);
            } else {
                let verdict = verdict_text(pane, theme);
                let (done, text, color) = verdict.unwrap_or(status);
                if done {
                    let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
                    Icon::Check.paint(ui.painter(), rect, color);
                }
                let label = Face::Small.text(text).color(color);
                ui.scope(|ui| {
                    ui.set_max_width((ui.available_width() - reserved).max(0.0));
                    ui.add(Label::new(label).truncate());
                });
            }
            can_continue && continue_ui(ui)
        })
        .inner
    })
    .inner
}

/// Draws the link that continues the text. Returns whether it was clicked.
fn continue_ui(ui: &mut Ui) -> bool {
    let theme = Theme::of(ui);
    let label = Face::Small.text(CONTINUE).color(theme.text_1);
    let label = Label::new(label.underline()).selectable(false);
    let response = ui.add(label.sense(Sense::click()));
    focus_ring(ui, &response, 4);
    let hint = "Continue where the text was interrupted, with the pane’s current settings";
    response.on_hover_text(hint).clicked()
}

/// Draws the footer of a message that is being edited: the buttons that end editing.
pub(super) fn message_footer_ui(
    ui: &mut Ui,
    place: usize,
    edit: &MessageEdit,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let letter = pane_letter(place);
    let keys = key_words(ui, Action::Generate);
    let can_ask = !edit.text.is_empty();
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().interact_size.y = 24.0;
        ui.spacing_mut().item_spacing.x = 2.0;
        let mut ended = None;
        if icon_button(ui, Icon::Close, "Stop editing (Esc)").clicked() {
            ended = Some(ConversationCommand::Edit(None));
        }
        let button = Button::new("Answer again").hint("↵").quiet();
        if ui.add_enabled(can_ask, button).clicked() {
            ended = Some(ConversationCommand::FinishEdit(EditScope::Pane));
        }
        if ui.available_width() > MIN_NEW_PANE - 60.0 {
            let button = Button::new("In all panes").hint(&keys).quiet();
            if ui.add_enabled(can_ask, button).clicked() {
                ended = Some(ConversationCommand::FinishEdit(EditScope::AllPanes));
            }
        }
        commands.extend(ended.map(Command::Conversation));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let words = Face::Small.text(format!("Only in {letter}"));
            ui.add(Label::new(words.color(theme.text_2)).truncate());
        });
    });
}

/// Draws how many tokens would change on the left and, if it fits, where the first change is on the
/// right. Returns whether the count was clicked.
fn what_if_ui(ui: &mut Ui, pane: &Pane, words: &WhatIfSummary, state: &AppState) -> bool {
    let theme = Theme::of(ui);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let right = match (&words.first, pane.generation()) {
            (Some(first), _) => first.clone(),
            (None, Some(generation)) => counts(ui, Breakpoint::Small, generation, state),
            (None, None) => String::new(),
        };
        let lint_icon = if pane.lints().is_empty() { 0.0 } else { 28.0 };
        let needed =
            Face::Small.width(ui, &words.count) + Face::Small.width(ui, &right) + GAP + lint_icon;
        if needed <= ui.available_width() {
            ui.label(Face::Small.text(right).color(theme.text_3));
        }
        lint_sign_ui(ui, pane);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let label = Face::Small.text(&words.count).color(theme.changed);
            let label = Label::new(label).truncate().selectable(false);
            let response = ui.add(label.sense(Sense::click()));
            focus_ring(ui, &response, 4);
            response.on_hover_text(&words.explanation).clicked()
        })
        .inner
    })
    .inner
}

fn counts(ui: &Ui, breakpoint: Breakpoint, generation: &Generation, state: &AppState) -> String {
    if generation.is_scored() {
        let shown = state.generations().into_iter().flatten();
        return scored_counts(ui, generation, have_different_tokenizers(shown));
    }
    let metrics = Metrics::of(generation);
    let thought = of_steps(ui.ctx(), "thought", generation, Thought::of);
    let tokens = match *thought {
        Some(thought) if thought.is_closed => {
            let n_thought = thought.n_tokens();
            let answer = counted(metrics.n_generated.saturating_sub(n_thought), "token");
            format!("{answer} after {}", grouped(n_thought as f64))
        }
        _ => counted(metrics.n_generated, "token"),
    };
    let totals = of_steps(ui.ctx(), "grammar totals", generation, GrammarTotals::of);
    if let Some(totals) = &*totals {
        return format!("{tokens} · {} changed", grouped(totals.n_changed as f64));
    }
    match metrics.decode_per_sec {
        Some(per_sec) if breakpoint >= Breakpoint::Normal => {
            format!("{tokens} · {} tok/s", speed(per_sec))
        }
        _ => tokens,
    }
}

/// "60 tokens · perplexity 37", or how much has been scored so far.
/// Beside texts with another tokenizer, the perplexity, which is per token, would mislead.
fn scored_counts(ui: &Ui, generation: &Generation, beside_other_tokenizers: bool) -> String {
    let n_tokens = grouped(generation.steps.len() as f64);
    if beside_other_tokenizers && generation.finish.is_some() {
        let bits = bits_per_character(ui.ctx(), generation);
        let bits = bits.map(|bits| format!(" · {bits:.2} bits per character"));
        return format!("{n_tokens} tokens{}", bits.unwrap_or_default());
    }
    let perplexity = of_steps(ui.ctx(), "perplexity", generation, |text| {
        TextScore::of(text).perplexity()
    });
    match *perplexity {
        Some(perplexity) if generation.finish.is_some() => {
            let decimals = usize::from(perplexity < 9.95);
            format!("{n_tokens} tokens · perplexity {perplexity:.decimals$}")
        }
        _ => format!("{n_tokens} tokens"),
    }
}

/// Returns the first step of a finished text that breaks a grammar.
fn break_step(pane: &Pane) -> Option<usize> {
    let is_running = pane.status.running().is_some();
    pane.breaks_grammar_at().filter(|_| !is_running)
}

/// Returns where the record of a text contradicts itself.
fn contradiction_of<'a>(pane: &Pane, state: &'a AppState) -> Option<&'a Contradiction> {
    let place = state.place_of(pane.id)?;
    state.runs.contradiction_in(place)
}

/// Says where a record contradicts itself, at length and in short.
fn contradiction_words(found: &Contradiction) -> (String, String) {
    match found.step {
        Some(step) => (
            format!("Contradicts itself at token {}", step + 1),
            format!("Contradicts at {}", step + 1),
        ),
        None => (
            "Contradicts itself".to_owned(),
            "Contradicts itself".to_owned(),
        ),
    }
}

/// Shows what is wrong with a text, abbreviated if `reserved` points would not stay free.
fn wrong_ui(ui: &mut Ui, words: &str, short: &str, reserved: f32) {
    let color = Theme::of(ui).error;
    let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
    Icon::Warning.paint(ui.painter(), rect, color);
    let room = ui.available_width() - reserved;
    let has_room = Face::Small.width(ui, words) <= room;
    let shown = if has_room { words } else { short };
    let label = Label::new(Face::Small.text(shown).color(color)).truncate();
    ui.scope(|ui| {
        ui.set_max_width(room.max(0.0));
        ui.add(label).on_hover_text(words);
    });
}

/// Returns the watermark verdict on a finished text, if the window shows it.
fn verdict_text(pane: &Pane, theme: &Theme) -> Option<(bool, String, Color32)> {
    let is_running = pane.status.running().is_some();
    let scan = pane.watermark().filter(|_| !is_running)?;
    let found = scan.verdict() == Verdict::Found;
    let color = if found { theme.success } else { theme.text_2 };
    Some((found, scan.verdict_words(), color))
}

/// Returns whether the text ended by itself, the status, and its color.
fn status_text(ui: &Ui, status: &PaneStatus, model_ready: bool) -> (bool, String, Color32) {
    let theme = Theme::of(ui);
    let plain = |text: &str| (false, text.to_owned(), theme.text_2);
    match status {
        PaneStatus::Ready if model_ready => (false, "Ready".to_owned(), theme.text_3),
        PaneStatus::Ready => plain(""),
        PaneStatus::Waiting { .. } => plain("Waiting"),
        PaneStatus::Reading {
            n_read, n_tokens, ..
        } => {
            let (n_read, n_tokens) = (grouped(*n_read as f64), grouped(*n_tokens as f64));
            plain(&format!("Reading the prompt: {n_read} of {n_tokens}"))
        }
        PaneStatus::Writing(recorder) if recorder.text.is_scored() => {
            let n_scored = grouped(recorder.text.steps.len() as f64);
            let n_tokens = grouped(recorder.text.config.limits.max_new_tokens as f64);
            plain(&format!("Scoring, {n_scored} of {n_tokens} tokens"))
        }
        PaneStatus::Writing(_) => plain("Generating"),
        PaneStatus::Finished(generation) => match &generation.finish {
            Some(reason) => {
                let (ended, words, color) =
                    finish_text(reason, generation.unfinished_grammar(), theme);
                let unreported = of_steps(
                    ui.ctx(),
                    "unreported",
                    generation,
                    Generation::unreported_words,
                );
                let remarks = generation.not_applied_words().into_iter();
                let remarks = remarks.chain((*unreported).clone());
                let words = [words].into_iter().chain(remarks).collect::<Vec<_>>();
                (ended, words.join(" · "), color)
            }
            None => plain("Generating"),
        },
        PaneStatus::Refused { reason, .. } => finish_text(reason, None, theme),
    }
}

fn finish_text(
    reason: &FinishReason,
    unfinished: Option<&GrammarRule>,
    theme: &Theme,
) -> (bool, String, Color32) {
    let ended = matches!(
        reason,
        FinishReason::EndOfText | FinishReason::StopString { .. } | FinishReason::GrammarComplete
    );
    match reason {
        FinishReason::Failed { .. } => (false, "Stopped by an error".to_owned(), theme.error),
        reason => (ended, reason.words(unfinished), theme.text_2),
    }
}
