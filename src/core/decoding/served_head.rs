//! A chain on the head of a distribution, which is all that a server reports.
//!
//! The tokens that it does not name share the remaining probability. How they share it is unknown,
//! so a row of logits spreads it evenly over them. Results that this cannot change are exact; the
//! rest are bounded.

use std::collections::BTreeSet;

use super::trace::ROUNDING;
use super::what_if::is_decided;
use super::{
    ASSUMED_VOCABULARY, Candidate, ChainConfig, Coins, DecodingError, Filter, History, KnownPart,
    Sampled, SamplerChain, SelectorState, Taken, TokenId, Trace,
};

/// The most tokens of a head that a step records.
const N_MAX_RECORDED: usize = 256;

/// The most likely tokens of a distribution, with natural log-probabilities as logits.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedHead {
    /// Most likely first.
    head: Vec<Candidate>,
    /// A token below the head whose probability is known too.
    extra: Option<Candidate>,
    n_vocab: usize,
    /// Whether the other tokens are known to be impossible.
    is_whole: bool,
}

impl ServedHead {
    /// Creates a head of these tokens, each listed once, from a vocabulary of `n_vocab` tokens.
    pub fn new(mut head: Vec<Candidate>, n_vocab: usize) -> Self {
        head.sort_by(|a, b| {
            b.logit
                .total_cmp(&a.logit)
                .then_with(|| a.token.cmp(&b.token))
        });
        let n_needed = head.iter().map(|known| known.token.index() + 1).max();
        let n_vocab = n_vocab.max(n_needed.unwrap_or_default());
        Self {
            n_vocab,
            is_whole: head.len() >= n_vocab,
            head,
            extra: None,
        }
    }

    /// Declares that the tokens it does not name are impossible.
    #[must_use]
    pub const fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Adds a token whose probability is known although it is not among the most likely.
    #[must_use]
    pub fn with(mut self, extra: Candidate) -> Self {
        if self.logit(extra.token).is_none() {
            self.n_vocab = self.n_vocab.max(extra.token.index() + 1);
            self.extra = Some(extra);
        }
        self
    }

    /// Makes the vocabulary large enough for a token whose probability is unknown.
    #[must_use]
    pub fn covering(mut self, token: TokenId) -> Self {
        self.n_vocab = self.n_vocab.max(token.index() + 1);
        self
    }

    /// How many of the most likely tokens it names.
    pub const fn len(&self) -> usize {
        self.head.len()
    }

    /// The tokens of the head, most likely first.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> {
        self.head.iter().map(|known| known.token)
    }

    /// Returns the tokens that it does not name and that the text or a bias mentions.
    fn unnamed(&self, history: History<'_>, config: &ChainConfig) -> Vec<TokenId> {
        let biased = config.active().filter_map(|filter| match filter {
            Filter::LogitBias(bias) => Some(bias.biases.iter().map(|bias| bias.token)),
            _ => None,
        });
        let mentioned = history.tokens().iter().copied().chain(biased.flatten());
        let unnamed: BTreeSet<TokenId> = mentioned
            .filter(|token| self.logit(*token).is_none())
            .collect();
        unnamed.into_iter().collect()
    }

    /// Returns whether the size of the vocabulary is not known.
    const fn n_vocab_is_assumed(&self) -> bool {
        self.n_vocab >= ASSUMED_VOCABULARY
    }

    /// Whether it names no token.
    pub const fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The most likely tokens, in order.
    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.head
    }

    /// The size of the vocabulary, as far as it is known.
    pub(super) const fn n_vocab(&self) -> usize {
        self.n_vocab
    }

    /// Whether it names every token that is possible.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The probability of the tokens that it does not name.
    pub fn mass_left(&self) -> f64 {
        let known = self.head.iter().chain(&self.extra);
        let mass: f64 = known.map(|known| f64::from(known.logit).exp()).sum();
        (1.0 - mass).max(0.0)
    }

    /// Returns the log-probability of a token that it names.
    pub fn logit(&self, token: TokenId) -> Option<f32> {
        let mut known = self.head.iter().chain(&self.extra);
        let found = known.find(|known| known.token == token);
        found.map(|known| known.logit)
    }

    /// Returns a row of logits in which as few other tokens as possible have the remaining
    /// probability: each as much as the last one of the head. Those of `first` come first. The others
    /// are possible, but as good as impossible.
    fn steep_row(&self, first: &[TokenId]) -> Vec<f32> {
        const UNLIKELY: f32 = -80.0;
        let most = self.head.last().map_or(0.0, |last| last.logit.next_down());
        let mut row = vec![UNLIKELY.min(most); self.n_vocab];
        let mut left = self.mass_left();
        let all = (0..self.n_vocab as u32).map(TokenId);
        for token in first.iter().copied().chain(all) {
            let Some(logit) = row.get_mut(token.index()) else {
                continue;
            };
            if left <= 0.0 || *logit > UNLIKELY || self.logit(token).is_some() {
                continue;
            }
            *logit = (left.ln() as f32).min(most);
            left -= f64::from(*logit).exp();
            if left <= ROUNDING * ROUNDING {
                break;
            }
        }
        for known in self.head.iter().chain(&self.extra) {
            if let Some(logit) = row.get_mut(known.token.index()) {
                *logit = known.logit;
            }
        }
        row
    }

    /// Returns a row of logits in which the other tokens share the remaining probability, or have
    /// none.
    fn row(&self, spread: bool) -> Vec<f32> {
        let n_others = self.n_vocab.saturating_sub(self.head.len()).max(1);
        let share = (self.mass_left() / n_others as f64).ln() as f32;
        // No token outside the head is likelier than its last one, nor comes before it.
        let most = self.head.last().map_or(0.0, |last| last.logit.next_down());
        let other = if spread && !self.is_whole() {
            share.min(most)
        } else {
            f32::NEG_INFINITY
        };
        let mut row = vec![other; self.n_vocab];
        for known in self.head.iter().chain(&self.extra) {
            if let Some(logit) = row.get_mut(known.token.index()) {
                *logit = known.logit;
            }
        }
        row
    }
}

