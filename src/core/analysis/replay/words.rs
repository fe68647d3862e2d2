//! Whether the words that a run shows are those of its tokens, under the model's tokenizer and chat
//! template.

use std::collections::BTreeSet;

use super::TextContradiction;
use crate::analysis::contradictions::ContradictionKind;
use crate::decoding::TokenId;
use crate::generation::formatting::quoted;
use crate::generation::{Generation, Piece, PromptCheck, Vocabulary};

/// What became of comparing a text's words with its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordsCheck {
    /// The prompt and all pieces equal the tokens.
    Equal,
    /// So they do, but the template inserts today's date, so that the rendered prompt can't be
    /// compared with its messages.
    Dated,
    Contradicted(TextContradiction),
    /// They were not compared, for this reason.
    NotCompared(String),
}

impl WordsCheck {
    /// Compares the words of a text with the vocabulary of the model that repeats it. `prompt` is
    /// what that model makes of the prompt, if it was asked.
    pub fn of(then: &Generation, vocabulary: &Vocabulary, prompt: Option<&PromptCheck>) -> Self {
        match prompt {
            None => Self::NotCompared("the prompt was not read again".to_owned()),
            Some(PromptCheck::Failed { error }) => Self::NotCompared(error.clone()),
            Some(PromptCheck::OtherTokens) => {
                Self::prompt("its prompt is not what its tokens say".to_owned())
            }
            Some(PromptCheck::OtherRendering) => {
                Self::prompt("its prompt is not what the model’s template makes of it".to_owned())
            }
            Some(PromptCheck::Same | PromptCheck::Dated) => {
                if let Some(found) = other_piece(then, vocabulary) {
                    return Self::Contradicted(found);
                }
                if prompt == Some(&PromptCheck::Dated) {
                    Self::Dated
                } else {
                    Self::Equal
                }
            }
        }
    }

    const fn prompt(words: String) -> Self {
        Self::Contradicted(TextContradiction {
            step: None,
            kind: ContradictionKind::Prompt,
            words,
        })
    }
}

/// Returns the first piece that is not that of its token.
fn other_piece(then: &Generation, vocabulary: &Vocabulary) -> Option<TextContradiction> {
    let shown = |token: TokenId| (token, then.vocabulary.piece(token));
    let prompt = &then.prompt;
    let prompt = prompt
        .tokens
        .iter()
        .copied()
        .zip(prompt.pieces.iter().cloned());
    let mut known: BTreeSet<TokenId> = BTreeSet::new();
    let mut differs = |(token, piece): (TokenId, Piece)| {
        let is_new = known.insert(token);
        let differs = |piece: &Piece| *piece != vocabulary.piece(token);
        let found = differs(&piece) || is_new && differs(&then.vocabulary.piece(token));
        found.then_some((token, piece))
    };
    let kind = ContradictionKind::Prompt;
    if let Some((token, piece)) = prompt.into_iter().find_map(&mut differs) {
        let words = piece_words(then, vocabulary, token, &piece);
        return Some(TextContradiction {
            step: None,
            kind,
            words,
        });
    }
    then.steps.iter().enumerate().find_map(|(index, step)| {
        let head = step.trace.raw.head.iter().chain(&step.trace.survivors);
        let others = head.map(|candidate| shown(candidate.token));
        let mut all = std::iter::once((step.token, step.piece.clone())).chain(others);
        let (token, piece) = all.find_map(&mut differs)?;
        let words = piece_words(then, vocabulary, token, &piece);
        Some(TextContradiction {
            step: Some(index),
            kind,
            words,
        })
    })
}

/// Says which piece is wrong: "token 312 is ‘king’; it shows ‘thief’".
fn piece_words(
    then: &Generation,
    vocabulary: &Vocabulary,
    token: TokenId,
    piece: &Piece,
) -> String {
    let right = vocabulary.piece(token);
    let shown = if *piece == right {
        then.vocabulary.piece(token)
    } else {
        piece.clone()
    };
    format!(
        "token {token} is {}; it shows {}",
        quoted(&right),
        quoted(&shown)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::WordsCheck;
    use crate::generation::testing::generation;
    use crate::generation::{Generation, Piece, PromptCheck, Vocabulary};

    fn check(text: &Generation, prompt: &PromptCheck) -> WordsCheck {
        let model = generation(&[(" the", 0.5), (" fox", 0.2)]).vocabulary;
        WordsCheck::of(text, &model, Some(prompt))
    }

    /// A text whose prompt shows the pieces of its tokens.
    fn text() -> Generation {
        let mut text = generation(&[(" the", 0.5), (" fox", 0.2)]);
        let tokens = text.prompt.tokens.iter();
        let pieces = tokens.map(|token| text.vocabulary.piece(*token)).collect();
        Arc::make_mut(&mut text.prompt).pieces = pieces;
        text
    }

    #[test]
    fn the_words_are_those_of_the_tokens() {
        let text = text();
        assert_eq!(check(&text, &PromptCheck::Same), WordsCheck::Equal);
        assert_eq!(check(&text, &PromptCheck::Dated), WordsCheck::Dated);
        let not_asked = WordsCheck::of(&text, &text.vocabulary, None);
        assert!(matches!(not_asked, WordsCheck::NotCompared(_)));
    }

    #[test]
    fn a_changed_word_is_a_contradiction_where_it_is_shown_first() {
        let told = |text: &Generation, prompt: &PromptCheck| match check(text, prompt) {
            WordsCheck::Contradicted(found) => (found.step, found.words),
            other => panic!("{other:?}"),
        };
        let text = text();
        let (step, words) = told(&text, &PromptCheck::OtherTokens);
        assert_eq!(
            (step, &*words),
            (None, "its prompt is not what its tokens say")
        );
        assert_eq!(told(&text, &PromptCheck::OtherRendering).0, None);

        let mut of_step = text.clone();
        of_step.steps[1].piece = Piece::text(" thief");
        let (step, words) = told(&of_step, &PromptCheck::Same);
        assert_eq!(step, Some(1));
        assert!(words.ends_with("is ‘fox’; it shows ‘thief’"), "{words}");

        let mut of_list = text.clone();
        let token = text.steps[1].token;
        let renamed = text.vocabulary.iter().map(|(other, piece)| {
            if other == token {
                Piece::text(" thief")
            } else {
                piece.clone()
            }
        });
        of_list.vocabulary = Arc::new(Vocabulary::new(renamed.collect()));
        // It is among the alternatives of the first step.
        let (step, words) = told(&of_list, &PromptCheck::Same);
        assert_eq!(step, Some(0));
        assert!(words.ends_with("is ‘fox’; it shows ‘thief’"), "{words}");
    }
}
