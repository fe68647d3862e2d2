//! Tests of the page's style and script.

use super::{SCRIPT, STYLE, render};
use crate::generation::testing::generation;

/// Returns the rules of the style sheet for a kind of screen, or for paper.
fn rules(media: &str) -> &'static str {
    let start = STYLE.find(&format!("@media {media} {{")).unwrap();
    let rest = &STYLE[start..];
    &rest[..rest[1..].find("\n@media").map_or(rest.len(), |end| end + 1)]
}

#[test]
fn the_x_ray_stays_in_view_of_a_long_text() {
    let text = generation(&[(" the", 0.5), (" fox", 0.5)]);
    let page = render(&[Some(&text)], &[], None);
    let at = |words: &str| page.find(words).unwrap();
    let beside = at("<div class=\"beside\">");
    assert!(beside < at("<main") && at("</main>") < at("id=\"xray\""));
    let wide = rules("screen and (min-width: 1100px)");
    assert!(wide.contains("1fr) 408px") && wide.contains("#xray { top: 12px;"));
    assert!(STYLE.contains(".scripted #xray { position: sticky;"));
    let phone = rules("screen and (max-width: 719px)");
    for words in [
        "position: fixed; inset: auto 0 0;",
        "max-height: 60vh;",
        "min-height: 44px",
        ".grip { display: block;",
        ".close { display: block;",
    ] {
        assert!(phone.contains(words), "{words}: {phone}");
    }
    for words in ["\"Click\"", "\"Tap\"", "\"Close the X-ray\"", "pointerType"] {
        assert!(SCRIPT.contains(words), "{words}");
    }
}

#[test]
fn a_printed_page_has_no_empty_boxes_and_no_cut_columns() {
    let paper = rules("print");
    for words in [
        "section.needs-script:not(:has(table)) { display: none; }",
        "td, th { padding-right: 8px; white-space: normal;",
        ".plots { display: block; }",
    ] {
        assert!(paper.contains(words), "{words}: {paper}");
    }
    // The sheet and its buttons exist only on a screen.
    assert!(STYLE.contains("\n.close, .grip { display: none; }"));
}
