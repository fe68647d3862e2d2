//! Brings everything derived from the panes up to date before a frame: divergence, lints,
//! metrics, kinds of tokens, what-if, comparisons and the smallest change.

use super::all::Panes;
use super::comparison::Comparison;
use super::pairs::ComparedPairs;
use super::pane::Pane;
use super::step_draws::ShownDraws;
use super::why::WhySearch;
use crate::decoding::watermark::Watermark;
use crate::state::{DockTab, Models};

/// What is derived from the texts of several panes, or from the step that the dock shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Review {
    /// How far the texts agree.
    pub comparison: Comparison,
    /// The comparisons of all pairs of texts, while the dock shows them.
    pub pairs: ComparedPairs,
    /// The search for the smallest change at the shown step.
    pub why: Option<WhySearch>,
    /// The draws of the Monte Carlo check.
    pub draws: Option<ShownDraws>,
}

impl Review {
    /// Updates what the dock shows in this tab: the comparisons, and the smallest change at the step
    /// that is explained, while `has_time` returns true. Returns whether these are complete.
    pub(in crate::state) fn update(
        &mut self,
        panes: &Panes,
        tab: DockTab,
        explained: Option<(usize, usize)>,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        self.comparison.update(panes);
        let mut complete = true;
        if tab == DockTab::Compare {
            complete &= self.pairs.update(panes, has_time);
        } else {
            self.pairs.clear();
        }
        complete &= self.draws.as_mut().is_none_or(ShownDraws::go_on);
        WhySearch::update(&mut self.why, panes, explained, has_time) && complete
    }
}

impl Panes {
    /// Updates all lints and metrics, and evaluates kinds and what-ifs while `has_time` returns true. Returns
    /// whether these are complete.
    pub(in crate::state) fn update(
        &mut self,
        models: &Models,
        looked_for: Option<Watermark>,
        shared_seed: u64,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        let mut complete = true;
        // The grammar of the first text that has one.
        let shared_rule = self
            .texts()
            .find_map(|text| text.config.chain.grammar.clone());
        for pane in self.iter_mut() {
            let n_vocab = models.of(pane).map(|model| model.info.n_vocab);
            let shown_turn = pane.shown_turn;
            let Pane {
                settings,
                status,
                what_ifs,
                lints,
                measures,
                grammar_break,
                hand_picks,
                kinds,
                watermark,
                ..
            } = pane;
            let chain = &settings.chain;
            let latest = status.generation();
            let shown =
                latest.and_then(|text| shown_turn.map_or(Some(text), |turn| text.turn(turn)));
            lints.update(shown, chain, n_vocab);
            measures.update(shown, status.is_writing());
            watermark.update(looked_for, shown);
            hand_picks.update(shown);
            complete &= kinds.update(shown, has_time);
            grammar_break.update(shared_rule.as_ref(), shown);
            let seed = settings.seed.unwrap_or(shared_seed);
            let will_be_replaced = status.running().is_some() && !status.is_writing();
            match shown {
                Some(generation) if !will_be_replaced => {
                    complete &= what_ifs.update(generation, chain, seed, has_time);
                }
                _ => what_ifs.clear(),
            }
        }
        complete
    }
}
