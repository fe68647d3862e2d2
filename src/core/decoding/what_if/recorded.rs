//! A recorded distribution on its way through a chain: the head token by token, the tail by what
//! bounds it.

use super::WhatIf;
use super::tail::{ROUNDING, Tail};
use crate::decoding::filter::Filtered;
use crate::decoding::filters::{LogitBias, QuadraticSmoothing, Temperature, ThinkingBudget, TopK};
use crate::decoding::rules::Ties;
use crate::decoding::{
    Candidate, Candidates, ChainConfig, Detail, Evidence, Filter, Selector, SelectorState,
    ServedHead, StageContext, TokenId, Tosses,
};

/// A distribution of which only a head is known token by token.
pub(in crate::decoding) struct Recorded<'a> {
    pub(in crate::decoding) head: Candidates,
    pub(in crate::decoding) tail: Option<Tail<'a>>,
    /// Whether every decision so far holds for any tail.
    pub(in crate::decoding) sure: bool,
    /// Whether the most likely candidate is known, even if it is not known which others are left.
    pub(super) best_sure: bool,
    /// Whether the tail may lack tokens of the vocabulary, because a grammar rules them out.
    pub(in crate::decoding) masked: bool,
}

impl Filtered for Recorded<'_> {
    fn filter(&mut self, filter: &Filter, context: StageContext<'_>) {
        self.apply(filter, context);
    }
}

impl<'a> Recorded<'a> {
    /// Returns everything that was recorded about a step, or `None` if nothing was.
    pub(in crate::decoding) fn of(evidence: &'a Evidence) -> Option<Self> {
        match &evidence.detail {
            Detail::HeadOnly => Self::of_head(evidence),
            Detail::Summary(summary) => Some(Self::new(
                Candidates::from_entries(summary.candidates.clone())?,
                Tail::below_summary(evidence, summary),
            )),
            Detail::Whole(logits) => Some(Self::new(Candidates::from_logits(logits).ok()?, None)),
        }
    }

    /// Returns the head and the totals, which are enough for most settings.
    pub(super) fn of_head(evidence: &Evidence) -> Option<Self> {
        let entries = evidence.head.iter().map(|ranked| Candidate {
            token: ranked.token,
            logit: ranked.logit,
        });
        let head = Candidates::from_entries(entries.collect())?;
        Some(Self::new(head, Tail::below_head(evidence)))
    }

    /// Returns what a server reported, or `None` if that is nothing.
    pub(super) fn of_served(head: &ServedHead) -> Option<Self> {
        let candidates = Candidates::from_entries(head.candidates().to_vec())?;
        Some(Self::new(candidates, Tail::below_served(head)))
    }

    const fn new(head: Candidates, tail: Option<Tail<'a>>) -> Self {
        Self {
            head,
            tail,
            sure: true,
            best_sure: true,
            masked: false,
        }
    }

    /// Applies the stages of a chain. The context is the first one's.
    pub(super) fn after(mut self, chain: &ChainConfig, first: StageContext<'_>) -> Self {
        self.masked = chain.grammar.is_some();
        first.run(chain.enabled(), 0, &mut self, |_, _, _| ());
        self
    }

    fn apply(&mut self, filter: &Filter, context: StageContext<'_>) {
        if filter.is_neutral() {
            return;
        }
        if let Filter::ThinkingBudget(budget) = filter {
            self.force(budget, context);
            return;
        }
        self.best_sure &= self.sure || filter.preserves_top();
        let Some(tail) = self.tail else {
            filter.apply(context, &mut self.head);
            return;
        };
        let is_known = match filter {
            Filter::Temperature(heat) => self.heat(*heat, tail),
            Filter::TopK(top_k) => self.keep_k(*top_k, context, tail),
            Filter::QuadraticSmoothing(curve) => self.smooth(*curve, tail),
            Filter::LogitBias(bias) => self.favor(bias, context, tail),
            _ if filter.only_lowers() => {
                let window = filter.window();
                let n_seen = window.map_or(0, |window| window.of(context.history).len());
                self.lower(filter, n_seen, context, tail)
            }
            _ => self.cut(filter, context, tail),
        };
        if !is_known {
            // This depends on sums over the whole tail, or can raise its tokens above recorded ones.
            filter.apply(context, &mut self.head);
            self.sure = false;
            self.best_sure &= filter.preserves_top();
        }
    }