impl SamplerChain {
    /// Samples from the head of a distribution. Returns `None` if the token is not in the head.
    pub fn sample_served(
        &mut self,
        head: &ServedHead,
        history: History<'_>,
        coins: Coins,
    ) -> Result<Option<Sampled>, DecodingError> {
        let state = self.state();
        self.record(head.len().min(N_MAX_RECORDED));
        let sampled = self.sample(&head.row(true), history, coins)?;
        if head.logit(sampled.token).is_none() {
            self.restore(state);
            return Ok(None);
        }
        let sampled = restricted(sampled, head);
        let mut sampled = judged(sampled, head, self.config(), history, coins);
        self.note_known(head, history, coins, state, &mut sampled.trace)?;
        Ok(Some(sampled))
    }

    /// Samples from the head as if it were the whole distribution, for a token that lies outside it.
    pub fn sample_served_only(
        &mut self,
        head: &ServedHead,
        history: History<'_>,
        coins: Coins,
    ) -> Result<Sampled, DecodingError> {
        let state = self.state();
        self.record(head.len().min(N_MAX_RECORDED));
        let sampled = self.sample(&head.row(false), history, coins)?;
        let mut sampled = restricted(sampled, head);
        // What the model reported is recorded as it is, without the tokens below it ruled out.
        let trace = &mut sampled.trace;
        let n_known = trace.raw.head.len();
        trace.raw = self.evidence(&head.row(true))?;
        trace.raw.head.truncate(n_known);
        let logit = head.logit(sampled.token).map_or(f64::NAN, f64::from);
        trace.raw_prob = (logit - trace.raw.log_sum_exp).exp();
        trace.bounded = true;
        self.note_known(head, history, coins, state, &mut sampled.trace)?;
        Ok(sampled)
    }

    /// Takes a token that the chain did not draw, and records what the chain makes of it. The
    /// selector learns nothing from it, because its probability may be unknown.
    pub fn take_served(
        &mut self,
        head: &ServedHead,
        history: History<'_>,
        coins: Coins,
        taken: Taken,
    ) -> Result<Sampled, DecodingError> {
        let state = self.state();
        self.record(head.len().min(N_MAX_RECORDED));
        let sampled = self.take(&head.row(true), history, coins, taken)?;
        self.restore(state);
        let mut sampled = restricted(sampled, head);
        sampled.trace.selector_state = state;
        let token = sampled.token;
        if !head.head.iter().any(|known| known.token == token) {
            // It comes after all tokens of the head; how far after is unknown.
            sampled.trace.raw_rank = head.len() as u32 + 1;
            sampled.trace.bounded = true;
        }
        self.note_known(head, history, coins, state, &mut sampled.trace)?;
        Ok(sampled)
    }

