//! Filters in order, then one selector: from a row of logits to one token and its evidence.

use std::sync::Arc;

use super::evidence::{
    N_RECORDED, evidence_of, probs_of, ranked, ranked_head, raw_rank, report_of, taken_draw,
};
use super::{
    Candidates, ChainConfig, Coins, DecodingError, Evidence, Filter, History, RankedCandidate,
    SelectorState, StageContext, TokenId, Trace,
};
use crate::decoding::rules::BeamScores;

/// A chain at work on one sequence.
#[derive(Debug)]
pub struct SamplerChain {
    config: ChainConfig,
    /// The stages that are on, shared with the record of each step.
    filters: Vec<Arc<Filter>>,
    state: SelectorState,
    /// How many of the most likely candidates each step records before any stage runs.
    n_recorded: usize,
    /// The memory that a step may use to record more than the head of its distribution.
    n_detail_bytes: usize,
    /// The buffers of the previous step, for reuse.
    scratch: Option<Candidates>,
}

impl Clone for SamplerChain {
    fn clone(&self) -> Self {
        Self {
            config: self.config.clone(),
            filters: self.filters.clone(),
            state: self.state,
            n_recorded: self.n_recorded,
            n_detail_bytes: self.n_detail_bytes,
            scratch: None,
        }
    }
}

/// A token that the chain did not draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The user picked it.
    ByHand(TokenId),
    /// It is the next token of a given text, which is only scored.
    Given(TokenId),
    /// A beam search took it because its text has one of the highest total log-probs.
    ByBeams(TokenId),
    /// Speculative sampling accepted it as a draft, or drew it in place of one.
    ByRatio(TokenId),
    /// A server's sampler picked it.
    ByServer(TokenId),
}

impl Taken {
    /// Returns the token.
    pub const fn token(&self) -> TokenId {
        match self {
            Self::ByHand(token)
            | Self::Given(token)
            | Self::ByBeams(token)
            | Self::ByRatio(token)
            | Self::ByServer(token) => *token,
        }
    }
}

/// A sampled token and its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    pub token: TokenId,
    /// What each stage did, and how the token was picked.
    pub trace: Trace,
}

impl SamplerChain {
    /// Creates a chain for the beginning of a sequence.
    pub fn new(config: ChainConfig) -> Self {
        Self {
            filters: config.enabled().cloned().map(Arc::new).collect(),
            config,
            state: SelectorState::NEW,
            n_recorded: N_RECORDED,
            n_detail_bytes: 0,
            scratch: None,
        }
    }

    /// Lets each step use this much memory to record more than the head of its distribution.
    #[must_use]
    pub const fn with_detail(mut self, n_bytes_per_step: usize) -> Self {
        self.n_detail_bytes = n_bytes_per_step;
        self
    }

    /// Makes each step record this many of the most likely candidates before any stage runs.
    pub(super) const fn record(&mut self, n_recorded: usize) {
        self.n_recorded = n_recorded;
    }

    /// Resumes a text that has already begun. `state` is the one recorded at its last step.
    pub const fn restore(&mut self, state: SelectorState) {
        self.state = state;
    }

    /// Returns its settings.
    pub const fn config(&self) -> &ChainConfig {
        &self.config
    }

    /// Returns what the selector has learned so far.
    pub const fn state(&self) -> SelectorState {
        self.state
    }

    /// Takes over the buffers of a chain that is no longer used.
    pub fn reuse_buffers(&mut self, other: Self) {
        self.scratch = other.scratch;
    }

    /// Forgets what the selector has learned, as at the beginning of a text.
    pub const fn restart(&mut self) {
        self.state = SelectorState::NEW;
    }

