//! Tests of texts that are written from right to left. The bundled fonts lack their letters, so the
//! tests see boxes, in the order of the letters.

use std::collections::BTreeSet;

use egui::{Context, RawInput, Rect};

use super::layout::Layout;
use super::rows::Span;
use super::transcript::{ShownThought, Transcript};
use super::typed_text::TypedText;
use crate::design::style;
use crate::generation::Generation;
use crate::generation::testing::generation;

/// Lays a text out, after each of these numbers of its steps.
fn lay_out(text: &Generation, n_steps: &[usize], width: f32) -> (Transcript, Layout) {
    let (mut transcript, mut layout) = (Transcript::default(), Layout::default());
    let ctx = Context::default();
    style::install(&ctx);
    for n in n_steps {
        let mut growing = text.clone();
        growing.steps = text.steps.range(..*n).cloned().collect();
        transcript.sync(&growing, ShownThought::AsText);
        let output = ctx.run_ui(RawInput::default(), |ui| {
            layout.update(ui, &transcript, width);
        });
        output.drop_without_applying_deltas();
    }
    (transcript, layout)
}

/// Lays a text out. Returns the bytes of each row, and its spans from left to right.
fn rows(text: &Generation, width: f32) -> Vec<(String, Vec<Span>)> {
    let (transcript, layout) = lay_out(text, &[text.steps.len()], width);
    let rows = layout.chunks().iter().flat_map(|chunk| &chunk.rows);
    rows.map(|row| {
        let text = transcript.text()[row.bytes.clone()].to_owned();
        (text, row.spans.clone())
    })
    .collect()
}

/// A text of 60 tokens: Hebrew, Arabic, English, numbers, brackets and line breaks.
fn mixed() -> Generation {
    let words = [
        "שלום",
        " עול",
        "ם",
        " (42)",
        " לא",
        " fox",
        " مرحبا",
        " بلاد",
        " ١٢٣٤٥",
        ".\n",
    ];
    let pieces: Vec<(&str, f64)> = (0..60).map(|at| (words[at % words.len()], 0.3)).collect();
    generation(&pieces)
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
    let text = mixed();
    let (transcript, _) = lay_out(&text, &[text.steps.len()], 240.0);
    for width in [90.0, 240.0, 600.0] {
        let rows = rows(&text, width);
        let joined: String = rows.iter().map(|(line, _)| line.as_str()).collect();
        assert_eq!(joined, transcript.text(), "{width}");
        assert!(rows.len() > 1);
        for (line, spans) in &rows {
            let right = spans.last().map_or(0.0, |span| span.x.max);
            let left = spans.first().map_or(0.0, |span| span.x.min);
            // A space or a line break may hang over an edge.
            assert!(right <= width + 12.0, "{line} reaches {right} of {width}");
            assert!(left >= -14.0, "{line} begins at {left}");
        }
    }
}

#[test]
fn pointing_at_a_token_finds_it_in_either_direction() {
    let text = mixed();
    for width in [90.0, 240.0, 600.0] {
        let (_, layout) = lay_out(&text, &[text.steps.len()], width);
        let mut found = BTreeSet::new();
        for row in layout.chunks().iter().flat_map(|chunk| &chunk.rows) {
            for span in row.spans.iter().filter(|span| span.x.span() > 1.0) {
                let at = row.span_at(span.x.center());
                assert_eq!(at.map(|at| at.step), Some(span.step), "{width}");
                found.extend(span.step);
            }
        }
        assert_eq!(found.len(), text.steps.len(), "{width}");
    }
}

#[test]
fn a_text_that_grows_ends_its_rows_where_the_whole_text_does() {
    let text = mixed();
    let n_steps: Vec<usize> = (0..=text.steps.len()).collect();
    for width in [90.0, 240.0, 600.0] {
        let (_, grown) = lay_out(&text, &n_steps, width);
        let (_, whole) = lay_out(&text, &[text.steps.len()], width);
        let rows = |layout: &Layout| -> Vec<_> {
            let rows = layout.chunks().iter().flat_map(|chunk| &chunk.rows);
            rows.cloned().collect()
        };
        assert_eq!(rows(&grown), rows(&whole), "{width}");
    }
}

#[test]
fn a_paragraph_from_the_right_starts_at_the_right_edge_and_ends_on_the_left() {
    let text = generation(&[("\n", 0.5), ("שלום", 0.5), (" fox", 0.5), ("\n", 0.5)]);
    let rows = rows(&text, 500.0);
    let (line, spans) = rows.iter().find(|(line, _)| line.contains('ש')).unwrap();
    assert_eq!(line, "שלום fox\n");
    assert_eq!(steps(spans), [3, 2, 1]);
    let right = spans.last().unwrap().x.max;
    assert!((499.0..=501.0).contains(&right), "{right}");
}

/// Returns the typed text, and where its caret is before each character and after the last.
fn carets(text: &str, width: f32) -> (TypedText, Vec<Rect>) {
    let ctx = Context::default();
    style::install(&ctx);
    let mut typed = None;
    let output = ctx.run_ui(RawInput::default(), |ui| {
        typed = Some(TypedText::lay_out(ui, text, width));
    });
    output.drop_without_applying_deltas();
    let typed = typed.unwrap();
    let all = 0..=text.chars().count();
    let carets = all.map(|index| typed.caret(index)).collect();
    (typed, carets)
}

#[test]
fn the_caret_goes_from_right_to_left_and_is_found_where_it_is() {
    let (typed, carets) = carets("שלום עולם", 300.0);
    let [row] = typed.row_rects()[..] else {
        panic!("{typed:?}");
    };
    let x: Vec<f32> = carets.iter().map(Rect::left).collect();
    assert!((x[0] - 300.0).abs() < 1.0, "it begins at the right: {x:?}");
    assert!(x.is_sorted_by(|before, after| before > after), "{x:?}");
    assert!(
        (x[9] - row.left()).abs() < 0.1,
        "it ends at the left: {x:?}"
    );
    for (index, caret) in carets.iter().enumerate() {
        assert_eq!(typed.index_at(caret.center()), index);
    }
}

#[test]
fn the_caret_turns_with_a_foreign_word_and_begins_each_line_at_the_right() {
    let (_, mixed) = carets("שלום fox", 300.0);
    let x: Vec<f32> = mixed.iter().map(Rect::left).collect();
    assert!(
        x[6] < x[7] && x[7] < x[8],
        "‘fox’ is read to the right: {x:?}"
    );
    assert!(x[8] < x[4], "it stands left of the Hebrew word: {x:?}");
    let (_, lines) = carets("של\nום", 300.0);
    assert!(lines[3].top() >= lines[2].bottom() - 0.5, "{lines:?}");
    assert!((lines[3].left() - 300.0).abs() < 1.0, "{lines:?}");
    let (_, none) = carets("", 300.0);
    assert!((none[0].left() - 300.0).abs() < 1.0, "{none:?}");
    assert!(none[0].height() > 10.0, "{none:?}");
}
