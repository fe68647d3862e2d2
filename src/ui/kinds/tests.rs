//! The kinds of tokens in the window, used as a user does.

use egui::{Key, Modifiers, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::analysis::token_kinds::TokenKind;
use crate::state::tests::{asked, ready, write};
use crate::state::{AppState, Command, DockTab, Pin};
use crate::ui::testing::{Window, key, press, window_of};

const SIZE: Vec2 = vec2(1280.0, 800.0);

/// Each pane writes six tokens, of which the second, the fourth and the fifth are unlikely.
fn written() -> AppState {
    let mut state = ready();
    for id in asked(&state.apply(Command::GenerateAll)) {
        let pieces = [
            (" in", 0.6),
            (" fox", 0.02),
            (" a", 0.9),
            (" house", 0.01),
            (" little", 0.03),
            (" by", 0.7),
        ];
        write(&mut state, id, &pieces);
    }
    state.apply(Command::Unpin);
    state.notices.clear();
    state
}

/// Opens a window with this tab, this kind and this token of B held.
fn window_with(tab: DockTab, kind: Option<TokenKind>, step: Option<usize>) -> Window {
    let mut state = written();
    state.view.dock_tab = tab;
    state.view.dock_open = Some(true);
    state.view.kind = kind;
    let pane = state.panes[1].id;
    state.pin = step.map(|step| Pin { pane, step });
    let mut window = window_of(SIZE, state);
    window.run_steps(4);
    window
}

fn held(window: &Window) -> Option<(usize, usize)> {
    let state = window.state();
    let pin = state.pin?;
    Some((state.place_of(pin.pane)?, pin.step))
}

#[test]
fn a_kind_is_chosen_in_the_menu_of_the_stepper_with_its_count() {
    let mut window = window_with(DockTab::Loop, None, Some(1));
    press(&mut window, "Every token");
    for row in ["Every token, 6", "Forced, 0", "By hand, 0"] {
        window.get_by_label(row);
    }
    press(&mut window, "Unlikely, 3");
    assert_eq!(window.state().view.kind, Some(TokenKind::Unlikely));
    assert!(!egui::Popup::is_any_open(&window.ctx));
    window.get_by_label("Unlikely, 1 of 3");
    press(&mut window, "Next token: unlikely (N)");
    assert_eq!(held(&window), Some((1, 3)));
    window.get_by_label("Unlikely, 2 of 3");
    press(&mut window, "Previous token: unlikely (Shift N)");
    assert_eq!(held(&window), Some((1, 1)));
    // Nothing comes before the first one.
    press(&mut window, "Previous token: unlikely (Shift N)");
    assert_eq!(held(&window), Some((1, 1)));
}

#[test]
fn keys_step_by_kind_from_any_tab_and_arrows_by_one() {
    let (n, back) = (Modifiers::NONE, Modifiers::SHIFT);
    for tab in DockTab::ALL {
        let mut window = window_with(tab, Some(TokenKind::Unlikely), Some(1));
        // The prompt, which had the focus, would get the letter.
        for _ in 0..2 {
            key(&mut window, Modifiers::NONE, Key::F6);
        }
        for (modifiers, pressed, step) in [
            (n, Key::N, 3),
            (n, Key::N, 4),
            // It is the last one.
            (n, Key::N, 4),
            (back, Key::N, 3),
            (n, Key::ArrowLeft, 2),
            (n, Key::N, 3),
        ] {
            key(&mut window, modifiers, pressed);
            assert_eq!(held(&window), Some((1, step)), "{tab:?}");
        }
        assert_eq!(window.state().view.dock_tab, tab);
    }
}

#[test]
fn the_chip_fits_beside_the_choices_of_a_tab() {
    for tab in [
        DockTab::Plots,
        DockTab::Xray,
        DockTab::Loop,
        DockTab::Numbers,
    ] {
        let window = window_with(tab, Some(TokenKind::Unlikely), Some(1));
        window.get_by_label("Unlikely, 1 of 3");
        let window = window_with(tab, None, Some(1));
        window.get_by_label("Every token");
    }
}

#[test]
fn the_key_steps_in_the_focused_text_and_types_into_a_field() {
    let mut window = window_with(DockTab::Plots, Some(TokenKind::Unlikely), None);
    key(&mut window, Modifiers::NONE, Key::F6);
    key(&mut window, Modifiers::NONE, Key::N);
    assert_eq!(held(&window), Some((0, 1)));
    window.get_by_role(egui::Role::MultilineTextInput).focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::N);
    assert_eq!(held(&window), Some((0, 1)));
}

#[test]
fn numbers_lists_the_tokens_of_a_kind() {
    let mut window = window_with(DockTab::Numbers, Some(TokenKind::Unlikely), Some(1));
    window.get_by_label("3 of 6 in B: the model’s probability is under 5 %");
    let row = |window: &Window, start: &str| {
        let rows = window.query_all_by_role(egui::Role::ListItem);
        let label = |row: egui_kittest::Node<'_>| row.accesskit_node().label();
        let mut labels = rows.filter_map(label);
        labels.find(|label| label.starts_with(start))
    };
    let fourth = row(&window, "Token 4, house, model 1.0 %, after settings ").unwrap();
    assert!(fourth.contains(", coin 0."), "{fourth}");
    assert_eq!(row(&window, "Token 3, "), None);
    press(&mut window, &fourth);
    assert_eq!(held(&window), Some((1, 3)));
    // The held one stays held.
    press(&mut window, &fourth);
    assert_eq!(held(&window), Some((1, 3)));
    let fifth = row(&window, "Token 5, ").unwrap();
    window.get_by_label(&fifth).focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(held(&window), Some((1, 4)));
}

#[test]
fn a_kind_without_a_token_says_so() {
    let window = window_with(DockTab::Numbers, Some(TokenKind::Forced), Some(1));
    window.get_by_label("No token of B was forced.");
    window.get_by_label("Forced, 0");
}

#[test]
fn the_strip_holds_the_nearest_token_of_the_kind() {
    let mut window = window_with(DockTab::Numbers, Some(TokenKind::Unlikely), Some(1));
    let name = "Unlikely: 3 of 6 in B: the model’s probability is under 5 %";
    let strip = window.get_by_label(name).rect();
    window.hover_at(strip.right_center() - vec2(1.0, 0.0));
    window.run_steps(1);
    let at = strip.right_center() - vec2(1.0, 0.0);
    crate::ui::testing::click_at(&mut window, at, Modifiers::NONE);
    window.run_steps(2);
    assert_eq!(held(&window), Some((1, 4)));
}
