//! An opened run beside its repetition: how far the logits moved at each token, where the texts
//! diverge, and why.

use egui::{Label, Rect, Stroke, Ui};

use crate::analysis::contradictions::{Contradiction, RunPlace};
use crate::analysis::replay::{Comparison, Verdict};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, notice_frame};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::plots::{ProvenData, VerifiedData, gap_plot_ui, proven_ui};
use crate::state::{AppState, Command, Pane, Pin, Verification};
use crate::ui::xray::sentence_ui;

/// What a contradiction means.
const CONTRADICTED: &str = "The file was changed after it was written, or a faulty program wrote \
                            it. What follows in that text was not checked.";

/// The width of the column with the verdict.
const VERDICT: f32 = 360.0;

/// Draws the comparison, or its progress until it is complete.
pub(super) fn then_and_now_ui(
    ui: &mut Ui,
    inside: Rect,
    verification: &Verification,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let Some(verdict) = verification.verdict() else {
        let words = state.runs.verifying_words(&state.panes).unwrap_or_default();
        return sentence_ui(ui, inside, &words);
    };
    let width = VERDICT.min(inside.width() * 0.45);
    let (left, right) = inside.split_left_right_at_x(inside.right() - width);
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().vline(right.left(), right.y_range(), edge);
    let plot = left.with_max_x(left.right() - 14.0);
    match verified_data(state) {
        Some(VerifiedData::Proven(data)) => {
            let mut strips = child_ui(ui, plot, "proven");
            proven_strips_ui(&mut strips, &data, verdict, state, commands);
        }
        Some(VerifiedData::Gaps(data)) => {
            gap_plot_ui(&mut child_ui(ui, plot, "gaps"), &data, theme.surface_1);
        }
        None => {}
    }
    let column = right.with_min_x(right.left() + 14.0);
    verdict_ui(&mut child_ui(ui, column, "verdict"), verdict, verification);
}

/// Returns the plot of the verification of the opened run, once it has a verdict.
pub fn verified_data(state: &AppState) -> Option<VerifiedData> {
    let verification = state.runs.verification.as_ref()?;
    let verdict = verification.verdict()?;
    let then: Vec<&Generation> = state.panes.iter().filter_map(Pane::generation).collect();
    let now: Vec<&Generation> = verification.texts().collect();
    Some(VerifiedData::of(verdict, &then, &now))
}

/// Draws what was proven about each token, and the way to the first contradiction.
fn proven_strips_ui(
    ui: &mut Ui,
    data: &ProvenData,
    verdict: &Verdict,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| {
            proven_ui(ui, data);
            let Some(found) = &verdict.contradiction else {
                return;
            };
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                if let Some((pin, words)) = pin_of(found, state)
                    && ui.add(Button::new(&words).icon(Icon::Search)).clicked()
                {
                    commands.push(Command::Pin(pin));
                }
                let copy = Button::new("Copy the report").icon(Icon::Copy);
                if ui.add(copy).clicked() {
                    ui.ctx().copy_text(verdict.to_string());
                }
            });
        });
}

/// Returns the token at which a file contradicts itself, and how to show it.
fn pin_of(found: &Contradiction, state: &AppState) -> Option<(Pin, String)> {
    let (RunPlace::Pane(place), Some(step)) = (found.place, found.step) else {
        return None;
    };
    let pane = state.panes.get(place)?;
    let words = format!("Show token {} of {}", step + 1, pane_letter(place));
    Some((
        Pin {
            pane: pane.id,
            step,
        },
        words,
    ))
}

fn verdict_ui(ui: &mut Ui, verdict: &Verdict, verification: &Verification) {
    let theme = Theme::of(ui);
    let (fill, icon) = match &verdict.comparison {
        _ if verdict.contradiction.is_some() => (theme.error_bg, (Icon::Warning, theme.error)),
        Some(Comparison::Identical | Comparison::SameTokens { .. })
            if verdict.exit_status() == 0 =>
        {
            (theme.success_bg, (Icon::Check, theme.success))
        }
        _ => (theme.warning_bg, (Icon::Warning, theme.warning)),
    };
    notice_frame(ui, fill, icon, |ui| {
        let words = verdict.to_string();
        ui.label(Face::Small.text(words).color(theme.text_1));
    });
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| {
            let prose = if verdict.contradiction.is_some() {
                Some(CONTRADICTED.to_owned())
            } else {
                verdict.pane_words()
            };
            let cause = verification.cause().map(|cause| format!("{cause}."));
            for words in prose.into_iter().chain(cause) {
                ui.add_space(4.0);
                let words = Face::Why.text(words).color(theme.text_1);
                ui.add(Label::new(words).wrap());
            }
            ui.add_space(4.0);
            ui.spacing_mut().interact_size.y = 16.0;
            egui::Grid::new("facts")
                .num_columns(2)
                .spacing([16.0, 4.0])
                .show(ui, |ui| {
                    for (name, words) in verdict.findings(verification.facts()) {
                        ui.label(Face::Small.text(name).color(theme.text_2));
                        ui.add(Label::new(Face::Small.text(words).color(theme.text_1)).wrap());
                        ui.end_row();
                    }
                    for fact in verification.facts().iter().filter(|fact| fact.differs()) {
                        let values = format!("{} then, {} now", fact.then, fact.now);
                        ui.label(Face::Small.text(fact.name).color(theme.text_2));
                        ui.label(Face::Small.text(values).color(theme.warning));
                        ui.end_row();
                    }
                });
        });
}
