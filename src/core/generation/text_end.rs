//! Where a text ends: the one place that decides it, whoever generates the text.

use std::collections::VecDeque;

use super::{Continuation, EndOfText, FinishReason, Limits, Piece, PieceKind, StopMatcher};
use crate::decoding::{Taken, TokenId};

/// Decides where one text ends: with an end-of-text token, a stop string or a complete grammar, at a
/// limit, or at the pause that the user asked for.
///
/// End-of-text tokens, stop strings and a complete grammar take precedence over the limits, so that
/// a complete text is not reported as cut off. Neither of the first two ends a text while tokens
/// that the user picked follow.
#[derive(Debug, Clone)]
pub struct TextEnd {
    end_of_text: EndOfText,
    stop_matcher: StopMatcher,
    n_max: usize,
    /// How many generated tokens the context has room for.
    n_room: usize,
    n_generated: usize,
    /// The tokens that the user picked to come next, and `None` where the chain draws in between.
    picked: VecDeque<Option<Taken>>,
    /// After how many more tokens the text pauses. `None` for no pause.
    n_until_pause: Option<usize>,
}

/// The newest token of a text, as far as the text may end with it.
#[derive(Debug, Clone, Copy)]
pub struct LastToken<'a> {
    pub piece: &'a Piece,
    /// Whether it is one of the model's end-of-text tokens.
    pub is_end: bool,
    /// Whether the grammar accepts the text with this token, and nothing can follow.
    pub completes_grammar: bool,
}

impl TextEnd {
    /// Begins at the end of a prompt, after which the context has room for `n_room` generated
    /// tokens. The last token of a text is never read, so it needs no room.
    pub fn new(limits: &Limits, n_room: usize) -> Self {
        Self {
            end_of_text: limits.end_of_text,
            stop_matcher: StopMatcher::new(&limits.stop_strings),
            n_max: limits.max_new_tokens,
            n_room,
            n_generated: 0,
            picked: VecDeque::new(),
            n_until_pause: None,
        }
    }

    /// Goes past a generated token that the text already has. It counts towards the limits, but the
    /// text does not end with it.
    pub fn keep(&mut self, piece: &Piece) {
        self.n_generated += 1;
        if piece.kind == PieceKind::Text {
            self.stop_matcher.skip(&piece.bytes);
        }
    }

    /// Counts generated tokens that are missing from the record towards the limits.
    pub const fn add_unlisted(&mut self, n_tokens: usize) {
        self.n_generated += n_tokens;
    }

    /// Goes on as this continuation asks, once its kept tokens have been passed.
    pub fn resume(&mut self, continuation: &Continuation) {
        self.picked = continuation.taken();
        self.n_until_pause = continuation.pause_after;
    }

    /// Removes the pause, so that the text runs to its end.
    pub const fn remove_pause(&mut self) {
        self.n_until_pause = None;
    }

    /// Lowers the number of generated tokens that there is room for.
    pub fn limit_room(&mut self, n_room: usize) {
        self.n_room = self.n_room.min(n_room);
    }

    /// Returns whether end-of-text tokens end the text.
    pub fn stops_at_end_tokens(&self) -> bool {
        self.end_of_text == EndOfText::Stops
    }

    /// Returns how many tokens may still be generated.
    pub fn n_left(&self) -> usize {
        self.n_max.min(self.n_room).saturating_sub(self.n_generated)
    }

    /// Returns the token that the user picked to come next.
    pub fn next_picked(&self) -> Option<TokenId> {
        self.picked.front()?.as_ref().map(Taken::token)
    }

    /// Returns how many tokens the chain draws before the next one that the user picked. `None` if
    /// no such token follows.
    pub fn n_until_picked(&self) -> Option<usize> {
        self.picked.iter().position(Option::is_some)
    }

    /// Removes and returns the next token that the user picked, or the next one of the text being
    /// read. Called once for each token, before it is appended.
    pub fn take_picked(&mut self) -> Option<Taken> {
        self.picked.pop_front().flatten()
    }

    /// Appends a token. Returns why the text ends with it, or `None` if the text goes on.
    pub fn push(&mut self, last: LastToken<'_>) -> Option<FinishReason> {
        self.n_generated += 1;
        let stop = match last.piece.kind {
            PieceKind::Text => self.stop_matcher.push(&last.piece.bytes),
            PieceKind::Special => None,
        };
        let stop = stop.map(|stop| FinishReason::StopString {
            stop: stop.to_owned(),
        });
        let ends = last.is_end && self.stops_at_end_tokens();
        let ended = ends.then_some(FinishReason::EndOfText).or(stop);
        if ended.is_some() && self.picked.is_empty() {
            return ended;
        }
        if last.completes_grammar {
            return Some(FinishReason::GrammarComplete);
        }
        if let Some(limit) = self.limit_reached() {
            return Some(limit);
        }
        let n_left = self.n_until_pause.as_mut()?;
        *n_left = n_left.saturating_sub(1);
        (*n_left == 0).then_some(FinishReason::Paused)
    }

