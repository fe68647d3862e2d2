//! What another tool can express of a chain: the stages that it has, once each, in an order that it
//! supports, with its own windows and rules. Whatever it cannot express is noted in sentences.

use super::differences::{Difference, commute};
use super::guidance;
use super::{biases, drafts};
use crate::decoding::dialect::Dialect;
use crate::decoding::{ChainConfig, Filter, FilterKind, Rules, Selector};
use crate::generation::{EndOfText, GenerationConfig, in_sentence};

/// What a tool can do, from the dialect that it speaks and the specs of the filters.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    /// What sentences call the tool.
    pub name: &'static str,
    /// The filters that its settings can express, in its order.
    pub stages: Vec<FilterKind>,
    /// The groups of filters whose order can be chosen. The filters of one group stay together.
    pub movable: Vec<Vec<FilterKind>>,
    /// How it treats ties and edge cases.
    pub rules: Rules,
    /// Whether it has a setting for `min_keep`.
    pub has_min_keep: bool,
    /// Whether it can guide by a second prompt.
    pub guides: bool,
    /// Whether it can draft.
    pub drafts: bool,
}

impl Manner {
    /// A tool that applies the filters of a dialect in their fixed order.
    pub(super) fn of(name: &'static str, dialect: Dialect) -> Self {
        Self {
            name,
            stages: spelled_stages(dialect),
            movable: Vec::new(),
            rules: dialect.rules(),
            has_min_keep: false,
            guides: false,
            drafts: false,
        }
    }
}

/// Returns the filters that a dialect's settings have names for, in the dialect's order. A filter
/// that generalizes another one comes after it.
pub(super) fn spelled_stages(dialect: Dialect) -> Vec<FilterKind> {
    let variants = dialect.kinds().flat_map(|place| {
        let place = place.place();
        let same_place = FilterKind::ALL
            .iter()
            .filter(move |kind| kind.place() == place);
        same_place.copied()
    });
    variants
        .filter(|kind| kind.spec().keys_in(dialect).is_some())
        .collect()
}

/// A chain, as far as one tool can express it.
#[derive(Debug)]
pub(super) struct Plan {
    /// What sentences call the tool.
    pub name: &'static str,
    /// The stages that the tool has and that have an effect, in the order of the chain.
    pub filters: Vec<Filter>,
    /// How a token is picked.
    pub selector: Selector,
    /// The minimum number of candidates that the cuts leave.
    pub min_keep: u32,
    /// What is lost, one sentence each.
    pub notes: Vec<String>,
    /// What the tool has, but applies otherwise.
    pub differences: Vec<Difference>,
}

impl Plan {
    /// Plans how to express this configuration in a tool.
    pub(super) fn new(manner: &Manner, config: &GenerationConfig) -> Self {
        let (filters, selector) = essence(&config.chain);
        let mut plan = Self {
            name: manner.name,
            filters: Vec::new(),
            selector,
            min_keep: config.chain.rules.min_keep,
            notes: Vec::new(),
            differences: Vec::new(),
        };
        for filter in filters {
            plan.place(manner, filter);
        }
        if !manner.drafts {
            drafts::leave_out(config.chain.drafts, &mut plan);
        }
        if let Some(guidance) = &config.chain.guidance
            && !(manner.guides && guidance::has(guidance))
        {
            let name = manner.name;
            plan.tell(format!(
                "{name} has no such guidance; {guidance} is left out"
            ));
        }
        plan.tell_order(manner);
        plan.tell_rules(manner, config.chain.rules);
        plan
    }

    /// Returns the stage of this kind, if there is one.
    pub(super) fn find(&self, kind: FilterKind) -> Option<&Filter> {
        self.filters.iter().find(|filter| filter.kind() == kind)
    }

