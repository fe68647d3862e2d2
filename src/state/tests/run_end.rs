//! Tests of what follows the end of a run: the pinned fork, repeated texts, the hint, and its date.

use super::runs::open;
use super::{asked, ready, write, written};
use crate::export::json::{RunFile, RunHeader};
use crate::generation::testing::generation;
use crate::state::{
    AppState, Command, DockTab, Notice, NoticeKind, Pin, Repetition, RunCommand, Settings,
    ViewChange, divergence_summary,
};

/// Runs all panes; each writes " in a" and then its own last token.
fn run(state: &mut AppState, lasts: [&str; 4]) {
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids.len(), 4);
    for (id, last) in ids.into_iter().zip(lasts) {
        write(state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
    }
}

/// Returns the pinned token's pane position and step.
fn pinned(state: &AppState) -> Option<(usize, usize)> {
    let pin = state.pin?;
    Some((state.place_of(pin.pane)?, pin.step))
}

#[test]
fn the_fork_is_pinned_when_the_last_text_ends() {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    for (id, last) in ids.iter().zip([" fox", " fox", " cat", " fox"]) {
        assert_eq!(state.pin, None, "the run is not over");
        write(&mut state, *id, &[(" in", 0.6), (last, 0.4)]);
    }
    assert_eq!(pinned(&state), Some((2, 1)), "C leaves the others");
    assert_eq!(state.shown_step(), Some((2, 1)));
}

#[test]
fn no_hint_covers_an_error() {
    let mut state = ready();
    state.notify(Notice::hint("An older hint"));
    state.notify(Notice::error("The run was not saved", "the disk is full"));
    state.notify(Notice::hint("A newer hint"));
    let kinds: Vec<NoticeKind> = state.notices.iter().map(|notice| notice.kind).collect();
    assert_eq!(
        kinds,
        [NoticeKind::Error, NoticeKind::Hint, NoticeKind::Hint]
    );
    assert_eq!(state.notices[1].title, "A newer hint");
    state.notify(Notice::error("Nor was this one", "the disk is full"));
    assert_eq!(state.notices[0].title, "Nor was this one");
}

#[test]
fn a_token_that_the_user_pinned_stays_pinned() {
    let mut state = ready();
    run(&mut state, [" house", " fox", " fox", " fox"]);
    let ids = asked(&state.apply(Command::Generate(state.panes[3].id)));
    let pin = crate::state::Pin {
        pane: state.panes[1].id,
        step: 0,
    };
    state.apply(Command::Pin(pin));
    write(&mut state, ids[0], &[(" in", 0.6)]);
    assert_eq!(state.pin, Some(pin));
}

#[test]
fn texts_that_never_diverge_pin_nothing() {
    let mut state = ready();
    run(&mut state, [" fox"; 4]);
    assert_eq!(state.pin, None);
}

