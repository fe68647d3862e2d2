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
    if !have_one_beginning(&state.generations()) {
        let words = "These texts continue different prompts, or are by different models; they are \
                     not compared.";
        return same(words.to_owned());
    }
    match state.fork() {
        Fork::NothingToCompare => same(first_words(n_panes)),
        Fork::Agree { n_shared } if state.is_running() => {
            same(format!("They agree so far, for {}.", tokens(n_shared)))
        }
        Fork::Agree { .. } => same(agree_words(state)),
        Fork::Part { step, groups } => part_words(state, step, &groups),
    }
}

/// Whether all texts that have begun go on from the same tokens, by the same model.
fn have_one_beginning(texts: &[Option<&Generation>]) -> bool {
    let begun = || texts.iter().flatten().filter(|text| !text.steps.is_empty());
    let Some(first) = begun().next() else {
        return true;
    };
    begun().all(|text| text.begins_like(first))
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
        .filter(|length| *length > 0)
        .collect();
    let shortest = lengths.iter().min().copied().unwrap_or(0);
    let n_longer = lengths.iter().filter(|length| **length > shortest).count();
    let agreed = format!("All agree for {}", tokens(shortest));
    match n_longer {
        0 => format!(
            "All {} are the same, token for token.",
            number(lengths.len())
        ),
        1 => format!("{agreed}, then one goes on alone."),
        n => format!("{agreed}, then {} go on alike.", number(n)),
    }
}

fn part_words(state: &AppState, step: usize, groups: &[Vec<usize>]) -> ForkWords {
    let texts = state.generations();
    let agreed = match step {
        0 => String::new(),
        n => format!("{} agree for {}. ", who_agrees(&texts, groups), tokens(n)),
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
            .map(|group| clause(&texts, group, step))
            .collect();
        format!("{agreed}At token {at}, {}.", clauses.join("; "))
    };
    ForkWords {
        long,
        short,
        step: Some(step),
    }
}

/// The panes that come as far as to the fork: "All", or "B and C" where others were stopped before.
fn who_agrees(texts: &[Option<&Generation>], groups: &[Vec<usize>]) -> String {
    let written = texts.iter().flatten().filter(|text| !text.steps.is_empty());
    let mut there = groups.concat();
    if there.len() == written.count() {
        return "All".to_owned();
    }
    there.sort_unstable();
    letters(&there)
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

/// "A takes ‘house’", or "the coin 0.987 gives B and C ‘cottage’" where one coin decided for all;
/// "A has ended" where there is no token.
fn clause(texts: &[Option<&Generation>], group: &[usize], index: usize) -> String {
    let steps: Vec<&Step> = group
        .iter()
        .filter_map(|place| texts.get(*place).copied().flatten()?.steps.get(index))
        .collect();
    let who = letters(group);
    let Some(first) = steps.first() else {
        let have = if group.len() == 1 { "has" } else { "have" };
        return format!("{who} {have} ended");
    };
    let word = quoted(first);
    let coin = first.trace.draw.coin;
    let one_coin = steps.iter().all(|step| step.trace.draw.coin == coin);
    match coin {
        Some(coin) if one_coin => format!("the coin {coin:.3} gives {who} {word}"),
        _ if group.len() == 1 => format!("{who} takes {word}"),
        _ => format!("{who} take {word}"),
    }
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

#[cfg(test)]
mod tests {
    use super::clause;
    use crate::generation::testing::generation;

    #[test]
    fn a_text_without_a_token_at_the_fork_has_ended() {
        let text = generation(&[(" a", 0.5)]);
        let texts = [Some(&text), None, Some(&text)];
        assert_eq!(clause(&texts, &[0], 1), "A has ended");
        assert_eq!(clause(&texts, &[0, 2], 1), "A and C have ended");
        assert!(clause(&texts, &[0], 0).ends_with(" gives A ‘a’"));
    }
}
