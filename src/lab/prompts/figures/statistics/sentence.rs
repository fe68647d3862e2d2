//! The sentence under the table: what the best setting answers, how far that holds for other prompts,
//! and whether it beats the others by more than chance.

use super::paired::{Comparison, Paired, smallest_difference};
use super::share::{PromptShare, ROUNDING, ShareEstimate};
use super::words::{p_words, points, range_words, share_words, spelled, won};
use crate::generation::formatting::{counted, grouped};
use crate::generation::listed;

/// A setting and its share of right answers to each prompt, as far as they are known.
#[derive(Debug, Clone, Copy)]
pub struct JudgedSetting<'a> {
    pub name: &'a str,
    pub shares: &'a [Option<PromptShare>],
}

/// What can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub sentence: String,
    /// What can't be said, and of what the ranges are.
    pub limits: Option<String>,
}

/// A setting that was judged on at least one prompt.
#[derive(Clone, Copy)]
struct Ranked<'a> {
    index: usize,
    name: &'a str,
    estimate: ShareEstimate,
    is_exact: bool,
}

impl<'a> Ranked<'a> {
    fn of(index: usize, setting: &JudgedSetting<'a>) -> Option<Self> {
        let shares: Vec<PromptShare> = setting.shares.iter().flatten().copied().collect();
        Some(Self {
            index,
            name: setting.name,
            estimate: ShareEstimate::of(&shares)?,
            is_exact: is_exact(setting.shares),
        })
    }
}

