//! Thinking budget: ends a thought after a number of tokens.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, Scale, SettingError, field};
use crate::decoding::{
    Candidates, CharacterParts, Filter, FilterKind, History, Need, StageContext, TokenId,
};

/// Once a thought has `max_tokens` tokens, forces the message and the tag that closes it, token by
/// token. A budget of [`ThinkingBudget::NO_LIMIT`] or more has no effect.
///
/// Muennighoff et al. 2025, "s1: Simple test-time scaling".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkingBudget {
    /// How many tokens may follow the opening tag.
    pub max_tokens: u32,
    /// The tag before a thought. An empty text stands for the model's own tag.
    #[serde(default)]
    pub opening: Phrase,
    /// The tag after a thought. An empty text stands for the model's own tag.
    #[serde(default)]
    pub closing: Phrase,
    /// What is written before the closing tag when a thought is cut off.
    #[serde(default)]
    pub message: Phrase,
    /// The tokens after which the cut waits for the end of a character, once the model is known.
    #[serde(skip)]
    pub characters: CharacterParts,
}

/// A short text as tokens, or as it was typed while no model has spelled it in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Phrase {
    /// The tokens of a model.
    Tokens(Vec<TokenId>),
    /// A text that no model has spelled yet.
    Text(String),
}

impl Default for Phrase {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Phrase {
    /// Whether there is nothing in it.
    pub const fn is_empty(&self) -> bool {
        match self {
            Self::Tokens(tokens) => tokens.is_empty(),
            Self::Text(text) => text.is_empty(),
        }
    }

    /// Returns its tokens, or none if no model has spelled it.
    pub fn tokens(&self) -> &[TokenId] {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Text(_) => &[],
        }
    }
}

impl Default for ThinkingBudget {
    /// 500 tokens between the model's own tags, without a message.
    fn default() -> Self {
        Self {
            max_tokens: 500,
            opening: Phrase::default(),
            closing: Phrase::default(),
            message: Phrase::default(),
            characters: CharacterParts::default(),
        }
    }
}

impl ThinkingBudget {
    /// The name of the stage.
    pub const NAME: &str = "Thinking budget";

    /// The budget from which a thought is never cut off.
    pub const NO_LIMIT: u32 = 1_000_000;

    /// [`Self::NO_LIMIT`] as the end of a slider.
    const SLIDER_END: f32 = 1_000_000.0;

    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["think", "thinking-budget", "reasoning-budget"],
        chip: "think",
        name: Self::NAME,
        summary: "Ends a thought in time",
        help: "Ends a thought after this many tokens: forces the message, if there is one, and the tag \
               that closes the thought. At 0 a thought ends at once.",
        formula: "logit = −∞ for all but the next token of the message and the closing tag",
        edges: &[
            "The tokens after the opening tag count, whether the model or the prompt wrote them. The next opening tag begins a new count.",
            "A thought that the model closes earlier is left alone, and a closing tag that it has begun is only completed. llama.cpp begins it again.",
            "A tag counts if it consists of exactly these tokens. The message is written in the tokens that the tokenizer makes of it.",
            "The cut waits for the end of a character that takes several tokens. llama.cpp waits for one more token if that end is a separate token.",
            "The forced token stays even if another stage drops or bans it. Under a grammar it must still be possible, or the thought goes on.",
        ],
        example: Some(|| {
            Filter::ThinkingBudget(Self {
                max_tokens: 15,
                opening: Phrase::Tokens(vec![TokenId(0)]),
                closing: Phrase::Tokens(vec![TokenId(7)]),
                ..Self::default()
            })
        }),
        source: "Muennighoff et al. 2025, \"s1: Simple test-time scaling\", arXiv 2501.19393, as the \
                 `--reasoning-budget` of llama.cpp (PR #20297, 2026) and the `thinking_token_budget` \
                 of vLLM",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        params: &[ParamSpec {
            unit: "tokens",
            range: 10.0..=Self::SLIDER_END,
            limits: Limits::AtLeast(0.0),
            neutral: Some(Self::SLIDER_END),
            usual: 200.0..=4000.0,
            decimals: 0,
            scale: Scale::Logarithmic,
            ..ParamSpec::new(field!(Count, Filter::ThinkingBudget.max_tokens))
        }],
        tool_keys: &[
            (&[Dialect::LlamaCpp], &["reasoning_budget_tokens"]),
            (&[Dialect::Vllm], &["thinking_token_budget"]),
        ],
        needs: &[Need::TokenIds],
        ..FilterSpec::new(FilterKind::ThinkingBudget, || {
            Filter::ThinkingBudget(Self::default())
        })
    };

    /// Returns whether its tags and its message are tokens of a model.
    pub const fn is_spelled(&self) -> bool {
        matches!(
            (&self.opening, &self.closing),
            (Phrase::Tokens(_), Phrase::Tokens(_))
        ) && (self.message.is_empty() || matches!(self.message, Phrase::Tokens(_)))
    }

    /// Returns the token that must come next, or `None` if any may.
    pub fn forced(&self, history: History<'_>) -> Option<TokenId> {
        let closing = self.closing.tokens();
        let thought = open_thought(history.tokens(), self.opening.tokens(), closing)?;
        let is_whole = |n: &usize| {
            let before = thought.get(..*n).unwrap_or_default();
            !self.characters.end_within_character(before)
        };
        let cut = (self.max_tokens as usize..=thought.len()).find(is_whole)?;
        let beyond = thought.get(cut..)?;
        let forced = [self.message.tokens(), closing].concat();
        let (n_forced, n_closing) = (n_begun(&forced, beyond), n_begun(closing, thought));
        let next = if n_closing > n_forced {
            closing.get(n_closing)
        } else {
            forced.get(n_forced)
        };
        next.copied()
    }
}

