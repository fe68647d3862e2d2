//! Tests of the token text, without a window.

use egui::{Context, Event, Pos2, RawInput, Rect, Shape, Vec2, pos2, vec2};

use super::layout::Layout;
use super::transcript::{RunStyle, ShownThought, Transcript};
use super::{KindMarks, TextEnd, TokenTextInput, TokenTextResponse, TokenView};
use crate::analysis::token_kinds::TokenKind;
use crate::decoding::ChainConfig;
use crate::design::style;
use crate::design::theme::Theme;
use crate::generation::testing::{generation, generation_of};
use crate::generation::{Generation, Piece};
use crate::state::{PaneKinds, Tint, WhatIfs};

/// Text, bytes, a character split across three tokens, blank lines, whitespace and a special token.
fn mixed() -> Generation {
    let text = |text: &str| (Piece::text(text), 0.4);
    let bytes = |bytes: &[u8]| (Piece::text(bytes), 0.4);
    generation_of(&[
        text(" a"),
        text(" little"),
        bytes(&[0xE2]),
        bytes(&[0x82]),
        bytes(&[0xAC, b' ']),
        text("5.\n\n"),
        text("\n"),
        text("Then"),
        text("  "),
        text("a\u{200B}b"),
        text("\t"),
        bytes(&[0xFF]),
        text(" end."),
        (Piece::special("</s>"), 0.9),
    ])
}

/// Enough words and paragraphs for several chunks.
pub(super) fn long() -> Generation {
    let words = [
        " there", " was", " a", " fox", ".", "\n\n", "\n", "It", " ran",
    ];
    let pieces: Vec<(&str, f64)> = (0..400).map(|at| (words[at % words.len()], 0.3)).collect();
    generation(&pieces)
}

fn transcript_of(generation: &Generation) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.sync(generation, ShownThought::AsText);
    transcript
}

/// A window with one view, whose frames the test runs.
pub(super) struct Window {
    pub ctx: Context,
    pub view: TokenView,
    secs: f64,
    pub size: Vec2,
}

impl Window {
    pub(super) fn new(size: Vec2) -> Self {
        let ctx = Context::default();
        style::install(&ctx);
        Self {
            ctx,
            view: TokenView::default(),
            secs: 0.0,
            size,
        }
    }

    pub(super) fn show(
        &mut self,
        generation: &Generation,
        events: Vec<Event>,
    ) -> TokenTextResponse {
        self.secs += 0.1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.secs),
            events,
            ..RawInput::default()
        };
        let mut response = TokenTextResponse::default();
        let output = self.ctx.run_ui(input, |ui| {
            response = self.view.ui(ui, input_of(generation));
        });
        output.drop_without_applying_deltas();
        response
    }

    /// Moves the pointer, runs another frame, and returns the hovered step.
    fn hover(&mut self, generation: &Generation, at: Pos2) -> Option<usize> {
        self.show(generation, vec![Event::PointerMoved(at)]);
        self.show(generation, Vec::new()).hovered
    }
}

pub(super) fn input_of(generation: &Generation) -> TokenTextInput<'_> {
    TokenTextInput {
        generation,
        tint: Tint::Probability,
        watermark: None,
        pinned: None,
        same_step: None,
        breaks_at: None,
        breaks_other_at: None,
        contradicts_at: None,
        unjudged_from: None,
        n_dimmed: 0,
        looping: None,
        fork_step: None,
        what_ifs: None,
        kind: None,
        show_marks: false,
        has_cards: true,
        can_branch: false,
        end: TextEnd::Plain,
        pane_color: Theme::dark_or_light(true).pane(0),
    }
}

/// Lays a transcript out at a width and passes the layout to `inspect`.
fn with_layout<T>(transcript: &Transcript, width: f32, inspect: impl Fn(&Layout) -> T) -> T {
    let ctx = Context::default();
    style::install(&ctx);
    let mut result = None;
    for _ in 0..2 {
        let mut layout = Layout::default();
        let output = ctx.run_ui(RawInput::default(), |ui| {
            layout.update(ui, transcript, width);
            result = Some(inspect(&layout));
        });
        output.drop_without_applying_deltas();
    }
    result.expect("a frame has run")
}

/// Returns the displayed characters of a step.
fn shown(transcript: &Transcript, step: usize) -> String {
    let start = transcript.step_start(step).expect("the step exists");
    let end = transcript.step_start(step + 1);
    transcript.text()[start..end.unwrap_or(transcript.text().len())].to_owned()
}

