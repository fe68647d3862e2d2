//! Tests of the Lab page: the blind test.

use crate::analysis::sweep::testing::text;
use crate::generation::{ChatSupport, GenerationId, SweepPlan, SweepUpdate};
use crate::lab::blind::state::{blind_blocking_reason, blind_contestants};
use crate::lab::blind::{BlindCommand, BlindTest};
use crate::lab::{LabCommand, LabSettings, LabTab};
use crate::state::tests::{Event, loaded_with, planned, ready, report, update_job};
use crate::state::{AppState, Command, Effect, RunStatus};
use crate::worker::JobUpdate;

fn run(state: &mut AppState, command: LabCommand) -> Vec<Effect> {
    state.apply(Command::Lab(command))
}

fn requested(effects: &[Effect]) -> (GenerationId, SweepPlan) {
    planned(effects.last().unwrap()).unwrap()
}

/// Delivers the texts of a request. `token` returns the only token of the text with this cell and
/// seed.
fn deliver(
    state: &mut AppState,
    (id, plan): (GenerationId, &SweepPlan),
    token: impl Fn(usize, usize) -> u32,
) -> Vec<Effect> {
    let n_seeds = plan.n_seeds;
    let places = (0..plan.cells.len()).flat_map(|cell| (0..n_seeds).map(move |seed| (cell, seed)));
    let texts = places.map(|(cell, seed)| text(cell, seed, &[token(cell, seed)]));
    let update = SweepUpdate::Advanced {
        n_tokens: 1,
        secs: 1.0,
        complete: texts.collect(),
    };
    report(state, id, update);
    update_job(state, id, JobUpdate::Finished)
}

fn blind(state: &AppState) -> &BlindTest {
    &state.lab.blind
}

fn started() -> (AppState, GenerationId, SweepPlan) {
    let mut state = ready();
    let (id, plan) = requested(&run(&mut state, LabCommand::Run(LabTab::Blind)));
    (state, id, plan)
}

#[test]
fn texts_of_one_vote_have_the_same_seed_unless_coins_differ() {
    for same_coins in [true, false] {
        let mut state = ready();
        state.lab.blind.same_coins = same_coins;
        let (id, plan) = requested(&run(&mut state, LabCommand::Run(LabTab::Blind)));
        assert_eq!(plan.cells, blind_contestants(&state));
        assert_eq!(plan.limits.max_new_tokens, 80);
        deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
        run(&mut state, LabCommand::Blind(BlindCommand::Vote(Some(1))));
        let shown = &blind(&state).votes()[0].shown;
        assert_eq!(shown[0].seed == shown[1].seed, same_coins);
        assert_ne!(shown[0].settings, shown[1].settings);
    }
}

#[test]
fn more_texts_are_written_once_all_were_shown() {
    let (mut state, id, plan) = started();
    deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
    let mut more = Vec::new();
    for _ in 0..40 {
        more = run(&mut state, LabCommand::Blind(BlindCommand::Vote(None)));
        if !more.is_empty() {
            break;
        }
    }
    let (_, next) = requested(&more);
    assert_eq!(next.seed, plan.seed + plan.n_seeds as u64);
    let shown = blind(&state).votes().iter().flat_map(|vote| &vote.shown);
    let mut shown: Vec<_> = shown
        .map(|text| (text.settings.clone(), text.seed))
        .collect();
    let n_shown = shown.len();
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), n_shown, "no text is shown twice");
}

#[test]
fn equal_texts_are_not_put_to_a_vote() {
    let (mut state, id, plan) = started();
    let mut effects = deliver(&mut state, (id, &plan), |_, _| 1);
    for _ in 0..40 {
        if effects.is_empty() {
            break;
        }
        let (id, plan) = requested(&effects);
        effects = deliver(&mut state, (id, &plan), |_, _| 1);
    }
    assert_eq!(blind(&state).run().unwrap().status, RunStatus::Complete);
    assert!(blind(&state).votes().is_empty());
}

#[test]
fn positions_say_nothing_about_settings() {
    let (mut state, id, plan) = started();
    deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
    let mut n_first = 0;
    let mut n = 0;
    let first = blind(&state).run().unwrap().settings()[0].clone();
    for _ in 0..400 {
        let effects = run(&mut state, LabCommand::Blind(BlindCommand::Vote(None)));
        if let Some((id, plan)) = effects.last().and_then(planned::<SweepPlan>) {
            deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
        }
    }
    for vote in blind(&state).votes() {
        if let Some(place) = vote.shown.iter().position(|text| text.settings == first) {
            n += 1;
            n_first += usize::from(place == 0);
        }
    }
    assert!(
        n > 100 && n_first * 10 > n * 4 && n_first * 10 < n * 6,
        "{n_first} of {n}"
    );
}

#[test]
fn votes_survive_a_restart_and_an_unfinished_test() {
    let (mut state, id, plan) = started();
    deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
    run(&mut state, LabCommand::Blind(BlindCommand::Vote(Some(0))));
    assert!(
        run(&mut state, LabCommand::Blind(BlindCommand::Vote(Some(9)))).is_empty(),
        "no such text"
    );
    let stop = run(&mut state, LabCommand::Stop(LabTab::Blind));
    assert!(stop.is_empty(), "nothing is being written: {stop:?}");
    run(&mut state, LabCommand::Blind(BlindCommand::Vote(Some(0))));
    assert_eq!(blind(&state).votes().len(), 1, "nothing is shown");
    let json = serde_json::to_string(&LabSettings::from(&state.lab)).unwrap();
    let restored: LabSettings = serde_json::from_str(&json).unwrap();
    let lab = restored.lab();
    assert_eq!(lab.blind.votes(), blind(&state).votes());
    assert_eq!(lab.blind.results().n_votes, 1);
}

#[test]
fn a_test_needs_two_settings_and_ends_with_the_engine() {
    let mut state = ready();
    state.apply(Command::SetPaneCount(1));
    assert!(blind_blocking_reason(&state).unwrap().contains("two panes"));
    assert!(run(&mut state, LabCommand::Run(LabTab::Blind)).is_empty());
    let (mut state, ..) = started();
    let message = "out of memory".to_owned();
    state.on_event(Event::Panicked { message });
    let status = &blind(&state).run().unwrap().status;
    assert!(matches!(status, RunStatus::Failed { .. }), "{status:?}");
}

#[test]
fn another_model_ends_the_test_before_it_writes_a_text() {
    let (mut state, id, plan) = started();
    deliver(&mut state, (id, &plan), |cell, _| cell as u32 + 1);
    state.on_event(loaded_with(ChatSupport::Missing));
    for _ in 0..40 {
        let effects = run(&mut state, LabCommand::Blind(BlindCommand::Vote(None)));
        assert!(effects.is_empty(), "{effects:?}");
    }
    let status = &blind(&state).run().unwrap().status;
    let error = "the model has changed; start the test again".to_owned();
    assert_eq!(*status, RunStatus::Failed { error });
}
