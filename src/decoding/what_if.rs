//! Applies other settings to a recorded step, without the model: which token would have been
//! sampled?
//!
//! The record holds the logits of the most likely tokens. Of the others, the tail, it knows only
//! their number, their total probability, and that none is likelier than the last recorded one.
//! That is often enough; if it is not, the answer says so.

use super::filters::{Temperature, TopK, TopP};
use super::rules::{Equal, Mass, Ties, TopPZero};
use super::{
    Candidate, Candidates, ChainConfig, Coins, Evidence, Filter, History, Selector, SelectorState,
    StageContext, TokenId,
};

/// The rounding error of the 32-bit sum of up to 256 probabilities, which top-p compares.
const TOP_P_ROUNDING: f64 = 1e-5;

/// The relative rounding error of a recorded sum.
const ROUNDING: f64 = 1e-6;

/// Which token would have been sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhatIf {
    /// Certainly this token.
    Exact(TokenId),
    /// Certainly one of the tokens that were not recorded.
    Unrecorded,
    /// Probably this token; it depends on tokens that were not recorded.
    Bounded(TokenId),
}

/// Runs a chain over a recorded distribution, with the history and coins of its step. Returns
/// `None` if nothing was recorded.
///
/// An adaptive selector starts as at the beginning of a text, so its answer is never exact.
pub fn what_if(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Option<WhatIf> {
    let mut step = Recorded::after(evidence, chain, history, coins)?;
    Some(step.draw(chain.selector, coins))
}

/// Returns the bounds of the probability with which a chain samples a token from a recorded
/// distribution, or `None` if they are unknown.
pub fn what_if_prob(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    token: TokenId,
) -> Option<[f64; 2]> {
    let mut step = Recorded::after(evidence, chain, history, coins)?;
    if chain.selector == Selector::Greedy {
        return match step.draw(chain.selector, coins) {
            WhatIf::Exact(best) => Some([f64::from(u8::from(best == token)); 2]),
            _ => None,
        };
    }
    let sure = step.sure && !chain.selector.is_adaptive();
    step.prob(token).filter(|_| sure)
}

/// A distribution of which only the head is known token by token.
pub(super) struct Recorded {
    pub(super) head: Candidates,
    pub(super) tail: Option<Tail>,
    /// Whether every decision so far holds for any tail.
    pub(super) sure: bool,
    /// Whether the most likely candidate is known, even if the others are not.
    best_sure: bool,
}

/// What is known about the tokens that were not recorded. A mass is a sum of `exp(logit)`, stored
/// as its natural logarithm.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    /// The largest possible number of tokens.
    pub(super) n: f64,
    /// The bounds of their mass.
    ln_least: f64,
    ln_most: f64,
    /// No logit is larger. The last recorded token has this logit, and comes before its equals.
    max_logit: f32,
    last: TokenId,
    /// Whether the tail contains recorded tokens that have fallen behind.
    pub(super) mixed: bool,
}

impl Recorded {
    pub(super) fn of(evidence: &Evidence) -> Option<Self> {
        let last = evidence.head.last()?;
        let entries = evidence.head.iter().map(|ranked| Candidate {
            token: ranked.token,
            logit: ranked.logit,
        });
        let n = f64::from(evidence.n_candidates) - evidence.head.len() as f64;
        let unknown = 1.0 - evidence.head.iter().map(|ranked| ranked.prob).sum::<f64>();
        let ln_most = (unknown + ROUNDING).ln() + evidence.log_sum_exp;
        let tail = Tail {
            n,
            ln_least: (unknown - ROUNDING).max(0.0).ln() + evidence.log_sum_exp,
            ln_most: ln_most.min(n.ln() + f64::from(last.logit)),
            max_logit: last.logit,
            last: last.token,
            mixed: false,
        };
        Some(Self {
            head: Candidates::from_entries(entries.collect())?,
            tail: (n > 0.0).then_some(tail),
            sure: true,
            best_sure: true,
        })
    }

    /// Returns what is left after the stages of a chain.
    fn after(
        evidence: &Evidence,
        chain: &ChainConfig,
        history: History<'_>,
        coins: Coins,
    ) -> Option<Self> {
        let mut step = Self::of(evidence)?;
        let mut context = StageContext {
            history,
            coins,
            n_chance_before: 0,
            rules: chain.rules,
        };
        for stage in chain.stages.iter().filter(|stage| stage.enabled) {
            if !stage.filter.is_neutral() {
                step.apply(&stage.filter, context);
            }
            context.n_chance_before += u32::from(stage.filter.is_random());
        }
        Some(step)
    }