#[test]
fn a_split_character_is_shown_by_the_token_that_completes_it() {
    let transcript = transcript_of(&mixed());
    for (step, expected) in [
        (2, " E2 "),
        (3, " 82 "),
        (4, "€ "),
        (11, " FF "),
        (13, " </s> "),
    ] {
        assert_eq!(shown(&transcript, step), expected, "step {step}");
    }
    assert!(transcript.plain().contains("little€ 5."));
}

#[test]
fn incomplete_bytes_stay_visible_as_bytes() {
    let pieces: Vec<(Piece, f64)> = [&[0xE2, 0x82][..], b"x", &[0xF0, 0x9F], &[0x98, 0x80, b'!']]
        .map(|bytes| (Piece::text(bytes), 0.5))
        .to_vec();
    let transcript = transcript_of(&generation_of(&pieces));
    let all: Vec<String> = (0..4).map(|step| shown(&transcript, step)).collect();
    assert_eq!(all, [" E2\u{A0}82 ", "x", " F0\u{A0}9F ", "😀!"]);
}

#[test]
fn invisible_characters_are_shown_by_their_code_point() {
    let transcript = transcript_of(&mixed());
    assert_eq!(shown(&transcript, 9), "a U+200B b");
    let family = transcript_of(&generation(&[("👨\u{200D}👩", 0.5), ("\u{200D}", 0.5)]));
    assert_eq!(shown(&family, 0), "👨\u{200D}👩");
    assert_eq!(shown(&family, 1), " U+200D ");
}

#[test]
fn text_that_arrives_in_pieces_equals_text_that_arrives_at_once() {
    let whole = mixed();
    let mut growing = whole.clone();
    let mut transcript = Transcript::default();
    for n_steps in 0..=whole.steps.len() {
        growing.steps = whole.steps.range(..n_steps).cloned().collect();
        let restarted = transcript.sync(&growing, ShownThought::AsText);
        assert_eq!(restarted, n_steps == 0);
    }
    assert_eq!(transcript.text(), transcript_of(&whole).text());
}

#[test]
fn another_generation_of_the_same_prompt_starts_over() {
    let mut transcript = transcript_of(&generation(&[(" a", 0.5), (" fox", 0.5)]));
    let mut other = generation(&[(" the", 0.5), (" house", 0.5)]);
    assert!(transcript.sync(&other, ShownThought::AsText));
    assert_eq!(transcript.plain(), "Once there was the house");
    other.steps.truncate(1);
    assert!(transcript.sync(&other, ShownThought::AsText));
    assert_eq!(transcript.plain(), "Once there was the");
}

#[test]
fn chunks_keep_every_character_and_blank_line_at_any_width() {
    for generation in [mixed(), long()] {
        let transcript = transcript_of(&generation);
        let n_blank = |text: &str| text.lines().filter(|line| line.is_empty()).count();
        for width in [90.0, 140.0, 280.0, 680.0] {
            with_layout(&transcript, width, |layout| {
                let rows = || layout.chunks().iter().flat_map(|chunk| &chunk.rows);
                let mut end = 0;
                for row in rows() {
                    assert_eq!(row.bytes.start, end, "at width {width}");
                    end = row.bytes.end;
                }
                assert_eq!(end, transcript.text().len());
                let blank = rows().filter(|row| row.y.span() < 12.0).count();
                assert_eq!(blank, n_blank(transcript.text()), "at width {width}");
            });
        }
    }
}

#[test]
fn every_token_can_be_hovered() {
    for (generation, width) in [(mixed(), 160.0), (long(), 280.0)] {
        let transcript = transcript_of(&generation);
        let found = with_layout(&transcript, width, |layout| {
            let mut found = vec![false; generation.steps.len()];
            for chunk in layout.chunks() {
                for row in &chunk.rows {
                    for span in &row.spans {
                        let hit = layout.row_at(chunk.y.min + row.y.center());
                        let hit = hit.and_then(|row| row.span_at(span.x.center()));
                        assert_eq!(hit, Some(span));
                        if let Some(step) = span.step {
                            found[step] = true;
                        }
                    }
                }
            }
            found
        });
        let missing: Vec<usize> = (0..found.len()).filter(|step| !found[*step]).collect();
        assert_eq!(missing, Vec::<usize>::new());
    }
}