    /// Applies a thinking budget. The token that it forces is certain, unless it was not recorded and
    /// a grammar may rule it out.
    fn force(&mut self, budget: &ThinkingBudget, context: StageContext<'_>) {
        let forced = budget.forced(context.history);
        let exists = |token: &TokenId| token.index() < context.n_vocab as usize;
        let Some(token) = forced.filter(exists) else {
            return;
        };
        let is_recorded = self.head.logit(token).is_some() || self.tail.is_none();
        self.head.force(token);
        if self.head.best().token == token {
            self.tail = None;
            self.sure = is_recorded || !self.masked;
            self.best_sure = self.sure;
        }
    }

    fn heat(&mut self, heat: Temperature, tail: Tail<'a>) -> bool {
        let temperature = heat.temperature;
        let best = self.head.best().logit;
        if temperature <= 0.0 || (best / temperature).is_infinite() {
            self.keep_best();
            return true;
        }
        self.head.map_logits(|logit| logit / temperature);
        self.tail = Some(tail.heated(temperature));
        true
    }

    /// Applies quadratic smoothing, unless its curve is not monotonic.
    fn smooth(&mut self, smoothing: QuadraticSmoothing, tail: Tail<'a>) -> bool {
        let is_monotonic = smoothing.factor > 0.0 && (1.0..=3.0).contains(&smoothing.curve);
        let best = self.head.best().logit;
        if is_monotonic {
            let new_logit = |logit| smoothing.new_logit(logit, best);
            self.head.map_logits(new_logit);
            // Rounding can swap two logits that differ by less than this.
            let max_logit = new_logit(tail.max_logit);
            let rounding = 8.0 * f32::EPSILON * (best.abs() + max_logit.abs());
            self.tail = Some(tail.capped(max_logit + rounding));
            self.sink();
        }
        is_monotonic
    }

    /// Applies biases and bans, unless they can raise a token of the tail or ban the whole head.
    fn favor(&mut self, bias: &LogitBias, context: StageContext<'_>, tail: Tail<'a>) -> bool {
        let is_unknown = |token: &TokenId| self.head.logit(*token).is_none();
        let unknown = bias.biases.iter().filter(|entry| is_unknown(&entry.token));
        let raises_tail = unknown.clone().any(|entry| entry.bias > 0.0);
        let n_banned = bias.banned.iter().filter(|token| is_unknown(token)).count();
        let n_lowered = unknown.count() + n_banned;
        let stays =
            |next: Candidate| next.logit > f32::NEG_INFINITY && !bias.banned.contains(&next.token);
        if raises_tail || !self.head.iter().any(stays) {
            return false;
        }
        Filter::LogitBias(bias.clone()).apply(context, &mut self.head);
        self.tail = Some(tail.lowered(n_lowered));
        self.sink();
        true
    }

    /// Keeps only the most likely candidate, so that it no longer matters which others are left.
    fn keep_best(&mut self) {
        self.head.keep_head(1);
        self.tail = None;
        self.sure = self.best_sure;
    }

