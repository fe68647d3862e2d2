//! Applies other settings to a recorded step, without the model: which token would have been
//! sampled?
//!
//! The head of the record holds the logits of the most likely tokens. For the others, the tail, it
//! holds only their number, their total probability, and that none is likelier than the last token
//! of the head. That is often enough. If it is not, the detail of the record is used: a longer head
//! with a histogram of the tail, or the whole distribution. If that is not enough either, the
//! answer says so.

mod rechoice;
mod tail;
#[cfg(test)]
mod tests;

pub use self::rechoice::rechoice;
use self::tail::Tail;
use super::filters::{Temperature, TopK, TopP};
use super::rules::{Equal, Mass, Ties, TopPZero};
use super::{
    Candidate, Candidates, ChainConfig, Coins, Detail, Evidence, Filter, History, Selector,
    SelectorState, StageContext, TokenId,
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

impl WhatIf {
    /// Returns the token that would certainly or probably be sampled, or `None` if it was not
    /// recorded.
    pub const fn token(self) -> Option<TokenId> {
        match self {
            Self::Exact(token) | Self::Bounded(token) => Some(token),
            Self::Unrecorded => None,
        }
    }
}

/// Runs a chain over a recorded distribution, with the history and the coins of its step. Returns
/// `None` if nothing was recorded.
///
/// An adaptive selector starts with the state that it has at the beginning of a text, so its answer
/// is never exact.
pub fn what_if(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Option<WhatIf> {
    let context = context_of(evidence, chain, history, coins);
    let mut step = Recorded::of_head(evidence)?.after(chain, context);
    let outcome = step.draw(chain.selector, context);
    if matches!(outcome, WhatIf::Exact(_)) || evidence.detail == Detail::HeadOnly {
        return Some(outcome);
    }
    let mut step = Recorded::of(evidence)?.after(chain, context);
    Some(step.draw(chain.selector, context))
}

/// Returns what the first stage of a chain looks at.
const fn context_of<'a>(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'a>,
    coins: Coins,
) -> StageContext<'a> {
    StageContext {
        history,
        coins,
        n_chance_before: 0,
        rules: chain.rules,
        n_vocab: evidence.n_candidates,
    }
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
    let context = context_of(evidence, chain, history, coins);
    let mut step = Recorded::of(evidence)?.after(chain, context);
    if chain.selector == Selector::Greedy {
        return match step.draw(chain.selector, context) {
            WhatIf::Exact(best) => Some([f64::from(u8::from(best == token)); 2]),
            _ => None,
        };
    }
    let sure = step.sure && !chain.selector.is_adaptive();
    step.prob(token).filter(|_| sure)
}

/// Returns whether a chain certainly samples a different token than this one from a recorded
/// distribution, whatever the tokens are that were not recorded.
///
/// The heavier the tail, the more tokens top-p keeps and the later the drawn token comes, so the
/// lightest and the heaviest possible tail bound the draw.
pub fn what_if_rules_out(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    token: TokenId,
) -> bool {
    let context = context_of(evidence, chain, history, coins);
    let after = |tail_mass| {
        let step = Recorded {
            tail_mass,
            ..Recorded::of(evidence)?
        };
        let step = step.after(chain, context);
        (step.sure && chain.selector == Selector::Multinomial).then_some(step)
    };
    let mut after_top_p = chain
        .active()
        .skip_while(|filter| !matches!(filter, Filter::TopP(_)));
    let [least, most] = if after(TailMass::Any).is_some() {
        [TailMass::Any; 2]
    } else if after_top_p.all(keeps_order) {
        [TailMass::Least, TailMass::Most]
    } else {
        return false;
    };
    let (Some(mut light), Some(mut heavy)) = (after(least), after(most)) else {
        return false;
    };
    let candidate = |step: &Recorded<'_>| {
        let logit = step.head.logit(token)?;
        Some(Candidate { token, logit })
    };
    let [soonest, _] = light.hits(coins.draw());
    let [_, latest] = heavy.hits(coins.draw());
    let comes_sooner = match (candidate(&light), soonest) {
        (Some(candidate), Some(soonest)) => soonest.comes_after(candidate),
        _ => false,
    };
    let comes_later = match (candidate(&heavy), latest) {
        (Some(candidate), Some(latest)) => candidate.comes_after(latest),
        (Some(_), None) => false,
        // It was filtered out, or it is in the tail.
        (None, latest) => heavy.tail.is_none() || latest.is_some(),
    };
    comes_sooner || comes_later
}

