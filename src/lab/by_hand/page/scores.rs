//! The editable scores: a name, a draggable bar and a number for each token.

use egui::{
    Id, Popup, Rangef, Rect, Response, Sense, TextEdit, Ui, WidgetInfo, emath::remap_clamp, vec2,
};

use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, Number, field_frame, focus_ring, key_steps, menu_item};
use crate::lab::frame::setup::row_ui;
use crate::state::{ByHand, HAND_SCORES, HAND_TOKENS, HandPreset, HandToken, HeldToken};

const LABEL_WIDTH: f32 = 84.0;

/// The room for the score and the button that removes a token, to the right of the bar.
const SCORE_WIDTH: f32 = 100.0;

/// The minimum width of a bar.
const MIN_BAR: f32 = 40.0;

/// The height of a row.
const ROW: f32 = 38.0;

/// How far the bars reach beyond the lowest and the highest score.
const BAR_ROOM: f32 = 1.0;

/// The change of a score per press of an arrow key.
const KEY_STEP: f64 = 0.1;

/// Draws the tokens with their scores, which are edited in place.
pub(super) fn scores_ui(ui: &mut Ui, by_hand: &mut ByHand, held: Option<&HeldToken>) {
    row_ui(ui, "Logits", |ui| presets_ui(ui, by_hand, held));
    ui.spacing_mut().item_spacing.y = 2.0;
    let can_remove = by_hand.tokens().len() > *HAND_TOKENS.start();
    let mut removed = None;
    let range = bar_range(ui, by_hand.tokens());
    for (index, token) in by_hand.tokens_mut().iter_mut().enumerate() {
        let row = TokenRow {
            number: index + 1,
            range,
            can_remove,
        };
        let row = ui.push_id(index, |ui| row.ui(ui, token));
        if row.inner {
            removed = Some(index);
        }
    }
    if let Some(index) = removed {
        by_hand.remove(index);
    }
    let can_add = by_hand.tokens().len() < *HAND_TOKENS.end();
    let add = Button::new("Add a token").icon(Icon::Plus).quiet();
    let response = ui.add_enabled(can_add, add);
    if response.clicked() {
        by_hand.add();
    }
    let n_max = HAND_TOKENS.end();
    response.on_disabled_hover_text(format!("At most {n_max} tokens"));
    ui.spacing_mut().item_spacing.y = 8.0;
}

fn presets_ui(ui: &mut Ui, by_hand: &mut ByHand, held: Option<&HeldToken>) {
    let response = ui.add(Chip::new("Start from").chevron());
    Popup::menu(&response)
        .width(180.0)
        .gap(4.0)
        .accessible_name("Start from")
        .show(|ui| {
            for preset in HandPreset::ALL {
                if menu_item(ui, preset.name(), "", false).clicked() {
                    by_hand.load_preset(preset);
                }
            }
            if let Some(held) = held {
                let label = format!("Token {} of the text", held.number);
                let tip = "The model’s eight highest scores for the token held in the panes. The other \
                           tokens are left out, so the probabilities are larger here.";
                if menu_item(ui, &label, "", false).on_hover_text(tip).clicked() {
                    by_hand.load_held(held);
                }
            }
        });
}

/// Returns the scores at the ends of all bars: some room below the lowest and above the highest, so
/// that small differences are visible. While a bar is dragged, the ends stay.
fn bar_range(ui: &Ui, tokens: &[HandToken]) -> Rangef {
    let id = Id::unique("range of the bars");
    let last: Option<Rangef> = ui.data(|data| data.get_temp(id));
    if let Some(last) = last.filter(|_| ui.input(|input| input.pointer.any_down())) {
        return last;
    }
    let range = ends_of_bars(tokens.iter().map(HandToken::logit));
    ui.data_mut(|data| data.insert_temp(id, range));
    range
}

fn ends_of_bars(logits: impl Iterator<Item = f32> + Clone) -> Rangef {
    let lowest = logits.clone().fold(f32::INFINITY, f32::min);
    let highest = logits.fold(f32::NEG_INFINITY, f32::max);
    Rangef::new(
        (lowest.floor() - BAR_ROOM).max(*HAND_SCORES.start() as f32),
        (highest.ceil() + BAR_ROOM).min(*HAND_SCORES.end() as f32),
    )
}

