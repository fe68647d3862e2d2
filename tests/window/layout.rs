//! Tests what must stay within reach and visible in windows of every size.

use egui_kittest::kittest::Queryable as _;
use quartet::decoding::filters::{Temperature, TopP};
use quartet::decoding::{ChainConfig, Filter};
use quartet::state::{DockTab, ScoreCap, Settings};

use super::{DEFAULT_SIZE, Window, generate, open, press, reciting, settings};

fn written(settings: Settings, size: [f32; 2]) -> Window {
    let mut window = open(settings, size, reciting);
    generate(&mut window);
    window
}

#[test]
fn the_editor_says_what_every_stage_does_at_the_shown_token() {
    let mut settings = settings(5);
    if let Some(last) = settings.panes.last_mut() {
        last.chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.5 }),
        ]);
    }
    let mut window = written(settings, DEFAULT_SIZE);
    press(&mut window, "How D chooses");
    let shown = |words: &str| window.query_all_by_label_contains(words).count();
    assert_eq!(shown(" bits here"), 1);
    assert_eq!(shown("Keeps "), 1);
}

#[test]
fn the_whole_editor_fits_the_window_after_a_change_of_order() {
    for size in [DEFAULT_SIZE, [1920.0, 1080.0], [900.0, 600.0]] {
        let mut window = written(settings(5), size);
        press(&mut window, "How D chooses");
        press(&mut window, "More commands for the chain");
        press(&mut window, "Order…");
        press(&mut window, "its defaults");
        press(&mut window, "llama.cpp");
        for part in ["Close the editor", "Draw: Sample", "Own seed"] {
            let rect = window.get_by_label(part).rect();
            let inside = rect.min.y >= 0.0 && rect.max.y <= size[1];
            assert!(inside, "{part} is at {rect} in {size:?}");
        }
    }
}

#[test]
fn the_dock_names_the_token_beside_its_tabs_at_every_width() {
    for width in [720.0, 900.0, 1024.0, 1200.0, 1280.0] {
        let mut window = written(settings(5), [width, 800.0]);
        for tab in ["X-ray", "Plots"] {
            press(&mut window, tab);
            let last = window.get_by_label("Numbers").rect();
            let previous = window.get_by_label("Previous token").rect();
            assert!(last.right() < previous.left(), "{tab} at {width}");
        }
    }
}

#[test]
fn the_cap_of_the_score_can_be_chosen_in_narrow_and_wide_windows() {
    for (size, menu) in [
        (DEFAULT_SIZE, "Cap of the surprise plot"),
        ([1024.0, 700.0], "What the plot shows"),
    ] {
        let mut settings = settings(5);
        settings.view.dock_tab = DockTab::Plots;
        let mut window = written(settings, size);
        press(&mut window, menu);
        press(&mut window, "Cap at 4 bits");
        assert_eq!(window.state().state().view.score_cap, ScoreCap::FourBits);
        // Both the title and the plot itself show it.
        let subtitles = window.query_all_by_label_contains("full height 4 bits");
        assert_eq!(subtitles.count(), 2);
    }
}

#[test]
fn the_legend_of_the_tint_is_visible_at_every_width() {
    for width in [640.0, 900.0, 1024.0, 1280.0] {
        let window = written(settings(5), [width, 700.0]);
        for range in ["≥ 50 %", "1–5", "< 1 %"] {
            let rect = window.get_by_label(range).rect();
            assert!(
                rect.min.x > 0.0 && rect.max.x <= width,
                "{range} at {width}"
            );
        }
    }
}

#[test]
fn the_menu_of_every_pane_is_within_reach_at_every_width() {
    for width in [720.0, 900.0, 1024.0, 1280.0] {
        let window = written(settings(5), [width, 700.0]);
        for letter in ["A", "B", "C", "D"] {
            let name = format!("More actions for pane {letter}");
            let rect = window.get_by_label(&name).rect();
            assert!(rect.min.x > 0.0 && rect.max.x <= width, "{name} at {width}");
        }
    }
}

#[test]
fn a_notice_leaves_the_buttons_of_the_panes_within_reach() {
    for size in [DEFAULT_SIZE, [900.0, 600.0]] {
        let mut window = written(settings(5), size);
        press(&mut window, "More actions for pane A");
        press(&mut window, "Copy settings as");
        press(&mut window, "Ollama Modelfile");
        let notice = window.get_by_label("Close the notice").rect();
        let buttons: Vec<_> = window.query_all_by_label("Continue").collect();
        assert!(!buttons.is_empty());
        for button in buttons {
            assert!(!button.rect().intersects(notice.expand(14.0)), "{size:?}");
        }
    }
}

#[test]
fn greedy_strikes_out_no_candidate() {
    let mut settings = settings(5);
    settings.panes.truncate(1);
    let window = written(settings, DEFAULT_SIZE);
    let shown = |words: &str| window.query_all_by_label_contains(words).count();
    assert!(shown("before, passed over") > 0);
    assert_eq!(shown("before, cut"), 0);
}