/// Whether a filter leaves the candidates in order, and keeps more of a larger set.
const fn keeps_order(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Temperature(_) | Filter::TopK(_) | Filter::TopP(_) | Filter::MinP(_)
    )
}

/// A distribution of which only a head is known token by token.
pub(super) struct Recorded<'a> {
    pub(super) head: Candidates,
    pub(super) tail: Option<Tail<'a>>,
    /// What to assume about the tail.
    tail_mass: TailMass,
    /// Whether every decision so far holds for any tail.
    pub(super) sure: bool,
    /// Whether the most likely candidate is known, even if it is not known which others are left.
    best_sure: bool,
}

/// Which of the possible masses of the tail to calculate with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TailMass {
    Any,
    Least,
    Most,
}

impl<'a> Recorded<'a> {
    /// Returns everything that was recorded about a step, or `None` if nothing was.
    pub(super) fn of(evidence: &'a Evidence) -> Option<Self> {
        match &evidence.detail {
            Detail::HeadOnly => Self::of_head(evidence),
            Detail::Summary(summary) => Some(Self {
                head: Candidates::from_entries(summary.candidates.clone())?,
                tail: Tail::below_summary(evidence, summary),
                tail_mass: TailMass::Any,
                sure: true,
                best_sure: true,
            }),
            Detail::Whole(logits) => Some(Self {
                head: Candidates::from_logits(logits).ok()?,
                tail: None,
                tail_mass: TailMass::Any,
                sure: true,
                best_sure: true,
            }),
        }
    }

    /// Returns the head and the totals, which are enough for most settings.
    pub(super) fn of_head(evidence: &Evidence) -> Option<Self> {
        let entries = evidence.head.iter().map(|ranked| Candidate {
            token: ranked.token,
            logit: ranked.logit,
        });
        Some(Self {
            head: Candidates::from_entries(entries.collect())?,
            tail: Tail::below_head(evidence),
            tail_mass: TailMass::Any,
            sure: true,
            best_sure: true,
        })
    }

