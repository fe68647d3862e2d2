//! The part of a text that is judged: without the thought before it and what ended it.

use serde::{Deserialize, Serialize};

use crate::analysis::ThoughtScan;
use crate::decoding::TokenId;
use crate::generation::{FinishReason, PieceKind, SweepText, Vocabulary};

/// The part of a text that is judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerText {
    /// The answer, with the names of special tokens in it.
    pub text: String,
    /// Whether it ended by itself: with an end-of-text token, a stop string or a complete grammar.
    pub is_complete: bool,
    /// The number of tokens of the thought before it, with its tags.
    pub n_thought: usize,
}

impl AnswerText {
    /// Finds the answer in a text that follows a prompt, which is given as the model read it.
    pub fn of(text: &SweepText, rendered: &str, vocabulary: &Vocabulary) -> Self {
        let ends_with_token = text.finish == FinishReason::EndOfText;
        Self::found(text, ends_with_token, rendered, vocabulary)
    }

    /// Finds the answer in a text of a server, which may not report the token that ended it.
    pub fn of_served(text: &SweepText, rendered: &str, vocabulary: &Vocabulary) -> Self {
        let last = text.tokens.last();
        let is_special =
            last.is_some_and(|last| vocabulary.piece(*last).kind == PieceKind::Special);
        let ends_with_token = text.finish == FinishReason::EndOfText && is_special;
        Self::found(text, ends_with_token, rendered, vocabulary)
    }

    fn found(
        text: &SweepText,
        ends_with_token: bool,
        rendered: &str,
        vocabulary: &Vocabulary,
    ) -> Self {
        let written = match text.tokens.split_last() {
            Some((_, before)) if ends_with_token => before,
            _ => &text.tokens,
        };
        let has_ended = matches!(
            text.finish,
            FinishReason::EndOfText
                | FinishReason::StopString { .. }
                | FinishReason::GrammarComplete
        );
        let n_thought = n_thought(&text.tokens, rendered, vocabulary);
        let Some(n_thought) = n_thought else {
            // The thought takes up all of the text.
            return Self {
                text: String::new(),
                is_complete: false,
                n_thought: text.tokens.len(),
            };
        };
        let answer = written.get(n_thought..).unwrap_or_default();
        let mut answer = vocabulary.text_with_special(answer);
        if let FinishReason::StopString { stop } = &text.finish
            && let Some(end) = last_stop(&answer, stop, last_piece(written, vocabulary))
        {
            answer.truncate(end);
        }
        if n_thought > 0 {
            // Templates write line breaks between a thought and the answer.
            answer = answer.trim_start().to_owned();
        }
        Self {
            text: answer,
            is_complete: has_ended,
            n_thought,
        }
    }
}

fn last_piece(tokens: &[TokenId], vocabulary: &Vocabulary) -> usize {
    let last = tokens.last();
    last.map_or(0, |token| vocabulary.piece(*token).bytes.len())
}

/// Returns where the stop string begins that the last piece, of this many bytes, has completed.
/// Earlier ones don't count: the name of a special token may contain one.
fn last_stop(text: &str, stop: &str, n_last: usize) -> Option<usize> {
    let n_searched = n_last + stop.len().saturating_sub(1);
    let from = text.floor_char_boundary(text.len().saturating_sub(n_searched));
    let found = text.get(from..)?.find(stop)?;
    Some(from + found)
}

/// Returns the number of tokens of the thought with which a text begins, or `None` if the thought
/// does not end.
fn n_thought(tokens: &[TokenId], rendered: &str, vocabulary: &Vocabulary) -> Option<usize> {
    let mut scan = ThoughtScan::after(rendered);
    for token in tokens {
        if scan.is_decided() {
            break;
        }
        scan.push(&vocabulary.piece(*token));
    }
    match scan.thought() {
        Some(thought) if thought.is_closed => Some(thought.n_tokens()),
        Some(_) => None,
        None => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerText;
    use crate::decoding::TokenId;
    use crate::generation::{FinishReason, Piece, SweepText, Vocabulary};

    fn answer(pieces: &[&str], finish: FinishReason, rendered: &str) -> (String, bool, usize) {
        let of = |piece: &&str| match piece.strip_prefix('!') {
            Some(name) => Piece::special(name),
            None => Piece::text(*piece),
        };
        let vocabulary = Vocabulary::new(pieces.iter().map(of).collect());
        let text = SweepText {
            prompt: 0,
            cell: 0,
            seed: 0,
            tokens: (0..pieces.len() as u32).map(TokenId).collect(),
            measures: Vec::new(),
            finish,
            grammar_complete: None,
        };
        let found = AnswerText::of(&text, rendered, &vocabulary);
        (found.text, found.is_complete, found.n_thought)
    }

    fn stop(stop: &str) -> FinishReason {
        FinishReason::StopString {
            stop: stop.to_owned(),
        }
    }

    #[test]
    fn an_answer_ends_before_what_ended_it() {
        let end = FinishReason::EndOfText;
        assert_eq!(
            answer(&["Os", "lo", "!</s>"], end, ""),
            ("Oslo".into(), true, 0)
        );
        assert_eq!(
            answer(&["Os", "lo\n\nQ"], stop("\n"), ""),
            ("Oslo".into(), true, 0)
        );
        assert_eq!(
            answer(&["Oslo", "##", "#"], stop("###"), ""),
            ("Oslo".into(), true, 0)
        );
        let cut = FinishReason::MaxTokens;
        assert_eq!(answer(&["Os", "lo"], cut, ""), ("Oslo".into(), false, 0));
        let named = answer(&["Os", "!<#>", "lo", "#"], stop("#"), "");
        assert_eq!(named, ("Os<#>lo".into(), true, 0));
        let special = answer(&["Os", "!<|x|>"], FinishReason::MaxTokens, "");
        assert_eq!(special, ("Os<|x|>".into(), false, 0));
    }

    #[test]
    fn a_thought_is_no_part_of_the_answer() {
        let end = || FinishReason::EndOfText;
        let pieces = ["<think>", "so", "</think>", "\n\n", "Oslo", "!</s>"];
        assert_eq!(answer(&pieces, end(), "Q"), ("Oslo".into(), true, 3));
        let opened = answer(&pieces[1..], end(), "Q<think>\n");
        assert_eq!(opened, ("Oslo".into(), true, 2));
        let endless = answer(&["<think>", "so", "!</s>"], end(), "Q");
        assert_eq!(endless, (String::new(), false, 3));
    }
}
