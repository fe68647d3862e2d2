//! Tests of panes and their settings, the pin, and the sentence about the divergence.

use std::sync::Arc;

use super::{asked, ready, write, written};
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::FinishReason;

use crate::state::{
    AppState, Command, Effect, MAX_PANES, PaneId, PaneStatus, Pin, PinMove, RunRequest,
    divergence_summary,
};
use crate::worker::{Event, ModelSource, Progress, Request};

#[test]
fn a_settings_change_does_not_affect_the_record() {
    let mut state = written();
    let before = state.panes[3].generation().unwrap().config.clone();
    let pane = state.panes[3].id;
    state.apply(Command::SetChain(pane, ChainConfig::greedy()));
    assert_eq!(state.panes[3].generation().unwrap().config, before);
    assert_eq!(state.panes[3].settings.chain, ChainConfig::greedy());
}

#[test]
fn the_name_follows_the_chain_until_the_user_types_one() {
    let mut state = ready();
    let pane = state.panes[3].id;
    state.apply(Command::SetChain(pane, ChainConfig::greedy()));
    assert_eq!(state.panes[3].settings.name, "Greedy");
    state.panes[3].settings.name = "Mine".to_owned();
    state.apply(Command::SetChain(pane, ChainConfig::sampled([])));
    assert_eq!(state.panes[3].settings.name, "Mine");
    state.apply(Command::ResetSettings(pane));
    assert_eq!(state.panes[3].settings.name, "Top-p");
}

#[test]
fn there_are_always_one_to_eight_panes() {
    let mut state = ready();
    for _ in 0..MAX_PANES {
        let pane = state.panes[1].id;
        state.apply(Command::Duplicate(pane));
    }
    assert_eq!(state.panes.len(), MAX_PANES);
    assert_eq!(state.panes[4].settings, state.panes[1].settings);
    for _ in 0..MAX_PANES {
        let pane = state.panes.first().unwrap().id;
        state.apply(Command::Remove(pane));
    }
    assert_eq!(state.panes.len(), 1);
}

#[test]
fn a_new_pane_is_the_last_so_that_all_others_keep_their_letters() {
    let mut state = written();
    let ids =
        |state: &AppState| -> Vec<PaneId> { state.panes.iter().map(|pane| pane.id).collect() };
    let before = ids(&state);
    assert_eq!(state.panes.next_letter(), "E");
    state.apply(Command::Duplicate(before[1]));
    assert_eq!(ids(&state)[..4], before);
    assert_eq!(state.panes[4].settings, state.panes[1].settings);
    state.apply(Command::AddPane);
    assert_eq!(ids(&state)[..4], before);
    state.apply(Command::Remove(before[1]));
    state.apply(Command::Undo);
    assert_eq!(ids(&state)[..4], before, "it comes back to its place");
}

#[test]
fn removing_a_pane_stops_its_generation_and_clears_its_pin() {
    let mut state = written();
    let pane = state.panes[1].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    let id = asked(&state.apply(Command::Generate(pane)))[0];
    let effects = state.apply(Command::Remove(pane));
    // The other texts have ended, so the run is complete.
    let keeps = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::Keep { .. }));
    assert_eq!(effects[0], Effect::Send(Request::Stop(id)));
    assert!(keeps(&effects[1]), "{effects:?}");
    assert_eq!(effects.len(), 2);
    assert_ne!(state.pin.map(|pin| pin.pane), Some(pane));
    state.on_event(Event::Progress(Progress::Finished {
        id,
        reason: FinishReason::Cancelled,
    }));
}

#[test]
fn the_pin_moves_in_all_directions_and_stays_within_the_text() {
    use PinMove::{Earlier, Later, NextPane, PreviousPane};
    let mut state = written();
    let at = |state: &AppState| {
        state
            .pin
            .map(|pin| (state.place_of(pin.pane).unwrap(), pin.step))
    };
    for (direction, place) in [
        (Later, (3, 2)),
        (Later, (3, 2)),
        (Earlier, (3, 1)),
        (PreviousPane, (2, 1)),
        (Earlier, (2, 0)),
        (Earlier, (2, 0)),
        (NextPane, (3, 0)),
        (NextPane, (3, 0)),
    ] {
        state.apply(Command::MovePin(direction));
        assert_eq!(at(&state), Some(place), "{direction:?}");
    }
    assert_eq!(state.shown_step(), Some((3, 0)));
    state.apply(Command::Unpin);
    assert_eq!(state.shown_step(), Some((3, 2)), "the newest step");
}

