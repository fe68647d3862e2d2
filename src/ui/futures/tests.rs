//! Tests of the Futures view in a window.

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use super::picture::{FuturesPicture, futures_drawing};
use crate::decoding::TokenId;
use crate::generation::{DrawnFutures, FinishReason, Future};
use crate::state::tests::{JobUpdate, report, update_job, written};
use crate::state::{AppState, BranchesView, Command, DockTab, FuturesCommand, FuturesRun, Pin};
use crate::ui::pictures::Look;
use crate::ui::testing::{Window, key, press, window_of};

/// A state whose last text's second token is pinned.
fn pinned() -> AppState {
    let mut state = written();
    let pane = state.panes[3].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    state
}

/// A state with futures of the last pane: 30 that share two tokens, 8 that share one, and 2 that
/// share none.
fn drawn() -> AppState {
    let mut state = pinned();
    let effects = state.apply(Command::Futures(FuturesCommand::Draw));
    let id = state.futures.runs().first().map(FuturesRun::id).unwrap();
    assert_eq!(effects.len(), 1);
    let future = |index: u32| {
        let tokens = match index {
            0..30 => [4, 5, 1 + index % 3],
            30..38 => [8, 2, index % 8],
            _ => [index % 8 + 2, 6, 6],
        };
        Future {
            index: index as usize,
            tokens: tokens.map(TokenId).to_vec(),
            finish: FinishReason::MaxTokens,
            grammar_complete: None,
        }
    };
    let drawn = DrawnFutures((0..40).map(future).collect());
    report(&mut state, id, drawn);
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

fn is_shown(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).count() > 0
}

#[test]
fn f_draws_what_could_follow_the_pinned_token() {
    let mut window = window_of(vec2(1280.0, 800.0), pinned());
    window.state_mut().view.dock_tab = DockTab::Branches;
    window.run_steps(2);
    press(&mut window, "Futures");
    assert_eq!(window.state().view.branches, BranchesView::Futures);
    assert!(is_shown(&window, "Click a token, then press F"));
    key(&mut window, Modifiers::NONE, Key::F);
    assert!(window.state().futures.is_drawing());
    assert!(is_shown(&window, "0 of 64"));
    press(&mut window, "Stop");
    press(&mut window, "Written");
    assert_eq!(window.state().view.branches, BranchesView::Written);
}

#[test]
fn the_tree_is_an_outline_that_the_arrow_keys_walk() {
    let mut window = window_of(vec2(1280.0, 900.0), drawn());
    window.run_steps(3);
    assert!(is_shown(&window, "40 texts, "));
    assert!(is_shown(&window, "house fox, 30 of 40, level 1"));
    assert!(is_shown(&window, "the, 10 of 40, level 2"));
    let tree = window.get_by_role(Role::Tree);
    tree.focus();
    window.run_steps(2);
    assert!(is_shown(&window, "; house fox, 30 of 40, level 1"));
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert!(is_shown(&window, "; the, 10 of 40, level 2") || is_shown(&window, "; a, 10 of 40"));
    assert!(is_shown(&window, "Entropy by position, in bits: "));
    assert!(is_shown(
        &window,
        "30 of these 40 texts begin with ‘house’: 75 % (60–86)"
    ));
}

#[test]
fn a_typed_word_is_counted_and_can_be_removed() {
    let mut window = window_of(vec2(1280.0, 900.0), drawn());
    window.run_steps(2);
    let field = window.get_by_label("Word to count in the futures");
    field.focus();
    window.run_steps(2);
    window
        .get_by_label("Word to count in the futures")
        .type_text("fox");
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(is_shown(&window, "‘fox’ appears in "));
    press(&mut window, "Remove ‘fox’");
    assert!(!is_shown(&window, "‘fox’ appears in "));
}

#[test]
fn two_panes_stand_side_by_side_in_the_window_and_in_the_picture() {
    let mut state = drawn();
    let beside = state.panes[1].id;
    state.apply(Command::Futures(FuturesCommand::ShowBeside(Some(beside))));
    let ids: Vec<_> = state.futures.runs().iter().map(FuturesRun::id).collect();
    for id in ids {
        let drawn = vec![Future {
            index: 0,
            tokens: vec![TokenId(4), TokenId(6)],
            finish: FinishReason::MaxTokens,
            grammar_complete: None,
        }];
        report(&mut state, id, DrawnFutures(drawn));
        update_job(&mut state, id, JobUpdate::Finished);
    }
    state.apply(Command::Futures(FuturesCommand::AddWord(
        "house".to_owned(),
    )));
    let panes = state.futures.runs().iter();
    let panes = panes.filter_map(|run| Some((state.place_of(run.pane)?, run)));
    let svg = futures_drawing(
        &FuturesPicture {
            panes: panes.collect(),
        },
        Look::default(),
    );
    for words in [
        "D: what could follow",
        "B: what could follow",
        "house.",
        "seeds 42 to 105",
        "100 % (21–100)",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    let window = window_of(vec2(1920.0, 1080.0), state);
    assert_eq!(window.query_all_by_role(Role::Tree).count(), 2);
}

#[test]
fn the_column_fits_the_dock_and_leaves_no_gap() {
    for (size, n_words, has_picture) in [
        ((1280.0, 800.0), 0, true),
        ((1280.0, 800.0), 2, false),
        ((900.0, 600.0), 0, false),
    ] {
        let mut state = drawn();
        for word in ["fox", "house"].into_iter().take(n_words) {
            let add = FuturesCommand::AddWord(word.to_owned());
            state.apply(Command::Futures(add));
        }
        let mut window = window_of(size.into(), state);
        window.run_steps(4);
        let field = window.get_by_label("Word to count in the futures").rect();
        let sentence = window.get_by_label_contains("30 of these 40 texts").rect();
        let picture = window.query_by_label_contains("Entropy by position, in bits");
        let picture = picture.map(|picture| picture.rect());
        assert_eq!(picture.is_some(), has_picture, "{size:?}, {n_words} words");
        let below = picture.unwrap_or(sentence);
        let gap = below.top() - field.bottom() - 24.0 * n_words as f32;
        assert!((0.0..=20.0).contains(&gap), "{size:?}, {n_words}: {gap}");
        assert!(sentence.bottom() <= size.1 - 12.0, "{size:?}: {sentence}");
    }
}
