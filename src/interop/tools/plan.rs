//! What of a chain another tool can say: the stages that it has, once each, in an order that it
//! takes, with its own rules for ties and windows. The rest is told in sentences.

use crate::decoding::filters::{Temperature, Window};
use crate::decoding::rules::{Equal, Mass, Ties, TopPZero, TypicalRule};
use crate::decoding::{ChainConfig, Filter, Rules, Selector};
use crate::generation::{EndOfText, GenerationConfig, in_sentence, listed};

/// A kind of stage; plain and dynamic temperature share their place in every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Bias,
    Repetition,
    Frequency,
    Presence,
    NoRepeatNgram,
    Dry,
    Temperature,
    DynamicTemperature,
    Quadratic,
    TopK,
    TopP,
    MinP,
    TypicalP,
    TopNSigma,
    Epsilon,
    Eta,
    Xtc,
    TopA,
    TailFree,
}

impl Slot {
    /// The kind of this stage.
    pub const fn of(filter: &Filter) -> Self {
        match filter {
            Filter::LogitBias(_) => Self::Bias,
            Filter::RepetitionPenalty(_) => Self::Repetition,
            Filter::FrequencyPenalty(_) => Self::Frequency,
            Filter::PresencePenalty(_) => Self::Presence,
            Filter::NoRepeatNgram(_) => Self::NoRepeatNgram,
            Filter::Dry(_) => Self::Dry,
            Filter::Temperature(_) => Self::Temperature,
            Filter::DynamicTemperature(_) => Self::DynamicTemperature,
            Filter::QuadraticSmoothing(_) => Self::Quadratic,
            Filter::TopK(_) => Self::TopK,
            Filter::TopP(_) => Self::TopP,
            Filter::MinP(_) => Self::MinP,
            Filter::TypicalP(_) => Self::TypicalP,
            Filter::TopNSigma(_) => Self::TopNSigma,
            Filter::EpsilonCutoff(_) => Self::Epsilon,
            Filter::EtaCutoff(_) => Self::Eta,
            Filter::Xtc(_) => Self::Xtc,
            Filter::TopA(_) => Self::TopA,
            Filter::TailFree(_) => Self::TailFree,
        }
    }

    fn place(self) -> Self {
        match self {
            Self::DynamicTemperature => Self::Temperature,
            slot => slot,
        }
    }
}

/// How a tool applies the stages that it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// What it is called in a sentence.
    pub name: &'static str,
    /// The stages that it has, in its order.
    pub stages: &'static [Slot],
    /// What can be put in another order, by name: the stages of one name stay together.
    pub movable: &'static [(&'static str, &'static [Slot])],
    /// How it treats ties and edges.
    pub rules: Rules,
    /// Whether it can be told how many candidates to leave at the least.
    pub has_min_keep: bool,
}

/// A chain as one tool can say it.
#[derive(Debug)]
pub(super) struct Plan {
    /// What the tool is called in a sentence.
    pub name: &'static str,
    /// The stages that it has and that do something, in the order of the chain.
    pub filters: Vec<Filter>,
    /// How a token is picked in the end.
    pub selector: Selector,
    /// How many candidates the cuts leave at the least.
    pub min_keep: u32,
    /// What is lost, each in a sentence.
    pub unsaid: Vec<String>,
}

impl Plan {
    /// What of this configuration a tool of this manner can say.
    pub fn new(manner: Manner, config: &GenerationConfig) -> Self {
        let (filters, selector) = essence(&config.chain);
        let mut plan = Self {
            name: manner.name,
            filters: Vec::new(),
            selector,
            min_keep: config.chain.rules.min_keep,
            unsaid: Vec::new(),
        };
        for filter in filters {
            plan.place(manner, filter);
        }
        plan.tell_order(manner);
        plan.tell_rules(manner, config.chain.rules);
        plan
    }

    /// The stage at this place of the chain, if there is one.
    pub fn find(&self, slot: Slot) -> Option<&Filter> {
        self.filters.iter().find(|filter| Slot::of(filter) == slot)
    }