#[test]
fn a_second_click_or_a_new_text_clears_the_pin() {
    let mut state = written();
    let pin = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    state.apply(Command::Pin(pin));
    assert_eq!(state.pinned().map(|(place, ..)| place), Some(0));
    state.apply(Command::Pin(pin));
    assert_eq!(state.pin, None);
    state.apply(Command::Pin(pin));
    let id = asked(&state.apply(Command::Generate(pin.pane)))[0];
    assert_eq!(state.pin, Some(pin), "the previous text is still shown");
    write(&mut state, id, &[(" a", 0.5)]);
    let fork = Pin { step: 0, ..pin };
    assert_eq!(state.pin, Some(fork), "the new text diverges at once");
}

#[test]
fn a_text_is_copied_exactly() {
    let mut state = written();
    let effects = state.apply(Command::CopyText(state.panes[0].id));
    assert_eq!(effects, [Effect::CopyText(" in a house".to_owned())]);
    assert_eq!(state.apply(Command::CopyText(PaneId(999))), []);
}

#[test]
fn the_first_divergence_is_described() {
    let state = written();
    let words = divergence_summary(&state);
    assert_eq!(words.step, Some(2));
    assert!(
        words
            .long
            .starts_with("All agree for 2 tokens. At token 3, "),
        "{}",
        words.long
    );
    assert!(words.long.contains("‘house’ for A"), "{}", words.long);
    let short = "All agree for 2 tokens. At token 3, A diverges.";
    assert_eq!(words.short, short);

    let mut other = written();
    if let PaneStatus::Finished(generation) = &mut other.panes[0].status {
        let mut prompt = (*generation.prompt).clone();
        prompt.tokens.push(TokenId(1));
        generation.prompt = Arc::new(prompt);
    }
    let words = divergence_summary(&other);
    assert!(
        words
            .long
            .starts_with("These texts come from different prompts")
    );
    assert_eq!(words.step, None);

    let first = divergence_summary(&ready());
    assert!(
        first
            .long
            .starts_with("The prompt is read once. Then all four")
    );

    let mut same = ready();
    for id in asked(&same.apply(Command::GenerateAll)) {
        write(&mut same, id, &[(" in", 0.6)]);
    }
    assert_eq!(
        divergence_summary(&same).long,
        "All four are identical, token for token"
    );
}

#[test]
fn a_text_that_stops_early_does_not_hide_a_later_divergence() {
    let words_after = |lasts: [&str; 3]| {
        let mut state = ready();
        let ids = asked(&state.apply(Command::GenerateAll));
        write(&mut state, ids[0], &[(" in", 0.6)]);
        for (id, last) in ids[1..].iter().zip(lasts) {
            write(&mut state, *id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
        }
        divergence_summary(&state)
    };
    let words = words_after([" house", " fox", " fox"]);
    assert_eq!(words.step, Some(2));
    assert_eq!(
        words.short,
        "B, C and D agree for 2 tokens. At token 3, B diverges."
    );
    assert_eq!(
        words_after([" fox"; 3]).long,
        "All agree for 1 token, then three continue identically"
    );
}

#[test]
fn settings_persist_across_restarts() {
    let mut state = ready();
    state.prompt.text = "The sea".to_owned();
    state.seed = 9;
    state.view.show_marks = true;
    let pane = state.panes[0].id;
    state.apply(Command::Remove(pane));
    let (next, _) = AppState::new(state.settings(), ModelSource::Embedded);
    assert_eq!(next.settings(), state.settings());
    assert_eq!(next.panes.len(), 3);
}
