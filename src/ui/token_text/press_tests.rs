//! Pressing tokens in the window: why they were chosen, and what else could follow.

use egui::{Event, Key, Modifiers, Pos2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::generation::OriginChange;
use crate::generation::testing::generation;
use crate::state::tests::written;
use crate::state::{AppState, Command, DockTab, PaneStatus, Pin, ViewChange};
use crate::ui::testing::{Window, click_at, double_click_at, key, window_of};

/// Opens a window in which nothing is pinned and the dock shows Plots.
fn open(state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

/// Moves the pointer there from elsewhere, so that no card is open, and clicks.
fn click(window: &mut Window, at: Pos2) {
    window.hover_at(Pos2::new(640.0, 20.0));
    window.run_steps(2);
    click_here(window, at, Modifiers::NONE);
    // The next click is not the second of a double-click.
    window.run_steps(8);
}

/// Clicks there with these modifiers.
fn click_here(window: &mut Window, at: Pos2, modifiers: Modifiers) {
    window.hover_at(at);
    window.event(Event::ModifiersChanged(modifiers));
    window.run_steps(1);
    click_at(window, at, modifiers);
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.run_steps(3);
}

/// Returns where the token of this step is in A, whose text ends with "in a house".
fn token(step: usize) -> Pos2 {
    let mut window = open(written());
    let pane = window.state().panes[0].id;
    let rect = window.get_by_label_contains("in a house").rect();
    for row in 0..3 {
        for column in 0..60 {
            let at = rect.min + vec2(18.0 + 5.0 * column as f32, 14.0 + 24.0 * row as f32);
            click(&mut window, at);
            if window.state().pin == Some(Pin { pane, step }) {
                return at;
            }
        }
    }
    panic!("the token is not in view");
}

/// Rests the pointer until the card is shown.
fn rest(window: &mut Window, at: Pos2) {
    window.hover_at(at);
    window.run_steps(8);
}

#[test]
fn a_pressed_token_opens_why_and_plots_sticks_once_it_is_chosen() {
    let [first, second] = [0, 2].map(token);
    let mut window = open(written());
    assert_eq!(window.state().view.dock_tab, DockTab::Plots);
    click(&mut window, first);
    assert_eq!(window.state().view.dock_tab, DockTab::Xray);
    window.get_by_label_contains("Why ‘in’");
    // Pressing it again unpins it and moves nothing.
    click(&mut window, first);
    assert_eq!(window.state().pin, None);
    assert_eq!(window.state().view.dock_tab, DockTab::Xray);

    click(&mut window, second);
    key(&mut window, Modifiers::ALT, Key::Num1);
    assert_eq!(window.state().view.dock_tab, DockTab::Plots);
    click(&mut window, first);
    assert_eq!(window.state().view.dock_tab, DockTab::Plots);
    key(&mut window, Modifiers::ALT, Key::Num2);
    key(&mut window, Modifiers::ALT, Key::Num3);
    click(&mut window, second);
    assert_eq!(window.state().view.dock_tab, DockTab::Loop, "it follows");
}

#[test]
fn a_pressed_token_unfolds_the_dock() {
    let first = token(0);
    let mut state = written();
    state.apply(Command::ChangeView(ViewChange::Tab(DockTab::Compare)));
    state.view.dock_open = Some(false);
    let mut window = open(state);
    click(&mut window, first);
    let view = &window.state().view;
    assert_eq!((view.dock_tab, view.dock_open), (DockTab::Xray, Some(true)));
}

#[test]
fn enter_on_a_focused_text_shows_why_and_unpins_nothing() {
    let [first, second] = [0, 2].map(token);
    let mut window = open(written());
    click(&mut window, first);
    window.state_mut().view.dock_tab = DockTab::Plots;
    let pane = window.state().panes[0].id;
    // The pointer rests on another token.
    window.hover_at(second);
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().pin, Some(Pin { pane, step: 0 }));
    assert_eq!(window.state().view.dock_tab, DockTab::Xray);
}

/// Returns the index of the only pane that runs.
fn running(window: &Window) -> usize {
    let panes = window.state().panes.iter();
    let running = panes.map(|pane| pane.status.running().is_some());
    let running: Vec<bool> = running.collect();
    assert_eq!(running.iter().filter(|running| **running).count(), 1);
    running.iter().position(|running| *running).unwrap()
}

/// Returns the kept text of the request that a pane is waiting for.
fn picked(window: &Window, place: usize) -> String {
    let PaneStatus::Waiting { pending } = &window.state().panes[place].status else {
        panic!("pane {place} is not waiting");
    };
    pending.kept_text().unwrap().text()
}

/// Returns how many tokens that request adds by hand.
fn n_by_hand(window: &Window, place: usize) -> usize {
    let PaneStatus::Waiting { pending } = &window.state().panes[place].status else {
        panic!("pane {place} is not waiting");
    };
    let origin = pending.kept_text().unwrap().lineage.origin.unwrap();
    match origin.change {
        OriginChange::ByHand { n_tokens } => n_tokens,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_token_on_the_card_continues_the_text_in_place_or_as_a_new_pane() {
    let at = token(1);
    for (modifiers, is_in_place) in [(Modifiers::NONE, true), (Modifiers::SHIFT, false)] {
        let mut window = open(written());
        rest(&mut window, at);
        let row = window.query_all_by_label_contains("Continue with ‘").next();
        let row = row.unwrap().rect().center();
        // On its way to the card, the pointer is on neither.
        rest(&mut window, Pos2::new(at.x, at.y + 13.0));
        click_here(&mut window, row, modifiers);
        let place = running(&window);
        assert_eq!(place == 0, is_in_place);
        assert_eq!(window.state().panes.len(), if is_in_place { 4 } else { 5 });
        assert_eq!(picked(&window, place), " in");
        assert_eq!(n_by_hand(&window, place), 1);
    }
}

#[test]
fn enter_takes_the_token_under_the_pointer() {
    let at = token(1);
    let mut window = open(written());
    window.get_by_label("Collapse the dock").focus();
    rest(&mut window, at);
    let row = window.query_all_by_label_contains("Continue with ‘").nth(1);
    let row = row.unwrap().rect().center();
    rest(&mut window, row);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().panes[0].status.running().is_some());
    assert_ne!(window.state().view.dock_open, Some(false));
}

#[test]
fn the_card_says_how_likely_the_token_was_and_leaves_with_the_pointer() {
    let at = token(2);
    let mut window = open(written());
    rest(&mut window, at);
    window.get_by_label_contains("‘house’ · 40 %");
    window.get_by_label_contains("after the settings");
    assert_eq!(
        window
            .query_all_by_label_contains("Continue with ‘")
            .count(),
        5
    );
    rest(&mut window, Pos2::new(640.0, 20.0));
    assert_eq!(
        window
            .query_all_by_label_contains("Continue with ‘")
            .count(),
        0
    );
}

fn type_text(window: &mut Window, text: &str) {
    window.event(Event::Text(text.to_owned()));
    window.run_steps(3);
}

#[test]
fn a_double_click_edits_the_text_from_the_token_on() {
    let at = token(1);
    let mut window = open(written());
    double_click_at(&mut window, at);
    let pane = window.state().panes[0].id;
    let pin = Pin { pane, step: 1 };
    let edited = window.state().branches.edit.clone().unwrap();
    assert_eq!((edited.from, edited.typed.as_str()), (pin, " a"));
    assert_eq!(window.state().pin, Some(pin), "the dock shows the token");
    let field = window.get_by_label("Edit the text");
    assert!(field.accesskit_node().is_focused());
    window.get_by_label("Keeps 1 of 3 tokens");
    // Typing replaces the token, which was selected.
    type_text(&mut window, " the little");
    let edited = window.state().branches.edit.clone().unwrap();
    assert_eq!(edited.typed, " the little");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let state = window.state();
    assert!(state.branches.edit.is_none());
    assert_eq!(state.panes.len(), 4);
    assert_eq!(picked(&window, 0), " in");
    assert_eq!(n_by_hand(&window, 0), 2);
}

#[test]
fn a_key_edits_the_pinned_text_and_continues_it_as_a_new_pane() {
    let at = token(1);
    let mut window = open(written());
    click(&mut window, at);
    key(&mut window, Modifiers::NONE, Key::E);
    assert!(window.state().branches.edit.is_some());
    type_text(&mut window, " fox");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    let state = window.state();
    assert!(state.branches.edit.is_none());
    assert_eq!(state.panes.len(), 5);
    let place = running(&window);
    assert_ne!(place, 0, "the new pane runs");
    assert_eq!(n_by_hand(&window, place), 1);
}

#[test]
fn editing_ends_with_escape_and_says_what_can_t_be_spelled() {
    let at = token(2);
    let mut window = open(written());
    double_click_at(&mut window, at);
    type_text(&mut window, " a zebra");
    window.get_by_label("The vocabulary can’t spell this text");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().branches.edit.is_some(), "nothing is lost");
    assert!(!window.state().is_running());
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.state().branches.edit.is_none());
    assert!(window.state().pin.is_some());
    let text = window.state().panes[0].generation().unwrap().text();
    assert_eq!(text, " in a house");
}

#[test]
fn a_token_of_a_loop_says_what_repeats() {
    let at = token(1);
    let mut state = written();
    let pieces: Vec<(&str, f64)> = [(" in", 0.6), (" a", 0.9), (" house", 0.4)].repeat(12);
    state.panes[0].status = PaneStatus::Finished(generation(&pieces));
    let mut window = open(state);
    window.run_steps(4);
    rest(&mut window, at);
    window.get_by_label("The same 3 tokens, 12 times");
}