    /// Says that something is lost.
    pub fn tell(&mut self, sentence: String) {
        if !self.unsaid.contains(&sentence) {
            self.unsaid.push(sentence);
        }
    }

    /// Leaves out the stages for which there is a reason.
    pub fn leave_out(&mut self, reason: impl Fn(&Filter) -> Option<String>) {
        let filters = std::mem::take(&mut self.filters);
        for filter in filters {
            match reason(&filter) {
                Some(sentence) => self.tell(sentence),
                None => self.filters.push(filter),
            }
        }
    }

    /// Whether chance decides anything, so that a seed matters.
    pub fn draws(&self) -> bool {
        let by_chance = |filter: &Filter| filter.rule().acts_by_chance();
        self.selector != Selector::Greedy || self.filters.iter().any(by_chance)
    }

    /// The seed, if it matters and is not above `most`; that its draws are others is said.
    pub fn seed(&mut self, seed: u64, most: u64) -> Option<u64> {
        if !self.draws() {
            return None;
        }
        if seed > most {
            let name = self.name;
            self.tell(format!(
                "{name} takes seeds up to {most}; {seed} is left out"
            ));
            return None;
        }
        self.tell(other_draws(self.name, seed));
        Some(seed)
    }

    /// Draws plainly where the tool knows no other way than that and the most likely token.
    pub fn without_other_selectors(&mut self) {
        self.without_gumbel();
        if !matches!(self.selector, Selector::Greedy | Selector::Multinomial) {
            let selector = selector_name(self.selector);
            self.tell(format!("{} has no {selector}; it draws plainly", self.name));
            self.selector = Selector::Multinomial;
        }
    }

    /// Draws with one coin.
    pub fn without_gumbel(&mut self) {
        if self.selector == Selector::GumbelMax {
            let name = self.name;
            self.tell(format!(
                "{name} draws with one coin for all tokens; here each token has its own, which gives \
                 the same probabilities"
            ));
            self.selector = Selector::Multinomial;
        }
    }

    /// Says so where a stage looks elsewhere than the tool does.
    pub fn expect_window(&mut self, slots: &[Slot], theirs: Window) {
        let differing: Vec<String> = self
            .filters
            .iter()
            .filter(|filter| slots.contains(&Slot::of(filter)))
            .filter_map(|filter| {
                Some((filter, filter.window().filter(|window| *window != theirs)?))
            })
            .map(|(filter, ours)| {
                let (name, what) = (self.name, in_sentence(filter.name()));
                let (theirs, ours) = (seen(theirs), seen(ours));
                format!("In {name} the {what} looks at {theirs}; here at {ours}")
            })
            .collect();
        for sentence in differing {
            self.tell(sentence);
        }
    }

    /// Says so where writing goes on after the end of the text.
    pub fn tell_end_of_text(&mut self, end_of_text: EndOfText) {
        if end_of_text == EndOfText::Ignored {
            let name = self.name;
            self.tell(format!(
                "Here writing goes on after an end-of-text token; {name} has no such setting"
            ));
        }
    }

    /// Adds a list of tokens to the one before it, where nothing between the two hears of it.
    fn has_joined(&mut self, filter: &Filter) -> bool {
        let (Filter::LogitBias(more), Some(at)) = (
            filter,
            self.filters
                .iter()
                .position(|other| matches!(other, Filter::LogitBias(_))),
        ) else {
            return false;
        };
        let mut between = self.filters.iter().skip(at + 1);
        if !between.all(|between| commute(between, filter)) {
            return false;
        }
        if let Some(Filter::LogitBias(all)) = self.filters.get_mut(at) {
            all.biases.extend_from_slice(&more.biases);
            all.banned.extend_from_slice(&more.banned);
        }
        true
    }

