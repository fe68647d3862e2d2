//! Tests of texts that are written from right to left. The bundled fonts lack their letters, so the
//! tests see boxes, in the order of the letters.

use egui::{Context, RawInput};

use super::layout::Layout;
use super::rows::Span;
use super::transcript::Transcript;
use crate::design::style;
use crate::generation::Generation;
use crate::generation::testing::generation;

/// Lays a text out. Returns the bytes of each row, and its spans from left to right.
fn rows(text: &Generation, width: f32) -> Vec<(String, Vec<Span>)> {
    let mut transcript = Transcript::default();
    transcript.sync(text);
    let ctx = Context::default();
    style::install(&ctx);
    let mut layout = Layout::default();
    let output = ctx.run_ui(RawInput::default(), |ui| {
        layout.update(ui, &transcript, width);
    });
    output.drop_without_applying_deltas();
    let rows = layout.chunks().iter().flat_map(|chunk| &chunk.rows);
    rows.map(|row| {
        let text = transcript.text()[row.bytes.clone()].to_owned();
        (text, row.spans.clone())
    })
    .collect()
}

/// The generated tokens of a row, from left to right.
fn steps(spans: &[Span]) -> Vec<usize> {
    spans.iter().filter_map(|span| span.step).collect()
}

#[test]
fn tokens_are_found_from_right_to_left() {
    // "Peace to all of you", in Hebrew, with a word of two tokens.
    let text = generation(&[
        ("\n", 0.5),
        ("שלו", 0.5),
        ("ם", 0.5),
        (" לכ", 0.5),
        ("ולכם", 0.5),
    ]);
    let rows = rows(&text, 500.0);
    let (line, spans) = rows.last().unwrap();
    assert_eq!(line, "שלום לכולכם");
    assert_eq!(steps(spans), [4, 3, 2, 1]);
    for pair in spans.windows(2) {
        assert!(pair[0].x.max <= pair[1].x.min + 0.5, "{spans:?}");
    }
    assert!(spans.iter().all(|span| span.x.span() > 0.0), "{spans:?}");
}

#[test]
fn a_foreign_word_keeps_its_place_in_the_sentence() {
    let text = generation(&[
        ("\n", 0.5),
        ("say", 0.5),
        (" שלום", 0.5),
        (" עולם", 0.5),
        (" now", 0.5),
    ]);
    let rows = rows(&text, 500.0);
    // The space before a word belongs to its token, so the middle one is cut in two.
    let found = steps(&rows.last().unwrap().1);
    assert_eq!(found.first(), Some(&1));
    assert_eq!(found.last(), Some(&4));
    let first = |step| found.iter().rposition(|found| *found == step);
    assert!(first(3) < first(2), "{found:?}");
}

#[test]
fn wrapped_rows_contain_every_character_once_in_reading_order() {
    let words = ["שלום", " עולם", " (42)", " לא", " fox", " مرحبا", " بلاد"];
    let pieces: Vec<(&str, f64)> = (0..60).map(|at| (words[at % words.len()], 0.3)).collect();
    let text = generation(&pieces);
    let mut transcript = Transcript::default();
    transcript.sync(&text);
    for width in [90.0, 240.0, 600.0] {
        let rows = rows(&text, width);
        let joined: String = rows.iter().map(|(line, _)| line.as_str()).collect();
        assert_eq!(joined, transcript.text(), "{width}");
        assert!(rows.len() > 1);
        for (line, spans) in &rows {
            let right = spans.last().map_or(0.0, |span| span.x.max);
            assert!(right <= width + 12.0, "{line} reaches {right} of {width}");
        }
    }
}