    /// Samples one token from a row of logits, one logit per vocabulary entry.
    pub fn sample(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Sampled, DecodingError> {
        self.step(logits, history, coins, None)
    }

    /// Samples the same token as [`Self::sample`], without recording any evidence.
    pub fn sample_token(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<TokenId, DecodingError> {
        let (selector, mut state) = (self.config.selector, self.state);
        let draw = self.with_filtered(logits, history, coins, |candidates| {
            selector.pick(coins, history, &mut state, candidates)
        })?;
        self.state = state;
        Ok(draw.token)
    }

    /// Takes a token that the chain did not draw, and records what the chain makes of it. The
    /// selector learns from the token of a given text as if it had picked it, unless it could not
    /// have, and nothing from any other.
    pub fn take(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
        taken: Taken,
    ) -> Result<Sampled, DecodingError> {
        self.step(logits, history, coins, Some(taken))
    }

    fn step(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
        taken: Option<Taken>,
    ) -> Result<Sampled, DecodingError> {
        let mut candidates = self.refilled(logits)?;
        let raw = evidence_of(&mut candidates, self.n_recorded, self.n_detail_bytes);
        let mut stages = Vec::new();
        self.apply(history, coins, &mut candidates, |filter, candidates| {
            stages.push(report_of(filter, &raw.head, candidates));
        });
        let (selector, state) = (self.config.selector, self.state);
        let prob_before = taken.and_then(|taken| selector.prob_to_learn(taken, &mut candidates));
        let mut draw = selector.pick(coins, history, &mut self.state, &mut candidates);
        if let Some(taken) = taken {
            draw = taken_draw(taken, draw, &mut candidates);
            self.state = match prob_before.filter(|_| draw.prob > 0.0) {
                Some(prob_before) => selector.learn(prob_before, &draw, state),
                None => state,
            };
        }
        let survivors = ranked_head(&mut candidates, N_RECORDED);
        let head_final_probs = probs_of(&raw.head, &mut candidates);

        let raw_logit = logits.get(draw.token.index()).copied().unwrap_or(f32::NAN);
        self.scratch = Some(candidates);
        let trace = Trace {
            raw_prob: (f64::from(raw_logit) - raw.log_sum_exp).exp(),
            raw_rank: raw_rank(logits, draw.token, raw_logit),
            raw,
            mixture: None,
            stages,
            survivors,
            head_final_probs,
            draw,
            selector_state: self.state,
            grammar: None,
            bounded: false,
            known: None,
        };
        Ok(Sampled {
            token: draw.token,
            trace,
        })
    }

    /// Records the distribution of a row of logits, as each step does.
    pub fn evidence(&mut self, logits: &[f32]) -> Result<Evidence, DecodingError> {
        let mut candidates = self.refilled(logits)?;
        let evidence = evidence_of(&mut candidates, self.n_recorded, self.n_detail_bytes);
        self.scratch = Some(candidates);
        Ok(evidence)
    }

    /// Returns the possible candidates after the filters, most likely first, without sampling.
    pub fn distribution(
        &self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Vec<RankedCandidate>, DecodingError> {
        Ok(ranked(self.filtered(logits, history, coins)?))
    }

    /// Returns the `n` most likely candidates after the filters, most likely first.
    pub fn most_likely(
        &self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
        n: usize,
    ) -> Result<Vec<RankedCandidate>, DecodingError> {
        let mut candidates = self.filtered(logits, history, coins)?;
        Ok(ranked_head(&mut candidates, n))
    }

    /// Returns the distribution that the selector picks from at the beginning of a text, most
    /// likely first. It includes what the selector cuts or reweights; for greedy it is one
    /// candidate.
    pub fn first_distribution(
        &self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Vec<RankedCandidate>, DecodingError> {
        let mut candidates = self.filtered(logits, history, coins)?;
        // A selector cuts and reweights while it picks; the pick itself is not needed here.
        let mut state = SelectorState::NEW;
        self.config
            .selector
            .pick(coins, history, &mut state, &mut candidates);
        Ok(ranked(candidates))
    }

    fn filtered(
        &self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Candidates, DecodingError> {
        let mut candidates = Candidates::from_logits(logits)?;
        self.apply(history, coins, &mut candidates, |_, _| ());
        Ok(candidates)
    }

    /// Applies the filters to a row of logits, and reads the candidates that they leave.
    pub(super) fn with_filtered<R>(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
        read: impl FnOnce(&mut Candidates) -> R,
    ) -> Result<R, DecodingError> {
        let mut candidates = self.refilled(logits)?;
        self.apply(history, coins, &mut candidates, |_, _| ());
        let read = read(&mut candidates);
        self.scratch = Some(candidates);
        Ok(read)
    }

    /// Applies the filters to all candidates of a row, and calls `observe` after each.
    fn apply(
        &self,
        history: History<'_>,
        coins: Coins,
        candidates: &mut Candidates,
        mut observe: impl FnMut(&Arc<Filter>, &mut Candidates),
    ) {
        let first = StageContext {
            history,
            coins,
            n_chance_before: 0,
            rules: self.config.rules,
            n_vocab: candidates.n_kept() as u32,
        };
        self.begin(candidates);
        first.run(&self.filters, 0, candidates, |_, filter, candidates| {
            observe(filter, candidates);
        });
    }

    /// Turns logits into log-probs, if the stages of this search see those.
    fn begin(&self, candidates: &mut Candidates) {
        if self.beam_scores() != BeamScores::Logits {
            let log_sum_exp = candidates.softmax().log_sum_exp;
            candidates.map_logits(|logit| (f64::from(logit) - log_sum_exp) as f32);
        }
    }

    /// What a beam search adds to the total of a text that continues with this candidate.
    pub fn beam_score(&self, candidate: &RankedCandidate) -> f64 {
        match self.beam_scores() {
            BeamScores::LogProbs => f64::from(candidate.logit),
            BeamScores::Logits | BeamScores::Renormalized => candidate.prob.ln(),
        }
    }

    /// The rule of a beam search; any other selector sees logits.
    fn beam_scores(&self) -> BeamScores {
        let search = self.config.selector.beam_search();
        search.map_or(BeamScores::Logits, |_| self.config.rules.beam_scores)
    }

    fn refilled(&mut self, logits: &[f32]) -> Result<Candidates, DecodingError> {
        match self.scratch.take() {
            Some(mut candidates) => candidates.refill(logits).map(|()| candidates),
            None => Candidates::from_logits(logits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChainConfig, SamplerChain};
    use crate::decoding::filters::{MinP, Temperature, TopK};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{Coins, DecodingError, Filter, History, Selector, TokenId, Trace};

    const P: [f32; 4] = [0.1, 0.2, 0.3, 0.4];
    const COINS: Coins = Coins {
        seed: 1,
        position: 0,
    };

    fn trace(config: ChainConfig, probs: &[f32]) -> Trace {
        let mut chain = SamplerChain::new(config);
        let sampled = chain.sample(&logits_of(probs), History::empty(), COINS);
        sampled.unwrap().trace
    }

    #[test]
    fn every_stage_reports_what_it_did() {
        let trace = trace(
            ChainConfig::sampled([
                Filter::TopK(TopK { k: 3 }),
                Filter::Temperature(Temperature { temperature: 0.5 }),
                Filter::MinP(MinP { p: 0.5 }),
            ]),
            &P,
        );
        // Top-k leaves 2/9, 3/9, 4/9; T 0.5 makes these 4/29, 9/29, 16/29; min-p keeps 8/29 and
        // more.
        let expected = [
            (3, 0.1, [4.0 / 9.0, 3.0 / 9.0, 2.0 / 9.0, 0.0]),
            (3, 0.0, [16.0 / 29.0, 9.0 / 29.0, 4.0 / 29.0, 0.0]),
            (2, 4.0 / 29.0, [16.0 / 25.0, 9.0 / 25.0, 0.0, 0.0]),
        ];
        for (stage, (n_kept, mass_removed, probs)) in trace.stages.iter().zip(expected) {
            assert_eq!(stage.n_kept, n_kept);
            assert!(
                (stage.mass_removed - mass_removed).abs() < 1e-6,
                "{stage:?}"
            );
            let entropy: f64 = probs
                .iter()
                .filter(|p| **p > 0.0)
                .map(|p: &f64| -p * p.ln())
                .sum();
            assert!((stage.entropy_nats - entropy).abs() < 1e-6, "{stage:?}");
            for (prob, expected) in stage.head_probs.iter().zip(probs) {
                assert!((f64::from(prob.unwrap_or(0.0)) - expected).abs() < 1e-6);
                assert_eq!(prob.is_some(), expected > 0.0);
            }
        }
        assert_eq!(trace.survivors.len(), 2);
    }

    #[test]
    fn the_raw_evidence_comes_before_the_chain() {
        let config = ChainConfig::sampled([Filter::TopK(TopK { k: 1 })]);
        let trace = trace(config, &P);
        assert_eq!(trace.draw.token, TokenId(3));
        assert!((trace.draw.prob - 1.0).abs() < 1e-12);
        assert!((trace.raw_prob - 0.4).abs() < 1e-6);
        assert_eq!(trace.raw_rank, 1);
        assert_eq!(trace.raw.n_candidates, 4);
        assert!(trace.raw.log_sum_exp.abs() < 1e-6);
        let head: Vec<u32> = trace.raw.head.iter().map(|ranked| ranked.token.0).collect();
        assert_eq!(head, [3, 2, 1, 0]);
    }

    #[test]
    fn raw_ranks_break_ties_by_id() {
        let row = [0.2, 0.3, 0.2, 0.3];
        let mut ranks = [0; 4];
        for seed in 0..200 {
            let coins = Coins { seed, position: 0 };
            let mut chain = SamplerChain::new(ChainConfig::sampled([]));
            let sampled = chain
                .sample(&logits_of(&row), History::empty(), coins)
                .unwrap();
            ranks[sampled.token.index()] = sampled.trace.raw_rank;
        }
        assert_eq!(ranks, [3, 1, 4, 2]);
    }

    #[test]
    fn a_stage_that_is_off_has_no_effect() {
        let mut config = ChainConfig::sampled([Filter::TopK(TopK { k: 1 })]);
        config.stages[0].enabled = false;
        let off = trace(config, &P);
        assert_eq!(off, trace(ChainConfig::sampled([]), &P));
    }

    #[test]
    fn a_row_without_a_distribution_is_an_error() {
        let mut chain = SamplerChain::new(ChainConfig::greedy());
        let row = [f32::NAN, 1.0];
        let sampled = chain.sample(&row, History::empty(), COINS);
        assert_eq!(sampled.unwrap_err(), DecodingError::NotNumbers { n_bad: 1 });
    }

    #[test]
    fn a_penalty_in_a_search_over_log_probs_multiplies_every_score() {
        use crate::decoding::filters::{RepetitionPenalty, Window};
        use crate::decoding::rules::BeamScores;
        use crate::decoding::selector::BeamSearch;

        let penalty = RepetitionPenalty {
            penalty: 2.0,
            window: Window::ALL,
        };
        // e², e and 1 over their sum.
        let logits = [2.0, 1.0, 0.0];
        let total: f64 = [2.0_f64, 1.0, 0.0].map(f64::exp).iter().sum();
        let log_probs = [2.0, 1.0, 0.0].map(|logit| logit - total.ln());
        let normalized = |scores: [f64; 3]| {
            let sum: f64 = scores.map(f64::exp).iter().sum();
            scores.map(|score| score - sum.ln())
        };
        let doubled = [2.0 * log_probs[0], log_probs[1], log_probs[2]];
        for (beam_scores, expected) in [
            (BeamScores::Logits, normalized([1.0, 1.0, 0.0])),
            (BeamScores::LogProbs, doubled),
            (BeamScores::Renormalized, normalized(doubled)),
        ] {
            let search = BeamSearch {
                width: 2,
                length_penalty: 1.0,
                early_stopping: 0,
            };
            let mut config = ChainConfig::sampled([Filter::RepetitionPenalty(penalty)]);
            config.selector = Selector::BeamSearch(search);
            config.rules.beam_scores = beam_scores;
            let chain = SamplerChain::new(config);
            let seen = [TokenId(0)];
            let history = History::new(&seen, 1);
            let likely = chain.most_likely(&logits, history, COINS, 3).unwrap();
            assert_eq!(likely.len(), 3);
            for candidate in likely {
                let error = chain.beam_score(&candidate) - expected[candidate.token.index()];
                assert!(error.abs() < 1e-6, "{beam_scores:?}: {candidate:?}");
            }
        }
    }
}
