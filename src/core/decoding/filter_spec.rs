//! The one description of each filter, which the chain editor, the `--pane` grammar, the dialects,
//! the linter and the exchange with other tools all read.

use super::dialect::Dialect;
use super::setting::ParamSpec;
use super::{Filter, FilterKind, Need};

/// All there is to know about a filter besides its arithmetic. Each filter's file holds its own.
#[derive(Debug)]
pub struct FilterSpec {
    /// The filter that this describes.
    pub kind: FilterKind,
    /// The spellings that begin its part of a `--pane` description. Help and errors name the first.
    pub keys: &'static [&'static str],
    /// How chips and printed settings spell it; one of `keys`.
    pub chip: &'static str,
    /// The name at the head of its stage: "Top-p".
    pub name: &'static str,
    /// What it does in a few words, for the line under its name.
    pub summary: &'static str,
    /// What it does in one sentence; [`FilterSpec::tooltip`] adds the neutral and usual values.
    pub help: &'static str,
    /// What it computes, in one line.
    pub formula: &'static str,
    /// Ties, limits and what differs between engines, one sentence each.
    pub edges: &'static [&'static str],
    /// The filter as a picture of six or more candidates shows it, if its usual values would show
    /// little.
    pub example: Option<fn() -> Filter>,
    /// Author, year, title and arXiv number or link of its paper, or why there is none and where it
    /// is defined.
    pub source: &'static str,
    /// Whether it is offered directly or only under "More".
    pub usage: Usage,
    /// The part of a chain where it usually stands.
    pub phase: Phase,
    /// How it can affect the order of the candidates, whatever its settings.
    pub ranking: Ranking,
    /// Whether its numbers decide which candidates remain possible. The likelihood of a text then
    /// jumps to zero where a value rules one of its tokens out.
    pub cuts_support: bool,
    /// Whether it reads the text so far. If so, it has a [`Window`](super::filters::Window).
    pub looks_back: bool,
    /// Whether it tosses a coin.
    pub random: bool,
    /// What it needs beyond the logits of the text.
    pub needs: &'static [Need],
    /// The filter that it generalizes: no engine has both, so they share one place in a chain.
    pub generalizes: Option<FilterKind>,
    /// Its numbers, the main one first. Empty for a filter that is set by a list of tokens.
    pub params: &'static [ParamSpec<Filter>],
    /// The filter as it is added to a chain, at values that people commonly choose.
    pub usual: fn() -> Filter,
    /// What other tools call its numbers, in the order of `params`, or the lists that set it. A
    /// tool that is not listed does not support this filter.
    pub tool_keys: &'static [(&'static [Dialect], &'static [&'static str])],
    /// What llama.cpp's `--samplers` calls it, the printed name first. Empty if llama.cpp lacks it
    /// or applies it at a fixed place.
    pub llama_samplers: &'static [&'static str],
}

/// How common a filter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Usage {
    /// Most programs have it.
    Common,
    /// Few programs have it.
    Rare,
}

/// The part of a chain where a filter usually stands, first to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Adjusts the logits of single tokens: biases and penalties.
    Adjust,
    /// Reshapes the distribution, and keeps every candidate: temperatures.
    Reshape,
    /// Drops candidates, and changes only the probabilities of the others.
    Truncate,
}

/// How a filter can affect the order of the candidates, whatever its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// Any candidate can overtake any other.
    Changes,
    /// No candidate overtakes another, but the most likely one can be dropped, or tie with one that
    /// has a lower id.
    KeepsOrder,
    /// No candidate overtakes another, and the most likely one stays the most likely one.
    KeepsTop,
}

impl FilterSpec {
    /// Returns the description of a rare filter that drops the least likely candidates, without its
    /// texts and numbers. A filter's own description states what differs.
    pub(super) const fn new(kind: FilterKind, usual: fn() -> Filter) -> Self {
        Self {
            kind,
            keys: &[],
            chip: "",
            name: "",
            summary: "",
            help: "",
            formula: "",
            edges: &[],
            example: None,
            source: "",
            usage: Usage::Rare,
            phase: Phase::Truncate,
            ranking: Ranking::KeepsTop,
            cuts_support: true,
            looks_back: false,
            random: false,
            needs: &[],
            generalizes: None,
            params: &[],
            usual,
            tool_keys: &[],
            llama_samplers: &[],
        }
    }

