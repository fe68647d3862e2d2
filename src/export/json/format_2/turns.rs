//! The turns before the texts of a file.

use std::ptr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::pane::Pane;
use super::shares::Shares;
use crate::export::json::ParseError;
use crate::generation::{Generation, N_MAX_TURNS, turns_before};

/// An answer that a later text of the same conversation follows.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnEntry {
    /// The steps that it shares with an earlier turn; its own steps follow them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shares: Option<Shares>,
    text: Pane,
}

impl TurnEntry {
    /// Creates an entry. `of` returns the text's pane entry without this many first steps.
    pub(super) fn of(
        turn: &Generation,
        earlier: &[&Generation],
        of: impl FnOnce(usize) -> Pane,
    ) -> Self {
        let shares = Shares::of(turn, earlier);
        Self {
            shares,
            text: of(shares.map_or(0, |shares| shares.n_steps)),
        }
    }
}

/// The turns of a file, as far as they have been read.
#[derive(Default)]
pub(super) struct Turns(Vec<ReadTurn>);

struct ReadTurn {
    text: Arc<Generation>,
    /// How many turns its conversation has up to this one.
    number: usize,
}

impl Turns {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Generation> {
        self.0.iter().map(|turn| &*turn.text)
    }

    /// Reads the next turn. `into` converts its text.
    pub(super) fn push(
        &mut self,
        entry: TurnEntry,
        into: impl FnOnce(Pane) -> Result<Generation, ParseError>,
    ) -> Result<(), ParseError> {
        let number = self.number_after(&entry.text)?;
        let mut text = self.read(entry.text, into)?;
        if let Some(shares) = entry.shares
            && !shares.restore(&mut text, self.iter())
        {
            return Err(ParseError::damaged("a turn shares missing steps"));
        }
        let text = Arc::new(text);
        self.0.push(ReadTurn { text, number });
        Ok(())
    }

    /// Converts a text with `into`, and puts it after the turn that it follows.
    pub(super) fn read(
        &self,
        pane: Pane,
        into: impl FnOnce(Pane) -> Result<Generation, ParseError>,
    ) -> Result<Generation, ParseError> {
        self.number_after(&pane)?;
        let previous = pane.follows.and_then(|index| self.0.get(index));
        let previous = previous.map(|turn| Arc::clone(&turn.text));
        Ok(into(pane)?.following(previous))
    }

    /// Returns the number of a text in its conversation, from 1. Only earlier turns can be followed,
    /// so that no conversation is endless.
    fn number_after(&self, pane: &Pane) -> Result<usize, ParseError> {
        let Some(index) = pane.follows else {
            return Ok(1);
        };
        match self.0.get(index) {
            Some(turn) if turn.number < N_MAX_TURNS => Ok(turn.number + 1),
            Some(_) => Err(ParseError::Damaged {
                reason: format!("a conversation has more than {N_MAX_TURNS} turns"),
            }),
            None => Err(ParseError::damaged("a text follows a missing turn")),
        }
    }

