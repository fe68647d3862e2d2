//! The Monte Carlo check in the why card: how often each token was drawn, how often it should have
//! been, and where the coins fell.

use egui::{Align2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::analysis::by_hand::{ChiSquared, N_COIN_BINS, StepDraws, Tally};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Vocabulary;
use crate::generation::formatting::{grouped, token_word};
use crate::state::{AppState, N_STEP_DRAWS};

/// The number of tokens shown.
const N_ROWS: usize = 6;

/// The height of a row, and the widths of its word and its number.
const ROW: f32 = 18.0;
const WORD: f32 = 78.0;
const NUMBER: f32 = 48.0;

/// The height of the histogram of the coins.
const COINS: f32 = 32.0;

/// Shows the draws of the shown step, once the user has asked for them.
pub(super) fn step_draws_ui(ui: &mut Ui, state: &AppState) {
    let shown = state.shown_step().and_then(|(place, _)| {
        let generation = state.panes.get(place)?.generation()?;
        Some((place, generation, state.step_draws()?))
    });
    let Some((place, generation, draws)) = shown else {
        return;
    };
    let between = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
    let tallies = draws.tallies();
    let largest = tallies
        .iter()
        .map(|tally| tally.expected)
        .fold(1.0, f64::max);
    // The exact bars stay and the drawn ones grow towards them.
    let share = f64::from(draws.n()) / f64::from(N_STEP_DRAWS);
    for tally in tallies.iter().take(N_ROWS) {
        let unit = share / largest.max(1.0);
        let row = Row {
            tally,
            unit,
            share,
            place,
        };
        row.ui(ui, &generation.vocabulary);
    }
    ui.add_space(4.0);
    words_ui(ui, &result_words(draws));
    ui.add_space(6.0);
    coins_ui(ui, draws);
    ui.add_space(4.0);
    words_ui(ui, &coin_words(draws));
    ui.add_space(8.0);
    ui.spacing_mut().item_spacing.y = between;
}

fn words_ui(ui: &mut Ui, words: &str) {
    let words = Face::Small.text(words).color(Theme::of(ui).text_2);
    ui.add(egui::Label::new(words).wrap());
}

/// Draws a histogram of the coins from 0 to 1, and a line at the count that is expected after all
/// draws.
fn coins_ui(ui: &mut Ui, draws: &StepDraws) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), COINS);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let expected = f64::from(N_STEP_DRAWS) / N_COIN_BINS as f64;
    let counts = draws.coin_counts();
    let (least, most) = (counts.iter().min(), counts.iter().max());
    let name = format!(
        "Coins from 0 to 1 in {N_COIN_BINS} equal parts: {} to {} in each",
        least.copied().unwrap_or_default(),
        most.copied().unwrap_or_default(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name.as_str()));
    // The line is at three quarters of the height.
    let height = |n: f64| (rect.height() * 0.75 * (n / expected).min(4.0 / 3.0) as f32).max(0.5);
    let width = rect.width() / N_COIN_BINS as f32;
    for (index, count) in counts.iter().enumerate() {
        let left = rect.left() + width * index as f32;
        let top = rect.bottom() - height(f64::from(*count));
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + width - 1.0, rect.bottom()));
        ui.painter().rect_filled(bar, 1, theme.surface_4);
    }
    let line = (rect.bottom() - height(expected)).round() + 0.5;
    let edge = Stroke::new(1.0, theme.text_2);
    ui.painter().hline(rect.x_range(), line, edge);
}

/// One token's bars.
struct Row<'a> {
    tally: &'a Tally,
    /// The length of one draw, as a share of the widest bar.
    unit: f64,
    /// The share of the draws that are done.
    share: f64,
    place: usize,
}

impl Row<'_> {
    fn ui(&self, ui: &mut Ui, vocabulary: &Vocabulary) {
        let theme = Theme::of(ui);
        let tally = self.tally;
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
        let word = token_word(&vocabulary.piece(tally.id));
        let drawn = grouped(f64::from(tally.count));
        let name = format!(
            "‘{word}’: drawn {drawn} times, expected {}",
            grouped(tally.expected)
        );
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name.as_str()));
        let painter = ui.painter().with_clip_rect(rect);
        let text = |x: f32, align, text: &str, face: Face| {
            painter.text(
                pos2(x, rect.center().y),
                align,
                text,
                face.font(),
                theme.text_1,
            );
        };
        let label = painter.with_clip_rect(rect.with_max_x(rect.left() + WORD - 6.0));
        label.text(
            rect.left_center(),
            Align2::LEFT_CENTER,
            word,
            Face::Candidate.font(),
            theme.text_1,
        );
        let room = f64::from(rect.width() - WORD - NUMBER);
        let bar = |n: f64, height: f32| {
            let width = (room * n).max(1.0) as f32;
            let corner = pos2(rect.left() + WORD, rect.center().y - height / 2.0);
            Rect::from_min_size(corner, vec2(width, height))
        };
        let expected = tally.expected * self.unit / self.share.max(1e-9);
        let fill = bar(f64::from(tally.count) * self.unit, 9.0);
        painter.rect_filled(fill, 2, theme.pane(self.place));
        let edge = Stroke::new(1.0, theme.text_2);
        painter.rect_stroke(bar(expected, 11.0), 2, edge, StrokeKind::Inside);
        text(rect.right(), Align2::RIGHT_CENTER, &drawn, Face::Micro);
    }
}

/// "10,000 draws: χ² 3.1 with 5 degrees of freedom, p 0.68".
fn result_words(draws: &StepDraws) -> String {
    let n = grouped(f64::from(draws.n()));
    let test = draws.chi_squared();
    format!("{n} draws{}", test_words(test))
}

/// "Coins at positions 14 to 10,013: χ² 17.2 with 19 degrees of freedom, p 0.578".
fn coin_words(draws: &StepDraws) -> String {
    let (first, last) = draws.addresses();
    let test = draws.coins_chi_squared();
    format!(
        "Coins at positions {} to {}{}",
        grouped(first as f64),
        grouped(last as f64),
        test_words(test)
    )
}

fn test_words(test: Option<ChiSquared>) -> String {
    test.map_or_else(String::new, |test| {
        let plural = if test.n_freedom == 1 { "" } else { "s" };
        format!(
            ": χ² {:.1} with {} degree{plural} of freedom, p {:.3}",
            test.chi_squared,
            test.n_freedom,
            test.p_value()
        )
    })
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::analysis::by_hand::StepDraws;
    use crate::state::tests::written;
    use crate::state::{Command, DockTab, N_STEP_DRAWS, Pin};
    use crate::ui::testing::{press, window_of};

    #[test]
    fn the_bars_grow_to_10_000_draws_with_both_tests_below() {
        let mut state = written();
        state.view.dock_tab = DockTab::Xray;
        let pane = state.panes[1].id;
        state.apply(Command::Pin(Pin { pane, step: 0 }));
        let mut window = window_of(vec2(1280.0, 900.0), state);
        press(&mut window, "Draw 10,000 times");
        let n = window.state().step_draws().map(StepDraws::n).unwrap();
        assert!(n > 0 && n < N_STEP_DRAWS, "{n}");
        window.run_steps(50);
        let draws = window.state().step_draws().unwrap();
        assert_eq!(draws.n(), N_STEP_DRAWS);
        let is_shown = |words: &str| window.query_all_by_label_contains(words).count() > 0;
        assert!(is_shown(" times, expected "));
        assert!(is_shown("10,000 draws: χ² "));
        assert!(is_shown("Coins from 0 to 1 in 20 equal parts"));
        assert!(is_shown("Coins at positions 3 to 10,002: χ² "));
    }
}
