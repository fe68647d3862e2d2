//! An opened run beside its repetition: how far the logits moved at each token, where the texts
//! diverge, and why.

use egui::{Label, Rect, Stroke, Ui};

use crate::analysis::replay::Verdict;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::notice_frame;
use crate::plots::{GapData, gap_plot_ui};
use crate::state::{AppState, Outcome, Pane, Verification};
use crate::ui::xray::sentence_ui;

/// The width of the column with the verdict.
const VERDICT: f32 = 360.0;

/// Draws the comparison, or its progress until it is complete.
pub(super) fn then_and_now_ui(
    ui: &mut Ui,
    inside: Rect,
    verification: &Verification,
    state: &AppState,
) {
    let Some(outcome) = verification.outcome() else {
        let words = state.verifying_words().unwrap_or_default();
        return sentence_ui(ui, inside, &words);
    };
    let width = VERDICT.min(inside.width() * 0.45);
    let (left, right) = inside.split_left_right_at_x(inside.right() - width);
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().vline(right.left(), right.y_range(), edge);
    let plot = left.with_max_x(left.right() - 14.0);
    if let Some(data) = gap_data(state) {
        gap_plot_ui(&mut child_ui(ui, plot, "gaps"), &data, theme.surface_1);
    }
    let column = right.with_min_x(right.left() + 14.0);
    verdict_ui(&mut child_ui(ui, column, "verdict"), outcome, verification);
}

/// Returns how the opened run differs from its repetition, once it has been repeated.
pub fn gap_data(state: &AppState) -> Option<GapData> {
    let verification = state.verification.as_ref()?;
    let outcome = verification.outcome()?;
    let then = state.panes.iter().filter_map(Pane::generation);
    let now = (0..).map_while(|place| verification.text(place));
    let texts = then.zip(now);
    Some(GapData::of(&outcome.verdict, &outcome.texts, texts))
}

fn verdict_ui(ui: &mut Ui, outcome: &Outcome, verification: &Verification) {
    let theme = Theme::of(ui);
    let (fill, icon) = match outcome.verdict {
        Verdict::Identical | Verdict::SameTokens { .. } => {
            (theme.success_bg, (Icon::Check, theme.success))
        }
        Verdict::Different { .. } => (theme.warning_bg, (Icon::Warning, theme.warning)),
    };
    notice_frame(ui, fill, icon, |ui| {
        let words = format!("{}.", outcome.verdict);
        ui.label(Face::Small.text(words).color(theme.text_1));
    });
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| {
            if let Some(cause) = verification.cause() {
                ui.add_space(4.0);
                let words = Face::Why.text(format!("{cause}.")).color(theme.text_1);
                ui.add(Label::new(words).wrap());
            }
            ui.add_space(4.0);
            ui.spacing_mut().interact_size.y = 16.0;
            egui::Grid::new("facts")
                .num_columns(2)
                .spacing([16.0, 4.0])
                .show(ui, |ui| {
                    for fact in verification.facts() {
                        let (values, color) = if fact.differs() {
                            (
                                format!("{} then, {} now", fact.then, fact.now),
                                theme.warning,
                            )
                        } else if fact.then.is_empty() || fact.now.is_empty() {
                            ("not recorded".to_owned(), theme.text_3)
                        } else {
                            (format!("same, {}", fact.now), theme.text_1)
                        };
                        ui.label(Face::Small.text(fact.name).color(theme.text_2));
                        ui.label(Face::Small.text(values).color(color));
                        ui.end_row();
                    }
                });
        });
}