    /// What the filter does, then its neutral value and its usual values.
    pub fn tooltip(&self) -> String {
        match self.params.first() {
            Some(param) => format!("{} {}", self.help, param.typical_values()),
            None => self.help.to_owned(),
        }
    }

    /// The tooltip, and below it the source.
    pub fn tooltip_with_source(&self) -> String {
        format!("{}\n\n{}", self.tooltip(), self.source)
    }

    /// The filter set to have no effect, with its other numbers at usual values.
    pub fn neutral(&self) -> Filter {
        let mut filter = (self.usual)();
        filter.neutralize();
        filter
    }

    /// What a tool calls its numbers or lists, or `None` if the tool lacks the filter.
    pub fn keys_in(&self, dialect: Dialect) -> Option<&'static [&'static str]> {
        let mut tools = self.tool_keys.iter();
        let (_, keys) = tools.find(|(dialects, _)| dialects.contains(&dialect))?;
        Some(keys)
    }
}

impl FilterKind {
    /// The filter that stands for this one in an engine's order: plain temperature for both
    /// temperatures, and every other filter for itself.
    #[must_use]
    pub fn place(self) -> Self {
        self.spec().generalizes.unwrap_or(self)
    }

    /// All filters, the common ones first, each group in its usual order.
    pub fn by_usage() -> Vec<Self> {
        let mut kinds = Self::ALL.to_vec();
        kinds.sort_by_key(|kind| kind.spec().usage);
        kinds
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FilterSpec, Phase, Ranking, Usage};
    use crate::decoding::{Filter, FilterKind, ParamSpec, Scale};

    /// The widest line that fits under a stage's name.
    const SUMMARY_CHARS: usize = 29;