    /// Notes that something is lost.
    pub(super) fn tell(&mut self, sentence: String) {
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// Leaves out the stages for which `reason` returns a sentence, and notes it.
    pub(super) fn leave_out(&mut self, reason: impl Fn(&Filter) -> Option<String>) {
        let filters = std::mem::take(&mut self.filters);
        for filter in filters {
            match reason(&filter) {
                Some(sentence) => self.tell(sentence),
                None => self.filters.push(filter),
            }
        }
    }

    /// Whether anything is random, so that the seed matters.
    pub(super) fn draws(&self) -> bool {
        !self.selector.is_deterministic() || self.filters.iter().any(Filter::is_random)
    }

    /// Returns the seed if it matters and is at most `most`, and notes that its draws differ.
    pub(super) fn seed(&mut self, seed: u64, most: u64) -> Option<u64> {
        if !self.draws() {
            return None;
        }
        if seed > most {
            let name = self.name;
            self.tell(format!(
                "{name} takes seeds up to {most}; {seed} is left out"
            ));
            self.differ(Difference::new(format!("seed {seed} (used: a random one)")));
            return None;
        }
        self.tell(other_draws(self.name, seed));
        Some(seed)
    }

    /// Replaces selectors other than greedy and a plain draw by a plain draw, for a tool that has
    /// only these two.
    pub(super) fn without_other_selectors(&mut self) {
        self.without_gumbel();
        self.without_beams();
        if !matches!(self.selector, Selector::Greedy | Selector::Multinomial) {
            let selector = selector_name(self.selector);
            self.tell(format!(
                "{} has no {selector}; it draws with plain sampling",
                self.name
            ));
            self.selector = Selector::Multinomial;
        }
    }

    /// Replaces beam search by the top token.
    fn without_beams(&mut self) {
        if self.selector.beam_search().is_some() {
            self.tell(format!(
                "{} has no beam search; it decodes greedily",
                self.name
            ));
            self.selector = Selector::Greedy;
        }
    }

    /// Replaces Gumbel-max by a plain draw with one coin.
    fn without_gumbel(&mut self) {
        if self.selector == Selector::GumbelMax {
            let name = self.name;
            self.tell(format!(
                "{name} draws with one coin for all tokens; here each token has its own, with the \
                 same probabilities"
            ));
            self.selector = Selector::Multinomial;
        }
    }

    /// Notes that generation continues after an end-of-text token.
    pub(super) fn tell_end_of_text(&mut self, end_of_text: EndOfText) {
        if end_of_text == EndOfText::Ignored {
            let name = self.name;
            self.tell(format!(
                "Here generation continues after an end-of-text token; {name} has no such setting"
            ));
            self.differ(Difference::new(EndOfText::IGNORED_WORDS.to_owned()));
        }
    }

    /// Adds a logit bias to an earlier one if no stage between them can tell. Returns whether it
    /// did.
    fn has_joined(&mut self, filter: &Filter) -> bool {
        let (Filter::LogitBias(more), Some(index)) = (
            filter,
            self.filters
                .iter()
                .position(|other| matches!(other, Filter::LogitBias(_))),
        ) else {
            return false;
        };
        let mut between = self.filters.iter().skip(index + 1);
        if !between.all(|between| commute(between, filter)) {
            return false;
        }
        if let Some(Filter::LogitBias(all)) = self.filters.get_mut(index) {
            all.biases.extend_from_slice(&more.biases);
            all.banned.extend_from_slice(&more.banned);
        }
        true
    }

    fn place(&mut self, manner: &Manner, filter: Filter) {
        if self.has_joined(&filter) {
            return;
        }
        let (name, kind) = (manner.name, filter.kind());
        let is_there = |other: &Filter| other.kind().place() == kind.place();
        if !manner.stages.contains(&kind) {
            let what = in_sentence(filter.name());
            self.tell(format!(
                "{name} has no {what}; {}",
                biases::left_out(&filter)
            ));
        } else if self.filters.iter().any(is_there) {
            let what = in_sentence(filter.name());
            self.tell(format!(
                "{name} applies {what} only once; the second, {filter}, is left out"
            ));
        } else {
            self.filters.push(filter);
        }
    }
}

/// Returns the note that a seed leads to different draws in a tool.
pub(super) fn other_draws(name: &str, seed: u64) -> String {
    format!("{name} has its own random numbers: seed {seed} gives different draws there")
}

/// Returns the stages that have an effect, and how the token is picked. A temperature of 0 is
/// greedy, and makes all stages after it irrelevant; so are stages before greedy that keep the
/// best.
fn essence(chain: &ChainConfig) -> (Vec<Filter>, Selector) {
    let mut filters = Vec::new();
    let mut selector = match chain.selector {
        Selector::AdaptiveP(adaptive) if adaptive.target < 0.0 => Selector::Multinomial,
        selector => selector,
    };
    let is_on = |filter: &&Filter| !filter.is_off(chain.rules);
    for filter in chain.active().filter(is_on) {
        match plain(filter) {
            Filter::Temperature(plain) if plain.temperature <= 0.0 => {
                selector = Selector::Greedy;
                break;
            }
            filter => filters.push(filter),
        }
    }
    if selector == Selector::Greedy {
        while filters.last().is_some_and(Filter::preserves_top) {
            filters.pop();
        }
    }
    (filters, selector)
}

/// Turns a dynamic temperature without a range into a plain one.
fn plain(filter: &Filter) -> Filter {
    match filter {
        Filter::DynamicTemperature(dynamic) if dynamic.is_plain() => {
            Filter::Temperature(dynamic.middle())
        }
        filter => filter.clone(),
    }
}

/// Returns a selector's name as it is written inside a sentence.
pub(super) fn selector_name(selector: Selector) -> String {
    in_sentence(selector.name())
}

#[cfg(test)]
mod tests {
    use super::spelled_stages;
    use crate::decoding::FilterKind;
    use crate::decoding::dialect::Dialect;
    use crate::interop::tools::import_settings;

    #[test]
    fn a_request_without_settings_means_the_defaults_of_its_dialect() {
        for (request, dialect) in [
            ("--temp 0.8", Dialect::LlamaCpp),
            (
                "{\"n_predict\": 9, \"temperature\": 0.8}",
                Dialect::LlamaCpp,
            ),
            ("PARAMETER temperature 0.8", Dialect::Ollama),
            ("generate(do_sample=True)", Dialect::Transformers),
        ] {
            let chain = import_settings(request, None).unwrap().chain;
            assert_eq!(chain.dialect, Some(dialect), "{request}");
            assert_eq!(chain.to_string(), dialect.chain().to_string(), "{request}");
        }
    }

    #[test]
    fn the_stages_of_a_tool_are_those_of_its_dialect_that_it_has_names_for() {
        for dialect in [Dialect::LlamaCpp, Dialect::Transformers, Dialect::OpenAi] {
            let spelled = spelled_stages(dialect);
            let mut places: Vec<FilterKind> = spelled.iter().map(|kind| kind.place()).collect();
            places.dedup();
            let of_dialect: Vec<FilterKind> = dialect.kinds().map(FilterKind::place).collect();
            assert_eq!(places, of_dialect, "{dialect:?}");
        }
        let unspelled = [
            FilterKind::LogitBias,
            FilterKind::Dry,
            FilterKind::TopNSigma,
            FilterKind::Xtc,
            FilterKind::DynamicTemperature,
        ];
        let ollama = spelled_stages(Dialect::Ollama);
        assert!(unspelled.iter().all(|kind| !ollama.contains(kind)));
        assert_eq!(ollama.len(), 8);
    }
}