#[test]
fn fills_exclude_the_space_before_a_token() {
    let transcript = transcript_of(&mixed());
    with_layout(&transcript, 680.0, |layout| {
        let spans = || {
            let rows = layout.chunks().iter().flat_map(|chunk| &chunk.rows);
            rows.flat_map(|row| &row.spans)
        };
        let of = |step| {
            spans()
                .find(|span| span.step == Some(step))
                .expect("the token is visible")
        };
        let little = of(1);
        assert!(little.ink.expect("has letters").min > little.x.min + 2.0);
        let white = of(8);
        assert_eq!(white.ink, Some(white.x));
        assert_eq!(of(11).style, RunStyle::Bytes);
    });
}

#[test]
fn a_new_width_lays_out_the_text_again() {
    let generation = long();
    let mut window = Window::new(vec2(400.0, 300.0));
    window.show(&generation, Vec::new());
    let wide = window.view.layout.height();
    window.size.x = 150.0;
    window.show(&generation, Vec::new());
    assert!(window.view.layout.height() > wide);
}

/// Four hundred words of various lengths in long paragraphs.
fn prose() -> Generation {
    let letters = "etaoinshrdlumfwygpbvkxqjz";
    let words = (0..400usize).map(|at| {
        let n_letters = 1 + at * at * 7 % 11;
        let starts = (0..n_letters).map(|letter| (at * 13 + letter * letter * 5) % letters.len());
        let word: String = starts.map(|start| &letters[start..=start]).collect();
        let end = if at % 90 == 89 { "\n\n" } else { "" };
        format!(" {word}{end}")
    });
    let words: Vec<String> = words.collect();
    let pieces: Vec<(&str, f64)> = words.iter().map(|word| (word.as_str(), 0.3)).collect();
    generation(&pieces)
}

/// Words that just fit are the hard case, so the test tries many widths.
#[test]
fn a_growing_text_has_the_same_rows_as_a_complete_one() {
    let rows = |window: &Window| -> Vec<std::ops::Range<usize>> {
        let chunks = window.view.layout.chunks().iter();
        chunks
            .flat_map(|chunk| chunk.rows.iter().map(|row| row.bytes.clone()))
            .collect()
    };
    for (whole, width) in [(long(), 300.0), (prose(), 260.0)]
        .into_iter()
        .flat_map(|(text, width)| (0..12).map(move |more| (text.clone(), width + more as f32)))
    {
        let mut growing = whole.clone();
        let mut window = Window::new(vec2(width, 300.0));
        let n_all = whole.steps.len();
        for n_steps in (0..=n_all).step_by(3).chain([n_all]) {
            growing.steps = whole.steps.range(..n_steps).cloned().collect();
            window.show(&growing, Vec::new());
        }
        let mut fresh = Window::new(vec2(width, 300.0));
        fresh.show(&whole, Vec::new());
        fresh.show(&whole, Vec::new());
        assert_eq!(rows(&window), rows(&fresh), "at width {width}");
    }
}

#[test]
fn hovering_and_clicking_return_the_token_under_the_pointer() {
    let generation = generation(&[(" a", 0.5), (" fox", 0.1), ("\n\n", 0.2), ("It", 0.5)]);
    let mut window = Window::new(vec2(600.0, 300.0));
    window.show(&generation, Vec::new());
    let origin = pos2(14.0, 2.0);
    let position = |window: &Window, step: usize| {
        let chunks = window.view.layout.chunks().iter();
        let mut rows = chunks.flat_map(|chunk| chunk.rows.iter().map(move |row| (chunk, row)));
        rows.find_map(|(chunk, row)| {
            let span = row.spans.iter().find(|span| span.step == Some(step))?;
            let y = chunk.y.min + row.y.center();
            Some(origin + vec2(span.x.center(), y))
        })
    };
    for step in 0..generation.steps.len() {
        let at = position(&window, step).expect("the token is visible");
        assert_eq!(window.hover(&generation, at), Some(step));
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        };
        window.show(&generation, vec![button(true)]);
        let clicked = window.show(&generation, vec![button(false)]).clicked;
        assert_eq!(clicked, Some(step));
    }
    let prompt = origin + vec2(10.0, 12.0);
    assert_eq!(window.hover(&generation, prompt), None);
    assert_eq!(window.hover(&generation, pos2(500.0, 280.0)), None);
}

