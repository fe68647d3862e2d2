//! Brings everything derived from the panes up to date before a frame: divergence, lints,
//! metrics, what-if, comparisons and the smallest change.

use super::pane::Pane;
use crate::state::AppState;

impl AppState {
    /// Updates the divergence, all lints and metrics. Evaluates what-ifs, comparisons and the
    /// smallest change while `has_time` returns true, and returns whether these are complete.
    ///
    /// Call it before each frame. It is cheap if nothing has changed.
    pub fn review(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        let sizes = self.panes.iter().map(|pane| {
            let model = self.model_of(pane);
            model.map(|model| model.info.n_vocab)
        });
        let sizes: Vec<Option<usize>> = sizes.collect();
        self.comparison.update(&self.panes);
        let looked_for = self.watermark().filter(|_| self.shows_watermark());
        let mut complete = true;
        // The grammar of the first text that has one.
        let mut texts = self.panes.iter().filter_map(Pane::generation);
        let shared_rule = texts.find_map(|text| text.config.chain.grammar.clone());
        let counts_thinking = self.view.compare.counts_thinking;
        for (pane, n_vocab) in self.panes.iter_mut().zip(sizes) {
            let Pane {
                settings,
                status,
                what_ifs,
                lints,
                measures,
                grammar_break,
                hand_picks,
                watermark,
                ..
            } = pane;
            let chain = &settings.chain;
            lints.update(status.generation(), chain, n_vocab);
            measures.update(status.generation(), status.is_writing(), counts_thinking);
            watermark.update(looked_for, status.generation());
            hand_picks.update(status.generation());
            let own = status
                .generation()
                .and_then(|text| text.config.chain.grammar.as_ref());
            grammar_break.update(own.or(shared_rule.as_ref()), status.generation());
            let seed = settings.seed.unwrap_or(self.seed);
            let will_be_replaced = status.running().is_some() && !status.is_writing();
            match status.generation() {
                Some(generation) if !will_be_replaced => {
                    complete &= what_ifs.update(generation, chain, seed, &mut has_time);
                }
                _ => what_ifs.clear(),
            }
        }
        complete &= self.update_pairs(&mut has_time);
        self.update_branch_tree();
        complete &= self.continue_step_draws();
        self.update_why(&mut has_time) && complete
    }
}
