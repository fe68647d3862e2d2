//! The Loop tab for a text from a beam search: its tree, and how likely each pane's text is.

use egui::{Align2, Label, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::grouped;
use crate::plots::{BeamTree, BeamView, TextRun, beam_tree_ui, paint_text, paint_text_within};
use crate::state::AppState;
use crate::ui::why::split;

/// The height of a row of the comparison.
const ROW: f32 = 22.0;

/// Returns the tree of the text whose token is pinned, or else of the first beam search.
pub(in crate::ui) fn beam_tree(state: &AppState) -> Option<BeamTree> {
    let pinned = state.pin.and_then(|_| state.shown_step());
    let any = || {
        let panes = state.panes.iter();
        let mut texts = panes.map(|pane| pane.generation());
        texts.position(|text| text.is_some_and(|text| !text.beams.passes.is_empty()))
    };
    let pane = pinned.map(|(pane, _)| pane).or_else(any)?;
    BeamTree::of(pane, state.panes.get(pane)?.generation()?)
}

/// Draws the tree, and beside it how likely the texts of all panes are.
pub(super) fn beams_ui(ui: &mut Ui, body: Rect, state: &AppState, tree: &BeamTree) {
    let (left, right) = split(body);
    let inside = Rect::from_min_max(left.min + vec2(14.0, 8.0), left.max - vec2(14.0, 8.0));
    let pinned = state.pin.zip(state.pinned());
    let held = pinned.filter(|(_, (place, ..))| *place == tree.pane);
    let held = held.map(|(pin, _)| pin.step + 1);
    beam_tree_ui(ui, inside, tree, BeamView::Screen { held });
    let Some(right) = right else {
        return;
    };
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .vline(right.left(), right.shrink(1.0).y_range(), edge);
    let inside = right.shrink2(vec2(14.0, 10.0));
    let mut ui = child_ui(ui, inside, "beams");
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| reading_ui(ui, state, tree.pane));
}

fn reading_ui(ui: &mut Ui, state: &AppState, pane: usize) {
    let theme = Theme::of(ui);
    let text = state.panes.get(pane).and_then(|pane| pane.generation());
    let search = text.and_then(|text| text.config.chain.selector.beam_search());
    let n_beams = search.map_or(0, |search| search.n_beams());
    let title = format!("{} texts at a time", grouped(n_beams as f64));
    ui.add(Label::new(
        Face::SmallMedium.text(title).color(theme.text_1),
    ));
    let words = "Each pass extends every text by every token, and keeps those with the highest \
                 total log-prob. The pane shows a token once all of them agree on it.";
    ui.add(Label::new(Face::Why.text(words).color(theme.text_1)).wrap());
    let texts = comparable(state, pane);
    let n_tokens = texts.iter().map(|(_, text)| text.steps.len()).min();
    let Some(n_tokens) = n_tokens.filter(|n| *n > 0 && texts.len() > 1) else {
        return;
    };
    ui.add_space(8.0);
    let totals: Vec<(usize, &str, f64)> = texts
        .into_iter()
        .map(|(place, text)| (place, text.name.as_str(), total(text, n_tokens)))
        .collect();
    let lowest = totals
        .iter()
        .map(|(_, _, total)| *total)
        .fold(0.0, f64::min);
    for (place, name, total) in totals {
        let share = if lowest < 0.0 { total / lowest } else { 0.0 };
        row_ui(ui, place, name, total, share as f32);
    }
    let what = match n_tokens {
        1 => "Log-prob of the first token, in nats, under the model alone".to_owned(),
        n => format!(
            "Total log-prob of the first {} tokens, in nats, under the model alone",
            grouped(n as f64)
        ),
    };
    ui.add(Label::new(Face::Micro.text(what).color(theme.text_3)).wrap());
}