    pub(super) fn apply(&mut self, filter: &Filter, context: StageContext<'_>) {
        self.best_sure &= self.sure || filter.preserves_top();
        let Some(tail) = self.tail else {
            filter.apply(context, &mut self.head);
            return;
        };
        match filter {
            Filter::Temperature(heat) => self.heat(*heat, tail),
            Filter::TopK(top_k) => self.keep_k(*top_k, context, tail),
            Filter::TopP(top_p) => self.keep_p(*top_p, context, tail),
            // Such a min-p has no effect.
            Filter::MinP(min_p) if min_p.p >= 1.0 && context.rules.min_p_equal == Equal::Cut => {}
            Filter::MinP(min_p) if context.rules.min_keep <= 1 => {
                let bar = self.head.best().logit + min_p.p.ln();
                filter.apply(context, &mut self.head);
                // If no logit of the tail reaches the threshold, all of it goes; otherwise any part
                // may.
                self.tail = (tail.max_logit >= bar).then_some(Tail {
                    ln_least: f64::NEG_INFINITY,
                    ..tail
                });
            }
            _ if filter.only_lowers() => {
                let window = filter.window();
                let n_seen = window.map_or(0, |window| window.of(context.history).len());
                self.lower(filter, n_seen, context, tail);
            }
            _ => {
                // This depends on sums over the whole tail, or can raise its tokens above recorded
                // ones.
                filter.apply(context, &mut self.head);
                self.sure = false;
                self.best_sure &= filter.preserves_top();
            }
        }
    }

    /// Bounds the mass of the tail after a temperature. If only the sum of weights `w` is known,
    /// the sum of `w^a` is between that of equal weights and that of as few weights as possible;
    /// which one is larger depends on whether `a` is above 1.
    fn heat(&mut self, heat: Temperature, tail: Tail) {
        let temperature = heat.temperature;
        let best = self.head.best().logit;
        if temperature <= 0.0 || (best / temperature).is_infinite() {
            self.keep_best();
            return;
        }
        self.head.map_logits(|logit| logit / temperature);
        let power = 1.0 / f64::from(temperature);
        let few = |ln_mass: f64| ln_mass + (power - 1.0) * f64::from(tail.max_logit);
        let equal = |ln_mass: f64| tail.n.ln() + power * (ln_mass - tail.n.ln());
        let (ln_least, ln_most) = if power > 1.0 {
            (equal(tail.ln_least), few(tail.ln_most))
        } else {
            (few(tail.ln_least), equal(tail.ln_most))
        };
        self.tail = Some(Tail {
            ln_least,
            ln_most,
            max_logit: tail.max_logit / temperature,
            ..tail
        });
    }

    /// Keeps only the most likely candidate, so that it no longer matters which others are left.
    fn keep_best(&mut self) {
        self.head.keep_head(1);
        self.tail = None;
        self.sure = self.best_sure;
    }

    fn keep_k(&mut self, top_k: TopK, context: StageContext<'_>, tail: Tail) {
        if top_k.k == 1 && context.rules.top_k_ties == Ties::LowestIds {
            self.keep_best();
            return;
        }
        let n_more = f64::from(top_k.k) - self.head.n_kept() as f64;
        if n_more <= 0.0 {
            Filter::TopK(top_k).apply(context, &mut self.head);
            let reaches_tail = self.head.logit(tail.last).is_some();
            self.sure &= context.rules.top_k_ties == Ties::LowestIds || !reaches_tail;
            self.tail = None;
        } else {
            self.sure &= context.rules.top_k_ties == Ties::LowestIds;
            let n = n_more.min(tail.n);
            self.tail = Some(Tail {
                n,
                ln_least: tail.ln_least + (n / tail.n).ln(),
                ln_most: tail.ln_most.min(n.ln() + f64::from(tail.max_logit)),
                ..tail
            });
        }
    }

    fn keep_p(&mut self, top_p: TopP, context: StageContext<'_>, tail: Tail) {
        let rules = context.rules;
        if top_p.p <= 0.0 && rules.top_p_zero == TopPZero::Off {
            return;
        }
        self.sure &= rules.top_p_mass == Mass::Kept && rules.min_keep <= 1;
        let (least, most) = self.tail_shares(tail);
        let p = f64::from(top_p.p);
        let soonest = self
            .head
            .crossing(|sum| sum >= p * (1.0 + least) - TOP_P_ROUNDING);
        let latest = self
            .head
            .crossing(|sum| sum >= p * (1.0 + most) + TOP_P_ROUNDING);
        if let Some(soonest) = soonest {
            self.sure &= latest.is_some_and(|latest| latest.candidate == soonest.candidate);
            self.head.keep_through(soonest.candidate);
            self.tail = None;
        } else {
            let ln_head = self.head.softmax().log_sum_exp;
            let held = (p * (1.0 + least) - 1.0 - ROUNDING).max(0.0);
            self.tail = Some(Tail {
                ln_least: held.ln() + ln_head,
                ..tail
            });
        }
    }

