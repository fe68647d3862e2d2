//! The sentence that says where the panes part, and why.

use crate::analysis::Divergence;
use crate::generation::{Generation, Step, listed};
use crate::state::AppState;
use crate::state::app_state::letter;
use crate::state::notice::capital;

/// The sentence of the first fork, at full length and for a narrow window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DivergenceWords {
    /// With the tokens and the coins.
    pub long: String,
    /// Who parts, and where.
    pub short: String,
    /// The step at which they part, counted from 0.
    pub step: Option<usize>,
}

/// Says where the panes part.
pub fn divergence_words(state: &AppState) -> DivergenceWords {
    let n_panes = state.panes.len();
    if !have_one_beginning(&state.generations()) {
        let words = "These texts continue different prompts, or are by different models; they are \
                     not compared.";
        return same(words.to_owned());
    }
    match state.divergence() {
        Divergence::NothingToCompare => same(first_words(n_panes)),
        Divergence::Agree { n_shared } if state.is_running() => {
            same(format!("They agree so far, for {}.", tokens(n_shared)))
        }
        Divergence::Agree { .. } => same(agree_words(state)),
        Divergence::At { step, groups } => part_words(state, step, &groups),
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

fn same(words: String) -> DivergenceWords {
    DivergenceWords {
        short: words.clone(),
        long: words,
        step: None,
    }
}

fn first_words(n_panes: usize) -> String {
    if n_panes == 1 {
        "The prompt is read, then the pane writes from it, under its own settings.".to_owned()
    } else {
        let all = all(n_panes);
        format!("The prompt is read once. Then {all} write from it, under their own settings.")
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
            "{} are the same, token for token.",
            capital(&all(lengths.len()))
        ),
        1 => format!("{agreed}, then one goes on alone."),
        n => format!("{agreed}, then {} go on alike.", number(n)),
    }
}

fn part_words(state: &AppState, step: usize, groups: &[Vec<usize>]) -> DivergenceWords {
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
        let clauses = clauses(&texts, groups, step);
        format!("{agreed}At token {at}, {}.", clauses.join("; "))
    };
    DivergenceWords {
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

/// "A takes ‘house’", or "the coin 0.987 gives B and C ‘cottage’" where one coin decided for all, or "the
/// same coin, 0.987, gives B ‘cottage’, C ‘forest’"; "A has ended" where there is no token.
fn clauses(texts: &[Option<&Generation>], groups: &[Vec<usize>], index: usize) -> Vec<String> {
    let mut said: Vec<(Option<f64>, Vec<String>)> = Vec::new();
    for group in groups {
        let steps: Vec<&Step> = group
            .iter()
            .filter_map(|place| texts.get(*place).copied().flatten()?.steps.get(index))
            .collect();
        let (who, is_one) = (letters(group), group.len() == 1);
        let Some(first) = steps.first() else {
            let have = if is_one { "has" } else { "have" };
            said.push((None, vec![format!("{who} {have} ended")]));
            continue;
        };
        let word = quoted(first);
        let coin = first.trace.draw.coin;
        if coin.is_none() || steps.iter().any(|step| step.trace.draw.coin != coin) {
            let take = if is_one { "takes" } else { "take" };
            said.push((None, vec![format!("{who} {take} {word}")]));
            continue;
        }
        let gift = format!("{who} {word}");
        match said.iter_mut().find(|(other, _)| *other == coin) {
            Some((_, gifts)) => gifts.push(gift),
            None => said.push((coin, vec![gift])),
        }
    }
    let sentences = said.into_iter().map(|(coin, words)| {
        let gives = match coin {
            None => String::new(),
            Some(coin) if words.len() > 1 => format!("the same coin, {coin:.3}, gives "),
            Some(coin) => format!("the coin {coin:.3} gives "),
        };
        gives + &words.join(", ")
    });
    sentences.collect()
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

fn all(n: usize) -> String {
    match n {
        2 => "both".to_owned(),
        n => format!("all {}", number(n)),
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
    use super::clauses;
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    fn said(texts: &[&Generation], groups: &[&[usize]], index: usize) -> Vec<String> {
        let texts: Vec<Option<&Generation>> = texts.iter().copied().map(Some).collect();
        let groups: Vec<Vec<usize>> = groups.iter().map(|group| group.to_vec()).collect();
        clauses(&texts, &groups, index)
    }

    #[test]
    fn a_text_without_a_token_at_the_fork_has_ended() {
        let text = generation(&[(" a", 0.5)]);
        assert_eq!(said(&[&text], &[&[0]], 1), ["A has ended"]);
        let both = said(&[&text, &text], &[&[0, 1]], 1);
        assert_eq!(both, ["A and B have ended"]);
    }

    #[test]
    fn one_coin_that_gives_different_tokens_is_named_once() {
        let text = |piece: &str, coin: Option<f64>| {
            let mut text = generation(&[(piece, 0.5)]);
            text.steps[0].trace.draw.coin = coin;
            text
        };
        let (a, b) = (text(" a", Some(0.7)), text(" b", Some(0.7)));
        let (other, greedy) = (text(" c", Some(0.2)), text(" c", None));
        let each: &[&[usize]] = &[&[0], &[1], &[2]];
        for (third, expected) in [
            (&a, &["the same coin, 0.700, gives A ‘a’, B ‘b’, C ‘a’"][..]),
            (
                &other,
                &[
                    "the same coin, 0.700, gives A ‘a’, B ‘b’",
                    "the coin 0.200 gives C ‘c’",
                ],
            ),
            (
                &greedy,
                &["the same coin, 0.700, gives A ‘a’, B ‘b’", "C takes ‘c’"],
            ),
        ] {
            assert_eq!(said(&[&a, &b, third], each, 0), expected);
        }
    }
}
