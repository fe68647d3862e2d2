//! Tests that no text is cut off or overlaps another, in the window's main states and at all sizes.
//! They check every text that a frame paints.

mod painted;
mod states;

use std::collections::BTreeSet;

use egui::{Rect, Vec2, pos2, vec2};
use egui_kittest::kittest::Queryable as _;

use self::painted::Frame;
use self::states::{Scene, scenes};
use crate::ui::testing::{Window, scaled_window_of};

/// How far a text may extend beyond its clip rectangle, in points: no more than antialiasing does.
const TOLERANCE: f32 = 1.0;

/// The scenes whose tables scroll sideways in a narrow window.
const SCROLLS_SIDEWAYS: [&str; 2] = ["Lab By hand", "tab Numbers"];

/// Opens a window in a scene's state and clicks the scene's controls.
fn shown(scene: &Scene, size: Vec2, scale: f32) -> Window {
    let mut window = scaled_window_of(size, scale, scene.state());
    window.run_steps(4);
    for name in scene.pressed {
        // Narrow windows name some controls differently or leave them out.
        let Some(control) = window.query_by_label(name) else {
            break;
        };
        control.click();
        window.run_steps(6);
    }
    window.run_steps(4);
    window
}

/// Returns what is wrong with the texts of the last frame.
fn faults(scene: &str, window: &Window, size: Vec2) -> BTreeSet<String> {
    let frame = Frame::of(&window.output().shapes);
    let screen = Rect::from_min_size(pos2(0.0, 0.0), size);
    let mut faults = BTreeSet::new();
    for text in frame.texts() {
        let (ink, clip) = (text.ink, text.clip.intersect(screen));
        let seen = ink.intersect(clip);
        let is_clipped = !text.clip.contains_rect(screen);
        if !seen.is_positive() {
            // Scrolled out of view, unless nothing scrolls.
            if !is_clipped {
                faults.insert(format!("‘{}’ at {ink} is outside the window", text.words));
            }
            continue;
        }
        let sideways =
            ink.left() < clip.left() - TOLERANCE || ink.right() > clip.right() + TOLERANCE;
        let is_below = ink.bottom() > screen.bottom() + TOLERANCE && !is_clipped;
        let may_scroll = is_clipped && SCROLLS_SIDEWAYS.contains(&scene);
        if sideways && !may_scroll || is_below {
            faults.insert(format!("‘{}’ is cut off: {ink} in {clip}", text.words));
        }
    }
    for (one, other) in frame.overlaps(TOLERANCE) {
        let (words, rect) = (&one.words, one.ink);
        faults.insert(format!(
            "‘{words}’ at {rect} overlaps ‘{}’ at {}",
            other.words, other.ink
        ));
    }
    faults
}

#[track_caller]
fn check(size: Vec2, scale: f32) {
    let mut found = Vec::new();
    for scene in scenes() {
        let window = shown(&scene, size, scale);
        for fault in faults(&scene.name, &window, size) {
            found.push(format!("{}: {fault}", scene.name));
        }
    }
    assert!(
        found.is_empty(),
        "{} faults at {size} × {scale}:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn texts_fit_a_window_of_900_by_600() {
    check(vec2(900.0, 600.0), 1.0);
}

#[test]
fn texts_fit_a_window_of_1024_by_700() {
    check(vec2(1024.0, 700.0), 1.0);
}

#[test]
fn texts_fit_a_window_of_1280_by_800() {
    check(vec2(1280.0, 800.0), 1.0);
}

#[test]
fn texts_fit_a_window_of_1920_by_1080() {
    check(vec2(1920.0, 1080.0), 1.0);
}

#[test]
fn texts_fit_a_4k_screen_at_200_percent() {
    check(vec2(1920.0, 1080.0), 2.0);
}