    fn place(&mut self, manner: Manner, filter: Filter) {
        if self.has_joined(&filter) {
            return;
        }
        let (name, slot) = (manner.name, Slot::of(&filter));
        let is_there = |other: &Filter| Slot::of(other).place() == slot.place();
        if !manner.stages.contains(&slot) {
            let what = in_sentence(filter.name());
            self.tell(format!("{name} has no {what}; {filter} is left out"));
        } else if self.filters.iter().any(is_there) {
            let what = in_sentence(filter.name());
            self.tell(format!(
                "{name} applies {what} once; the second, {filter}, is left out"
            ));
        } else {
            self.filters.push(filter);
        }
    }

    /// The stages in the order in which the tool will apply them.
    fn order_there(&self, manner: Manner) -> Vec<Slot> {
        let group = |slot: &Slot| {
            let mut groups = manner.movable.iter().map(|(_, slots)| *slots);
            groups.find(|slots| slots.contains(slot))
        };
        let fixed = manner.stages.iter().filter(|slot| group(slot).is_none());
        let mut order: Vec<Slot> = fixed.copied().collect();
        for slot in self.filters.iter().map(Slot::of) {
            if let Some(slots) = group(&slot).filter(|_| !order.contains(&slot)) {
                order.extend(slots);
            }
        }
        order
    }

    fn tell_order(&mut self, manner: Manner) {
        let order = self.order_there(manner);
        let rank = |filter: &Filter| order.iter().position(|slot| *slot == Slot::of(filter));
        let mut sentences = Vec::new();
        for (index, moved) in self.filters.iter().enumerate() {
            let before = self.filters.iter().take(index);
            let passed: Vec<String> = before
                .filter(|first| rank(first) > rank(moved) && !commute(first, moved))
                .map(|first| in_sentence(first.name()))
                .collect();
            if !passed.is_empty() {
                let (name, what, passed) =
                    (manner.name, in_sentence(moved.name()), listed(&passed));
                sentences.push(format!(
                    "{name} applies {what} before {passed}; here it stands after"
                ));
            }
        }
        for sentence in sentences {
            self.tell(sentence);
        }
    }

    fn tell_rules(&mut self, manner: Manner, ours: Rules) {
        let (name, theirs) = (manner.name, manner.rules);
        let filters = std::mem::take(&mut self.filters);
        for filter in &filters {
            if let Some(sentence) = other_rule(name, filter, theirs, ours) {
                self.tell(sentence);
            }
        }
        let can_be_few = |filter: &Filter| filter.cuts() && Slot::of(filter) != Slot::TopK;
        if ours.min_keep > 1 && !manner.has_min_keep && filters.iter().any(can_be_few) {
            let n = ours.min_keep;
            self.tell(format!(
                "Here the cuts leave at least {n} tokens; {name} can't be told so"
            ));
        }
        self.filters = filters;
    }
}

/// That a seed gives other draws elsewhere.
pub(super) fn other_draws(name: &str, seed: u64) -> String {
    format!("{name} tosses other coins: seed {seed} gives other draws there")
}

/// The stages that do something, and how the token is picked: a temperature of 0 is greedy, behind
/// which nothing matters, and before greedy no cut matters that keeps the best.
fn essence(chain: &ChainConfig) -> (Vec<Filter>, Selector) {
    let mut filters = Vec::new();
    let mut selector = match chain.selector {
        Selector::AdaptiveP(adaptive) if adaptive.target < 0.0 => Selector::Multinomial,
        selector => selector,
    };
    for filter in chain.active() {
        match plain(filter) {
            Filter::Temperature(Temperature { temperature }) if temperature <= 0.0 => {
                selector = Selector::Greedy;
                break;
            }
            filter => filters.push(filter),
        }
    }
    if selector == Selector::Greedy {
        while filters.last().is_some_and(Filter::keeps_the_best) {
            filters.pop();
        }
    }
    (filters, selector)
}

/// A dynamic temperature without a range is a plain one.
fn plain(filter: &Filter) -> Filter {
    match filter {
        Filter::DynamicTemperature(dynamic) if dynamic.range <= 0.0 => {
            let temperature = dynamic.temperature;
            Filter::Temperature(Temperature { temperature })
        }
        filter => filter.clone(),
    }
}

