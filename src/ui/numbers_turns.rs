//! The turns of the conversations as numbers: one row for each turn, one column for each pane.

use egui::{Grid, Ui};

use super::figures::of_steps;
use super::numbers::{ROW, heading_ui, value_ui};
use crate::analysis::{SharedBeginning, TurnMetrics, turn_metrics};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::Generation;
use crate::generation::formatting::{counted, pane_letter, percent};
use crate::state::{Pane, Panes};

/// Draws the table, if a conversation has more than one turn.
pub(super) fn turns_ui(ui: &mut Ui, panes: &Panes) {
    let n_turns = panes.n_turns();
    if n_turns < 2 {
        return;
    }
    let columns: Vec<(usize, &Generation)> = panes
        .placed()
        .filter_map(|(place, pane)| Some((place, pane.latest()?)))
        .collect();
    let grid = Grid::new("turns").spacing([20.0, 4.0]);
    grid.min_col_width(SMALL_BADGE)
        .min_row_height(ROW)
        .show(ui, |ui| {
            heading_ui(ui, "Turn");
            for (place, _) in &columns {
                badge(ui, *place, SMALL_BADGE);
            }
            if columns.len() > 1 {
                heading_ui(ui, "Different answers");
            }
            ui.end_row();
            for turn in 0..n_turns {
                value_ui(ui, (turn + 1).to_string());
                for (_, latest) in &columns {
                    let metrics = of_steps(ui.ctx(), "turns", latest, turn_metrics);
                    let breaks =
                        latest.turn(turn).and_then(|turn| turn.grammar_complete) == Some(false);
                    let words = metrics.get(turn).map(|metrics| cell_words(metrics, breaks));
                    value_ui(ui, words.unwrap_or_else(|| "–".to_owned()));
                }
                if columns.len() > 1 {
                    value_ui(ui, n_different(&columns, turn).to_string());
                }
                ui.end_row();
            }
        });
    for words in reuse_words(panes) {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.label(words);
    }
}

/// "58 tokens · 1.20 bits · 12 % repeated".
fn cell_words(turn: &TurnMetrics, breaks_grammar: bool) -> String {
    let mut words = vec![counted(turn.n_tokens, "token")];
    words.extend(turn.surprise_bits.map(|bits| format!("{bits:.2} bits")));
    words.extend(
        turn.repeated
            .map(|repeated| format!("{} repeated", percent(repeated))),
    );
    words.extend(breaks_grammar.then(|| "breaks its grammar".to_owned()));
    words.join(" · ")
}

/// Returns how many different answers the panes gave in a turn.
fn n_different(columns: &[(usize, &Generation)], turn: usize) -> usize {
    let answers = columns.iter().filter_map(|(_, latest)| latest.turn(turn));
    let mut texts: Vec<String> = answers.map(Generation::text).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.len()
}

/// Says which panes could not reuse all of what their models had read, and why.
fn reuse_words(panes: &Panes) -> Vec<String> {
    let broken = panes.placed().filter_map(|(place, pane)| {
        let turn = pane.generation().or_else(|| Pane::latest(pane))?;
        let words = SharedBeginning::of(turn)?.words(turn)?;
        Some(format!("{}: {words}", pane_letter(place)))
    });
    broken.collect()
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::{answer_waiting, chat_written};
    use crate::state::{Command, DockTab};
    use crate::ui::testing::window_of;

    #[test]
    fn each_turn_has_a_row_with_what_is_repeated() {
        let mut state = chat_written("Hi", &[(" Hello", 0.5)]);
        state.prompt.text = "Why?".to_owned();
        state.apply(Command::GenerateAll);
        answer_waiting(&mut state, &[" so", " then"]);
        state.view.dock_tab = DockTab::Numbers;
        state.view.dock_open = Some(true);
        let mut window = window_of(vec2(1920.0, 1080.0), state);
        window.run_steps(3);
        window.get_by_label("Different answers");
        assert_eq!(window.query_all_by_label("1 token · 1.00 bits").count(), 8);
    }
}
