//! What a tool does otherwise than the chain says: another order, another window, another value, or
//! another rule. Each is a sentence for the user, and words for the record of a text.

use super::fields::possessive;
use super::plan::{Manner, Plan};
use super::value::NamedValues;
use crate::decoding::filters::Window;
use crate::decoding::rules::{Equal, Mass, Ties, TopPZero, TypicalRule};
use crate::decoding::{Filter, FilterKind, Rules};
use crate::generation::{in_sentence, listed};

/// A setting that a tool has, but applies otherwise than the chain says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What the chain says, and in parentheses what is used: "temperature 3 (used: 2)".
    pub words: String,
    /// It makes no difference to a text of up to this many tokens, with its prompt.
    pub n_unaffected: usize,
}

impl Difference {
    pub(super) const fn new(words: String) -> Self {
        Self {
            words,
            n_unaffected: 0,
        }
    }
}

/// A chain in a tool's settings.
#[derive(Debug)]
pub(super) struct Written {
    pub fields: NamedValues,
    /// What the settings do not express, one sentence each.
    pub notes: Vec<String>,
    /// What the tool has, but applies otherwise.
    pub differences: Vec<Difference>,
}

impl Plan {
    /// Returns these settings, with everything that they don't express.
    pub(super) fn written(mut self, manner: &Manner, fields: NamedValues) -> Written {
        // A stage that was left out since the plan was made has no order.
        for (what, passed) in self.moved(manner) {
            let passed = passed.join(" and ");
            self.differ(Difference::new(format!("{what} after {passed}")));
        }
        Written {
            fields,
            notes: self.notes,
            differences: self.differences,
        }
    }

    /// Notes that the tool has a setting, but applies it otherwise.
    pub(super) fn differ(&mut self, difference: Difference) {
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }

    /// Notes which of these stages have a different window than the tool.
    pub(super) fn expect_window(&mut self, kinds: &[FilterKind], theirs: Window) {
        let of_kind = |filter: &&Filter| kinds.contains(&filter.kind());
        let differing: Vec<(String, Window)> = self
            .filters
            .iter()
            .filter(of_kind)
            .filter_map(|filter| {
                let ours = filter.window().filter(|window| *window != theirs)?;
                Some((in_sentence(filter.name()), ours))
            })
            .collect();
        for (what, window) in differing {
            let (name, there, here) = (self.name, seen(theirs), seen(window));
            self.tell(format!(
                "In {name} the {what} looks at {there}, here at {here}"
            ));
            self.differ(Difference {
                words: format!("{what} over {here} (used: {there})"),
                n_unaffected: n_seen_alike(window, theirs),
            });
        }
    }

    /// Returns the filters in the order in which the tool will apply them.
    fn order_there(&self, manner: &Manner) -> Vec<FilterKind> {
        let group = |kind: &FilterKind| manner.movable.iter().find(|group| group.contains(kind));
        let fixed = manner.stages.iter().filter(|kind| group(kind).is_none());
        let mut order: Vec<FilterKind> = fixed.copied().collect();
        for kind in self.filters.iter().map(Filter::kind) {
            if let Some(group) = group(&kind).filter(|_| !order.contains(&kind)) {
                order.extend(group);
            }
        }
        order
    }

    /// Returns the stages that come after others here and before them in the tool, each with those
    /// others.
    fn moved(&self, manner: &Manner) -> Vec<(String, Vec<String>)> {
        let order = self.order_there(manner);
        let rank = |filter: &Filter| order.iter().position(|kind| *kind == filter.kind());
        let passed_by = |(index, moved): (usize, &Filter)| {
            let before = self.filters.iter().take(index);
            let passed: Vec<String> = before
                .filter(|first| rank(first) > rank(moved) && !commute(first, moved))
                .map(|first| in_sentence(first.name()))
                .collect();
            (!passed.is_empty()).then(|| (in_sentence(moved.name()), passed))
        };
        let filters = self.filters.iter().enumerate();
        filters.filter_map(passed_by).collect()
    }

    pub(super) fn tell_order(&mut self, manner: &Manner) {
        for (what, passed) in self.moved(manner) {
            let (name, passed) = (manner.name, listed(&passed));
            self.tell(format!(
                "{name} applies {what} before {passed}, here it comes after"
            ));
        }
    }

    /// Notes which edge cases the tool treats otherwise. Those that hardly occur, such as exact ties,
    /// are no [`Difference`].
    pub(super) fn tell_rules(&mut self, manner: &Manner, ours: Rules) {
        let (name, theirs) = (manner.name, manner.rules);
        let filters = std::mem::take(&mut self.filters);
        for filter in &filters {
            if let Some(sentence) = other_rule(name, filter, theirs, ours) {
                self.tell(sentence);
            }
            if let Some(words) = other_meaning(filter, theirs, ours) {
                self.differ(Difference::new(words));
            }
        }
        let can_be_few = |filter: &Filter| filter.cuts() && filter.kind() != FilterKind::TopK;
        if ours.min_keep > 1 && !manner.has_min_keep && filters.iter().any(can_be_few) {
            let n = ours.min_keep;
            self.tell(format!(
                "Here the cuts leave at least {n} tokens; {name} has no such setting"
            ));
        }
        self.filters = filters;
    }
}

