//! Biases and bans that do nothing or do not hold, and the sentences that tell so.

use std::collections::BTreeSet;

use crate::decoding::filters::LogitBias;
use crate::decoding::{ChainConfig, Filter, TokenId};
use crate::generation::listed;

/// How many tokens a sentence names.
const N_NAMED: usize = 4;

/// What is to be said where biases or bans name tokens that the vocabulary lacks.
pub(super) fn unknown_tokens(pane: &str, chain: &ChainConfig, n_vocab: usize) -> Option<String> {
    let biased = token_rules(chain).flat_map(|rule| rule.biases.iter().map(|bias| bias.token));
    let unknown: BTreeSet<TokenId> = biased
        .chain(banned(chain))
        .filter(|token| token.index() >= n_vocab)
        .collect();
    let tokens = named(&unknown)?;
    let last = n_vocab.saturating_sub(1);
    Some(match unknown.len() {
        1 => format!("{pane}: there is no token {tokens} to bias or ban; the last is {last}"),
        _ => format!("{pane}: there are no tokens {tokens} to bias or ban; the last is {last}"),
    })
}

/// What is to be said where tokens were drawn that the chain bans.
pub(super) fn broken_bans(
    pane: &str,
    chain: &ChainConfig,
    drawn: impl IntoIterator<Item = TokenId>,
) -> Option<String> {
    let banned: BTreeSet<TokenId> = banned(chain).collect();
    let broken: BTreeSet<TokenId> = drawn
        .into_iter()
        .filter(|token| banned.contains(token))
        .collect();
    let tokens = named(&broken)?;
    let why = "a ban that would leave no token does not hold";
    Some(match broken.len() {
        1 => format!("{pane}: token {tokens} was drawn although it is banned, because {why}"),
        _ => format!("{pane}: tokens {tokens} were drawn although they are banned, because {why}"),
    })
}

/// "13, 14 and 5 more", or nothing where there is none.
fn named(tokens: &BTreeSet<TokenId>) -> Option<String> {
    let n_more = tokens.len().saturating_sub(N_NAMED);
    let mut words: Vec<String> = tokens
        .iter()
        .take(N_NAMED)
        .map(ToString::to_string)
        .collect();
    words.extend((n_more > 0).then(|| format!("{n_more} more")));
    (!words.is_empty()).then(|| listed(&words))
}

fn banned(chain: &ChainConfig) -> impl Iterator<Item = TokenId> {
    token_rules(chain).flat_map(|rule| rule.banned.iter().copied())
}

fn token_rules(chain: &ChainConfig) -> impl Iterator<Item = &LogitBias> {
    chain.active().filter_map(|filter| match filter {
        Filter::LogitBias(rule) => Some(rule),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{broken_bans, unknown_tokens};
    use crate::decoding::{ChainConfig, TokenId};
    use crate::generation::PaneSettings;

    fn chain(description: &str) -> ChainConfig {
        description.parse::<PaneSettings>().unwrap().chain
    }

    #[test]
    fn tokens_that_are_not_there_are_named() {
        for (description, expected) in [
            ("ban 0 9, bias 9 1", None),
            ("ban 99 off, bias 99 0", None),
            (
                "ban 10",
                Some("A: there is no token 10 to bias or ban; the last is 9"),
            ),
            (
                "bias 12 1 3 1, ban 11 10",
                Some("A: there are no tokens 10, 11 and 12 to bias or ban; the last is 9"),
            ),
            (
                "ban 10 11 12 13 14 15",
                Some(
                    "A: there are no tokens 10, 11, 12, 13 and 2 more to bias or ban; the last is 9",
                ),
            ),
        ] {
            let said = unknown_tokens("A", &chain(description), 10);
            assert_eq!(said.as_deref(), expected, "{description}");
        }
    }

    #[test]
    fn a_ban_that_does_not_hold_is_told_once() {
        let drawn = [0, 3, 3].map(TokenId);
        let chain = chain("top-k 1, ban 3 5");
        let said = broken_bans("A", &chain, drawn).unwrap();
        assert!(
            said.starts_with("A: token 3 was drawn although it is banned"),
            "{said}"
        );
        assert_eq!(broken_bans("A", &chain, [TokenId(0)]), None);
    }
}