    /// Notes which numbers of a step do not depend on the tokens that the head does not name. `state`
    /// is that of the selector before the step.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of the step that it is about"
    )]
    fn note_known(
        &self,
        head: &ServedHead,
        history: History<'_>,
        coins: Coins,
        state: SelectorState,
        trace: &mut Trace,
    ) -> Result<(), DecodingError> {
        let token = trace.draw.token;
        let mut known = KnownPart::all(trace);
        if !head.is_whole() {
            // Penalties and biases treat some of the other tokens differently.
            let mentioned = head.unnamed(history, self.config());
            for first in [&[][..], &mentioned[..]] {
                let mut other = self.clone();
                other.restore(state);
                let row = head.steep_row(first);
                known.agree_with(
                    &other
                        .take(&row, history, coins, Taken::ByServer(token))?
                        .trace,
                );
                if mentioned.is_empty() {
                    break;
                }
            }
        }
        if head.is_empty() {
            known.final_prob = None;
        }
        if head.n_vocab_is_assumed() {
            known.forget_counts_above(head.len());
        }
        known.raw_prob = known.raw_prob.filter(|_| head.logit(token).is_some());
        let is_named = head.head.iter().any(|known| known.token == token);
        known.raw_rank = known.raw_rank.filter(|_| is_named);
        trace.known = (!known.is_whole()).then(|| Box::new(known));
        Ok(())
    }
}

/// Removes the tokens that the head does not name from a record.
fn restricted(mut sampled: Sampled, head: &ServedHead) -> Sampled {
    let trace = &mut sampled.trace;
    let known = |token: TokenId| head.head.iter().any(|known| known.token == token);
    let n_known = trace.raw.head.partition_point(|ranked| known(ranked.token));
    trace.raw.head.truncate(n_known);
    trace.head_final_probs.truncate(n_known);
    for stage in &mut trace.stages {
        stage.head_probs.truncate(n_known);
    }
    trace.survivors.retain(|left| known(left.token));
    sampled
}