    /// Applies the stages of a chain.
    fn after(mut self, chain: &ChainConfig, mut context: StageContext<'_>) -> Self {
        for stage in chain.stages.iter().filter(|stage| stage.enabled) {
            if !stage.filter.is_neutral() {
                self.apply(&stage.filter, context);
            }
            context.n_chance_before += u32::from(stage.filter.is_random());
        }
        self
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
                    shape: None,
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

    fn heat(&mut self, heat: Temperature, tail: Tail<'a>) {
        let temperature = heat.temperature;
        let best = self.head.best().logit;
        if temperature <= 0.0 || (best / temperature).is_infinite() {
            self.keep_best();
            return;
        }
        self.head.map_logits(|logit| logit / temperature);
        self.tail = Some(tail.heated(temperature));
    }

    /// Keeps only the most likely candidate, so that it no longer matters which others are left.
    fn keep_best(&mut self) {
        self.head.keep_head(1);
        self.tail = None;
        self.sure = self.best_sure;
    }

    fn keep_k(&mut self, top_k: TopK, context: StageContext<'_>, tail: Tail<'a>) {
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
                shape: tail.shape.filter(|_| n >= tail.n),
                ..tail
            });
        }
    }

    fn keep_p(&mut self, top_p: TopP, context: StageContext<'_>, tail: Tail<'a>) {
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
                shape: None,
                ..tail
            });
        }
    }

    /// Applies a filter that only lowers logits. Recorded logits change exactly. The tail loses at
    /// most the mass of its `n_seen` most likely tokens.
    fn lower(&mut self, filter: &Filter, n_seen: usize, context: StageContext<'_>, tail: Tail<'a>) {
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
        self.tail = Some(tail.lowered(n_seen));
        self.sink();
    }

    /// Moves recorded tokens that have fallen to where the tail may begin into the tail, because
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
        *tail = tail.joined_by(&below);
        if let Some(above) = Candidates::from_entries(above) {
            self.head = above;
        } else {
            self.sure = false;
            self.best_sure = false;
        }
    }

    /// Returns the bounds of the tail's mass, as multiples of the mass of the head.
    pub(super) fn tail_shares(&mut self, tail: Tail<'a>) -> (f64, f64) {
        let ln_head = self.head.softmax().log_sum_exp;
        let [least, most] = [tail.ln_least, tail.ln_most].map(|ln_mass| (ln_mass - ln_head).exp());
        match self.tail_mass {
            TailMass::Any => (least, most),
            TailMass::Least => (least, least),
            TailMass::Most => (most, most),
        }
    }

    /// Returns the bounds of a token's probability, or `None` if it was not recorded or was
    /// filtered out.
    fn prob(&mut self, token: TokenId) -> Option<[f64; 2]> {
        let logit = self.head.logit(token)?;
        let prob = self.head.softmax().prob(logit);
        let (light, heavy) = self.tail.map_or((0.0, 0.0), |tail| self.tail_shares(tail));
        Some([prob / (1.0 + heavy), prob / (1.0 + light)])
    }

    pub(super) fn draw(&mut self, selector: Selector, context: StageContext<'_>) -> WhatIf {
        let coins = context.coins;
        let picked = selector.pick(
            coins,
            context.history,
            &mut SelectorState::default(),
            &mut self.head.clone(),
        );
        let sure = self.sure && !selector.is_adaptive();
        match (self.tail, selector) {
            // It depends on the other texts.
            (_, Selector::BeamSearch(_)) => WhatIf::Unrecorded,
            (_, Selector::Greedy) => answer(self.best_sure, picked.token),
            (None, _) => answer(sure, picked.token),
            (Some(tail), Selector::Multinomial) => self.draw_beside(tail, coins.draw()),
            (Some(_), _) => WhatIf::Bounded(picked.token),
        }
    }

    /// Draws with a coin when a tail is left. Recorded tokens come first in the cumulative
    /// distribution; the share that they take up depends on the mass of the tail.
    fn draw_beside(&mut self, tail: Tail<'a>, coin: f64) -> WhatIf {
        match self.hits(coin) {
            [Some(first), Some(last)] => answer(self.sure && first == last, first.token),
            [None, None] if self.sure && !tail.mixed => WhatIf::Unrecorded,
            [Some(first), None] => WhatIf::Bounded(first.token),
            [None, _] => WhatIf::Bounded(self.head.best().token),
        }
    }

    /// Returns the recorded candidates on which a coin falls beside the lightest and beside the
    /// heaviest tail, or `None` if it falls on the tail.
    fn hits(&mut self, coin: f64) -> [Option<Candidate>; 2] {
        let (light, heavy) = self.tail.map_or((0.0, 0.0), |tail| self.tail_shares(tail));
        let from = coin * (1.0 + light) - ROUNDING;
        let to = coin * (1.0 + heavy) + ROUNDING;
        let first = self.head.crossing(|end| from < end);
        let last = self.head.crossing(|end| to < end);
        [first, last].map(|crossing| Some(crossing?.candidate))
    }
}

fn answer(sure: bool, token: TokenId) -> WhatIf {
    if sure {
        WhatIf::Exact(token)
    } else {
        WhatIf::Bounded(token)
    }
}