    /// Applies a penalty exactly to the recorded tokens. From the tail it takes at most the mass of
    /// `n_seen` tokens with the largest possible logit.
    fn lower(&mut self, filter: &Filter, n_seen: usize, context: StageContext<'_>, tail: Tail) {
        if n_seen == 0 {
            return;
        }
        if let Filter::NoRepeatNgram(rule) = filter {
            // If every recorded token is banned, one of the others is sampled.
            let banned = rule.banned(context.history);
            if self.head.iter().all(|next| banned.contains(&next.token)) {
                (self.sure, self.best_sure) = (false, false);
                return;
            }
        }
        filter.apply(context, &mut self.head);
        let ln_lost = (n_seen as f64).ln() + f64::from(tail.max_logit);
        let left = (1.0 - (ln_lost - tail.ln_least).exp()).max(0.0);
        self.tail = Some(Tail {
            ln_least: tail.ln_least + left.ln(),
            ..tail
        });
        self.sink();
    }

    /// Moves recorded tokens to the tail that have fallen to where the tail may begin, because
    /// their rank is no longer known.
    fn sink(&mut self) {
        let Some(tail) = self.tail.as_mut() else {
            return;
        };
        let (above, below): (Vec<Candidate>, Vec<Candidate>) = self.head.iter().partition(|next| {
            next.logit > tail.max_logit || (next.token == tail.last && next.logit >= tail.max_logit)
        });
        if below.is_empty() {
            return;
        }
        let sunk = || below.iter().map(|next| f64::from(next.logit));
        tail.n += below.len() as f64;
        tail.ln_least = sunk().fold(tail.ln_least, ln_sum);
        tail.ln_most = sunk().fold(tail.ln_most, ln_sum);
        tail.mixed = true;
        if let Some(above) = Candidates::from_entries(above) {
            self.head = above;
        } else {
            self.sure = false;
            self.best_sure = false;
        }
    }

    /// Returns the bounds of the tail's mass relative to the head's.
    pub(super) fn tail_shares(&mut self, tail: Tail) -> (f64, f64) {
        let ln_head = self.head.softmax().log_sum_exp;
        (
            (tail.ln_least - ln_head).exp(),
            (tail.ln_most - ln_head).exp(),
        )
    }

    /// Returns the bounds of a token's probability, or `None` if it was not recorded or was
    /// filtered out.
    fn prob(&mut self, token: TokenId) -> Option<[f64; 2]> {
        let logit = self.head.logit(token)?;
        let prob = self.head.softmax().prob(logit);
        let (light, heavy) = self.tail.map_or((0.0, 0.0), |tail| self.tail_shares(tail));
        Some([prob / (1.0 + heavy), prob / (1.0 + light)])
    }

    pub(super) fn draw(&mut self, selector: Selector, coins: Coins) -> WhatIf {
        let picked = selector.pick(coins, &mut SelectorState::default(), &mut self.head.clone());
        let sure = self.sure && !selector.is_adaptive();
        match (self.tail, selector) {
            (_, Selector::Greedy) => answer(self.best_sure, picked.token),
            (None, _) => answer(sure, picked.token),
            (Some(tail), Selector::Multinomial) => self.draw_beside(tail, coins.draw()),
            (Some(_), _) => WhatIf::Bounded(picked.token),
        }
    }

    /// Draws by one coin. The recorded tokens come first on the bar; their lengths depend on the
    /// tail.
    fn draw_beside(&mut self, tail: Tail, coin: f64) -> WhatIf {
        let (light, heavy) = self.tail_shares(tail);
        let from = coin * (1.0 + light) - ROUNDING;
        let to = coin * (1.0 + heavy) + ROUNDING;
        let first = self.head.crossing(|end| from < end);
        let last = self.head.crossing(|end| to < end);
        match (first, last) {
            (Some(first), Some(last)) => {
                let same = first.candidate == last.candidate;
                answer(self.sure && same, first.candidate.token)
            }
            (None, None) if self.sure && !tail.mixed => WhatIf::Unrecorded,
            (Some(first), None) => WhatIf::Bounded(first.candidate.token),
            (None, _) => WhatIf::Bounded(self.head.best().token),
        }
    }
}

/// Returns `ln(exp(a) + exp(b))` without overflow.
fn ln_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}

