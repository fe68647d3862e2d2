//! A test window without a worker: it draws the state and applies its commands.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::WindowUi;
use crate::design::style;
use crate::state::AppState;

pub(crate) type Window = Harness<'static, AppState>;

/// Opens a window of this size, in points, on this state.
pub(crate) fn window_of(size: Vec2, state: AppState) -> Window {
    scaled_window_of(size, 1.0, state)
}

/// Opens a window with this many pixels per point.
pub(crate) fn scaled_window_of(size: Vec2, scale: f32, state: AppState) -> Window {
    let mut drawing = WindowUi::default();
    Harness::builder()
        .with_size(size)
        .with_pixels_per_point(scale)
        .with_theme(egui::Theme::Dark)
        .with_step_dt(0.05)
        .allow_missing_glyphs()
        .with_context_setup(style::install)
        .build_ui_state(
            move |ui, state: &mut AppState| {
                for command in drawing.ui(ui, state) {
                    state.apply(command);
                }
            },
            state,
        )
}

/// Clicks the control with this accessible name and runs a few frames.
#[track_caller]
pub(crate) fn press(window: &mut Window, name: &str) {
    window.get_by_label(name).click();
    window.run_steps(4);
}

/// Clicks where the pointer is.
pub(crate) fn click_at(window: &mut Window, at: Pos2, modifiers: Modifiers) {
    for pressed in [true, false] {
        window.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers,
        });
        window.run_steps(1);
    }
}

/// Moves the pointer there, clicks twice and runs a few frames.
pub(crate) fn double_click_at(window: &mut Window, at: Pos2) {
    window.hover_at(at);
    window.run_steps(1);
    click_at(window, at, Modifiers::NONE);
    click_at(window, at, Modifiers::NONE);
    window.run_steps(3);
}

/// Presses a key and runs a few frames.
pub(crate) fn key(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}