    fn specs() -> impl Iterator<Item = &'static FilterSpec> {
        FilterKind::ALL.iter().map(|kind| kind.spec())
    }

    #[test]
    fn every_spec_is_complete() {
        for spec in specs() {
            let name = spec.name;
            assert!(!name.is_empty(), "{:?}", spec.kind);
            assert!(!spec.summary.is_empty(), "{name}");
            assert!(spec.summary.chars().count() <= SUMMARY_CHARS, "{name}");
            assert!(spec.help.ends_with('.'), "{name}");
            assert!(!spec.formula.is_empty(), "{name}");
            assert!(spec.edges.iter().all(|edge| edge.ends_with('.')), "{name}");
            assert!(!spec.edges.is_empty(), "{name}");
            if let Some(example) = spec.example {
                assert_eq!(example().kind(), spec.kind, "{name}");
                assert_eq!(example().validate(), Ok(()), "{name}");
            }
            let has_link = spec.source.contains("arXiv ") || spec.source.contains("https://");
            assert!(has_link, "{name}: {}", spec.source);
            assert!(spec.keys.contains(&spec.chip), "{name}");
            let filter = (spec.usual)();
            assert_eq!(filter.kind(), spec.kind, "{name}");
            assert_eq!(filter.window().is_some(), spec.looks_back, "{name}");
            if let Some(general) = spec.generalizes {
                assert_eq!(general.spec().phase, spec.phase, "{name}");
            }
            for (index, param) in spec.params.iter().enumerate() {
                let is_first = index == 0;
                assert_eq!(param.key.is_empty(), is_first, "{name}");
                assert_eq!(param.label.is_empty(), is_first, "{name}");
                assert_eq!(param.help.is_empty(), is_first, "{name}");
                assert!(is_first || param.help.ends_with('.'), "{name}");
            }
            for (dialects, keys) in spec.tool_keys {
                let n_keys = keys.len();
                let n_params = spec.params.len();
                assert!(n_params == 0 || n_keys == n_params, "{name}, {dialects:?}");
            }
        }
    }

    #[test]
    fn keys_and_names_are_unique() {
        let mut seen = BTreeSet::new();
        for spec in specs() {
            for key in spec.keys {
                assert!(seen.insert(key.to_lowercase()), "{key}");
            }
            assert!(seen.insert(format!("name {}", spec.name)), "{}", spec.name);
        }
    }

    #[test]
    fn every_kind_is_described_once() {
        for (index, kind) in FilterKind::ALL.iter().enumerate() {
            assert_eq!(kind.spec().kind, *kind);
            assert_eq!(*kind as usize, index);
        }
        assert_eq!(FilterKind::by_usage().len(), FilterKind::ALL.len());
    }

    #[test]
    fn usual_settings_are_valid_and_neutral_ones_have_no_effect() {
        for spec in specs() {
            let (usual, neutral) = ((spec.usual)(), spec.neutral());
            assert_eq!(usual.validate(), Ok(()), "{usual}");
            assert_eq!(usual.is_neutral(), spec.params.is_empty(), "{usual}");
            assert_eq!(neutral.validate(), Ok(()), "{neutral}");
            assert!(neutral.is_neutral(), "{neutral}");
        }
    }

    #[test]
    fn every_number_has_values_within_its_range() {
        let inside = |param: &ParamSpec<Filter>, value: f32| {
            param.range.contains(&value) || param.scale == Scale::Logarithmic && value == 0.0
        };
        for spec in specs() {
            let usual = (spec.usual)();
            for param in spec.params {
                let name = format!("{} {}", spec.name, param.label);
                let value = param.get(&usual).unwrap() as f32;
                assert!(param.usual.contains(&value), "{name}");
                assert!(inside(param, *param.usual.start()), "{name}");
                assert!(inside(param, *param.usual.end()), "{name}");
                assert!(param.limits.contain(*param.range.end()), "{name}");
                // The slider of a logarithmic number has a separate place for 0.
                let is_linear = param.scale != Scale::Logarithmic;
                assert!(is_linear || *param.range.start() > 0.0, "{name}");
                if let Some(neutral) = param.neutral {
                    assert!(inside(param, neutral), "{name}");
                    assert!(param.limits.contain(neutral), "{name}");
                }
                assert_eq!(param.is_count(), param.decimals == 0, "{name}");
            }
        }
    }

    #[test]
    fn a_value_that_was_set_reads_back() {
        for spec in specs() {
            for param in spec.params {
                for value in [*param.range.start(), *param.usual.start(), 3.0] {
                    let mut filter = (spec.usual)();
                    param.set(&mut filter, f64::from(value));
                    assert_eq!(param.get(&filter), Some(f64::from(value)), "{filter}");
                    let digits = value.to_string();
                    assert_eq!(param.text(&filter), Some(digits), "{filter}");
                }
                let mut other = other_than(spec.kind);
                let before = other.clone();
                param.set(&mut other, 0.5);
                assert_eq!((param.get(&other), other), (None, before));
            }
        }
    }

    fn other_than(kind: FilterKind) -> Filter {
        let other = FilterKind::ALL.iter().find(|other| **other != kind);
        (other.unwrap().spec().usual)()
    }

    #[test]
    fn a_filter_that_truncates_keeps_the_order() {
        for spec in specs() {
            let keeps_order = spec.ranking != Ranking::Changes;
            assert_eq!(keeps_order, spec.phase > Phase::Adjust, "{}", spec.name);
            let common = spec.usage == Usage::Common;
            assert!(!(common && spec.random), "{}", spec.name);
        }
    }

    #[test]
    fn filters_that_drop_candidates_say_that_they_cut_the_support() {
        for spec in specs() {
            let rules_out =
                [FilterKind::NoRepeatNgram, FilterKind::ThinkingBudget].contains(&spec.kind);
            let drops = spec.phase == Phase::Truncate || rules_out;
            assert_eq!(spec.cuts_support, drops, "{}", spec.name);
        }
    }
}
