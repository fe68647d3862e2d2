//! The data of the next-token plot: the candidates of one step, before and after the chain.

use crate::analysis::xray::{XrayCell, XrayRow, XrayTable};
use crate::decoding::{ChainConfig, Filter, Selector};
use crate::generation::{Generation, Piece, Step};

/// The candidates of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTokenData {
    /// The pane's index.
    pub pane: usize,
    pub name: String,
    /// The pane's sampler chain, in one line.
    pub settings: String,
    /// The token's position in the generated text, counted from 1.
    pub token_number: usize,
    /// The most likely candidates before the chain, best first. The chosen one comes last if it is
    /// not among them.
    pub rows: Vec<CandidateRow>,
    /// Whether the probabilities after the chain are those of settings other than the run's.
    pub what_if: bool,
}

/// One candidate, a row of the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateRow {
    pub piece: Piece,
    /// Its rank before the chain, counted from 1.
    pub rank: u32,
    /// Its probability before the chain.
    pub raw_prob: f64,
    /// Its probability after the chain, or `None` if it was filtered out or passed over.
    pub final_prob: Option<f64>,
    /// Whether no filter cut it, but the draw always takes the top token.
    pub passed_over: bool,
    /// Whether it was sampled.
    pub chosen: bool,
}

impl NextTokenData {
    /// Returns the candidates of a pane's step, or `None` if the step does not exist yet.
    pub fn of(pane: usize, generation: &Generation, step_index: usize) -> Option<Self> {
        let step = generation.steps.get(step_index)?;
        let head = &step.trace.raw.head;
        let passes_over = passes_over(&generation.config.chain);
        let mut rows: Vec<CandidateRow> = head
            .iter()
            .enumerate()
            .map(|(index, candidate)| CandidateRow {
                piece: generation.vocabulary.piece(candidate.token),
                rank: index as u32 + 1,
                raw_prob: candidate.prob,
                final_prob: step.trace.head_final_prob(index),
                passed_over: passes_over && candidate.token != step.token,
                chosen: candidate.token == step.token,
            })
            .collect();
        if !rows.iter().any(|row| row.chosen) {
            rows.push(CandidateRow::chosen(step));
        }
        Some(Self {
            pane,
            name: generation.shown_name(),
            settings: generation.config.chain.to_string(),
            token_number: step_index + 1,
            rows,
            what_if: false,
        })
    }

    /// Returns the candidates as another chain would leave them, or `None` if the record does not
    /// determine their probabilities.
    #[must_use]
    pub fn under(
        self,
        chain: &ChainConfig,
        table: &XrayTable,
        generation: &Generation,
    ) -> Option<Self> {
        let after = |row: &XrayRow| match chain.selector {
            Selector::Greedy => Some(row.chosen.then_some(1.0)),
            selector if selector.is_adaptive() => None,
            _ => final_prob(row),
        };
        let rows = table.rows.iter().map(|row| {
            Some(CandidateRow {
                piece: generation.vocabulary.piece(row.token),
                rank: row.rank,
                raw_prob: table.raw_prob(row)?,
                final_prob: after(row)?,
                passed_over: passes_over(chain) && !row.chosen,
                chosen: row.chosen,
            })
        });
        Some(Self {
            settings: chain.to_string(),
            rows: rows.collect::<Option<Vec<_>>>()?,
            what_if: true,
            ..self
        })
    }

    /// Returns the first `n_rows`. The chosen one replaces the last of them if it is further down.
    pub(super) fn first_rows(&self, n_rows: usize) -> Vec<&CandidateRow> {
        let mut rows: Vec<&CandidateRow> = self.rows.iter().take(n_rows.max(1)).collect();
        let chosen = self.rows.iter().find(|row| row.chosen);
        if !rows.iter().any(|row| row.chosen)
            && let (Some(last), Some(chosen)) = (rows.last_mut(), chosen)
        {
            *last = chosen;
        }
        rows
    }
}

/// Returns whether the chain takes the top token without filtering out any other.
fn passes_over(chain: &ChainConfig) -> bool {
    chain.selector == Selector::Greedy && !chain.active().any(Filter::cuts)
}

/// Returns a candidate's probability after the last stage that is on, `Some(None)` if it was
/// filtered out, or `None` if it is unknown.
#[expect(
    clippy::option_option,
    reason = "unknown and filtered out are different answers"
)]
fn final_prob(row: &XrayRow) -> Option<Option<f64>> {
    let mut cells = row.cells.iter().rev();
    match cells.find(|cell| **cell != XrayCell::Muted)? {
        XrayCell::Kept(prob) => Some(Some(*prob)),
        XrayCell::Cut(_) | XrayCell::Gone => Some(None),
        XrayCell::Between(..) | XrayCell::Unknown | XrayCell::Muted => None,
    }
}

