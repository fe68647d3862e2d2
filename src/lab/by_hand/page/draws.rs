//! Counts of repeated draws, beside the counts that the distribution predicts.

use egui::{
    Align, Align2, Layout, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::analysis::by_hand::{Draws, Tally, Untested};
use crate::decoding::Selector;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::generation::formatting::grouped;
use crate::lab::frame::empty;
use crate::plots::{TextRun, paint_text};
use crate::state::{AppState, Command};
use crate::ui::xray::{HEADS, Heights};

/// The widths of the columns with the counts, from right to left, and of the names.
const EXPECTED: f32 = 62.0;
const DRAWN: f32 = 50.0;
const NAME: f32 = 72.0;

/// The height of the verdict below the counts.
const VERDICT: f32 = 64.0;

/// Shows the counts and the χ² test. `heights` are those of the X-ray, unless the chain is not valid.
pub(super) fn draws_ui(
    ui: &mut Ui,
    heights: Option<Heights>,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let draws = state.hand_draws();
    ui.spacing_mut().item_spacing.y = 0.0;
    heading_ui(ui, draws, heights.is_some(), commands);
    let heights = heights.unwrap_or(Heights::USUAL);
    let Some(draws) = draws else {
        let hint = "Each draw uses the next coin from the pane’s seed. Drag the coin below the \
                    table to see the sampled token change.";
        let outlines = ui.max_rect().with_min_y(ui.cursor().top());
        outlines_ui(ui, outlines, heights, state);
        return empty::about_ui(ui, outlines, hint);
    };
    let selector = state
        .panes
        .get(state.hand_pane())
        .map_or(Selector::Multinomial, |pane| pane.settings.chain.selector);
    let verdict = test_verdict(draws, selector);
    let height = (ui.available_height() - VERDICT).max(2.0 * Heights::USUAL.row);
    let largest = draws
        .counts
        .iter()
        .map(|tally| f64::from(tally.count).max(tally.expected))
        .fold(1.0, f64::max);
    ScrollArea::vertical()
        .id_salt("counts")
        .max_height(height)
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            for tally in &draws.counts {
                let label = state.by_hand.label(tally.id);
                tally_ui(ui, &label, *tally, (largest, heights));
            }
        });
    ui.separator();
    ui.add_space(8.0);
    ui.add(egui::Label::new(Face::Small.text(verdict).color(theme.text_1)).wrap());
}

/// Draws the outline of a bar for each token.
fn outlines_ui(ui: &Ui, area: Rect, heights: Heights, state: &AppState) {
    let bars = (area.left() + NAME + 6.0)..=(area.right() - EXPECTED - DRAWN);
    for index in 0..state.by_hand.tokens().len() {
        let y = area.top() + heights.row * (index as f32 + 0.5);
        let half = heights.bar / 2.0;
        let bar = Rect::from_x_y_ranges(bars.clone(), y - half..=y + half);
        if bar.bottom() <= area.bottom() {
            empty::outline(ui, bar);
        }
    }
}

/// Draws the number of draws, the button that draws one more, and the names of the counts.
fn heading_ui(ui: &mut Ui, draws: Option<&Draws>, is_enabled: bool, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEADS), Sense::hover());
    let mut row = child_ui(ui, rect, "heading");
    row.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let n = draws.map_or(0, Draws::n);
        let words = match n {
            0 => "No draws yet".to_owned(),
            1 => "1 draw".to_owned(),
            n => format!("{} draws", grouped(n as f64)),
        };
        ui.label(Face::SmallMedium.text(words).color(theme.text_1));
        let button = Button::new("Draw 1").quiet();
        if ui.add_enabled(is_enabled, button).clicked() {
            commands.push(Command::DrawByHand(1));
        }
    });
    if draws.is_some() {
        let paint = |x: f32, text: &str| {
            let run = TextRun::new(text, Face::Micro, theme.text_3);
            let at = pos2(x, rect.center().y);
            paint_text(ui, at, Align2::RIGHT_CENTER, run);
        };
        paint(rect.right() - EXPECTED, "drawn");
        paint(rect.right(), "expected");
    }
}

