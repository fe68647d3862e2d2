//! The sentence that says where the panes part, and why.

use super::AppState;
use super::app_state::letter;
use crate::generation::{Fork, Generation, Step, listed};

/// The sentence of the first fork, at full length and for a narrow window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkWords {
    /// With the tokens and the coins.
    pub long: String,
    /// Who parts, and where.
    pub short: String,
    /// The step at which they part, counted from 0.
    pub step: Option<usize>,
}

/// Says where the panes part.
pub fn fork_words(state: &AppState) -> ForkWords {
    let n_panes = state.panes.len();
    match state.fork() {
        Fork::NothingToCompare => same(first_words(n_panes)),
        Fork::Agree { n_shared } if state.is_running() => {
            same(format!("They agree so far, for {}.", tokens(n_shared)))
        }
        Fork::Agree { .. } => same(agree_words(state)),
        Fork::Part { step, groups } => part_words(state, step, &groups),
    }
}

fn same(words: String) -> ForkWords {
    ForkWords {
        short: words.clone(),
        long: words,
        step: None,
    }
}

fn first_words(n_panes: usize) -> String {
    if n_panes == 1 {
        "The prompt is read, then the pane writes from it, under its own settings.".to_owned()
    } else {
        let n = number(n_panes);
        format!("The prompt is read once. Then all {n} write from it, under their own settings.")
    }
}

/// Texts can agree as far as the shorter goes and still not be equal.
fn agree_words(state: &AppState) -> String {
    let lengths: Vec<usize> = state
        .generations()
        .into_iter()
        .flatten()
        .map(|generation| generation.steps.len())
        .collect();
    let shortest = lengths.iter().min().copied().unwrap_or(0);
    if lengths.iter().all(|length| *length == shortest) {
        let n = number(lengths.len());
        format!("All {n} are the same, token for token.")
    } else {
        format!(
            "All agree for {}, then one goes on alone.",
            tokens(shortest)
        )
    }
}

fn part_words(state: &AppState, step: usize, groups: &[Vec<usize>]) -> ForkWords {
    let agreed = match step {
        0 => String::new(),
        n => format!("All agree for {}. ", tokens(n)),
    };
    let at = step + 1;
    let leavers = leavers(groups);
    let verb = if leavers.len() == 1 { "parts" } else { "part" };
    let who = letters(&leavers);
    let short = format!("{agreed}At token {at}, {who} {verb}.");
    let long = if state.is_running() && step > 0 {
        format!("They agreed for {}, then {who} parted.", tokens(step))
    } else {
        let clauses: Vec<String> = groups
            .iter()
            .filter_map(|group| clause(&state.generations(), group, step))
            .collect();
        format!("{agreed}At token {at}, {}.", clauses.join("; "))
    };
    ForkWords {
        long,
        short,
        step: Some(step),
    }
}

/// All panes but those of the largest group; of equals the later group stays.
fn leavers(groups: &[Vec<usize>]) -> Vec<usize> {
    let largest = groups
        .iter()
        .enumerate()
        .max_by_key(|(_, group)| group.len())
        .map(|(index, _)| index);
    let mut leavers: Vec<usize> = groups
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != largest)
        .flat_map(|(_, group)| group.iter().copied())
        .collect();
    leavers.sort_unstable();
    leavers
}

/// "A takes ‘house’", or "the coin 0.987 gives B and C ‘cottage’" where one coin decided for all.
fn clause(texts: &[Option<&Generation>], group: &[usize], index: usize) -> Option<String> {
    let steps: Vec<&Step> = group
        .iter()
        .filter_map(|place| texts.get(*place).copied().flatten()?.steps.get(index))
        .collect();
    let first = steps.first()?;
    let word = quoted(first);
    let who = letters(group);
    let coin = first.trace.draw.coin;
    let one_coin = steps.iter().all(|step| step.trace.draw.coin == coin);
    Some(match coin {
        Some(coin) if one_coin => format!("the coin {coin:.3} gives {who} {word}"),
        _ if group.len() == 1 => format!("{who} takes {word}"),
        _ => format!("{who} take {word}"),
    })
}

/// A token as it stands in a sentence: without its space, in single quotes.
fn quoted(step: &Step) -> String {
    let piece = step.piece.to_string();
    match piece.trim() {
        "" => format!("‘{}’", piece.escape_debug()),
        word => format!("‘{word}’"),
    }
}

fn letters(places: &[usize]) -> String {
    let letters: Vec<String> = places.iter().map(|place| letter(*place).into()).collect();
    listed(&letters)
}

fn tokens(n: usize) -> String {
    match n {
        1 => "1 token".to_owned(),
        n => format!("{n} tokens"),
    }
}

fn number(n: usize) -> String {
    let words = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight",
    ];
    words
        .get(n)
        .map_or_else(|| n.to_string(), |word| (*word).to_owned())
}