impl CandidateRow {
    fn chosen(step: &Step) -> Self {
        Self {
            piece: step.piece.clone(),
            rank: step.trace.raw_rank,
            raw_prob: step.trace.known_raw_prob().unwrap_or(0.0),
            final_prob: (step.trace.draw.prob > 0.0).then_some(step.trace.draw.prob),
            passed_over: false,
            chosen: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Target, prob_label, shortened};
    use super::*;
    use crate::decoding::ChainConfig;
    use crate::decoding::filters::TopK;
    use crate::decoding::{Coins, History, SamplerChain};
    use crate::generation::testing::generation;

    fn row(rank: u32, chosen: bool) -> CandidateRow {
        CandidateRow {
            piece: Piece::text(" fox"),
            rank,
            raw_prob: 0.1,
            final_prob: None,
            passed_over: false,
            chosen,
        }
    }

    fn data(chosen: u32, n_rows: u32) -> NextTokenData {
        NextTokenData {
            pane: 0,
            name: "Top-p".to_owned(),
            settings: "top-p 0.9".to_owned(),
            token_number: 1,
            rows: (1..=n_rows).map(|rank| row(rank, rank == chosen)).collect(),
            what_if: false,
        }
    }

    #[test]
    fn the_chosen_token_is_always_among_the_rows() {
        let cases = [
            (1, 3, vec![1, 2, 3]),
            (3, 3, vec![1, 2, 3]),
            (7, 3, vec![1, 2, 7]),
            (7, 0, vec![7]),
            (2, 40, (1..=9).collect()),
        ];
        for (chosen, n_rows, ranks) in cases {
            let data = data(chosen, 9);
            let shown: Vec<u32> = data.first_rows(n_rows).iter().map(|row| row.rank).collect();
            assert_eq!(shown, ranks);
        }
    }

    #[test]
    fn a_rank_is_shown_if_the_position_does_not_imply_it() {
        let data = data(7, 9);
        let shown = data.first_rows(3).into_iter().enumerate();
        let on_screen = |(index, row)| prob_label(index, row, Target::Screen);
        let labels: Vec<String> = shown.clone().map(on_screen).collect();
        assert_eq!(labels, ["cut", "cut", "cut · rank 7"]);
        let in_picture = |(index, row)| prob_label(index, row, Target::Picture);
        let labels: Vec<String> = shown.map(in_picture).collect();
        assert_eq!(labels, ["10 % → cut", "10 % → cut", "10 % → cut · rank 7"]);
    }

    #[test]
    fn greedy_passes_tokens_over_and_cuts_none() {
        let written = generation(&[(" fox", 0.4)]);
        let recorded = NextTokenData::of(0, &written, 0).unwrap();
        for (words, label) in [("greedy", "30 %"), ("top-k 1", "cut")] {
            let settings: crate::generation::PaneSettings = words.parse().unwrap();
            let chain = settings.chain;
            let table = XrayTable::of(&written, 0, &chain, 1).unwrap();
            let data = recorded.clone().under(&chain, &table, &written).unwrap();
            let second = prob_label(1, &data.rows[1], Target::Screen);
            assert_eq!(second, label, "{words}");
        }
    }

    #[test]
    fn a_long_name_is_shortened_at_a_character_boundary() {
        assert_eq!(shortened("Top-p"), "Top-p");
        let long = "ä".repeat(40);
        assert_eq!(shortened(&long), format!("{}…", "ä".repeat(32)));
    }

    #[test]
    fn a_filtered_candidate_has_no_final_probability() {
        let mut written = generation(&[(" fox", 0.4), ("</s>", 0.5)]);
        let chain = ChainConfig::sampled([Filter::TopK(TopK { k: 2 })]);
        let logits = [0.0, 1.0, 4.0, 0.5, 2.0, 3.0];
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let sampled = SamplerChain::new(chain)
            .sample(&logits, History::empty(), coins)
            .unwrap();
        written.steps[1].token = sampled.token;
        written.steps[1].trace = std::sync::Arc::new(sampled.trace);

        let data = NextTokenData::of(2, &written, 1).unwrap();
        assert_eq!(data.token_number, 2);
        let kept: Vec<bool> = data
            .rows
            .iter()
            .map(|row| row.final_prob.is_some())
            .collect();
        assert_eq!(kept, [true, true, false, false, false, false]);
        let after: f64 = data.rows.iter().filter_map(|row| row.final_prob).sum();
        assert!((after - 1.0).abs() < 1e-9);
        assert_eq!(data.rows.iter().filter(|row| row.chosen).count(), 1);
        assert_eq!(NextTokenData::of(2, &written, 2), None);
    }

    #[test]
    fn other_settings_move_the_bars_after_the_chain() {
        let written = generation(&[(" fox", 0.4)]);
        let recorded = NextTokenData::of(0, &written, 0).unwrap();
        for (words, n_kept) in [("greedy", 1), ("top-k 2", 2)] {
            let settings: crate::generation::PaneSettings = words.parse().unwrap();
            let chain = settings.chain;
            let table = XrayTable::of(&written, 0, &chain, 1).unwrap();
            let moved = recorded.clone().under(&chain, &table, &written).unwrap();
            assert!(moved.what_if);
            let kept = moved.rows.iter().filter_map(|row| row.final_prob);
            let kept: Vec<f64> = kept.collect();
            assert_eq!(kept.len(), n_kept, "{words}");
            assert!((kept.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn an_unlikely_choice_comes_last_with_its_rank() {
        let mut written = generation(&[(" fox", 0.4)]);
        let step = &mut written.steps[0];
        std::sync::Arc::make_mut(&mut step.trace)
            .raw
            .head
            .retain(|candidate| candidate.token != step.token);
        std::sync::Arc::make_mut(&mut step.trace).raw_rank = 812;
        let data = NextTokenData::of(0, &written, 0).unwrap();
        let last = data.rows.last().unwrap();
        assert!(last.chosen);
        assert_eq!(last.rank, 812);
        assert!(last.final_prob.is_some());

        // A given token that the chain cut.
        std::sync::Arc::make_mut(&mut written.steps[0].trace)
            .draw
            .prob = 0.0;
        let data = NextTokenData::of(0, &written, 0).unwrap();
        assert_eq!(data.rows.last().unwrap().final_prob, None);
    }
}
