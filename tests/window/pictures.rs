//! Tests of exported pictures: every view, in every color theme.

use std::path::Path;

use quartet::state::{PictureTarget, PictureTheme};

use super::writing::save_entry_as;
use super::{DEFAULT_SIZE, Window, generate, is_ready, open, press, reciting, settings, wait};

fn written() -> Window {
    let mut window = open(settings(5), DEFAULT_SIZE, reciting);
    generate(&mut window);
    window
}

/// Exports through the open menu and returns the file's content.
#[expect(
    clippy::unwrap_used,
    reason = "a failing helper fails the test that called it"
)]
fn exported(window: &mut Window, entry: &str, path: &Path) -> Vec<u8> {
    save_entry_as(window, entry, path);
    wait(window, entry, |_| path.exists());
    std::fs::read(path).unwrap()
}

fn exported_text(window: &mut Window, entry: &str, path: &Path) -> String {
    String::from_utf8_lossy(&exported(window, entry, path)).into_owned()
}

#[test]
fn every_view_can_be_exported_with_its_seed_and_coin() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = written();
    for (entry, words) in [
        ("The surprise plot as SVG…", &["seed 42"][..]),
        ("Next token as SVG…", &["seed 42", "token "]),
        ("Speed as SVG…", &["seed 42", " UTC"]),
        (
            "Compare as SVG…",
            &["How far apart", "Perplexity", "seed 42"],
        ),
        (
            "Loop as SVG…",
            &["Forward pass", ">Softmax<", "token ", " UTC"],
        ),
        (
            "X-ray as SVG…",
            &["Logit", ">Softmax<", "seed 42", "token "],
        ),
        (
            "By hand as SVG…",
            &["Logits set by hand, seed 42", "Coin 0.", ">Softmax<"],
        ),
        (
            "The texts as SVG…",
            &[">Greedy<", "≥ 50 %", "seed 42", "Token limit"],
        ),
    ] {
        let path = folder.path().join(format!("{entry}.svg"));
        press(&mut window, "Export");
        press(&mut window, "Pictures");
        let svg = exported_text(&mut window, entry, &path);
        assert!(svg.starts_with("<svg"), "{entry}");
        for word in words {
            assert!(svg.contains(word), "{word} is not in\n{svg}");
        }
    }
}

#[test]
fn a_picture_for_print_has_no_color() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = written();
    for (choice, theme) in [
        ("Picture colors: dark", PictureTheme::Dark),
        ("Picture colors: light", PictureTheme::Light),
        ("Picture colors: print", PictureTheme::Print),
    ] {
        press(&mut window, "Export");
        press(&mut window, "Pictures");
        press(&mut window, choice);
        assert_eq!(window.state().state().view.picture_theme, theme);
        let path = folder.path().join(format!("{theme:?}.svg"));
        let svg = exported_text(&mut window, "The texts as SVG…", &path);
        let colors = svg.split("=\"#").skip(1).filter_map(|rest| rest.get(..6));
        let is_gray = |color: &&str| color[..2] == color[2..4] && color[2..4] == color[4..];
        let n_colored = colors.clone().filter(|color| !is_gray(color)).count();
        assert!(colors.count() > 20);
        assert_eq!(n_colored == 0, theme == PictureTheme::Print, "{theme:?}");
    }
}

#[test]
fn the_logits_set_by_hand_can_be_exported_before_any_text_is_generated() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(settings(5), DEFAULT_SIZE, reciting);
    wait(&mut window, "the model", is_ready);
    press(&mut window, "Lab");
    press(&mut window, "By hand");
    press(&mut window, "Export a picture");
    press(&mut window, "Picture format: PNG");
    assert_eq!(
        window.state().state().view.picture_target,
        PictureTarget::Png
    );
    let path = folder.path().join("by-hand.png");
    let png = exported(&mut window, "By hand as PNG…", &path);
    assert!(png.starts_with(b"\x89PNG"));
}