    /// Returns the limit that stops the text here, if one does.
    pub fn limit_reached(&self) -> Option<FinishReason> {
        if self.n_generated >= self.n_max {
            Some(FinishReason::MaxTokens)
        } else if self.n_generated >= self.n_room {
            Some(FinishReason::ContextFull)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LastToken, TextEnd};
    use crate::decoding::{Taken, TokenId};
    use crate::generation::{Continuation, EndOfText, FinishReason, Limits, Piece};

    /// The piece of the end-of-text token.
    const END: &str = "</s>";

    fn limits(max_new_tokens: usize, stop: &str) -> Limits {
        Limits {
            max_new_tokens,
            stop_strings: vec![stop.to_owned()],
            ..Limits::default()
        }
    }

    fn piece(text: &str) -> Piece {
        if text == END {
            Piece::special(text)
        } else {
            Piece::text(text)
        }
    }

    /// Appends these pieces until the text ends. Returns how many it took, and why it ended.
    fn written(mut end: TextEnd, pieces: &[&str]) -> (usize, Option<FinishReason>) {
        for (index, text) in pieces.iter().enumerate() {
            end.take_picked();
            let piece = piece(text);
            let reason = end.push(LastToken {
                piece: &piece,
                is_end: *text == END,
                completes_grammar: *text == "}",
            });
            if reason.is_some() {
                return (index + 1, reason);
            }
        }
        (pieces.len(), None)
    }

    fn stop_string(stop: &str) -> FinishReason {
        FinishReason::StopString {
            stop: stop.to_owned(),
        }
    }

    #[test]
    fn a_complete_text_is_not_reported_as_cut_off() {
        for (pieces, n_tokens, reason) in [
            (["a", "b", "c", "d"], 3, FinishReason::MaxTokens),
            (["a", "b", ".", "d"], 3, stop_string(".")),
            (["a", "b", END, "d"], 3, FinishReason::EndOfText),
            (["a", "b", "}", "d"], 3, FinishReason::GrammarComplete),
            (["a", ".", "}", "d"], 2, stop_string(".")),
        ] {
            let end = TextEnd::new(&limits(3, "."), 3);
            assert_eq!(written(end, &pieces), (n_tokens, Some(reason)));
        }
        let end = TextEnd::new(&limits(3, ""), 2);
        let full = Some(FinishReason::ContextFull);
        assert_eq!(written(end, &["a", "b", "c"]), (2, full));
        let ignoring = Limits {
            end_of_text: EndOfText::Ignored,
            ..limits(3, "")
        };
        let end = TextEnd::new(&ignoring, 9);
        assert_eq!(
            written(end, &[END, END, END]),
            (3, Some(FinishReason::MaxTokens))
        );
    }

    #[test]
    fn a_text_ends_only_after_the_tokens_that_the_user_picked() {
        let picked = |n_tokens| {
            let mut end = TextEnd::new(&limits(9, ".\n"), 9);
            end.resume(&Continuation {
                by_hand: vec![TokenId(1); n_tokens],
                ..Continuation::default()
            });
            end
        };
        assert_eq!(picked(2).next_picked(), Some(TokenId(1)));
        assert_eq!(picked(1).take_picked(), Some(Taken::ByHand(TokenId(1))));
        let stop = Some(stop_string(".\n"));
        assert_eq!(written(picked(2), &[".", "\n", "a"]), (2, stop.clone()));
        assert_eq!(written(picked(3), &[".", "\n", "a"]), (3, None));
        // A stop string that begins in them is completed by the token after them.
        assert_eq!(written(picked(1), &[".", "\n", "a"]), (2, stop));
        let ended = Some(FinishReason::EndOfText);
        assert_eq!(written(picked(2), &[END, "a", END]), (3, ended));
        // Nothing can follow a complete grammar.
        let complete = Some(FinishReason::GrammarComplete);
        assert_eq!(written(picked(3), &["a", "}", "b"]), (2, complete));
    }

    #[test]
    fn tokens_that_a_text_already_has_count_and_do_not_end_it() {
        let mut end = TextEnd::new(&limits(4, "ab"), 9);
        for text in ["ab", END, "a"] {
            end.keep(&piece(text));
        }
        assert_eq!((end.n_left(), end.limit_reached()), (1, None));
        assert_eq!(
            written(end.clone(), &["b"]),
            (1, Some(stop_string("ab"))),
            "it may begin in them"
        );
        end.limit_room(3);
        assert_eq!(end.limit_reached(), Some(FinishReason::ContextFull));
    }

    #[test]
    fn a_text_pauses_unless_it_ends() {
        let paused = |limits: &Limits| {
            let mut end = TextEnd::new(limits, 9);
            end.resume(&Continuation {
                pause_after: Some(2),
                ..Continuation::default()
            });
            end
        };
        let end = paused(&limits(9, "."));
        let pause = Some(FinishReason::Paused);
        assert_eq!(written(end.clone(), &["a", "b", "c"]), (2, pause));
        assert_eq!(
            written(end.clone(), &["a", "."]),
            (2, Some(stop_string(".")))
        );
        assert_eq!(
            written(paused(&limits(2, "")), &["a", "b"]),
            (2, Some(FinishReason::MaxTokens))
        );
        let mut unpaused = end;
        unpaused.remove_pause();
        assert_eq!(written(unpaused, &["a", "b", "c"]), (3, None));
    }
}
