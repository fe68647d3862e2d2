//! Tests of the pace.

use std::time::Duration;

use super::{ready, written};
use crate::state::{AppState, BranchCommand, Command, Effect, Pace, Settings};
use crate::worker::{ModelSource, Request};

const SLOW: Effect = Effect::Send(Request::SetPace {
    interval: Duration::from_millis(125),
});
const FULL_SPEED: Effect = Effect::Send(Request::SetPace {
    interval: Duration::ZERO,
});

#[test]
fn the_engine_learns_a_new_pace_even_while_it_generates() {
    let mut state = ready();
    state.apply(Command::GenerateAll);
    assert_eq!(state.apply(Command::SetPace(Pace::Slow)), [SLOW]);
    assert_eq!(state.apply(Command::SetPace(Pace::Slow)), []);
    assert_eq!(state.apply(Command::SetPace(Pace::FullSpeed)), [FULL_SPEED]);
    assert!(state.is_running());
    let stop = Effect::Send(Request::StopAll);
    let effects = state.apply(Command::SetPace(Pace::Step));
    assert_eq!(effects, [FULL_SPEED, stop], "the next step is requested");
}

#[test]
fn the_pace_persists_and_each_new_engine_learns_it() {
    let mut state = ready();
    state.apply(Command::SetPace(Pace::Slow));
    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    assert_eq!(settings.pace, Pace::Slow);
    let (_, effects) = AppState::new(settings, ModelSource::Embedded);
    assert!(effects.contains(&SLOW), "{effects:?}");
    state.on_event(crate::worker::Event::Panicked {
        message: "a bug".to_owned(),
    });
    let effects = state.apply(Command::RestartEngine);
    assert!(effects.contains(&SLOW), "{effects:?}");
}

#[test]
fn step_mode_keeps_running_from_the_prompt_if_there_is_no_text() {
    let mut state = ready();
    state.apply(Command::SetPace(Pace::Step));
    assert!(state.can_keep_running());
    let effects = state.apply(Command::Branch(BranchCommand::KeepRunning));
    let [Effect::Send(Request::Generate { panes, .. })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(
        panes.len() == 4
            && panes
                .iter()
                .all(|pane| pane.continuation.pause_after.is_none())
    );
    assert!(!state.can_keep_running(), "it runs");
}

#[test]
fn a_text_at_its_end_does_not_start_over() {
    let mut state = written();
    for pane in &mut state.panes {
        if let crate::state::PaneStatus::Finished(text) = &mut pane.status {
            text.finish = Some(crate::generation::FinishReason::EndOfText);
        }
    }
    state.apply(Command::SetPace(Pace::Step));
    assert!(!state.can_keep_running());
    assert_eq!(state.apply(Command::Branch(BranchCommand::KeepRunning)), []);
}
