//! The table in the dock, at the sizes at which it can be low.

use egui::{Rect, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::state::tests::{asked, ready, write};
use crate::state::{AppState, Command, DockTab, Pin};
use crate::ui::testing::{Window, press, window_of};

/// A state that holds a token which the model ranked last.
fn unlikely() -> AppState {
    let mut state = ready();
    for id in asked(&state.apply(Command::GenerateAll)) {
        write(
            &mut state,
            id,
            &[(" in", 0.6), (" a", 0.9), (" castle", 0.000_1)],
        );
    }
    let pane = state.panes[1].id;
    state.apply(Command::Unpin);
    state.apply(Command::Pin(Pin { pane, step: 2 }));
    state.view.dock_tab = DockTab::Xray;
    state.view.dock_open = Some(true);
    state
}

/// Returns where the rows are that name a rank.
fn rows(window: &Window) -> Vec<Rect> {
    let rows = window.query_all_by_label_contains(" rank ");
    rows.map(|row| row.rect()).collect()
}

#[test]
fn the_chosen_row_is_shown_whole_at_every_size() {
    for (width, height) in [
        (900.0, 600.0),
        (1024.0, 700.0),
        (1280.0, 800.0),
        (1600.0, 900.0),
    ] {
        let mut window = window_of(vec2(width, height), unlikely());
        window.run_steps(4);
        let name = format!("{width} × {height}");
        let chosen = window.get_by_label_contains(", chosen").rect();
        let bottom = window.ctx.content_rect().bottom();
        assert!(chosen.bottom() < bottom, "{name}: {chosen:?}");
        for row in rows(&window) {
            assert!((row.height() - 18.0).abs() < 0.1, "{name}: {row:?}");
            assert!(row.bottom() < bottom, "{name}: {row:?}");
        }
    }
}

#[test]
fn hidden_rows_are_counted_and_can_be_scrolled_to() {
    let mut window = window_of(vec2(900.0, 600.0), unlikely());
    window.run_steps(4);
    let n_rows = rows(&window).len();
    let more = window.get_by_label_contains("candidates hidden");
    let name = more.accesskit_node().label().unwrap();
    press(&mut window, &name);
    assert!(window.query_by_label(&name).is_none());
    assert_eq!(rows(&window).len(), n_rows, "as many fit");
    window.get_by_label_contains(", chosen");
    press(&mut window, "Fewer candidates");
    window.get_by_label(&name);
    // Another token starts with what fits.
    press(&mut window, &name);
    let pane = window.state().panes[1].id;
    window.state_mut().pin = Some(Pin { pane, step: 1 });
    window.run_steps(3);
    assert!(window.query_by_label("Fewer candidates").is_none());
}
