//! Whether the words that a run shows are those of its tokens, under the model's tokenizer and chat
//! template.

use std::collections::BTreeSet;

use super::TextContradiction;
use crate::analysis::contradictions::ContradictionKind;
use crate::decoding::TokenId;
use crate::generation::formatting::quoted;
use crate::generation::{Generation, Implementation, Piece, PromptCheck, Vocabulary};

/// What became of comparing a text's words with its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordsCheck {
    /// The prompt and all pieces equal the tokens.
    Equal,
    /// So they do, but the template inserts today's date, so that the rendered prompt can't be
    /// compared with its messages.
    Dated,
    /// The prompt or a token of the text shows other words.
    Contradicted(TextContradiction),
    /// They do, but a token that is only listed, such as an alternative, shows other words.
    ListedContradicted(TextContradiction),
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
            Some(PromptCheck::OtherTokens) => Self::prompt("its prompt is not what its tokens say"),
            Some(PromptCheck::OtherRendering) => {
                Self::prompt("its prompt is not what the model’s template makes of it")
            }
            Some(PromptCheck::Same | PromptCheck::Dated) => {
                let pieces = Pieces { then, vocabulary };
                let own = pieces.wrong_own().map(Self::Contradicted);
                let wrong = own.or_else(|| pieces.wrong_listed().map(Self::ListedContradicted));
                let is_dated = prompt == Some(&PromptCheck::Dated);
                wrong.unwrap_or(if is_dated { Self::Dated } else { Self::Equal })
            }
        }
    }

    fn prompt(words: &str) -> Self {
        Self::Contradicted(contradiction(None, words.to_owned()))
    }
}

/// The pieces of a text beside those of the model that repeats it.
struct Pieces<'a> {
    then: &'a Generation,
    vocabulary: &'a Vocabulary,
}

impl Pieces<'_> {
    /// Returns the first wrong piece of the prompt or of a token of the text.
    fn wrong_own(&self) -> Option<TextContradiction> {
        let prompt = &self.then.prompt;
        let mut of_prompt = prompt.tokens.iter().zip(&prompt.pieces);
        let fault = of_prompt.find_map(|(token, piece)| self.fault(*token, piece));
        if let Some(words) = fault {
            return Some(contradiction(None, words));
        }
        let mut steps = self.then.steps.iter().enumerate();
        steps.find_map(|(index, step)| {
            let words = self.fault(step.token, &step.piece)?;
            Some(contradiction(Some(index), words))
        })
    }

    /// Returns the first wrong piece among the alternatives of the steps, then among all tokens that
    /// the record names.
    fn wrong_listed(&self) -> Option<TextContradiction> {
        let mut known: BTreeSet<TokenId> = BTreeSet::new();
        let mut steps = self.then.steps.iter().enumerate();
        let alternative = steps.find_map(|(index, step)| {
            let trace = &step.trace;
            let listed = trace.raw.head.iter().chain(&trace.survivors);
            let mut new = listed
                .map(|candidate| candidate.token)
                .filter(|token| known.insert(*token));
            let words = new.find_map(|token| self.fault(token, &self.listed(token)))?;
            Some(contradiction(Some(index), words))
        });
        alternative.or_else(|| {
            let mut named = self.then.vocabulary.iter();
            let words = named.find_map(|(token, piece)| {
                let is_named = self.then.vocabulary.agrees(token, piece).is_some();
                is_named.then(|| self.fault(token, piece))?
            })?;
            Some(contradiction(None, words))
        })
    }

    fn listed(&self, token: TokenId) -> Piece {
        self.then.vocabulary.piece(token)
    }

    /// Says how the piece that a token shows, or the one that is listed for it, is wrong: "token 312
    /// is ‘king’; it shows ‘thief’".
    fn fault(&self, token: TokenId, piece: &Piece) -> Option<String> {
        let right = self.vocabulary.piece(token);
        let listed = self.listed(token);
        let is_served = self.then.model.implementation == Implementation::Server;
        let is_unnamed = |shown: &Piece| is_served && *shown == Piece::unnamed(token);
        let shown = [piece, &listed]
            .into_iter()
            .find(|shown| **shown != right && !is_unnamed(shown))?;
        let (right, shown) = (quoted(&right), quoted(shown));
        Some(format!("token {token} is {right}; it shows {shown}"))
    }
}

const fn contradiction(step: Option<usize>, words: String) -> TextContradiction {
    TextContradiction {
        step,
        kind: ContradictionKind::Prompt,
        words,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::WordsCheck;
    use crate::decoding::TokenId;
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

    /// Returns the step and the words of a contradiction, and whether the token is only listed.
    fn found(text: &Generation, prompt: &PromptCheck) -> (Option<usize>, String, bool) {
        match check(text, prompt) {
            WordsCheck::Contradicted(found) => (found.step, found.words, false),
            WordsCheck::ListedContradicted(found) => (found.step, found.words, true),
            other => panic!("{other:?}"),
        }
    }

    /// Lists another piece for a token.
    fn rename(text: &mut Generation, token: TokenId, piece: &Piece) {
        let pieces = text.vocabulary.iter().map(|(other, known)| {
            if other == token {
                piece.clone()
            } else {
                known.clone()
            }
        });
        text.vocabulary = Arc::new(Vocabulary::new(pieces.collect()));
    }

    #[test]
    fn a_changed_word_is_a_contradiction_where_a_text_shows_it() {
        let text = text();
        let (step, words, _) = found(&text, &PromptCheck::OtherTokens);
        assert_eq!(
            (step, &*words),
            (None, "its prompt is not what its tokens say")
        );
        assert_eq!(found(&text, &PromptCheck::OtherRendering).0, None);

        let expected = |step, is_listed| {
            let token = text.steps[1].token;
            let words = format!("token {token} is ‘fox’; it shows ‘thief’");
            (step, words, is_listed)
        };
        let thief = Piece::text(" thief");
        let mut of_step = text.clone();
        of_step.steps[1].piece = thief.clone();
        assert_eq!(
            found(&of_step, &PromptCheck::Same),
            expected(Some(1), false)
        );

        // It is among the alternatives of the first step, too.
        let token = text.steps[1].token;
        let mut alternatives = text.steps[0].trace.raw.head.iter();
        assert!(alternatives.any(|known| known.token == token));
        let mut of_list = text.clone();
        rename(&mut of_list, token, &thief);
        assert_eq!(
            found(&of_list, &PromptCheck::Same),
            expected(Some(1), false)
        );

        // Now it is only an alternative.
        of_list.steps.pop();
        assert_eq!(found(&of_list, &PromptCheck::Same), expected(Some(0), true));
    }

    #[test]
    fn every_token_that_a_record_names_is_compared() {
        let mut text = text();
        let known = text.vocabulary.iter().map(|(_, piece)| piece.clone());
        let pieces = known.chain([Piece::text(" thief")]).collect();
        text.vocabulary = Arc::new(Vocabulary::new(pieces));
        let (step, words, is_listed) = found(&text, &PromptCheck::Same);
        assert_eq!((step, is_listed), (None, true));
        assert!(words.ends_with("it shows ‘thief’"), "{words}");
    }
}