impl FilterRule for ThinkingBudget {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let forced = self.forced(context.history);
        let exists = |token: &TokenId| token.index() < context.n_vocab as usize;
        if let Some(token) = forced.filter(exists) {
            candidates.force(token);
        }
    }

    fn is_neutral(&self) -> bool {
        self.max_tokens >= Self::NO_LIMIT
    }

    fn validate(&self) -> Result<(), SettingError> {
        let opens = match (&self.opening, &self.message) {
            (Phrase::Tokens(opening), Phrase::Tokens(message)) => {
                !opening.is_empty() && message.windows(opening.len()).any(|part| part == opening)
            }
            (Phrase::Text(opening), Phrase::Text(message)) => {
                !opening.is_empty() && message.contains(opening)
            }
            _ => false,
        };
        if opens {
            Err(SettingError::MessageOpensThought)
        } else {
            Ok(())
        }
    }
}

/// Returns the tokens of the thought that has not been closed, without its tag. There is none if a
/// tag is empty.
fn open_thought<'a>(
    tokens: &'a [TokenId],
    opening: &[TokenId],
    closing: &[TokenId],
) -> Option<&'a [TokenId]> {
    if opening.is_empty() || closing.is_empty() {
        return None;
    }
    let (mut rest, mut is_open) = (tokens, false);
    let mut thought = None;
    while !rest.is_empty() {
        let tag = if is_open { closing } else { opening };
        if let Some(after) = rest.strip_prefix(tag) {
            is_open = !is_open;
            thought = is_open.then_some(after);
            rest = after;
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    thought
}

/// Returns how many tokens of a sequence a text ends with, if it ends with its beginning.
fn n_begun(sequence: &[TokenId], text: &[TokenId]) -> usize {
    let begins_at_end = |n: &usize| {
        let begun = sequence.get(..*n);
        begun.is_some_and(|begun| text.ends_with(begun))
    };
    (0..sequence.len()).rev().find(begins_at_end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Phrase, ThinkingBudget};
    use crate::decoding::filters::{LogitBias, TopK};
    use crate::decoding::testing::{apply, check_filter_after, logits_of, token_ids};
    use crate::decoding::{Candidates, CharacterParts, Filter, History, SettingError, TokenId};

    const P: [f32; 5] = [0.1, 0.4, 0.25, 0.15, 0.1];

    fn phrase(ids: &[u32]) -> Phrase {
        Phrase::Tokens(token_ids(ids))
    }

    /// A budget for thoughts that 1 opens and 2 closes.
    fn budget(max_tokens: u32, message: &[u32]) -> ThinkingBudget {
        ThinkingBudget {
            max_tokens,
            opening: phrase(&[1]),
            closing: phrase(&[2]),
            message: phrase(message),
            ..ThinkingBudget::default()
        }
    }

    fn forced(budget: &ThinkingBudget, tokens: &[u32]) -> Option<u32> {
        let tokens = token_ids(tokens);
        let next = budget.forced(History::new(&tokens, 1));
        next.map(|token| token.0)
    }

    #[test]
    fn the_cut_waits_for_the_end_of_a_character() {
        let bytes = [&b"a"[..], b"<", b">", b"!", &[0xE2, 0x82], &[0xAC]];
        let tokens = (0..).map(TokenId).zip(bytes);
        let waiting = ThinkingBudget {
            characters: CharacterParts::of(tokens),
            ..budget(1, &[3])
        };
        for (tokens, expected) in [
            (&[1, 4][..], None),
            (&[1, 4, 5], Some(3)),
            (&[1, 4, 5, 3], Some(2)),
            // The message counts from the end of the character.
            (&[1, 4, 5, 3, 2], None),
            (&[1, 0], Some(3)),
            // Something else follows, which ends the wait.
            (&[1, 4, 0], Some(3)),
        ] {
            assert_eq!(forced(&waiting, tokens), expected, "{tokens:?}");
        }
        assert_eq!(forced(&budget(1, &[3]), &[1, 4]), Some(3));
    }

    #[test]
    fn a_thought_ends_after_its_budget() {
        for (max_tokens, message, tokens, expected) in [
            (2, &[][..], &[0, 0, 0, 0][..], None),
            (2, &[], &[0, 1, 0], None),
            (2, &[], &[0, 1, 0, 3], Some(2)),
            (2, &[], &[0, 1, 0, 3, 0], Some(2)),
            // The model closed it in time, or after the cut.
            (2, &[], &[0, 1, 2], None),
            (2, &[], &[0, 1, 0, 3, 2], None),
            (2, &[], &[0, 1, 0, 3, 2, 0, 0, 0], None),
            // The next thought has its own budget, and a second opening tag begins none.
            (2, &[], &[0, 1, 0, 2, 1, 0], None),
            (2, &[], &[0, 1, 0, 2, 1, 0, 0], Some(2)),
            (2, &[], &[0, 1, 0, 1], Some(2)),
            // The prompt opened the thought.
            (0, &[], &[1], Some(2)),
            (1, &[], &[1], None),
            // The message comes before the tag.
            (1, &[3, 4], &[1, 0], Some(3)),
            (1, &[3, 4], &[1, 0, 3], Some(4)),
            (1, &[3, 4], &[1, 0, 3, 4], Some(2)),
            (1, &[3, 4], &[1, 0, 3, 4, 2], None),
            // What the thought ends with is not taken for the beginning of the message.
            (1, &[3, 4], &[1, 3], Some(3)),
            // A repeated token of the message.
            (1, &[3, 3, 4], &[1, 0, 3, 3], Some(4)),
            // Something else was written by hand after the cut.
            (1, &[3, 4], &[1, 0, 3, 0], Some(3)),
            (ThinkingBudget::NO_LIMIT, &[], &[1, 0, 0], None),
        ] {
            let budget = budget(max_tokens, message);
            assert_eq!(forced(&budget, tokens), expected, "{budget:?}, {tokens:?}");
        }
    }

    #[test]
    fn a_closing_tag_that_was_begun_is_completed() {
        let mut budget = ThinkingBudget {
            closing: phrase(&[2, 3, 4]),
            ..budget(2, &[])
        };
        for (tokens, expected) in [
            (&[1, 0][..], None),
            (&[1, 0, 0], Some(2)),
            (&[1, 0, 2], Some(3)),
            (&[1, 2, 3], Some(4)),
            (&[1, 0, 2, 3], Some(4)),
            (&[1, 0, 2, 3, 4], None),
        ] {
            assert_eq!(forced(&budget, tokens), expected, "{tokens:?}");
        }
        budget.message = phrase(&[3, 2]);
        for (tokens, expected) in [
            (&[1, 0, 0][..], 3),
            (&[1, 0, 0, 3], 2),
            (&[1, 0, 0, 3, 2], 2),
            (&[1, 0, 0, 3, 2, 2], 3),
            (&[1, 0, 2], 3),
            (&[1, 0, 2, 3], 4),
        ] {
            assert_eq!(forced(&budget, tokens), Some(expected), "{tokens:?}");
        }
    }

    #[test]
    fn the_forced_tokens_always_close_the_thought() {
        let tags = [&[2][..], &[2, 3], &[2, 2], &[2, 3, 2]];
        let messages = [&[][..], &[2], &[3, 2], &[2, 3, 3]];
        for (tag, message) in tags
            .iter()
            .flat_map(|tag| messages.map(|next| (*tag, next)))
        {
            let budget = ThinkingBudget {
                closing: phrase(tag),
                ..budget(2, message)
            };
            for thought in 0..81_u32 {
                let mut tokens = vec![1];
                tokens.extend([1, 3, 9, 27].map(|place| 2 + thought / place % 3));
                let n_most = tokens.len() + message.len() + tag.len();
                while let Some(next) = forced(&budget, &tokens) {
                    tokens.push(next);
                    assert!(tokens.len() <= n_most, "{tag:?}, {message:?}, {tokens:?}");
                }
            }
        }
    }

    #[test]
    fn only_the_forced_token_stays() {
        let cut = Filter::ThinkingBudget(budget(1, &[]));
        check_filter_after(&cut, &[1, 0], &P, &[0.0, 0.0, 1.0, 0.0, 0.0]);
        check_filter_after(&cut, &[1], &P, &P);
        let unspelled = Filter::ThinkingBudget(ThinkingBudget {
            max_tokens: 0,
            ..ThinkingBudget::default()
        });
        check_filter_after(&unspelled, &[1, 0], &P, &P);
        let unknown = Filter::ThinkingBudget(ThinkingBudget {
            closing: phrase(&[9]),
            ..budget(1, &[])
        });
        check_filter_after(&unknown, &[1, 0], &P, &P);
    }

    #[test]
    fn a_dropped_or_banned_token_comes_back() {
        let history = token_ids(&[1]);
        let forced = budget(0, &[]).forced(History::new(&history, 0)).unwrap();
        let after = |row: &[f32], first: Filter| {
            let mut candidates = Candidates::from_logits(&logits_of(row)).unwrap();
            apply(&first, &history, &mut candidates);
            candidates.take_mass_removed();
            candidates.force(forced);
            let kept = (candidates.best().token.0, candidates.n_kept());
            (kept, candidates.take_mass_removed())
        };
        let ban = || {
            Filter::LogitBias(LogitBias {
                biases: Vec::new(),
                banned: token_ids(&[2]),
            })
        };
        let top_k = |k| Filter::TopK(TopK { k });
        assert_eq!(after(&P, top_k(1)), ((2, 1), 1.0));
        assert_eq!(after(&P, ban()), ((2, 1), 1.0));
        let (kept, mass_removed) = after(&P, top_k(0));
        assert_eq!(kept, (2, 1));
        assert!((mass_removed - 0.75).abs() < 1e-6);
        // A grammar leaves only tokens 1 and 3.
        let legal = [0.0, 0.7, 0.0, 0.3, 0.0];
        assert_eq!(after(&legal, top_k(0)), ((1, 5), 0.0));
        assert_eq!(after(&legal, top_k(1)), ((1, 1), 0.0));
    }

    #[test]
    fn a_message_that_opens_a_thought_is_refused() {
        let opens = Err(SettingError::MessageOpensThought);
        assert_eq!(Filter::ThinkingBudget(budget(1, &[3, 1])).validate(), opens);
        let typed = |message: &str| {
            Filter::ThinkingBudget(ThinkingBudget {
                opening: Phrase::Text("<think>".to_owned()),
                message: Phrase::Text(message.to_owned()),
                ..ThinkingBudget::default()
            })
        };
        assert_eq!(typed("Now <think>").validate(), opens);
        assert_eq!(typed("Time is up.").validate(), Ok(()));
    }
}