fn answer(sure: bool, token: TokenId) -> WhatIf {
    if sure {
        WhatIf::Exact(token)
    } else {
        WhatIf::Bounded(token)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{WhatIf, what_if, what_if_prob};
    use crate::decoding::dialect::Dialect;
    use crate::decoding::filters::{
        FrequencyPenalty, MinP, RepetitionPenalty, Temperature, TopA, TopK, TopP, TypicalP, Window,
    };
    use crate::decoding::testing::{row, token_ids};
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Selector, TokenId};

    fn filter() -> impl Strategy<Value = Filter> {
        let window = Window::ALL;
        prop_oneof![
            4 => (0.3..2.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
            1 => Just(Filter::Temperature(Temperature { temperature: 0.0 })),
            3 => (1..80_u32).prop_map(|k| Filter::TopK(TopK { k })),
            3 => (0.1..1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
            3 => (0.001..0.5_f32).prop_map(|p| Filter::MinP(MinP { p })),
            1 => (0.1..1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
            1 => (0.1..1.0_f32).prop_map(|a| Filter::TopA(TopA { a })),
            1 => (1.0..1.5_f32).prop_map(move |penalty| {
                Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
            }),
            1 => (0.0..2.0_f32).prop_map(move |penalty| {
                Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
            }),
        ]
    }

    fn recorded(logits: &[f32], coins: Coins) -> crate::decoding::Evidence {
        let mut chain = SamplerChain::new(ChainConfig::greedy());
        let sampled = chain.sample(logits, History::empty(), coins);
        sampled.unwrap().trace.raw
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

        #[test]
        fn exact_answers_are_what_the_chain_samples(
            seed in any::<u32>(), spread in 0.5..4.0_f32, position in 0..1000_u64,
            filters in prop::collection::vec(filter(), 0..4), greedy in any::<bool>(),
        ) {
            let logits = row(seed, spread);
            let tokens = token_ids(&[1, 7, 7, 30, 200]);
            let history = History::new(&tokens, 2);
            let coins = Coins { seed: 3, position };
            let mut chain = ChainConfig::sampled(filters);
            if greedy {
                chain.selector = Selector::Greedy;
            }
            let evidence = recorded(&logits, coins);
            let draw = SamplerChain::new(chain.clone()).sample(&logits, history, coins).unwrap().trace.draw;
            let drawn = draw.token;
            if let Some([least, most]) = what_if_prob(&evidence, &chain, history, coins, drawn) {
                let near = least - 1e-5..=most + 1e-5;
                prop_assert!(near.contains(&draw.prob), "{}: {} in {:?}", chain, draw.prob, near);
            }
            match what_if(&evidence, &chain, history, coins).unwrap() {
                WhatIf::Exact(token) => prop_assert_eq!(token, drawn, "{}", chain),
                WhatIf::Unrecorded => {
                    prop_assert!(evidence.head.iter().all(|known| known.token != drawn), "{}", chain);
                }
                WhatIf::Bounded(_) => {}
            }
        }
    }

    #[test]
    fn usual_settings_are_answered_exactly() {
        let (mut n_exact, n) = (0, 200);
        for position in 0..n {
            let logits = row(position as u32, 2.5);
            let coins = Coins { seed: 3, position };
            let chain = ChainConfig::sampled([
                Filter::Temperature(Temperature { temperature: 0.7 }),
                Filter::TopP(TopP { p: 0.9 }),
            ]);
            let outcome = what_if(&recorded(&logits, coins), &chain, History::empty(), coins);
            n_exact += u32::from(matches!(outcome, Some(WhatIf::Exact(_))));
        }
        assert!(u64::from(n_exact) * 10 > n * 9, "{n_exact} of {n}");
    }

    #[test]
    fn answers_that_depend_on_unrecorded_tokens_are_bounded() {
        let logits = vec![0.0; 4000];
        let coins = Coins {
            seed: 3,
            position: 0,
        };
        let outcome = |filter: Filter| {
            let chain = ChainConfig::sampled([filter]);
            what_if(&recorded(&logits, coins), &chain, History::empty(), coins).unwrap()
        };
        let typical = outcome(Filter::TypicalP(TypicalP { p: 0.5 }));
        assert!(matches!(typical, WhatIf::Bounded(_)));
        let all = outcome(Filter::TopP(TopP { p: 1.0 }));
        assert_eq!(all, WhatIf::Unrecorded);
        let first = outcome(Filter::TopK(TopK { k: 1 }));
        assert_eq!(first, WhatIf::Exact(TokenId(0)));
        // Where this top-p ends is unknown, but its best token is known.
        let greedy = ChainConfig {
            selector: Selector::Greedy,
            ..ChainConfig::sampled([Filter::TopP(TopP { p: 0.5 })])
        };
        let evidence = recorded(&row(7, 0.6), coins);
        let best = what_if(&evidence, &greedy, History::empty(), coins);
        assert_eq!(best, Some(WhatIf::Exact(evidence.head[0].token)));

        let mut off = ChainConfig::sampled([Filter::MinP(MinP { p: 1.0 })]);
        off.rules = Dialect::MistralRs.rules();
        let logits = row(7, 2.5);
        let late = Coins {
            seed: 3,
            position: 40,
        };
        let outcome = |chain| what_if(&recorded(&logits, late), chain, History::empty(), late);
        assert_eq!(outcome(&off), outcome(&ChainConfig::sampled([])));
    }
}