    /// Checks that these texts follow all turns, in the order in which they are written.
    pub(super) fn check_order<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a Generation>,
    ) -> Result<(), ParseError> {
        let written = turns_before(texts).into_iter();
        let written = written.map(|turn| Arc::as_ptr(turn.answer));
        if written.eq(self.iter().map(ptr::from_ref)) {
            return Ok(());
        }
        let reason = "its turns are not those of its texts, in their order";
        Err(ParseError::damaged(reason))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::analysis::messages_after;
    use crate::export::json::{Branch, Form, RunFile, contradictions_of, read, write_run};
    use crate::generation::testing::answer_to;
    use crate::generation::{Generation, N_MAX_TURNS, Piece, Vocabulary};

    /// An answer to a message after the answer before it.
    fn answer(
        message: &str,
        pieces: &[(&str, f64)],
        previous: Option<&Arc<Generation>>,
    ) -> Generation {
        let history = previous.map_or_else(Vec::new, |previous| messages_after(previous));
        answer_to(message, history, pieces).following(previous.map(Arc::clone))
    }

    /// Two panes that answered the first message together, and a branch of the second turn.
    fn conversation() -> RunFile {
        let first = Arc::new(answer("Hi", &[(" the", 0.5), (" fox", 0.25)], None));
        let second = answer("Why?", &[(" a", 0.5), (" fox", 0.25)], Some(&first));
        let mut other = answer("Why?", &[(" the", 0.5), (" house", 0.25)], Some(&first));
        other.steps = first
            .steps
            .range(..1)
            .chain(other.steps.range(1..))
            .cloned()
            .collect();
        let (second, other) = (Arc::new(second), Arc::new(other));
        let third = [" fox", " house"].map(|word| answer("So?", &[(word, 0.5)], Some(&second)));
        let branch = Branch {
            pane: Some(1),
            text: answer("And?", &[(" a", 0.5)], Some(&other)),
        };
        RunFile {
            panes: third.into(),
            branches: vec![branch],
            ..RunFile::default()
        }
    }

    #[test]
    fn tokens_that_only_a_later_turn_knows_keep_their_names() {
        // A server names tokens while it writes, so an earlier turn knows fewer.
        let mut first = answer("Hi", &[], None);
        let known = first.vocabulary.iter().map(|(id, piece)| {
            if piece.bytes == b" house" {
                Piece::unnamed(id)
            } else {
                piece.clone()
            }
        });
        first.vocabulary = Arc::new(Vocabulary::new(known.collect()));
        let second = answer("Why?", &[(" house", 0.5)], Some(&Arc::new(first)));
        let run = RunFile {
            panes: vec![second],
            ..RunFile::default()
        };
        let bytes = write_run(&run, Form::default());
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert!(value["turns"][0]["text"].get("vocabulary").is_none());
        assert_eq!(read(&bytes).unwrap().panes[0].text(), " house");
    }

    #[test]
    fn turns_are_written_once_and_shared_again() {
        let run = conversation();
        let bytes = write_run(&run, Form::default());
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["turns"].as_array().unwrap().len(), 3);
        assert_eq!(value["turns"][2]["shares"]["text"], 0);
        assert_eq!(
            value["turns"][2]["text"]["steps"].as_array().unwrap().len(),
            1
        );
        assert_eq!(value["panes"][1]["follows"], 1);
        assert!(value["panes"][1].get("vocabulary").is_none());
        let read = read(&bytes).unwrap();
        let turns = |text: &Generation| {
            let turns = text.turns().into_iter();
            turns
                .map(|turn| (turn.prompt.text.clone(), turn.text()))
                .collect::<Vec<_>>()
        };
        assert!(read.panes.iter().map(turns).eq(run.panes.iter().map(turns)));
        let [first, second] = [0, 1].map(|pane| read.panes[pane].previous_turn.clone().unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        let branch = read.branches[0].text.previous_turn.as_deref().unwrap();
        let [shared, own] = [first.previous_turn.as_ref(), branch.previous_turn.as_ref()];
        assert!(Arc::ptr_eq(shared.unwrap(), own.unwrap()));
        assert!(write_run(&read, Form::default()) == bytes);
        let found = contradictions_of(&bytes, &read);
        let of_turns = found
            .iter()
            .filter(|found| found.words.contains("rest of the file"));
        assert_eq!(of_turns.count(), 0, "{found:?}");
    }

    #[test]
    fn a_changed_turn_is_named() {
        let bytes = write_run(&conversation(), Form::default());
        let written = String::from_utf8(bytes).unwrap();
        let changed = written.replacen(r#""text":" the fox""#, r#""text":" the king""#, 1);
        let run = read(changed.as_bytes()).unwrap();
        let found = contradictions_of(changed.as_bytes(), &run);
        let words = found.iter().map(ToString::to_string);
        let expected = "turn 1 of pane A: turns.0.text.text is ‘ the king’, the rest of the file says \
                        ‘ the fox’";
        assert_eq!(words.filter(|words| words == expected).count(), 1);
        let changed = written.replace(r#""content":"Hi""#, r#""content":"Hey""#);
        let run = read(changed.as_bytes()).unwrap();
        let found = contradictions_of(changed.as_bytes(), &run);
        let expected = "turn 2 of pane A: message 1 of its history is not what turn 1 says";
        let words: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(words.iter().any(|words| words == expected), "{words:?}");
    }

    #[test]
    fn turns_that_contradict_the_file_are_errors() {
        let written = String::from_utf8(write_run(&conversation(), Form::default())).unwrap();
        for (from, to, words) in [
            (
                r#""follows":1"#,
                r#""follows":3"#,
                "a text follows a missing turn",
            ),
            // A turn can't follow itself or a later one.
            (
                r#""follows":0"#,
                r#""follows":1"#,
                "a text follows a missing turn",
            ),
            (
                r#""follows":0"#,
                r#""follows":2"#,
                "a text follows a missing turn",
            ),
            (
                r#""follows":2,"#,
                "",
                "its turns are not those of its texts, in their order",
            ),
            (
                r#""follows":2,"#,
                r#""follows":0,"#,
                "its turns are not those of its texts, in their order",
            ),
            (
                r#""shares":{"text":0,"n_steps":1}"#,
                r#""shares":{"text":0,"n_steps":9}"#,
                "a turn shares missing steps",
            ),
            (
                r#""shares":{"text":0,"n_steps":1}"#,
                r#""shares":{"text":2,"n_steps":1}"#,
                "a turn shares missing steps",
            ),
        ] {
            let edited = written.replacen(from, to, 1);
            assert_ne!(edited, written, "{from}");
            let error = read(edited.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("this file is damaged: {words}"), "{to}");
        }
    }

    #[test]
    fn a_file_holds_a_conversation_of_the_maximum_length_and_no_longer_one() {
        let mut last = Arc::new(answer("one", &[(" a", 0.5)], None));
        for _ in 1..=N_MAX_TURNS {
            last = Arc::new((*last).clone().following(Some(Arc::clone(&last))));
        }
        let before = last.previous_turn.as_deref().unwrap().clone();
        let file = |text: Generation| {
            let run = RunFile {
                panes: vec![text],
                ..RunFile::default()
            };
            read(&write_run(&run, Form::default())).map(|run| run.panes[0].n_turns())
        };
        assert_eq!(file(before), Ok(N_MAX_TURNS));
        let error = file((*last).clone()).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("a conversation has more than 1000 turns")
        );
    }
}