/// Marks a record whose token depends on what the head lacks.
fn judged(
    mut sampled: Sampled,
    head: &ServedHead,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Sampled {
    let is_decided = || is_decided(head, chain, history, coins, sampled.token);
    sampled.trace.bounded = !head.is_whole() && !is_decided();
    sampled
}

#[cfg(test)]
mod tests {
    use super::ServedHead;
    use crate::decoding::filters::{Temperature, TopK, TopP};
    use crate::decoding::testing::row;
    use crate::decoding::{
        ASSUMED_VOCABULARY, Candidate, ChainConfig, Coins, Filter, History, SamplerChain, Taken,
        TokenId,
    };

    /// The log-probabilities of a row, and its `n` most likely tokens as a server reports them.
    fn served(logits: &[f32], n: usize) -> (Vec<f32>, ServedHead) {
        let max = logits.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = logits
            .iter()
            .map(|logit| f64::from(logit - max).exp())
            .sum();
        let row: Vec<f32> = logits
            .iter()
            .map(|logit| (f64::from(logit - max) - sum.ln()) as f32)
            .collect();
        let mut all: Vec<Candidate> = (0..)
            .map(TokenId)
            .zip(&row)
            .map(|(token, logit)| Candidate {
                token,
                logit: *logit,
            })
            .collect();
        all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
        all.truncate(n);
        (row.clone(), ServedHead::new(all, row.len()))
    }

    #[test]
    fn what_an_assumed_vocabulary_decides_is_unknown() {
        let (_, reported) = served(&row(5, 2.5), 3);
        for (n_vocab, size) in [(5000, Some(5000)), (ASSUMED_VOCABULARY, None)] {
            let head = ServedHead::new(reported.head.clone(), n_vocab);
            for (k, n_kept) in [(2, Some(2)), (9, size.map(|_| 9))] {
                let config = ChainConfig::sampled([Filter::TopK(TopK { k })]);
                let token = head.head[0].token;
                let mut chain = SamplerChain::new(config);
                let taken = Taken::ByServer(token);
                let sampled = chain.take_served(&head, History::empty(), coins(1), taken);
                let trace = sampled.unwrap().trace;
                assert_eq!(trace.n_known_candidates(), size);
                assert_eq!(
                    trace.known_entropy_nats(),
                    None,
                    "the rest may be spread in any way"
                );
                assert_eq!(trace.n_known_kept(), n_kept);
                assert_eq!(trace.known_stage(0).n_kept, n_kept);
            }
        }
        let whole = vec![Candidate {
            token: TokenId(7),
            logit: 0.0,
        }];
        let head = ServedHead::new(whole, ASSUMED_VOCABULARY);
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let sampled = chain.sample_served(&head, History::empty(), coins(1));
        let trace = sampled.unwrap().unwrap().trace;
        assert!(trace.known_entropy_nats().is_some());
    }

    fn coins(seed: u64) -> Coins {
        Coins { seed, position: 3 }
    }

    #[test]
    fn what_the_head_decides_is_exact_and_the_rest_is_bounded_or_outside() {
        let chains = [
            ChainConfig::greedy(),
            ChainConfig::sampled([Filter::TopK(TopK { k: 10 })]),
            ChainConfig::sampled([Filter::TopP(TopP { p: 0.6 })]),
            ChainConfig::sampled([
                Filter::Temperature(Temperature { temperature: 0.7 }),
                Filter::TopP(TopP { p: 0.9 }),
            ]),
            ChainConfig::sampled([]),
        ];
        let (mut n_exact, mut n_outside) = (0, 0);
        for seed in 0..200 {
            let (row, head) = served(&row(seed, 2.5), 20);
            for config in &chains {
                let whole = SamplerChain::new(config.clone())
                    .sample(&row, History::empty(), coins(seed.into()))
                    .unwrap();
                let mut chain = SamplerChain::new(config.clone());
                let sampled = chain.sample_served(&head, History::empty(), coins(seed.into()));
                match sampled.unwrap() {
                    Some(sampled) if !sampled.trace.bounded => {
                        n_exact += 1;
                        assert_eq!(sampled.token, whole.token, "{config}");
                        assert_eq!(sampled.trace.raw_rank, whole.trace.raw_rank);
                        assert!((sampled.trace.raw_prob - whole.trace.raw_prob).abs() < 1e-5);
                        assert!(sampled.trace.raw.head.len() <= 20);
                    }
                    Some(_) => {}
                    None => n_outside += 1,
                }
            }
        }
        assert!(n_exact > 500, "{n_exact}");
        assert!(n_outside > 0);
    }

    #[test]
    fn a_whole_head_is_always_exact() {
        for seed in 0..20 {
            let logits = row(seed, 2.5);
            let (row, head) = served(&logits, logits.len());
            let config =
                ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 1.5 })]);
            let whole = SamplerChain::new(config.clone())
                .sample(&row, History::empty(), coins(seed.into()))
                .unwrap();
            let sampled = SamplerChain::new(config)
                .sample_served(&head, History::empty(), coins(seed.into()))
                .unwrap()
                .unwrap();
            assert_eq!(sampled.token, whole.token);
            assert!(!sampled.trace.bounded);
        }
    }

    #[test]
    fn a_choice_within_the_head_keeps_what_the_model_said() {
        let (row, head) = served(&row(5, 1.0), 4);
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        for seed in 0..50 {
            let sampled = chain.sample_served_only(&head, History::empty(), coins(seed));
            let trace = sampled.unwrap().trace;
            assert!(trace.bounded);
            assert_eq!(trace.raw.head.len(), 4);
            let known = f64::from(row[trace.draw.token.index()]).exp();
            assert!((trace.raw_prob - known).abs() < 1e-5);
            let coin = trace.draw.coin.unwrap();
            assert!(trace.draw.below <= coin && coin < trace.draw.below + trace.draw.prob);
        }
    }

    #[test]
    fn a_token_below_the_head_is_known_to_come_after_it() {
        let (row, head) = served(&row(5, 2.5), 10);
        let token = (0..)
            .map(TokenId)
            .take(row.len())
            .find(|token| head.logit(*token).is_none())
            .unwrap();
        let logit = row[token.index()];
        let head = head.with(Candidate { token, logit });
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let taken = Taken::ByServer(token);
        let sampled = chain.take_served(&head, History::empty(), coins(1), taken);
        let trace = sampled.unwrap().trace;
        assert_eq!((trace.raw_rank, trace.bounded), (11, true));
        assert!((trace.raw_prob - f64::from(logit).exp()).abs() < 1e-5);
        assert_eq!(trace.raw.head.len(), 10);
    }
}