#[test]
fn scrolling_brings_a_token_into_view() {
    let generation = long();
    let mut window = Window::new(vec2(300.0, 120.0));
    window.show(&generation, Vec::new());
    let last = generation.steps.len() - 1;
    window.view.scroll_to(last);
    for _ in 0..4 {
        window.show(&generation, Vec::new());
    }
    let bottom = (0..120).rev().find_map(|y| {
        let row = (14..280).rev().step_by(3);
        row.map(|x| pos2(x as f32, y as f32))
            .find_map(|at| window.hover(&generation, at))
    });
    assert_eq!(bottom, Some(last));
}

/// Returns what is painted of a text.
fn painted(input: TokenTextInput<'_>) -> Vec<Shape> {
    let mut window = Window::new(vec2(600.0, 300.0));
    let mut shapes = Vec::new();
    for _ in 0..2 {
        let output = window.ctx.run_ui(RawInput::default(), |ui| {
            window.view.ui(ui, input);
        });
        shapes = output.shapes.iter().map(|it| it.shape.clone()).collect();
        output.drop_without_applying_deltas();
    }
    shapes
}

#[test]
fn tokens_of_the_chosen_kind_are_underlined_above_those_that_would_change() {
    let words = [(" a", 0.9), (" fox", 0.01), (" ran", 0.8), (" far", 0.02)];
    let generation = generation(&words);
    let mut kinds = PaneKinds::default();
    assert!(kinds.update(Some(&generation), &mut || true));
    let mut what_ifs = WhatIfs::default();
    assert!(what_ifs.update(&generation, &ChainConfig::greedy(), 42, &mut || true));
    let shapes = painted(TokenTextInput {
        kind: Some(KindMarks {
            kinds: &kinds,
            kind: TokenKind::Unlikely,
        }),
        what_ifs: Some(&what_ifs),
        ..input_of(&generation)
    });
    let theme = Theme::dark_or_light(true);
    let lines = |color| {
        let lines = shapes.iter().filter_map(move |shape| match shape {
            Shape::LineSegment { points, stroke } if stroke.color == color => Some(points[0].y),
            _ => None,
        });
        lines.collect::<Vec<f32>>()
    };
    let (of_kind, changed) = (lines(theme.text_2), lines(theme.changed));
    assert_eq!((of_kind.len(), changed.len()), (2, 2));
    for (of_kind, changed) in of_kind.iter().zip(&changed) {
        // Both are two points wide.
        assert!(changed - of_kind >= 2.0);
    }
}

#[test]
fn tokens_that_would_change_are_underlined_above_all_tints() {
    let words = [(" a", 0.9), (" fox", 0.1), (" ran", 0.8), (" far", 0.05)];
    let generation = generation(&words);
    let mut what_ifs = WhatIfs::default();
    let greedy = ChainConfig::greedy();
    assert!(what_ifs.update(&generation, &greedy, 42, &mut || true));
    let theme = Theme::dark_or_light(true);
    let shapes = painted(TokenTextInput {
        what_ifs: Some(&what_ifs),
        ..input_of(&generation)
    });
    let indices = |matches: &dyn Fn(&Shape) -> bool| -> Vec<usize> {
        let shapes = shapes.iter().enumerate();
        let found = shapes.filter(|(_, shape)| matches(shape));
        found.map(|(index, _)| index).collect()
    };
    let underlines = indices(
        &|shape| matches!(shape, Shape::LineSegment { stroke, .. } if stroke.color == theme.changed),
    );
    assert_eq!(underlines.len(), 2);
    let tints = indices(&|shape| {
        let is_tint = |fill| (1..5).any(|step| theme.tint(Tint::Probability, step) == fill);
        matches!(shape, Shape::Rect(rect) if is_tint(rect.fill))
    });
    assert!(!tints.is_empty() && tints.iter().max() < underlines.iter().min());
}

#[test]
fn tints_deepen_as_tokens_become_less_likely() {
    let probs = [0.9, 0.3, 0.1, 0.02, 0.001];
    let generation = generation(&probs.map(|prob| (" fox", prob)));
    for tint in [Tint::Probability, Tint::Surprisal] {
        let steps: Vec<usize> = generation
            .steps
            .iter()
            .map(|step| tint.step(step))
            .collect();
        assert_eq!(steps, [0, 1, 2, 3, 4], "{}", tint.name());
    }
    let theme = Theme::dark_or_light(true);
    assert_eq!(theme.tint(Tint::Probability, 0), egui::Color32::TRANSPARENT);
    assert_eq!(theme.tint(Tint::None, 4), egui::Color32::TRANSPARENT);
}
