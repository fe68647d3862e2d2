//! The tags around a thought, and those and the message of a thinking budget in the tokens of a
//! model.

use super::Vocabulary;
use crate::decoding::filters::{Phrase, ThinkingBudget};
use crate::decoding::{ChainConfig, CharacterParts, Filter, TokenId};

/// The tags around a thought, as model families write them.
pub struct ThoughtTags {
    pub opening: &'static str,
    pub closing: &'static str,
}

/// The tags of all known families.
pub const THOUGHT_TAGS: [ThoughtTags; 5] = [
    // Qwen, DeepSeek, SmolLM3, GLM, Hunyuan, EXAONE and most others.
    ThoughtTags {
        opening: "<think>",
        closing: "</think>",
    },
    // Mistral.
    ThoughtTags {
        opening: "[THINK]",
        closing: "[/THINK]",
    },
    // Seed-OSS.
    ThoughtTags {
        opening: "<seed:think>",
        closing: "</seed:think>",
    },
    // Gemma 4.
    ThoughtTags {
        opening: "<|channel>thought",
        closing: "<channel|>",
    },
    // gpt-oss.
    ThoughtTags {
        opening: "<|channel|>analysis<|message|>",
        closing: "<|end|>",
    },
];

/// Why a thinking budget has no effect on a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnspelledThought {
    #[error(
        "This model has no known tags around a thought, so its thoughts can’t be cut; name the tags, \
         as in think 500 open \"<think>\" close \"</think>\""
    )]
    NoTags,

    #[error("This model has no tokens for ‘{text}’, which the thinking budget needs")]
    NoTokens { text: String },
}

/// How many tokens a tag has at most if it is a model's own. Others spell it letter by letter.
const N_MAX_TAG_TOKENS: usize = 3;

/// Spells the tags and messages of a chain's thinking budgets, as far as no model has spelled them.
pub fn spell_thoughts(
    chain: &mut ChainConfig,
    vocabulary: &Vocabulary,
) -> Result<(), UnspelledThought> {
    for stage in &mut chain.stages {
        if let Filter::ThinkingBudget(budget) = &mut stage.filter
            && stage.enabled
            && budget.max_tokens < ThinkingBudget::NO_LIMIT
        {
            spell(budget, vocabulary)?;
        }
    }
    Ok(())
}

/// Notes after which tokens the cut of a thinking budget waits. For the settings of a text from a file,
/// whose tags are already spelled.
pub fn note_character_parts(chain: &mut ChainConfig, vocabulary: &Vocabulary) {
    for stage in &mut chain.stages {
        if let Filter::ThinkingBudget(budget) = &mut stage.filter {
            budget.characters = character_parts(vocabulary);
        }
    }
}

fn character_parts(vocabulary: &Vocabulary) -> CharacterParts {
    let tokens = vocabulary.iter();
    CharacterParts::of(tokens.map(|(token, piece)| (token, piece.bytes.as_slice())))
}

fn spell(budget: &mut ThinkingBudget, vocabulary: &Vocabulary) -> Result<(), UnspelledThought> {
    if !budget.characters.are_known() {
        budget.characters = character_parts(vocabulary);
    }
    if budget.opening.is_empty() || budget.closing.is_empty() {
        let [opening, closing] = own_tags(vocabulary).ok_or(UnspelledThought::NoTags)?;
        for (phrase, own) in [
            (&mut budget.opening, opening),
            (&mut budget.closing, closing),
        ] {
            if phrase.is_empty() {
                *phrase = Phrase::Tokens(own);
            }
        }
    }
    for phrase in [
        &mut budget.opening,
        &mut budget.closing,
        &mut budget.message,
    ] {
        if let Phrase::Text(text) = phrase
            && !text.is_empty()
        {
            let tokens = vocabulary.tokenize(text);
            let text = std::mem::take(text);
            *phrase = Phrase::Tokens(tokens.ok_or(UnspelledThought::NoTokens { text })?);
        }
    }
    Ok(())
}

/// Turns the tags and messages of a chain's thinking budgets from the tokens of a model into texts,
/// so that another model can spell them.
pub fn unspell_thoughts(chain: &mut ChainConfig, vocabulary: &Vocabulary) {
    for stage in &mut chain.stages {
        let Filter::ThinkingBudget(budget) = &mut stage.filter else {
            continue;
        };
        budget.characters = CharacterParts::default();
        for phrase in [
            &mut budget.opening,
            &mut budget.closing,
            &mut budget.message,
        ] {
            if let Phrase::Tokens(tokens) = phrase {
                *phrase = Phrase::Text(vocabulary.text_with_special(tokens));
            }
        }
        let is_text =
            |phrase: &Phrase, tag: &str| matches!(phrase, Phrase::Text(text) if text == tag);
        let are_own = |tags: &ThoughtTags| {
            is_text(&budget.opening, tags.opening) && is_text(&budget.closing, tags.closing)
        };
        if THOUGHT_TAGS.iter().any(are_own) {
            // Another model has its own.
            (budget.opening, budget.closing) = Default::default();
        }
    }
}

/// Returns the tags that a model writes around its thoughts, or `None` if its vocabulary has no
/// tokens for any known ones.
fn own_tags(vocabulary: &Vocabulary) -> Option<[Vec<TokenId>; 2]> {
    let spelled = |tags: &ThoughtTags| {
        let closing = vocabulary
            .iter()
            .find(|(_, piece)| piece.bytes == tags.closing.as_bytes());
        let (closing, _) = closing?;
        let opening = vocabulary.spell_with_special(tags.opening)?;
        (opening.len() <= N_MAX_TAG_TOKENS).then(|| [opening, vec![closing]])
    };
    THOUGHT_TAGS.iter().find_map(spelled)
}