    fn keep_k(&mut self, top_k: TopK, context: StageContext<'_>, tail: Tail<'a>) -> bool {
        if top_k.k == 1 && context.rules.top_k_ties == Ties::LowestIds {
            self.keep_best();
            return true;
        }
        let n_more = f64::from(top_k.k) - self.head.n_kept() as f64;
        if n_more <= 0.0 {
            Filter::TopK(top_k).apply(context, &mut self.head);
            let reaches_tail = self.head.logit(tail.last).is_some();
            let orders_ties = context.rules.top_k_ties == Ties::LowestIds && !tail.tied;
            self.sure &= orders_ties || !reaches_tail;
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
        true
    }

    /// Applies a filter that only lowers logits. Recorded logits change exactly. The tail loses at
    /// most the mass of its `n_seen` most likely tokens.
    fn lower(
        &mut self,
        filter: &Filter,
        n_seen: usize,
        context: StageContext<'_>,
        tail: Tail<'a>,
    ) -> bool {
        if n_seen == 0 {
            return true;
        }
        if let Filter::NoRepeatNgram(rule) = filter {
            // If every recorded token is banned, one of the others is sampled.
            let banned = rule.banned(context.history);
            if self.head.iter().all(|next| banned.contains(&next.token)) {
                (self.sure, self.best_sure) = (false, false);
                return true;
            }
        }
        filter.apply(context, &mut self.head);
        self.tail = Some(tail.lowered(n_seen));
        self.sink();
        true
    }

    /// Moves recorded tokens that have fallen to where the tail may begin into the tail, because
    /// their rank is no longer known. Those that equal the last recorded token and do not come after
    /// it precede the whole tail, as it does.
    fn sink(&mut self) {
        let Some(tail) = self.tail.as_mut() else {
            return;
        };
        let (above, below): (Vec<Candidate>, Vec<Candidate>) = self.head.iter().partition(|next| {
            let precedes = next.token <= tail.last && !tail.tied;
            next.logit > tail.max_logit || (precedes && next.logit >= tail.max_logit)
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
    pub(in crate::decoding) fn tail_shares(&mut self, tail: Tail<'a>) -> (f64, f64) {
        let ln_head = self.head.softmax().log_sum_exp;
        let [least, most] = [tail.ln_least, tail.ln_most].map(|ln_mass| (ln_mass - ln_head).exp());
        (least, most)
    }

    /// Returns the bounds of a token's probability, or `None` if it was not recorded or was
    /// filtered out.
    pub(super) fn prob(&mut self, token: TokenId) -> Option<[f64; 2]> {
        let logit = self.head.logit(token)?;
        let prob = self.head.softmax().prob(logit);
        let (light, heavy) = self.tail.map_or((0.0, 0.0), |tail| self.tail_shares(tail));
        Some([prob / (1.0 + heavy), prob / (1.0 + light)])
    }

    pub(in crate::decoding) fn draw(
        &mut self,
        selector: Selector,
        context: StageContext<'_>,
    ) -> WhatIf {
        let coins = context.coins;
        let picked = selector.pick(
            coins,
            context.history,
            &mut SelectorState::default(),
            &mut self.head.clone(),
        );
        let sure = self.sure && !selector.is_adaptive();
        let spec = selector.spec();
        match (self.tail, spec.tosses) {
            // It depends on the other texts.
            _ if spec.compares_texts() => WhatIf::Unrecorded,
            (_, Tosses::None) => answer(self.best_sure, picked.token),
            (None, _) => answer(sure, picked.token),
            (Some(tail), Tosses::One) if !spec.reweighs => self.draw_beside(tail, coins.draw()),
            (Some(_), _) => WhatIf::Bounded(picked.token),
        }
    }

    /// Draws with a coin when a tail is left. Recorded tokens come first in the cumulative
    /// distribution; the share that they take up depends on the mass of the tail.
    fn draw_beside(&mut self, tail: Tail<'a>, coin: f64) -> WhatIf {
        match self.hits(coin) {
            [Some(first), Some(last)] => {
                let sure = self.sure && first == last && !tail.may_equal(first);
                answer(sure, first.token)
            }
            [None, None] if self.sure && !tail.mixed => WhatIf::Unrecorded,
            [Some(first), None] => WhatIf::Bounded(first.token),
            [None, _] => WhatIf::Bounded(self.head.best().token),
        }
    }

    /// Returns the recorded candidates on which a coin falls beside the lightest and beside the
    /// heaviest tail, or `None` if it falls on the tail.
    pub(super) fn hits(&mut self, coin: f64) -> [Option<Candidate>; 2] {
        let (light, heavy) = self.tail.map_or((0.0, 0.0), |tail| self.tail_shares(tail));
        // The rounding error is a share of all candidates, not of the head.
        let from = (coin - ROUNDING) * (1.0 + light);
        let to = (coin + ROUNDING) * (1.0 + heavy);
        let first = self.head.crossing(|end| from < end);
        let last = self.head.crossing(|end| to < end);
        [first, last].map(|crossing| Some(crossing?.candidate))
    }
}

pub(super) fn answer(sure: bool, token: TokenId) -> WhatIf {
    if sure {
        WhatIf::Exact(token)
    } else {
        WhatIf::Bounded(token)
    }
}
