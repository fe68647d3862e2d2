//! The data of the next-token plot: the candidates of one step, before and after the chain.

use crate::analysis::xray::{XrayCell, XrayRow, XrayTable};
use crate::decoding::{ChainConfig, Filter, FinalProb, Selector};
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
    /// Its rank before the chain, counted from 1; `None` if the server did not name it.
    pub rank: Option<u32>,
    /// Its probability before the chain; `None` if the server did not report it.
    pub raw_prob: Option<f64>,
    pub after: AfterChain,
    /// Whether it was sampled.
    pub chosen: bool,
}

/// What the chain left of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AfterChain {
    /// Its probability.
    Kept(f64),
    Cut,
    /// No filter cut it, but the draw always takes the top token.
    PassedOver,
    /// It depends on tokens that the server did not name.
    Unknown,
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
                rank: Some(index as u32 + 1),
                raw_prob: Some(candidate.prob),
                after: match step.trace.known_head_final(index) {
                    FinalProb::Cut if passes_over && candidate.token != step.token => {
                        AfterChain::PassedOver
                    }
                    other => other.into(),
                },
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
            Selector::Greedy if !table.bar.drawn.sure => None,
            Selector::Greedy if row.chosen => Some(AfterChain::Kept(1.0)),
            Selector::Greedy if passes_over(chain) => Some(AfterChain::PassedOver),
            Selector::Greedy => Some(AfterChain::Cut),
            selector if selector.is_adaptive() => None,
            _ => after_last_stage(row),
        };
        let rows = table.rows.iter().map(|row| {
            Some(CandidateRow {
                piece: generation.vocabulary.piece(row.token),
                rank: row.rank,
                raw_prob: Some(table.raw_prob(row)?),
                after: after(row)?,
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

/// Returns what the last stage that is on left of a candidate, or `None` if the record does not
/// determine it.
fn after_last_stage(row: &XrayRow) -> Option<AfterChain> {
    let mut cells = row.cells.iter().rev();
    match cells.find(|cell| **cell != XrayCell::Muted)? {
        XrayCell::Kept(prob) => Some(AfterChain::Kept(*prob)),
        XrayCell::Cut(_) | XrayCell::Gone => Some(AfterChain::Cut),
        XrayCell::Between(..) | XrayCell::Unknown | XrayCell::Muted => None,
    }
}

impl CandidateRow {
    fn chosen(step: &Step) -> Self {
        Self {
            piece: step.piece.clone(),
            rank: step.trace.known_rank(),
            raw_prob: step.trace.known_raw_prob(),
            after: step.trace.known_draw_final().into(),
            chosen: true,
        }
    }
}

impl AfterChain {
    /// Returns the probability that is left, if it is known.
    pub(super) const fn prob(self) -> Option<f64> {
        match self {
            Self::Kept(prob) => Some(prob),
            Self::Cut | Self::PassedOver | Self::Unknown => None,
        }
    }
}

impl From<FinalProb> for AfterChain {
    fn from(prob: FinalProb) -> Self {
        match prob {
            FinalProb::Kept(prob) => Self::Kept(prob),
            FinalProb::Cut => Self::Cut,
            FinalProb::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Target, prob_label, shortened};
    use super::*;
    use crate::decoding::ChainConfig;
    use crate::decoding::filters::TopK;
    use crate::decoding::{Candidate, Coins, History, SamplerChain, ServedHead, Taken, TokenId};
    use crate::generation::testing::generation;

    fn row(rank: u32, chosen: bool) -> CandidateRow {
        CandidateRow {
            piece: Piece::text(" fox"),
            rank: Some(rank),
            raw_prob: Some(0.1),
            after: AfterChain::Cut,
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
            let rows = data.first_rows(n_rows);
            let shown: Vec<u32> = rows.iter().filter_map(|row| row.rank).collect();
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
            .map(|row| row.after.prob().is_some())
            .collect();
        assert_eq!(kept, [true, true, false, false, false, false]);
        let after: f64 = data.rows.iter().filter_map(|row| row.after.prob()).sum();
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
            let kept = moved.rows.iter().filter_map(|row| row.after.prob());
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
        assert_eq!(last.rank, Some(812));
        assert!(last.after.prob().is_some());

        // A given token that the chain cut.
        std::sync::Arc::make_mut(&mut written.steps[0].trace)
            .draw
            .prob = 0.0;
        let data = NextTokenData::of(0, &written, 0).unwrap();
        assert_eq!(data.rows.last().unwrap().after, AfterChain::Cut);
    }

    /// Returns the rows of a step over a server that named 3 of 8 tokens, by their labels. The
    /// server's sampler took the token at this place of all tokens.
    fn labels_over_a_server(settings: &str, n_before: usize) -> Vec<String> {
        let mut written = generation(&[(" fox", 0.4)]);
        let log_probs = [0.5, 0.2, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03].map(f32::ln);
        let all = (0..).map(TokenId).zip(log_probs);
        let named = all.take(3).map(|(token, logit)| Candidate { token, logit });
        let head = ServedHead::new(named.collect(), 8);
        let settings: crate::generation::PaneSettings = settings.parse().unwrap();
        written.config.chain = settings.chain.clone();
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let taken = Taken::ByServer(TokenId(n_before as u32));
        let sampled = SamplerChain::new(settings.chain)
            .take_served(&head, History::empty(), coins, taken)
            .unwrap();
        let step = &mut written.steps[0];
        (step.token, step.trace) = (sampled.token, std::sync::Arc::new(sampled.trace));
        let data = NextTokenData::of(0, &written, 0).unwrap();
        let rows = data.rows.iter().enumerate();
        rows.map(|(index, row)| prob_label(index, row, Target::Picture))
            .collect()
    }

    #[test]
    fn what_depends_on_tokens_that_a_server_did_not_name_is_unknown() {
        for (settings, n_before, expected) in [
            // The head decides these.
            ("temp 1", 0, &["50 %", "20 %", "10 %"][..]),
            ("top-k 2", 0, &["50 % → 71 %", "20 % → 29 %", "10 % → cut"]),
            ("greedy", 0, &["50 % → 100 %", "20 %", "10 %"]),
            // How flat the rest is decides these.
            (
                "temp 2",
                0,
                &["50 % → unknown", "20 % → unknown", "10 % → unknown"],
            ),
            // A token that the server did not name has neither a probability nor a rank.
            (
                "temp 2",
                6,
                &[
                    "50 % → unknown",
                    "20 % → unknown",
                    "10 % → unknown",
                    "unknown · rank unknown",
                ],
            ),
        ] {
            let labels = labels_over_a_server(settings, n_before);
            assert_eq!(labels, expected, "{settings}");
        }
    }
}
