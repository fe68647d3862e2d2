//! Panes in windows that are too small for all of them, and the keys that go from pane to pane.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::state::tests::written;
use crate::state::{AppState, Command, DockTab, Pin};
use crate::ui::testing::{Window, key, press, window_of};

/// A window with an open dock.
fn open(state: AppState, size: [f32; 2], tab: DockTab) -> Window {
    let mut state = state;
    state.view.dock_open = Some(true);
    state.view.dock_tab = tab;
    let mut window = window_of(vec2(size[0], size[1]), state);
    window.run_steps(3);
    window
}

/// Returns the letters of the panes that are shown.
fn shown(window: &Window) -> String {
    let is_shown = |letter: &char| {
        let name = format!("More actions for pane {letter}");
        window.query_by_label(&name).is_some()
    };
    ('A'..='H').filter(is_shown).collect()
}

#[test]
fn an_open_dock_keeps_the_row_of_the_held_token_and_badges_bring_the_other_back() {
    let mut state = written();
    let first = state.panes[0].id;
    state.apply(Command::Pin(Pin {
        pane: first,
        step: 1,
    }));
    let mut window = open(state, [900.0, 600.0], DockTab::Xray);
    assert_eq!(shown(&window), "AB");
    press(&mut window, "Show pane C");
    window.run_steps(3);
    assert_eq!(shown(&window), "CD");
    assert!(window.query_by_label("Show pane C").is_none());
    window.get_by_label("Show pane A");
    let held = window.state().pin.map(|pin| pin.pane);
    assert_eq!(held, Some(first), "the dock still shows the token of A");
    // The arrow keys go on from the held token.
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    window.run_steps(3);
    assert_eq!(shown(&window), "AB");
    for _ in 0..2 {
        key(&mut window, Modifiers::NONE, Key::ArrowDown);
    }
    window.run_steps(3);
    assert_eq!(shown(&window), "CD");
    press(&mut window, "Collapse the dock");
    window.run_steps(3);
    assert_eq!(shown(&window), "ABCD");
}

#[test]
fn five_panes_over_the_branches_show_the_row_of_the_held_token() {
    let mut state = written();
    state.apply(Command::Duplicate(state.panes[0].id));
    let mut window = open(state, [1280.0, 800.0], DockTab::Branches);
    let token = window.state().shown_step().unwrap();
    assert_eq!(token.0, 3);
    assert_eq!(shown(&window), "DE");
    press(&mut window, "Show pane B");
    window.run_steps(3);
    assert_eq!(shown(&window), "ABC");
}

#[test]
fn f6_goes_from_text_to_text() {
    let mut window = open(written(), [900.0, 600.0], DockTab::Xray);
    // The arrow keys act in the focused pane.
    let mut go = |modifiers| {
        key(&mut window, modifiers, Key::F6);
        window.run_steps(3);
        key(&mut window, Modifiers::NONE, Key::ArrowLeft);
        window.run_steps(3);
        let pin = window.state().pin.unwrap();
        window.state().place_of(pin.pane).unwrap()
    };
    let visited: Vec<usize> = (0..5).map(|_| go(Modifiers::NONE)).collect();
    assert_eq!(visited, [0, 1, 2, 3, 0]);
    assert_eq!(go(Modifiers::SHIFT), 3);
}

#[test]
fn f6_reaches_panes_without_a_text() {
    let mut state = written();
    state.apply(Command::AddPane);
    state.pin = Some(Pin {
        pane: state.panes[0].id,
        step: 0,
    });
    let mut window = open(state, [1280.0, 800.0], DockTab::Xray);
    key(&mut window, Modifiers::SHIFT, Key::F6);
    window.run_steps(3);
    let placeholder = window.get_by_label("Pane E, no text yet");
    assert!(placeholder.accesskit_node().is_focused());
    // There is no token to move the pin to.
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    let pin = window.state().pin.unwrap();
    assert_eq!((window.state().place_of(pin.pane), pin.step), (Some(0), 0));
    key(&mut window, Modifiers::SHIFT, Key::F6);
    window.run_steps(3);
    key(&mut window, Modifiers::NONE, Key::ArrowLeft);
    let pin = window.state().pin.unwrap();
    assert_eq!(window.state().place_of(pin.pane), Some(3));
}