/// Shows a token's count as a bar, with a tick at the expected count. `largest` fills the width.
fn tally_ui(ui: &mut Ui, label: &str, tally: Tally, (largest, heights): (f64, Heights)) {
    let theme = Theme::of(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), heights.row), Sense::hover());
    let expected = match tally.expected {
        ..0.05 => "< 0.1".to_owned(),
        n @ ..100.0 => format!("{n:.1}"),
        n => grouped(n),
    };
    let drawn = grouped(f64::from(tally.count));
    let spoken = format!("‘{label}’ drawn {drawn} times, expected {expected}");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    let name = ui.painter().layout(
        label.to_owned(),
        Face::Candidate.font(),
        theme.text_2,
        f32::INFINITY,
    );
    let middle = rect.center().y;
    let label_rect = Rect::from_min_max(rect.min, pos2(rect.left() + NAME, rect.bottom()));
    let at = pos2(label_rect.left(), middle - name.size().y / 2.0);
    ui.painter()
        .with_clip_rect(label_rect)
        .galley(at, name, theme.text_2);

    let half = heights.bar / 2.0;
    let bars = Rect::from_min_max(
        pos2(label_rect.right() + 6.0, middle - half),
        pos2(rect.right() - EXPECTED - DRAWN, middle + half),
    );
    let x = |n: f64| bars.left() + bars.width() * (n / largest) as f32;
    let bar = bars.with_max_x(x(f64::from(tally.count)));
    ui.painter().rect_filled(bar, 2, theme.bar_before);
    let tick = Stroke::new(1.5, theme.text_1);
    let height = bars.expand2(vec2(0.0, 3.0)).y_range();
    ui.painter().vline(x(tally.expected), height, tick);
    for (x, text, color) in [
        (rect.right() - EXPECTED, drawn, theme.text_1),
        (rect.right(), expected, theme.text_3),
    ] {
        let at = pos2(x, middle);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, text, Face::Small.font(), color);
    }
    response.on_hover_text_at_pointer(spoken);
}

/// Says whether the counts are consistent with chance, or why that can't be tested.
fn test_verdict(draws: &Draws, selector: Selector) -> String {
    if let Some(test) = draws.chi_squared {
        let p = test.p_value();
        let (n, chi_squared) = (test.n_freedom, test.chi_squared);
        let freedom = if n == 1 { "degree" } else { "degrees" };
        let statistic = format!("χ² {chi_squared:.2} with {n} {freedom} of freedom");
        return match p {
            0.05.. => format!("{statistic}, p\u{a0}=\u{a0}{p:.2}: consistent with chance"),
            0.001.. => format!(
                "{statistic}, p\u{a0}=\u{a0}{p:.3}: unusual, happens by chance about 1 time in {:.0}",
                1.0 / p
            ),
            _ => format!("{statistic}, p\u{a0}<\u{a0}0.001: chance does not explain this"),
        };
    }
    let reason = match draws.untested(selector) {
        Untested::NoCoin => "No coin: every draw picks the top token",
        Untested::ChanceBefore => {
            "Every draw picks the top token among those that a random stage keeps"
        }
        Untested::OneToken => "Only one token is left, so every draw picks it",
        Untested::TooFewDraws => "Too few draws for a χ² test",
    };
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use super::test_verdict;
    use crate::analysis::by_hand::{Draws, LogitRow};
    use crate::decoding::filters::TopK;
    use crate::decoding::{ChainConfig, Filter, Selector};

    fn verdict(chain: &ChainConfig, n: u32) -> String {
        let row = LogitRow {
            logits: vec![1.0, 0.5, 0.0],
            ..LogitRow::default()
        };
        let draws = Draws::toss(chain, &row, row.coins(7), n).unwrap();
        test_verdict(&draws, chain.selector)
    }

    #[test]
    fn the_verdict_follows_from_the_chain_and_the_number_of_draws() {
        let all = ChainConfig::sampled([]);
        let one = ChainConfig::sampled([Filter::TopK(TopK { k: 1 })]);
        for (chain, n, expected) in [
            (&all, 1000, "consistent with chance"),
            (&all, 5, "Too few draws for a χ² test"),
            (&one, 1000, "Only one token is left, so every draw picks it"),
            (
                &ChainConfig::greedy(),
                1000,
                "No coin: every draw picks the top token",
            ),
        ] {
            let found = verdict(chain, n);
            assert!(found.ends_with(expected), "{found}");
        }
    }

    #[test]
    fn unlikely_counts_are_reported_as_unusual() {
        let row = LogitRow {
            logits: vec![1.0, 0.5, 0.0],
            ..LogitRow::default()
        };
        let draws = Draws::toss(&ChainConfig::sampled([]), &row, row.coins(42), 1000).unwrap();
        for (chi_squared, expected) in [
            (
                7.4,
                "p\u{a0}=\u{a0}0.025: unusual, happens by chance about 1 time in 40",
            ),
            (30.0, "p\u{a0}<\u{a0}0.001: chance does not explain this"),
        ] {
            let mut draws = draws.clone();
            draws.chi_squared.as_mut().unwrap().chi_squared = chi_squared;
            let found = test_verdict(&draws, Selector::Multinomial);
            assert!(found.ends_with(expected), "{found}");
        }
    }
}
