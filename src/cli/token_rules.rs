//! Notes about biases, bans and repetition rules that have no effect.

use std::collections::BTreeSet;

use crate::decoding::filters::{LogitBias, NoRepeatNgram};
use crate::decoding::{ChainConfig, Filter, History, TokenId};
use crate::generation::listed;

/// How many tokens a note lists at most.
const MAX_LISTED: usize = 4;

/// Returns a note if biases or bans name tokens that are not in the vocabulary.
pub(super) fn unknown_tokens(pane: &str, chain: &ChainConfig, n_vocab: usize) -> Option<String> {
    let biased = token_rules(chain).flat_map(|rule| rule.biases.iter().map(|bias| bias.token));
    let unknown: BTreeSet<TokenId> = biased
        .chain(banned(chain))
        .filter(|token| token.index() >= n_vocab)
        .collect();
    let tokens = list_tokens(&unknown)?;
    let last = n_vocab.saturating_sub(1);
    Some(match unknown.len() {
        1 => format!("{pane}: there is no token {tokens} to bias or ban; the last token is {last}"),
        _ => {
            format!("{pane}: there are no tokens {tokens} to bias or ban; the last token is {last}")
        }
    })
}

/// Returns a note if banned tokens were sampled.
pub(super) fn broken_bans(
    pane: &str,
    chain: &ChainConfig,
    sampled: impl IntoIterator<Item = TokenId>,
) -> Option<String> {
    let banned: BTreeSet<TokenId> = banned(chain).collect();
    let broken: BTreeSet<TokenId> = sampled
        .into_iter()
        .filter(|token| banned.contains(token))
        .collect();
    let tokens = list_tokens(&broken)?;
    let why = "a ban that would leave no token is ignored";
    Some(match broken.len() {
        1 => format!("{pane}: token {tokens} was sampled although it is banned, because {why}"),
        _ => {
            format!("{pane}: tokens {tokens} were sampled although they are banned, because {why}")
        }
    })
}

/// A sequence of tokens of which the last ones were sampled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampled<'a> {
    pub tokens: &'a [TokenId],
    /// How many of the tokens belong to the prompt.
    pub n_prompt: usize,
    /// How many tokens precede the first sampled one.
    pub n_before: usize,
}

/// Returns a note if sampled tokens repeat a sequence although the chain forbids it.
pub(super) fn broken_repeats(
    pane: &str,
    chain: &ChainConfig,
    sampled: Sampled<'_>,
) -> Option<String> {
    let rules: Vec<&NoRepeatNgram> = chain
        .active()
        .filter_map(|filter| match filter {
            Filter::NoRepeatNgram(rule) => Some(rule),
            _ => None,
        })
        .collect();
    if rules.is_empty() {
        return None;
    }
    let repeats = |(position, token): &(usize, &TokenId)| {
        let before = sampled.tokens.get(..*position).unwrap_or_default();
        let history = History::new(before, sampled.n_prompt);
        rules
            .iter()
            .any(|rule| rule.banned(history).contains(token))
    };
    let steps = sampled.tokens.iter().enumerate().skip(sampled.n_before);
    let why = "a rule that would leave no token is ignored";
    match steps.filter(repeats).count() {
        0 => None,
        1 => Some(format!(
            "{pane}: a token repeats a sequence although no-repeat forbids it, because {why}"
        )),
        n => Some(format!(
            "{pane}: {n} tokens repeat a sequence although no-repeat forbids it, because {why}"
        )),
    }
}

/// Formats tokens as "13, 14 and 5 more", or returns `None` if there are none.
fn list_tokens(tokens: &BTreeSet<TokenId>) -> Option<String> {
    let n_more = tokens.len().saturating_sub(MAX_LISTED);
    let mut words: Vec<String> = tokens
        .iter()
        .take(MAX_LISTED)
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
    use super::{Sampled, broken_bans, broken_repeats, unknown_tokens};
    use crate::decoding::{ChainConfig, TokenId};
    use crate::generation::PaneSettings;

    fn chain(description: &str) -> ChainConfig {
        description.parse::<PaneSettings>().unwrap().chain
    }

    #[test]
    fn unknown_tokens_are_listed() {
        for (description, expected) in [
            ("ban 0 9, bias 9 1", None),
            ("ban 99 off, bias 99 0", None),
            (
                "ban 10",
                Some("A: there is no token 10 to bias or ban; the last token is 9"),
            ),
            (
                "bias 12 1 3 1, ban 11 10",
                Some("A: there are no tokens 10, 11 and 12 to bias or ban; the last token is 9"),
            ),
            (
                "ban 10 11 12 13 14 15",
                Some(
                    "A: there are no tokens 10, 11, 12, 13 and 2 more to bias or ban; the last token is 9",
                ),
            ),
        ] {
            let said = unknown_tokens("A", &chain(description), 10);
            assert_eq!(said.as_deref(), expected, "{description}");
        }
    }

    #[test]
    fn an_ignored_repetition_rule_is_reported() {
        let note = |description: &str, tokens: &[u32]| {
            let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId).collect();
            let sampled = Sampled {
                tokens: &tokens,
                n_prompt: 1,
                n_before: 2,
            };
            broken_repeats("A", &chain(description), sampled)
        };
        assert_eq!(note("no-repeat 1", &[0, 1, 2]), None);
        let said = note("no-repeat 1", &[0, 1, 1]).unwrap();
        assert!(
            said.starts_with("A: a token repeats a sequence although"),
            "{said}"
        );
        assert_eq!(note("no-repeat 2", &[0, 1, 1]), None);
        let said = note("no-repeat 2", &[0, 1, 0, 1, 0]).unwrap();
        assert!(said.starts_with("A: 2 tokens repeat a sequence"), "{said}");
        assert_eq!(note("greedy", &[0, 1, 1]), None);
    }

    #[test]
    fn an_ignored_ban_is_reported_once() {
        let sampled = [0, 3, 3].map(TokenId);
        let chain = chain("top-k 1, ban 3 5");
        let said = broken_bans("A", &chain, sampled).unwrap();
        assert!(
            said.starts_with("A: token 3 was sampled although it is banned"),
            "{said}"
        );
        assert_eq!(broken_bans("A", &chain, [TokenId(0)]), None);
    }
}