#[test]
fn a_run_that_changes_nothing_says_so_and_offers_another_seed() {
    let texts = [" house", " fox", " fox", " fox"];
    let mut state = ready();
    state.prompt.text = "Once there was".to_owned();
    run(&mut state, texts);
    assert_eq!(state.repetition(), None, "these are the first texts");
    run(&mut state, texts);
    assert_eq!(state.repetition(), Some(Repetition::SameRun));
    assert!(state.panes.can_vary_by_seed());

    let ids = asked(&state.apply(Command::AnotherSeed));
    assert_eq!((ids.len(), state.seed), (4, 43));
    assert_eq!(state.repetition(), None);
    for (id, last) in ids.into_iter().zip(texts) {
        write(&mut state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
    }
    assert_eq!(state.repetition(), Some(Repetition::NoDifference));
    state.seed = 7;
    assert_eq!(state.repetition(), None, "the texts are out of date");

    run(&mut state, [" cat"; 4]);
    assert_eq!(state.repetition(), None);
}

#[test]
fn another_seed_is_not_offered_if_no_pane_would_use_it() {
    let mut state = ready();
    for pane in &mut state.panes {
        pane.settings.seed = Some(1);
    }
    assert!(!state.panes.can_vary_by_seed());
    for pane in &mut state.panes {
        pane.settings.seed = None;
        pane.settings.chain = crate::decoding::ChainConfig::greedy();
    }
    assert!(!state.panes.can_vary_by_seed());
}

#[test]
fn panes_with_the_same_settings_and_seed_are_named() {
    let mut state = ready();
    for place in [2, 3] {
        state.panes[place].settings = state.panes[1].settings.clone();
    }
    run(&mut state, [" house", " fox", " fox", " fox"]);
    let long = divergence_summary(&state).long;
    let end = ". B, C and D have the same settings and seed.";
    assert!(long.ends_with(end), "{long}");

    state.panes[0].settings = state.panes[1].settings.clone();
    run(&mut state, [" fox"; 4]);
    assert_eq!(
        divergence_summary(&state).long,
        "All four are identical, token for token: same settings, same seed"
    );
}

#[test]
fn the_end_of_a_first_run_covers_no_text_with_a_hint() {
    let mut state = ready();
    run(&mut state, [" house", " fox", " fox", " fox"]);
    assert!(state.notices.is_empty());
}

#[test]
fn plots_chosen_over_the_x_ray_stays_when_a_token_is_pressed() {
    let mut state = ready();
    let why = |state: &AppState| state.view.on_press(true);
    let show = |state: &mut AppState, tab| {
        state.apply(Command::ChangeView(ViewChange::Tab(tab)));
    };
    run(&mut state, [" house", " fox", " fox", " fox"]);
    // The token where the texts diverge is pinned, but nobody pressed it.
    for tab in [DockTab::Numbers, DockTab::Plots] {
        show(&mut state, tab);
    }
    assert_eq!(why(&state), Some(ViewChange::Why));
    let pane = state.panes[1].id;
    state.apply(Command::Pin(Pin { pane, step: 0 }));
    state.apply(Command::ChangeView(ViewChange::Why));
    assert_eq!(
        (state.view.dock_tab, state.view.dock_open),
        (DockTab::Xray, Some(true))
    );
    show(&mut state, DockTab::Plots);
    assert_eq!(why(&state), None);
    // The choice survives a restart, until X-ray is chosen.
    let settings = serde_json::to_string(&state.settings()).unwrap();
    let restored: Settings = serde_json::from_str(&settings).unwrap();
    assert!(restored.view.keeps_plots);
    show(&mut state, DockTab::Xray);
    show(&mut state, DockTab::Loop);
    assert_eq!(why(&state), None, "the tab follows by itself");
    assert_eq!(
        state.view.on_press(false),
        Some(ViewChange::Why),
        "a folded dock"
    );
    state.apply(Command::Unpin);
    show(&mut state, DockTab::Plots);
    assert_eq!(why(&state), Some(ViewChange::Why), "nothing was held");
}

#[test]
fn an_added_pane_has_settings_that_no_other_pane_has() {
    let mut state = ready();
    for _ in 0..6 {
        state.apply(Command::AddPane);
    }
    let panes = state.panes.iter();
    let chains: Vec<_> = panes.map(|pane| pane.settings.chain.clone()).collect();
    assert_eq!(chains.len(), crate::state::MAX_PANES);
    for (index, chain) in chains.iter().enumerate() {
        assert!(!chains[..index].contains(chain), "{chain}");
    }
    state.apply(Command::Undo);
    assert_eq!(state.panes.len(), crate::state::MAX_PANES - 1);
}

#[test]
fn files_say_when_the_run_finished_and_not_when_they_were_written() {
    const LONG_AGO: u64 = 1_000_000_000;
    let mut state = written();
    let old = RunFile {
        header: RunHeader {
            finished_at: Some(LONG_AGO),
            ..RunHeader::default()
        },
        panes: vec![generation(&[(" fox", 0.25)])],
        ..RunFile::default()
    };
    state.restore_session(state.settings(), old, &[0]);
    let stamps = |state: &AppState| [state.run_header().finished_at, state.session().finished_at];
    assert_eq!(stamps(&state), [Some(LONG_AGO); 2]);
    open(&mut state, vec![generation(&[(" the", 0.5)])]);
    assert_eq!(stamps(&state), [Some(7), Some(LONG_AGO)]);
    state.apply(Command::Run(RunCommand::Close));
    assert_eq!(stamps(&state), [Some(LONG_AGO); 2]);

    let pane = state.panes[0].id;
    let id = asked(&state.apply(Command::Generate(pane)))[0];
    assert_eq!(state.session().finished_at, None);
    write(&mut state, id, &[(" in", 0.6)]);
    let [named, held] = stamps(&state);
    assert!(named > Some(LONG_AGO));
    assert_eq!(named, held);
}
