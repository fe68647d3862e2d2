//! Finding and running with keys and clicks.

use egui::{Event, Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::state::tests::{ready, written};
use crate::state::{AppState, DockTab, HelpTab, Pace, Tint};
use crate::ui::testing::{Window, key, press, window_of};

fn typed(state: AppState, query: &str) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    key(&mut window, Modifiers::COMMAND, Key::K);
    window.event(Event::Text(query.to_owned()));
    window.run_steps(3);
    window
}

#[test]
fn an_action_is_found_and_run_with_the_keyboard_alone() {
    let mut window = typed(written(), "x-r");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().view.dock_tab, DockTab::Xray);
    assert!(window.state().dialogs.palette.is_none());
}

#[test]
fn the_arrow_keys_select_and_a_screen_reader_follows() {
    let mut window = typed(written(), "tint");
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    // The field keeps the keyboard focus; a screen reader follows its active descendant.
    let chosen = window.get_by_label("Tint: Rank").accesskit_node();
    assert!(chosen.is_focused());
    assert_eq!(chosen.is_selected(), Some(true));
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().view.tint, Tint::Rank);
}

#[test]
fn an_unavailable_action_says_why_and_keeps_the_palette_open() {
    let mut window = typed(ready(), "export everything");
    window.get_by_label("Export everything…, Export, Generate a text first");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().dialogs.palette.is_some());
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.state().dialogs.palette.is_none());
}

#[test]
fn the_palette_opens_from_the_top_bar_and_takes_clicks() {
    let mut window = window_of(vec2(900.0, 600.0), ready());
    press(&mut window, "Find an action (Ctrl K)");
    window.event(Event::Text("step by".to_owned()));
    window.run_steps(3);
    press(&mut window, "Step by step, Pace");
    assert_eq!(window.state().pace, Pace::Step);
}

#[test]
fn a_setting_opens_the_editor_of_the_chosen_pane_at_its_row() {
    // Top-k 40 is a stage of C.
    let mut window = typed(ready(), "top-k");
    let name = "Top-k, A off, B off, C 40, D off, opens in A, How a pane chooses";
    window.get_by_label(name);
    for _ in 0..2 {
        key(&mut window, Modifiers::NONE, Key::ArrowRight);
    }
    window.get_by_label("Top-k, A off, B off, C 40, D off, opens in C, How a pane chooses");
    window.get_by_label("↵ opens its editor at that row");
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(6);
    assert!(window.state().dialogs.palette.is_none());
    assert!(window.query_all_by_label("How C chooses").count() > 0);
    let slider = window.get_by_role_and_label(Role::Slider, "Top-k");
    assert!(slider.accesskit_node().is_focused());
    key(&mut window, Modifiers::NONE, Key::Delete);
    let chain = window.state().panes[2].settings.chain.to_string();
    assert!(!chain.contains("40"), "{chain}");
}

#[test]
fn a_setting_that_the_pane_lacks_opens_at_the_chip_that_adds_it() {
    for (query, chip) in [("min-p", "Add Min-p"), ("tail-free", "Add Tail-free")] {
        let mut window = typed(ready(), query);
        key(&mut window, Modifiers::NONE, Key::ArrowRight);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(6);
        assert!(
            window.get_by_label(chip).accesskit_node().is_focused(),
            "{chip}"
        );
        key(&mut window, Modifiers::NONE, Key::Enter);
        let n_stages = window.state().panes[1].settings.chain.stages.len();
        assert_eq!(n_stages, ready().panes[1].settings.chain.stages.len() + 1);
    }
}

#[test]
fn grammars_draws_and_drafts_open_at_their_menus() {
    for (query, control) in [
        ("any json", "Grammar: Off"),
        ("beam search", "Draw: Greedy"),
        ("prompt lookup", "Drafts: Off"),
        ("second prompt", "Guidance: Off"),
    ] {
        let mut window = typed(ready(), query);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(6);
        let control = window.get_by_label(control);
        assert!(control.accesskit_node().is_focused(), "{query}");
    }
}

#[test]
fn a_press_on_a_pane_s_value_opens_that_pane_s_editor() {
    let mut window = typed(ready(), "temperature");
    let row = window.get_by_label_contains("Temperature, A –").rect();
    // The badges begin after the name.
    let name = 10.0 + 77.0 + 16.0;
    let second = egui::pos2(row.left() + name + 45.0, row.center().y);
    window.hover_at(second);
    window.run_steps(1);
    for pressed in [true, false] {
        window.event(Event::PointerButton {
            pos: second,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(2);
    }
    window.run_steps(6);
    assert!(window.state().dialogs.palette.is_none());
    let title = window.query_all_by_label("How B chooses");
    assert!(title.count() >= 2, "the chip and the editor’s title");
}

#[test]
fn a_preset_a_page_and_a_shared_setting_are_found_and_used() {
    let mut window = typed(ready(), "creative");
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    window.get_by_label("Creative, Preset for B");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let chain = &window.state().panes[1].settings.chain;
    assert_ne!(*chain, ready().panes[1].settings.chain);

    let mut window = typed(ready(), "min-p formula");
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(4);
    assert_eq!(window.state().dialogs.help, Some(HelpTab::Filters));
    assert!(window.query_all_by_label("Min-p").count() > 0);

    let mut window = typed(ready(), "token limit");
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(4);
    window.get_by_label("Token limit per pane");
}

#[test]
fn at_most_eight_rows_are_visible() {
    let window = typed(ready(), "a");
    let rows = window.query_all_by_role(Role::ListBoxOption);
    let field = window.get_by_label("Find an action").rect();
    let bottom = field.bottom() + 11.0 + 8.0 * 32.0 + 4.0;
    let visible = rows.filter(|row| row.rect().bottom() <= bottom);
    assert!(visible.count() <= 8);
    let hint = window.get_by_label("← → choose the pane").rect();
    assert!(hint.top() < bottom + 16.0, "{hint:?}");
}