/// Returns the texts that continue the same prompt as this pane's.
fn comparable(state: &AppState, pane: usize) -> Vec<(usize, &Generation)> {
    let texts = state.panes.iter().map(|pane| pane.generation());
    let texts: Vec<(usize, &Generation)> = texts
        .enumerate()
        .filter_map(|(place, text)| Some((place, text?)))
        .filter(|(_, text)| !text.steps.is_empty())
        .collect();
    let own = texts.iter().find(|(place, _)| *place == pane).copied();
    let Some((_, own)) = own else {
        return Vec::new();
    };
    let same = texts.into_iter();
    same.filter(|(_, text)| text.shares_prompt_with(own))
        .collect()
}

/// Returns the total log-prob of a text's first tokens, in nats, before the sampler chain.
fn total(text: &Generation, n_tokens: usize) -> f64 {
    let steps = text.steps.iter().take(n_tokens);
    steps.map(|step| step.trace.raw_prob.ln()).sum()
}

/// Shows a pane's badge and name, a bar, and its total.
fn row_ui(ui: &mut Ui, place: usize, name: &str, total: f64, share: f32) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), ROW - ui.spacing().item_spacing.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let sum = format!("{total:.2}").replace('-', "−");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}: {sum}")));
    let middle = rect.center().y;
    let badge = Rect::from_center_size(
        pos2(rect.left() + SMALL_BADGE / 2.0, middle),
        vec2(SMALL_BADGE, SMALL_BADGE),
    );
    paint_badge(ui.painter(), theme, badge, place);
    let left = badge.right() + 8.0;
    let run = TextRun::new(name, Face::Small, theme.text_2);
    paint_text_within(ui, pos2(left, middle), Align2::LEFT_CENTER, run, 76.0);
    let run = TextRun::new(&sum, Face::Small, theme.text_2);
    paint_text(ui, rect.right_center(), Align2::RIGHT_CENTER, run);
    let rail = Rect::from_min_max(
        pos2(left + 84.0, middle - 3.0),
        pos2(rect.right() - 56.0, middle + 3.0),
    );
    let bar = rail.with_max_x(rail.left() + rail.width() * share.clamp(0.0, 1.0));
    ui.painter().rect_filled(bar, 2, theme.pane(place));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::decoding::TokenId;
    use crate::decoding::selector::Fate;
    use crate::generation::testing::generation;
    use crate::generation::{BeamNode, BeamPass, Beams, Piece};
    use crate::state::tests::written;
    use crate::state::{Command, DockTab, PaneStatus, Pin};
    use crate::ui::testing::window_of;

    const N_TOKENS: usize = 60;

    #[test]
    fn the_tree_follows_the_held_token() {
        let mut text = generation(&[(" a", 0.5); N_TOKENS]);
        let node = |parent| BeamNode {
            parent,
            token: text.steps[0].token,
            piece: Piece::text(" a"),
            log_prob: -1.0,
            fate: Fate::Running,
        };
        let other = |parent| BeamNode {
            token: TokenId(1),
            ..node(parent)
        };
        let passes = (0..N_TOKENS).map(|_| BeamPass {
            nodes: vec![node(0), other(1)],
        });
        text.beams = Arc::new(Beams {
            n_before: 0,
            passes: passes.collect(),
        });
        let mut state = written();
        state.panes[0].status = PaneStatus::Finished(text);
        state.view.dock_tab = DockTab::Loop;
        state.apply(Command::Unpin);
        let pane = state.panes[0].id;
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(4);
        let mut is_shown = |token: usize, step: Option<usize>| {
            window.state_mut().pin = step.map(|step| Pin { pane, step });
            window.run_steps(12);
            let name = format!("Token {token}, beam 1");
            window.query_all_by_label_contains(&name).count() > 0
        };
        assert!(is_shown(N_TOKENS, None), "the newest columns");
        assert!(is_shown(31, Some(30)));
        assert!(!is_shown(N_TOKENS, Some(30)));
        assert!(is_shown(3, Some(2)));
        assert!(!is_shown(31, Some(2)));
    }
}
