//! An opened run beside its repetition: how far the logits moved at each token, where the texts
//! diverge, and why.

use egui::{Align2, Label, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::analysis::replay::{Difference, TextReplay, Verdict, logit_gap};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, notice_frame, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::quoted;
use crate::plots::dashed_line;
use crate::state::{AppState, Outcome, Pane, Verification};
use crate::ui::xray::sentence_ui;

/// The width of the column with the verdict.
const VERDICT: f32 = 360.0;

/// Draws the comparison.
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
    plot_ui(
        &mut child_ui(ui, plot, "gaps"),
        plot,
        outcome,
        verification,
        &state.panes,
    );
    let column = right.with_min_x(right.left() + 14.0);
    verdict_ui(&mut child_ui(ui, column, "verdict"), outcome, verification);
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

/// Draws the largest logit difference over the tokens, one line per pane.
fn plot_ui(
    ui: &mut Ui,
    rect: Rect,
    outcome: &Outcome,
    verification: &Verification,
    panes: &[Pane],
) {
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("plot"), Sense::hover());
    let sentence = format!(
        "Then and now, largest logit difference by token: {}",
        outcome.verdict
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &sentence));
    let painter = ui.painter();
    let title = painter.text(
        rect.min,
        Align2::LEFT_TOP,
        "Then and now",
        Face::SmallMedium.font(),
        theme.text_1,
    );
    painter.text(
        pos2(title.right() + 8.0, rect.top()),
        Align2::LEFT_TOP,
        "largest logit difference, token by token; a cross is the first different choice",
        Face::Micro.font(),
        theme.text_3,
    );
    let area = Rect::from_min_max(rect.min + vec2(48.0, 26.0), rect.max - vec2(8.0, 18.0));
    let n_steps = outcome.texts.iter().map(|text| text.gaps.len()).max();
    let most = outcome.texts.iter().map(TextReplay::largest_gap);
    let scale = Scale {
        area,
        n_steps: n_steps.unwrap_or_default().max(2),
        most: most.fold(0.0, f32::max),
    };
    scale.paint_axes(ui);
    for (place, text) in outcome.texts.iter().enumerate() {
        let color = theme.pane(place);
        let points = text.gaps.iter().enumerate();
        let points = points.map(|(step, gap)| scale.at(step, *gap)).collect();
        painter.add(dashed_line(place, points, color));
    }
    let mut bottom = area.bottom() - 8.0;
    for (place, text) in outcome.texts.iter().enumerate() {
        let then = panes.get(place).and_then(Pane::generation);
        let texts = then.zip(verification.text(place));
        if let (Some(found), Some(texts)) = (text.first_difference, texts) {
            let gap = text.gaps.last().copied().unwrap_or_default();
            let at = scale.at(found.step.min(text.gaps.len().saturating_sub(1)), gap);
            paint_cross(ui, at, place);
            label_ui(ui, (at, &mut bottom), place, &words(found, texts));
        }
    }
}

/// Where a difference is in the plot.
struct Scale {
    area: Rect,
    n_steps: usize,
    /// The largest difference, at the top.
    most: f32,
}

impl Scale {
    fn at(&self, step: usize, gap: f32) -> Pos2 {
        let x = step as f32 / (self.n_steps - 1) as f32;
        let y = if self.most > 0.0 {
            gap / self.most
        } else {
            0.0
        };
        let area = self.area;
        pos2(
            area.left() + x * area.width(),
            area.bottom() - y * area.height(),
        )
    }

    fn paint_axes(&self, ui: &Ui) {
        let theme = Theme::of(ui);
        let painter = ui.painter();
        let font = Face::Micro.font();
        for part in 0..=2 {
            let gap = self.most * part as f32 / 2.0;
            let y = self.at(0, gap).y;
            if part > 0 && self.most == 0.0 {
                continue;
            }
            let stroke = Stroke::new(
                1.0,
                if part == 0 {
                    theme.stroke_2
                } else {
                    theme.stroke_1
                },
            );
            painter.hline(self.area.x_range(), y, stroke);
            let at = pos2(self.area.left() - 8.0, y);
            painter.text(
                at,
                Align2::RIGHT_CENTER,
                logit_gap(gap),
                font.clone(),
                theme.text_3,
            );
        }
        for (step, align) in [(0, Align2::LEFT_TOP), (self.n_steps - 1, Align2::RIGHT_TOP)] {
            let at = pos2(self.at(step, 0.0).x, self.area.bottom() + 3.0);
            let words = format!("token {}", step + 1);
            painter.text(at, align, words, font.clone(), theme.text_3);
        }
    }
}

fn paint_cross(ui: &Ui, at: Pos2, place: usize) {
    let stroke = Stroke::new(2.0, Theme::of(ui).pane(place));
    for arm in [vec2(4.0, 4.0), vec2(4.0, -4.0)] {
        ui.painter()
            .add(Shape::line_segment([at - arm, at + arm], stroke));
    }
}

/// Paints the label of a cross in the next free row from the bottom.
fn label_ui(ui: &Ui, (at, bottom): (Pos2, &mut f32), place: usize, words: &str) {
    let theme = Theme::of(ui);
    let left = (at.x + 12.0).min(ui.max_rect().right() - 220.0);
    let badge = Rect::from_center_size(pos2(left + 7.0, *bottom), vec2(SMALL_BADGE, SMALL_BADGE));
    paint_badge(ui.painter(), theme, badge, place);
    let at = pos2(badge.right() + 6.0, *bottom);
    let font = Face::Small.font();
    ui.painter()
        .text(at, Align2::LEFT_CENTER, words, font, theme.text_1);
    *bottom -= 18.0;
}

/// "‘bat’ then, ‘crow’ now".
fn words(found: Difference, (then, now): (&Generation, &Generation)) -> String {
    let word = |text: &Generation, token: Option<_>| match token {
        Some(token) => quoted(&text.vocabulary.piece(token)),
        None => "no token".to_owned(),
    };
    let (then, now) = (word(then, found.then), word(now, found.now));
    format!("{then} then, {now} now")
}
