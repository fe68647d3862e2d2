//! The tables behind the trends in Numbers: the tokens around the shown one, and the histogram of
//! ranks.

use egui::{Grid, Ui};

use super::figures::of_steps;
use super::numbers::{ROW, cell_ui, heading_ui, percent, value_ui};
use crate::analysis::trend::{KeptMass, RANK_BINS, rank_counts, token_millis};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::{grouped, token_word};
use crate::state::{AppState, Panes};

/// How many tokens the table shows.
const N_TOKENS: usize = 20;

/// Draws the tokens around the shown one, one row per token.
pub(super) fn tokens_ui(ui: &mut Ui, state: &AppState) {
    let shown = state.shown_step().and_then(|(place, step)| {
        let generation = state.panes.get(place)?.generation()?;
        Some((place, step, generation))
    });
    let Some((place, step, generation)) = shown else {
        return;
    };
    let n = generation.steps.len();
    let end = (step + N_TOKENS / 2).max(N_TOKENS).min(n);
    let start = end.saturating_sub(N_TOKENS);
    let title = format!(
        "Pane {}, tokens {} to {end} of {n}",
        pane_letter(place),
        start + 1
    );
    cell_ui(
        ui,
        Face::SmallMedium.text(title).color(Theme::of(ui).text_1),
    );
    ui.add_space(4.0);
    let grid = Grid::new("tokens").spacing([20.0, 2.0]);
    grid.min_row_height(ROW).show(ui, |ui| {
        for column in [
            "",
            "Token",
            "Rank",
            "Surprise",
            "Sum",
            "How many kept",
            "Mass kept",
            "Time",
        ] {
            heading_ui(ui, column);
        }
        ui.end_row();
        let sums = of_steps(ui.ctx(), "surprise sums", generation, surprise_sums);
        let mut sum = sums.get(start).copied().flatten();
        for index in start..end {
            for value in token_row(generation, index, &mut sum) {
                value_ui(ui, value);
            }
            ui.end_row();
        }
    });
}

/// Returns the surprise of all tokens before each token, and that of the whole text at the end.
/// `None` where a server did not report it.
fn surprise_sums(text: &Generation) -> Vec<Option<f64>> {
    let mut sums = vec![Some(0.0)];
    let steps = text.steps.iter();
    sums.extend(steps.scan(Some(0.0), |sum, step| {
        *sum = sum
            .zip(step.trace.known_surprise_bits())
            .map(|(sum, bits)| sum + bits);
        Some(*sum)
    }));
    sums
}

/// Returns a token's cells. `sum` is the surprise of all tokens before it, and grows by its own.
fn token_row(generation: &Generation, index: usize, sum: &mut Option<f64>) -> [String; 8] {
    let Some(step) = generation.steps.get(index) else {
        return <[String; 8]>::default();
    };
    let trace = &step.trace;
    let bits = trace.known_surprise_bits();
    *sum = sum.zip(bits).map(|(sum, bits)| sum + bits);
    let unknown = || "–".to_owned();
    let mass = KeptMass::of(trace);
    let bound = if mass.exact { "" } else { "≥ " };
    let millis = token_millis(&generation.steps, index);
    let n_kept = trace.n_known_kept();
    [
        (index + 1).to_string(),
        token_word(&step.piece),
        trace
            .known_rank()
            .map_or_else(unknown, |rank| grouped(f64::from(rank))),
        bits.map_or_else(unknown, |bits| format!("{bits:.2} bits")),
        sum.map_or_else(unknown, |sum| format!("{sum:.1} bits")),
        n_kept.map_or_else(unknown, |n| grouped(f64::from(n))),
        format!("{bound}{}", percent(mass.value)),
        millis.map_or_else(unknown, |millis| format!("{millis:.2} ms")),
    ]
}

/// Draws how many tokens of each text fall into each bin of ranks, one row per pane.
pub(super) fn ranks_ui(ui: &mut Ui, panes: &Panes) {
    let grid = Grid::new("ranks").spacing([20.0, 4.0]);
    grid.min_col_width(SMALL_BADGE)
        .min_row_height(ROW)
        .show(ui, |ui| {
            heading_ui(ui, "");
            for bin in RANK_BINS {
                heading_ui(ui, &format!("Rank {bin}"));
            }
            ui.end_row();
            for (place, pane) in panes.placed() {
                let Some(generation) = pane.generation() else {
                    continue;
                };
                badge(ui, place, SMALL_BADGE);
                let counts = of_steps(ui.ctx(), "ranks", generation, rank_counts);
                for count in *counts {
                    value_ui(ui, grouped(count as f64));
                }
                ui.end_row();
            }
        });
}

#[cfg(test)]
mod tests {
    use super::token_row;
    use crate::generation::testing::generation;

    #[test]
    fn a_row_holds_the_values_of_a_token() {
        let text = generation(&[(" a", 0.5), (" fox", 0.25)]);
        let bits = -text.steps[1].trace.raw_prob.log2();
        let mut sum = Some(1.0);
        let row = token_row(&text, 1, &mut sum);
        assert_eq!(row[..2], ["2", "fox"]);
        assert_eq!(
            row[3..5],
            [format!("{bits:.2} bits"), format!("{:.1} bits", 1.0 + bits)]
        );
        assert_eq!(row[6..], ["100.0 %", "2.50 ms"]);
        assert_eq!(token_row(&text, 0, &mut sum)[7], "–");
    }
}