/// How a token's row is drawn.
struct TokenRow {
    number: usize,
    /// The scores at the ends of the bar.
    range: Rangef,
    can_remove: bool,
}

impl TokenRow {
    /// Draws the row. Returns whether to remove the token.
    fn ui(&self, ui: &mut Ui, token: &mut HandToken) -> bool {
        let Self {
            number,
            range,
            can_remove,
        } = *self;
        ui.horizontal(|ui| {
            ui.set_min_height(ROW);
            ui.spacing_mut().item_spacing.x = 6.0;
            label_ui(ui, number, &mut token.label);
            let mut logit = f64::from(token.logit());
            let name = format!("Score of ‘{}’", token.label);
            let dragged = score_bar_ui(ui, &name, range, &mut logit).changed();
            let number = Number::new(&name, HAND_SCORES, 2);
            let typed = number.field_ui(ui, &mut logit).changed();
            if dragged || typed {
                token.set_logit(logit);
            }
            let name = format!("Remove ‘{}’", token.label);
            ui.add_enabled_ui(can_remove, |ui| icon_button(ui, Icon::Close, &name))
                .inner
                .clicked()
        })
        .inner
    }
}

fn label_ui(ui: &mut Ui, number: usize, label: &mut String) {
    let frame = field_frame(ui).inner_margin(egui::Margin::symmetric(6, 4));
    let edit = TextEdit::singleline(label)
        .font(Face::Candidate.font())
        .frame(frame)
        .char_limit(24)
        .desired_width(LABEL_WIDTH - 12.0);
    let response = ui
        .add(edit)
        .accessible_name(format!("Name of token {number}"));
    focus_ring(ui, &response, 6);
}

/// Draws the bar from the lower end of the range to this score. Dragging it changes the score.
fn score_bar_ui(ui: &mut Ui, name: &str, range: Rangef, logit: &mut f64) -> Response {
    let width = (ui.available_width() - SCORE_WIDTH).max(MIN_BAR);
    let (rect, mut response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::click_and_drag());
    let range = range.min..=range.max;
    let before = *logit;
    if let Some(pointer) = response.interact_pointer_pos() {
        let at = remap_clamp(pointer.x, rect.x_range(), range.clone());
        *logit = (f64::from(at) * 20.0).round() / 20.0;
    }
    *logit += key_steps(ui, &response) * KEY_STEP;
    if (*logit - before).abs() > f64::EPSILON {
        response.mark_changed();
    }
    response.widget_info(|| WidgetInfo::slider(true, *logit, name));
    if ui.is_rect_visible(rect) {
        let theme = Theme::of(ui);
        let rail = rect.shrink2(vec2(0.0, 6.0));
        let end = remap_clamp(*logit as f32, range.clone(), rail.x_range());
        let filled = Rect::from_min_max(rail.min, egui::pos2(end, rail.bottom()));
        let active = response.hovered() || response.dragged();
        let fill = if active {
            theme.text_1
        } else {
            theme.bar_after
        };
        ui.painter().rect_filled(rail, 2, theme.surface_3);
        ui.painter().rect_filled(filled, 2, fill);
        if range.contains(&0.0) {
            let zero = remap_clamp(0.0, range, rail.x_range());
            let line = egui::Stroke::new(1.0, theme.stroke_3);
            ui.painter().vline(zero, rect.shrink(2.0).y_range(), line);
        }
        focus_ring(ui, &response, 2);
    }
    response
        .on_hover_cursor(egui::CursorIcon::ResizeHorizontal)
        .on_hover_text(
            "The raw score, before softmax. Adding 1 multiplies the token’s odds by e ≈ 2.72.",
        )
}

#[cfg(test)]
mod tests {
    use egui::Rangef;

    use super::ends_of_bars;

    #[test]
    fn bars_begin_just_below_the_lowest_score() {
        for (logits, ends) in [
            (&[2.0, 1.3][..], (0.0, 3.0)),
            (&[0.5, -4.8], (-5.0, 2.0)),
            (&[9.9, 9.0], (8.0, 10.0)),
        ] {
            let range = ends_of_bars(logits.iter().copied());
            assert_eq!(range, Rangef::new(ends.0, ends.1));
        }
    }
}