#[cfg(test)]
mod tests {
    use super::{UnspelledThought, spell_thoughts, unspell_thoughts};
    use crate::decoding::filters::{Phrase, ThinkingBudget};
    use crate::decoding::testing::token_ids;
    use crate::decoding::{ChainConfig, Filter};
    use crate::generation::{Framing, PaneSettings, Piece, Vocabulary};

    fn vocabulary(special: &[&str]) -> Vocabulary {
        let text = [
            "a", "<", "|", ">", "/", "think", "thought", "analysis", "end", "!", " a",
        ];
        let special = special.iter().copied().map(Piece::special);
        Vocabulary::new(text.map(Piece::text).into_iter().chain(special).collect())
    }

    /// Returns the opening tag, the closing tag and the message that a model makes of a budget.
    fn spelled(pane: &str, special: &[&str]) -> Result<[Phrase; 3], UnspelledThought> {
        let mut chain = pane.parse::<PaneSettings>().unwrap().chain;
        spell_thoughts(&mut chain, &vocabulary(special))?;
        let Filter::ThinkingBudget(budget) = chain.stages.remove(0).filter else {
            panic!("{pane}");
        };
        Ok([budget.opening, budget.closing, budget.message])
    }

    fn phrases(ids: [&[u32]; 2]) -> [Phrase; 2] {
        ids.map(|ids| Phrase::Tokens(token_ids(ids)))
    }

    #[test]
    fn the_tags_are_those_of_the_model_family() {
        for (special, expected) in [
            (&["<think>", "</think>"][..], [&[11][..], &[12]]),
            (&["[THINK]", "[/THINK]"], [&[11], &[12]]),
            (&["<channel|>", "<|channel>"], [&[12, 6], &[11]]),
            (
                &["<|channel|>", "<|message|>", "<|end|>"],
                [&[11, 7, 12], &[13]],
            ),
        ] {
            let [opening, closing, message] = spelled("think 5", special).unwrap();
            assert_eq!([opening, closing], phrases(expected), "{special:?}");
            assert!(message.is_empty());
        }
    }

    #[test]
    fn other_tags_and_a_message_may_be_named() {
        let named = r#"think 5 open "<think>" close "a!" message "end a""#;
        let [opening, closing, message] = spelled(named, &[]).unwrap();
        assert_eq!([opening, closing], phrases([&[1, 5, 3], &[0, 9]]));
        assert_eq!(message, Phrase::Tokens(token_ids(&[8, 10])));
        let [opening, closing, _] = spelled("think 5 close 9", &["<think>", "</think>"]).unwrap();
        assert_eq!([opening, closing], phrases([&[11], &[9]]));
    }

    #[test]
    fn a_model_without_tags_is_named_as_the_reason() {
        assert_eq!(spelled("think 5", &[]), Err(UnspelledThought::NoTags));
        // A chat model's end of turn is no end of a thought.
        assert_eq!(
            spelled("think 5", &["<|end|>"]),
            Err(UnspelledThought::NoTags)
        );
        let unspelled = spelled("think 5 message \"Ω\"", &["<think>", "</think>"]);
        let text = "Ω".to_owned();
        assert_eq!(unspelled, Err(UnspelledThought::NoTokens { text }));
    }

    #[test]
    fn another_model_spells_them_in_its_own_tokens() {
        let before: PaneSettings = "think 5 message \"end\"".parse().unwrap();
        let mut chain = before.chain.clone();
        let qwen = vocabulary(&["<think>", "</think>"]);
        spell_thoughts(&mut chain, &qwen).unwrap();
        assert_ne!(chain, before.chain);
        unspell_thoughts(&mut chain, &qwen);
        assert_eq!(chain, before.chain);
        let before: PaneSettings = "think 5 open \"a\" close \"!\"".parse().unwrap();
        let mut chain = before.chain.clone();
        spell_thoughts(&mut chain, &qwen).unwrap();
        unspell_thoughts(&mut chain, &qwen);
        assert_eq!(chain, before.chain);
    }

    #[test]
    fn a_message_has_the_tokens_that_the_tokenizer_makes_of_it() {
        let pieces = ["e", "n", "d", " ", "a", "end", " a"].map(Piece::text);
        let vocabulary = Vocabulary::new(pieces.to_vec());
        let letters = |_: &str, _| Some(token_ids(&[0, 1, 2, 6]));
        let spelled = vocabulary.clone().with_encoder(letters).tokenize("end a");
        assert_eq!(spelled, Some(token_ids(&[0, 1, 2, 6])));
        assert_eq!(vocabulary.tokenize("end a"), Some(token_ids(&[5, 6])));
        // What decodes to another text, or fails, does not count.
        for encode in [
            (|_, _| Some(token_ids(&[0]))) as fn(&str, Framing) -> _,
            |_, _| None,
            |_, _| Some(token_ids(&[77])),
        ] {
            let spelled = vocabulary.clone().with_encoder(encode).tokenize("end a");
            assert_eq!(spelled, Some(token_ids(&[5, 6])));
        }
    }

    #[test]
    fn a_stage_without_effect_needs_no_tags() {
        for pane in ["think 5 off", "think 1000000"] {
            let [opening, ..] = spelled(pane, &[]).unwrap();
            assert_eq!(opening, Phrase::default(), "{pane}");
        }
        let mut chain = ChainConfig::sampled([Filter::ThinkingBudget(ThinkingBudget {
            max_tokens: 5,
            opening: Phrase::Tokens(token_ids(&[1])),
            closing: Phrase::Tokens(token_ids(&[2])),
            ..ThinkingBudget::default()
        })]);
        let before = chain.clone();
        assert_eq!(spell_thoughts(&mut chain, &vocabulary(&[])), Ok(()));
        assert_eq!(chain, before);
    }
}