/// Whether two stages do the same in either order, whatever stands between them.
fn commute(first: &Filter, second: &Filter) -> bool {
    let adds = |filter: &Filter| {
        let slot = Slot::of(filter);
        matches!(
            slot,
            Slot::Bias | Slot::Frequency | Slot::Presence | Slot::Dry | Slot::NoRepeatNgram
        )
    };
    let only_bans = |filter: &Filter| match filter {
        Filter::LogitBias(bias) => bias.biases.is_empty(),
        filter => Slot::of(filter) == Slot::NoRepeatNgram,
    };
    let by_rank = |filter: &Filter| Slot::of(filter) == Slot::TopK;
    let by_best = |filter: &Filter| matches!(Slot::of(filter), Slot::MinP | Slot::Temperature);
    let repeats = |filter: &Filter| Slot::of(filter) == Slot::Repetition;
    let either_way = |a: &Filter, b: &Filter| {
        (adds(a) && adds(b)) || (only_bans(a) && repeats(b)) || (by_rank(a) && by_best(b))
    };
    either_way(first, second) || either_way(second, first)
}

fn other_rule(name: &str, filter: &Filter, theirs: Rules, ours: Rules) -> Option<String> {
    match filter {
        Filter::TopK(_) if theirs.top_k_ties != ours.top_k_ties => Some(match theirs.top_k_ties {
            Ties::All => format!(
                "{name} keeps every token as likely as the k-th; here of equals the lowest ids stay"
            ),
            Ties::LowestIds => {
                format!(
                    "{name} keeps exactly k tokens; here all that are as likely as the k-th stay"
                )
            }
        }),
        Filter::TopP(_) if theirs.top_p_mass != ours.top_p_mass => Some(match theirs.top_p_mass {
            Mass::Kept => format!(
                "{name}'s top-p takes its share of the tokens still in play; here of those too that \
                 were cut just before"
            ),
            Mass::BeforeCuts => format!(
                "{name}'s top-p counts tokens too that were cut just before; here only those still \
                 in play"
            ),
        }),
        Filter::TopP(top_p) if top_p.p <= 0.0 && theirs.top_p_zero != ours.top_p_zero => {
            let keeps_best = theirs.top_p_zero == TopPZero::KeepsBest;
            let (there, here) = if keeps_best {
                ("keeps one token", "is off")
            } else {
                ("is off", "keeps one token")
            };
            Some(format!("A top-p of 0 {there} in {name}; here it {here}"))
        }
        Filter::MinP(_) if theirs.min_p_equal != ours.min_p_equal => {
            Some(match theirs.min_p_equal {
                Equal::Kept => {
                    format!("{name}'s min-p keeps a token exactly at its bar; here it is cut")
                }
                Equal::Cut => {
                    format!("{name}'s min-p cuts a token exactly at its bar; here it stays")
                }
            })
        }
        Filter::TypicalP(_) if theirs.typical != ours.typical => Some(match theirs.typical {
            TypicalRule::Reached => format!("{name}'s typical-p stops where its share is reached"),
            TypicalRule::Passed => format!(
                "{name}'s typical-p takes one token more where its share is met exactly, and acts as \
                 a top-p where a token was ruled out before"
            ),
            TypicalRule::ReachedWithTies => {
                format!("{name}'s typical-p keeps every token as typical as the last")
            }
        }),
        _ => None,
    }
}

/// What a window shows, in words.
pub(super) fn seen(window: Window) -> String {
    match (window.last_n, window.prompt_counted) {
        (None, true) => "the whole text".to_owned(),
        (None, false) => "all that was generated".to_owned(),
        (Some(n), true) => format!("the last {n} tokens"),
        (Some(n), false) => format!("the last {n} generated tokens"),
    }
}

/// A selector's name inside a sentence.
pub(super) fn selector_name(selector: Selector) -> String {
    in_sentence(selector.name())
}
