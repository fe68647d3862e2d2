//! By how much the best settings are better than each other one, prompt by prompt: a dot, its
//! interval, and the line of no difference.

use egui::{Align2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::pane_letter;
use crate::lab::prompts::figures::statistics::Comparison;
use crate::lab::prompts::figures::{TaskResults, TasksReading};
use crate::plots::{TextRun, count, paint_text, unit_title_ui};

const TITLE: f32 = 26.0;
const ROW: f32 = 26.0;
const BELOW: f32 = 18.0;

/// The width of the badges on the left, and the margin on the right for half a label.
const BADGES: f32 = 58.0;
const MARGIN: f32 = 12.0;

/// The steps between marks, as shares, and the maximum number of them.
const STEPS: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const N_STEPS: f64 = 5.0;

/// Returns the height of all rows, or 0 if nothing is compared.
pub(in crate::lab::prompts) fn better_by_height(reading: &TasksReading) -> f32 {
    match reading.better_by().len() {
        0 => 0.0,
        n => TITLE + n as f32 * ROW + BELOW,
    }
}

/// Draws a row for each other settings.
pub(in crate::lab::prompts) fn better_by_ui(
    ui: &Ui,
    rect: Rect,
    reading: &TasksReading,
    results: &TaskResults,
) {
    let pairs = reading.better_by();
    if pairs.is_empty() {
        return;
    }
    let heading = ["Better by", "points, prompt by prompt"];
    let (title, body) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    unit_title_ui(ui, title, heading, "");
    let scale = PointScale::of(&pairs, body);
    let rows = Rect::from_min_size(body.min, vec2(body.width(), pairs.len() as f32 * ROW));
    scale.paint(ui, rows);
    for (index, pair) in pairs.iter().enumerate() {
        let top = rows.top() + index as f32 * ROW;
        let row = Rect::from_x_y_ranges(rows.x_range(), top..=top + ROW);
        let places = [pair.first, pair.second].map(|pane| results.place(pane));
        pair_ui(ui, row, &scale, (pair, places));
    }
}

/// The horizontal axis, which includes 0.
struct PointScale {
    from: f64,
    to: f64,
    step: f64,
    left: f32,
    right: f32,
}

impl PointScale {
    fn of(pairs: &[Comparison], rect: Rect) -> Self {
        let intervals = pairs.iter().map(|pair| pair.paired.interval);
        let (from, to) = intervals.fold((0.0_f64, 0.0_f64), |(from, to), interval| {
            (from.min(interval.low), to.max(interval.high))
        });
        let step = STEPS
            .into_iter()
            .find(|step| (to - from) / step <= N_STEPS)
            .unwrap_or(0.5);
        // The longest interval does not touch the edge.
        let air = step / 4.0;
        Self {
            from: from - air,
            to: to + air,
            step,
            left: rect.left() + BADGES,
            right: rect.right() - MARGIN,
        }
    }

    fn x(&self, share: f64) -> f32 {
        let place = (share - self.from) / (self.to - self.from);
        self.left + place as f32 * (self.right - self.left)
    }

    /// Draws the marks and their labels: "−10", "0", "+10".
    fn paint(&self, ui: &Ui, rows: Rect) {
        let theme = Theme::of(ui);
        let first = (self.from / self.step).ceil();
        let n = count(((self.to - self.from) / self.step).floor());
        for index in 0..=n {
            let share = (first + index as f64) * self.step;
            if share > self.to {
                break;
            }
            let is_zero = share.abs() < self.step / 2.0;
            let color = if is_zero {
                theme.stroke_3
            } else {
                theme.stroke_1
            };
            let x = self.x(share);
            ui.painter()
                .vline(x, rows.y_range(), Stroke::new(1.0, color));
            let words = signed_points(if is_zero { 0.0 } else { share });
            let run = TextRun::new(&words, Face::Micro, theme.text_3);
            let at = pos2(x, rows.bottom() + 10.0);
            paint_text(ui, at, Align2::CENTER_CENTER, run);
        }
    }
}

/// "+10", "0", "−10".
fn signed_points(share: f64) -> String {
    let points = (share * 100.0).round();
    match points {
        points if points > 0.0 => format!("+{points:.0}"),
        points if points < 0.0 => format!("−{:.0}", -points),
        _ => "0".to_owned(),
    }
}

/// Draws two badges, the difference and its interval.
fn pair_ui(ui: &Ui, row: Rect, scale: &PointScale, (pair, places): (&Comparison, [usize; 2])) {
    let theme = Theme::of(ui);
    let y = row.center().y;
    for (left, place) in [2.0, 29.0].into_iter().zip(places) {
        let center = pos2(row.left() + left + SMALL_BADGE / 2.0, y);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, place);
    }
    let run = TextRun::new("–", Face::Micro, theme.text_3);
    let at = pos2(row.left() + 22.5, y);
    paint_text(ui, at, Align2::CENTER_CENTER, run);
    let interval = pair.paired.interval;
    let [low, high] = [interval.low, interval.high].map(|end| scale.x(end));
    let stroke = Stroke::new(1.5, theme.text_2);
    ui.painter().hline(low..=high, y, stroke);
    for x in [low, high] {
        ui.painter().vline(x, y - 3.0..=y + 3.0, stroke);
    }
    let center = pos2(scale.x(pair.paired.difference), y);
    ui.painter().circle_filled(center, 4.0, theme.text_1);
    let id = ui.scope_id().with(("better by", pair.first, pair.second));
    let response = ui.interact(row, id, Sense::hover());
    let words = pair_words(pair, places);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    response.on_hover_text(&words);
}

/// "A better than D by 8 points, 0 to 16".
fn pair_words(pair: &Comparison, places: [usize; 2]) -> String {
    let [first, second] = places.map(pane_letter);
    let paired = &pair.paired;
    let points = |share: f64| signed_points(share).replace('+', "");
    let (low, high) = (points(paired.interval.low), points(paired.interval.high));
    let by = points(paired.difference);
    format!("{first} better than {second} by {by} points, {low} to {high}")
}

#[cfg(test)]
mod tests {
    use super::signed_points;

    #[test]
    fn differences_have_signs() {
        let shares = [0.1, -0.104, 0.001, 0.0];
        assert_eq!(shares.map(signed_points), ["+10", "−10", "0", "0"]);
    }
}