/// Returns whether two stages have the same effect in either order, whatever comes between them.
pub(super) fn commute(first: &Filter, second: &Filter) -> bool {
    use FilterKind::{
        Dry, FrequencyPenalty, LogitBias, MinP, NoRepeatNgram, PresencePenalty, RepetitionPenalty,
        Temperature, TopK,
    };

    let forces = |filter: &Filter| filter.kind() == FilterKind::ThinkingBudget;
    if forces(first) != forces(second) {
        // What is forced stays, whatever other stages do.
        return true;
    }
    let adds = |filter: &Filter| {
        matches!(
            filter.kind(),
            LogitBias | FrequencyPenalty | PresencePenalty | Dry | NoRepeatNgram
        )
    };
    let only_bans = |filter: &Filter| match filter {
        Filter::LogitBias(bias) => bias.biases.is_empty(),
        filter => filter.kind() == NoRepeatNgram,
    };
    let by_rank = |filter: &Filter| filter.kind() == TopK;
    let by_best = |filter: &Filter| matches!(filter.kind(), MinP | Temperature);
    let repeats = |filter: &Filter| filter.kind() == RepetitionPenalty;
    let either_way = |a: &Filter, b: &Filter| {
        (adds(a) && adds(b)) || (only_bans(a) && repeats(b)) || (by_rank(a) && by_best(b))
    };
    either_way(first, second) || either_way(second, first)
}

/// Returns how a tool treats a case of this filter differently, if it does.
fn other_rule(name: &str, filter: &Filter, theirs: Rules, ours: Rules) -> Option<String> {
    let owner = possessive(name);
    match filter {
        Filter::TopK(_) if theirs.top_k_ties != ours.top_k_ties => Some(match theirs.top_k_ties {
            Ties::All => format!(
                "{name} keeps every token as likely as the k-th; here only those with the lowest ids stay"
            ),
            Ties::LowestIds => {
                format!(
                    "{name} keeps exactly k tokens; here every token as likely as the k-th stays"
                )
            }
        }),
        Filter::TopP(top_p) if top_p.p <= 0.0 => (theirs.top_p_zero == TopPZero::Off)
            .then(|| format!("A top-p of 0 is off in {name}; here it keeps one token")),
        Filter::TopP(_) if theirs.top_p_mass != ours.top_p_mass => Some(match theirs.top_p_mass {
            Mass::Kept => format!(
                "{owner} top-p is a share of the tokens still in play; here it also counts those \
                 dropped just before"
            ),
            Mass::BeforeCuts => format!(
                "{owner} top-p also counts tokens that were dropped just before; here only those \
                 still in play"
            ),
        }),
        Filter::MinP(_) if theirs.min_p_equal != ours.min_p_equal => {
            Some(match theirs.min_p_equal {
                Equal::Kept => {
                    format!(
                        "{owner} min-p keeps a token exactly at its threshold; here it is dropped"
                    )
                }
                Equal::Cut => {
                    format!("{owner} min-p drops a token exactly at its threshold; here it stays")
                }
            })
        }
        Filter::TypicalP(_) if theirs.typical != ours.typical => Some(match theirs.typical {
            TypicalRule::Reached => format!("{owner} typical-p stops when the sum reaches p"),
            TypicalRule::Passed => format!(
                "{owner} typical-p keeps one more token if the sum equals p exactly, and acts as \
                 top-p if a token was banned before it"
            ),
            TypicalRule::ReachedWithTies => {
                format!("{owner} typical-p keeps every token as typical as the last one")
            }
        }),
        _ => None,
    }
}

/// Returns what a filter means here and not in a tool, even without a tie.
fn other_meaning(filter: &Filter, theirs: Rules, ours: Rules) -> Option<String> {
    match filter {
        Filter::TopP(top_p) if top_p.p <= 0.0 => {
            (theirs.top_p_zero == TopPZero::Off).then(|| format!("{filter} (used: 1)"))
        }
        Filter::TopP(_) if theirs.top_p_mass != ours.top_p_mass => Some(match ours.top_p_mass {
            Mass::Kept => format!("{filter} as a share of the tokens still in play"),
            Mass::BeforeCuts => format!("{filter} as a share of all tokens"),
        }),
        _ => None,
    }
}

/// Describes a window in a sentence.
fn seen(window: Window) -> String {
    match (window.last_n, window.prompt_counted) {
        (None, true) => "the whole text".to_owned(),
        (None, false) => "everything generated".to_owned(),
        (Some(n), true) => format!("the last {n} tokens"),
        (Some(n), false) => format!("the last {n} generated tokens"),
    }
}

/// Returns the length of the longest text of which two windows always show the same.
fn n_seen_alike(one: Window, other: Window) -> usize {
    if one.prompt_counted != other.prompt_counted {
        return 0;
    }
    let sizes = [one.last_n, other.last_n];
    let shorter = sizes.into_iter().flatten().min();
    shorter.map_or(usize::MAX, |n| n as usize)
}
