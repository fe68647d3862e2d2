//! Tests of the letters of panes, which stay when others are removed.

use super::runs::run;
use super::{ready, text, written};
use crate::analysis::contradictions::RunPlace;
use crate::export::json::{self, Form, RunFile, RunHeader};
use crate::state::{AppState, Command, RunCommand};

/// Texts in panes A, C and D.
fn without_b() -> AppState {
    let mut state = written();
    let ids = [0, 2, 3].map(|place| state.panes[place].id);
    state.apply(Command::Remove(state.panes[1].id));
    assert_eq!(ids.map(|id| state.place_of(id)), [0, 2, 3].map(Some));
    state
}

#[test]
fn the_others_keep_their_letters_when_a_pane_is_removed() {
    let mut state = without_b();
    let texts = state.generations();
    let has_text: Vec<bool> = texts.iter().map(Option::is_some).collect();
    assert_eq!(has_text, [true, false, true, true]);
    let sentence = crate::state::divergence_summary(&state).long;
    assert!(
        !sentence.contains('B') && sentence.contains('D'),
        "{sentence}"
    );
    assert_eq!(state.panes.next_letter(), "B");
    state.apply(Command::AddPane);
    assert_eq!(state.panes.places().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(state.panes.next_letter(), "E");
}

#[test]
fn a_file_and_the_settings_keep_the_letters_of_the_panes() {
    let state = without_b();
    let texts = state.run_texts().into_run(RunHeader::default());
    let bytes = json::write_run(&texts, Form::default());
    let read = json::read(&bytes).unwrap();
    assert_eq!(read.places, [0, 2, 3]);
    // These texts are made up, so that each contradicts itself.
    let found = json::contradictions_of(&bytes, &read);
    let mut places: Vec<RunPlace> = found.iter().map(|found| found.place).collect();
    places.dedup();
    assert_eq!(places, [0, 2, 3].map(RunPlace::Pane));
    assert!(json::write_run(&read, Form::default()) == bytes);
    let words = String::from_utf8(bytes).unwrap();
    assert!(words.contains(r#""letter":"D""#));
    let mut other = ready();
    let read = RunCommand::Read {
        name: "fox.quartet.json".to_owned(),
        run: Ok(Box::new(read)),
    };
    run(&mut other, read);
    assert_eq!(other.panes.places().collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(text(&other, 3), text(&state, 3));

    let (restored, _) = AppState::new(state.settings(), crate::worker::ModelSource::Embedded);
    assert_eq!(restored.panes.places().collect::<Vec<_>>(), [0, 2, 3]);
    let session = state.session();
    assert_eq!(session.places, [0, 2, 3]);
}

#[test]
fn files_without_letters_count_from_a_and_damaged_ones_are_refused() {
    let state = without_b();
    let texts = state.run_texts().into_run(RunHeader::default());
    let words = String::from_utf8(json::write_run(&texts, Form::default())).unwrap();
    let plain = RunFile {
        places: Vec::new(),
        ..texts
    };
    let plain = json::read(&json::write_run(&plain, Form::default())).unwrap();
    assert_eq!([0, 1, 2].map(|index| plain.place(index)), [0, 1, 2]);
    for letter in ["A", "d", "ZZZ", ""] {
        let letter = format!(r#""letter":"{letter}""#);
        let damaged = words.replace(r#""letter":"D""#, &letter);
        assert!(json::read(damaged.as_bytes()).is_err(), "{letter}");
    }
}