/// Says what judged settings show. `comparisons` are those of [`super::compare`] on the same
/// settings. Returns `None` if no prompt was judged.
pub fn sentence(settings: &[JudgedSetting<'_>], comparisons: &[Comparison]) -> Option<Verdict> {
    let indexed = settings.iter().enumerate();
    let mut ranked: Vec<Ranked<'_>> = indexed
        .filter_map(|(index, setting)| Ranked::of(index, setting))
        .collect();
    ranked.sort_by(|a, b| b.estimate.share.total_cmp(&a.estimate.share));
    let best = ranked.first()?.estimate;
    let is_best = |setting: &Ranked<'_>| best.share - setting.estimate.share < ROUNDING;
    let n_best = ranked.partition_point(is_best);
    let (first, rest) = ranked.split_at(n_best);
    let mut sentences = vec![opening(first, rest.is_empty())];
    if best.n_prompts > 1 {
        sentences.extend(against_others(first, rest, comparisons));
    }
    let are_exact = ranked.iter().all(|setting| setting.is_exact);
    Some(Verdict {
        sentence: sentences.join(" "),
        limits: limits(best.n_prompts, are_exact, comparisons),
    })
}

/// Says what share of prompts the best settings answer.
fn opening(best: &[Ranked<'_>], are_all: bool) -> String {
    let names: Vec<&str> = best.iter().map(|setting| setting.name).collect();
    let subject = match names.as_slice() {
        [name] => format!("{name} answers"),
        [_, _] => format!("{} both answer", listed(&names)),
        _ if are_all => format!("All {} settings answer", spelled(names.len())),
        _ => format!("{} all answer", listed(&names)),
    };
    let Some(Ranked { estimate, .. }) = best.first() else {
        return String::new();
    };
    let are_exact = best.iter().all(|setting| setting.is_exact);
    let exactly = if are_exact { "exactly " } else { "" };
    let share = share_words(estimate.share);
    let Some(widest) = widest(best) else {
        return format!(
            "{subject} {exactly}{share} of one prompt, which says nothing about others."
        );
    };
    let n = grouped(estimate.n_prompts as f64);
    format!("{subject} {exactly}{share} of these {n}; of others like them, {widest}.")
}

/// Formats the range from the lowest to the highest end of the settings' intervals.
fn widest(settings: &[Ranked<'_>]) -> Option<String> {
    let intervals = settings
        .iter()
        .filter_map(|setting| setting.estimate.interval);
    let widest = intervals.reduce(|mut widest, interval| {
        widest.low = widest.low.min(interval.low);
        widest.high = widest.high.max(interval.high);
        widest
    });
    widest.map(range_words)
}

/// Compares the best setting with the next one from which only chance may separate it, and with the
/// next one that it surely beats.
fn against_others(
    best: &[Ranked<'_>],
    rest: &[Ranked<'_>],
    comparisons: &[Comparison],
) -> Vec<String> {
    let Some((winner, equals)) = best.split_first() else {
        return Vec::new();
    };
    let against =
        |other: &Ranked<'_>| Some((paired(comparisons, winner, other)?, other.name.to_owned()));
    if rest.is_empty() {
        let others: Vec<(Paired, String)> = equals.iter().filter_map(against).collect();
        return between_equals(winner.name, &others).into_iter().collect();
    }
    let subject = if equals.is_empty() { "It" } else { winner.name };
    let mut others = rest.iter().filter_map(against);
    let by_chance = others.clone().find(|(paired, _)| !paired.is_significant());
    let surely = others.find(|(paired, _)| paired.is_significant());
    let chance = by_chance.as_ref().map(|(paired, name)| {
        let (beats, p) = (beats(subject, name, paired), p_words(paired.p_value));
        format!("{beats}: that can be chance ({p}).")
    });
    let sure = surely.map(|(paired, name)| {
        let (beats, p) = (beats(subject, &name, &paired), p_words(paired.p_value));
        let Paired {
            n_wins, n_losses, ..
        } = paired;
        match by_chance {
            Some(_) => format!("Against {name} it isn’t: {n_wins} to {n_losses} ({p})."),
            None => format!("{beats}: that is hardly chance ({p})."),
        }
    });
    chance.into_iter().chain(sure).collect()
}

/// Says where settings differ that are equally good, if they are two or don't differ at all.
fn between_equals(first: &str, others: &[(Paired, String)]) -> Option<String> {
    let is_equal = |(paired, _): &(Paired, String)| paired.n_wins + paired.n_losses == 0;
    match others {
        [] => None,
        _ if others.iter().all(is_equal) => {
            Some("They are right equally often on every prompt.".to_owned())
        }
        [(paired, second)] => {
            let [n_wins, n_losses] = [paired.n_wins, paired.n_losses].map(won);
            Some(format!(
                "{first} is right more often on {n_wins}, {second} on {n_losses}."
            ))
        }
        _ => None,
    }
}

fn beats(subject: &str, name: &str, paired: &Paired) -> String {
    let [n_wins, n_losses] = [paired.n_wins, paired.n_losses].map(won);
    format!("{subject} beats {name} on {n_wins} and loses on {n_losses}")
}

/// Returns how the first of two settings differs from the second.
fn paired(comparisons: &[Comparison], first: &Ranked<'_>, second: &Ranked<'_>) -> Option<Paired> {
    let (first, second) = (first.index, second.index);
    comparisons
        .iter()
        .find_map(|comparison| match (comparison.first, comparison.second) {
            pair if pair == (first, second) => Some(comparison.paired),
            pair if pair == (second, first) => Some(comparison.paired.reversed()),
            _ => None,
        })
}

/// Returns whether no share was sampled.
pub(super) fn is_exact(shares: &[Option<PromptShare>]) -> bool {
    let mut known = shares.iter().flatten();
    known.all(|share| matches!(share, PromptShare::Exact(_)))
}

/// Says what is uncertain about exact shares, and which differences can't be told.
pub(super) fn limits(
    n_prompts: usize,
    are_exact: bool,
    comparisons: &[Comparison],
) -> Option<String> {
    let exact = "These shares are exact: only the choice of prompts is uncertain.";
    let exact = (are_exact && n_prompts > 1).then(|| exact.to_owned());
    let limits: Vec<String> = [exact, too_few(comparisons)]
        .into_iter()
        .flatten()
        .collect();
    (!limits.is_empty()).then(|| limits.join(" "))
}

/// Says which differences these prompts can't tell. Returns `None` if nothing is compared.
fn too_few(comparisons: &[Comparison]) -> Option<String> {
    let numbers = comparisons
        .iter()
        .map(|comparison| comparison.paired.n_prompts());
    let n = numbers.min()?;
    let prompts = counted(n, "prompt");
    Some(match smallest_difference(comparisons) {
        Some(difference) => {
            format!(
                "{prompts} can’t tell differences under {}.",
                points(difference)
            )
        }
        None if n == 1 => "One prompt is too few to compare settings.".to_owned(),
        None => format!("{prompts} are too few to compare settings."),
    })
}
