//! How stable the text is: the range of each setting in which it stays the same.

use egui::{Align2, Label, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::formatting::counted;
use crate::lab::stability::StabilityRun;
use crate::lab::stability::figures::{Flip, StableInterval};

/// Draws the sentence about the text, the interval of each setting, and what changes first.
pub(super) fn intervals_ui(ui: &mut Ui, run: &StabilityRun) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 6.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(
            Face::SmallMedium
                .text(match run.held_step() {
                    Some(_) => "How stable is this choice?",
                    None => "How stable is this text?",
                })
                .color(theme.text_1),
        );
        badge(ui, run.text.place, SMALL_BADGE);
        let words = match run.held_step() {
            Some(step) => format!("token {}, {}", step + 1, run.token_words(step)),
            None => counted(run.text.steps.len(), "token"),
        };
        ui.label(Face::Small.text(words).color(theme.text_3));
    });
    let sentence = Face::Why.text(run.interval_sentence());
    ui.add(Label::new(sentence.color(theme.text_1)).wrap());
    if !run.intervals.is_complete() {
        return;
    }
    for interval in run.intervals.intervals() {
        ui.separator();
        interval_ui(ui, interval, run);
    }
    let changes = run.first_changes();
    if changes.is_empty() {
        return;
    }
    ui.separator();
    let heading = Face::SmallMedium.text("What changes first");
    ui.label(heading.color(theme.text_1));
    for (value, change) in changes {
        change_ui(ui, &value, &change);
    }
}

/// Draws a value, and what changes at it.
fn change_ui(ui: &mut Ui, value: &str, change: &str) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        let (at, _) = ui.allocate_exact_size(vec2(96.0, 18.0), Sense::hover());
        let left = pos2(at.left(), at.center().y);
        let font = Face::Small.font();
        ui.painter()
            .text(left, Align2::LEFT_CENTER, value, font, theme.text_1);
        ui.add(Label::new(Face::Small.text(change).color(theme.text_2)).truncate());
    });
}

/// Draws the range of a setting, with the proven interval, the values around it that are unknown, and
/// the current value.
fn interval_ui(ui: &mut Ui, interval: &StableInterval, run: &StabilityRun) {
    let theme = Theme::of(ui);
    let name = interval.parameter.name();
    let value_words = |value| interval.value_words(&run.text.config.chain, value);
    let (low, high) = (value_words(interval.low), value_words(interval.high));
    let unknown = interval.unknown_words();
    let unknown = unknown.map_or_else(String::new, |words| format!(", {words}"));
    let words = format!("{low} to {high}{unknown}");
    ui.horizontal(|ui| {
        ui.label(Face::Body.text(&name).color(theme.text_1));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(Face::Small.text(&words).color(theme.text_2));
        });
    });
    let Some([from, to]) = interval.parameter.slider_ends() else {
        return;
    };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Image,
            true,
            format!("{name} stays the same from {words}"),
        )
    });
    let x = |value: f64| {
        let share = if to > from {
            (value - from) / (to - from)
        } else {
            0.0
        };
        rect.left() + share.clamp(0.0, 1.0) as f32 * rect.width()
    };
    let y = rect.center().y;
    let rail = Rect::from_min_max(pos2(rect.left(), y - 2.0), pos2(rect.right(), y + 2.0));
    ui.painter().rect_filled(rail, 2, theme.surface_4);
    let color = theme.pane(run.text.place);
    let next = |flip: &Option<Flip>, end| flip.as_ref().map_or(end, |flip| flip.value);
    let unknown = [
        interval
            .open_below
            .then(|| [next(&interval.below, from), interval.low]),
        interval
            .open_above
            .then(|| [interval.high, next(&interval.above, to)]),
    ];
    for [start, end] in unknown.into_iter().flatten() {
        let unknown = Rect::from_min_max(pos2(x(start), y - 1.0), pos2(x(end), y + 1.0));
        ui.painter().rect_filled(unknown, 1, theme.text_3);
    }
    let (low, high) = (x(interval.low), x(interval.high).max(x(interval.low) + 3.0));
    let inside = Rect::from_min_max(pos2(low, y - 3.0), pos2(high, y + 3.0));
    ui.painter().rect_filled(inside, 2, color);
    let value = x(interval.value);
    let tick = Rect::from_min_max(pos2(value - 1.0, y - 7.0), pos2(value + 1.0, y + 7.0));
    ui.painter().rect_filled(tick, 1, theme.text_1);
}
