//! Tests of pictures: labels are text, the size is as requested, and something is painted.

use std::sync::Arc;

use resvg::tiny_skia::Pixmap;
use resvg::usvg;

use super::{Look, Palette, Picture, PictureError, TextsPicture, caption, drawing, png, svg};
use crate::analysis::trend::{Trend, TrendShape};
use crate::generation::Generation;
use crate::generation::testing::generation;
use crate::plots::{
    NextTokenData, PicturePlot, PlotChoices, PlottedRun, ScoreData, SpeedData, StepAt, TrendData,
};
use crate::state::{Plot, ScoreMeasure, Tint};

const SIZE: [f32; 2] = [480.0, 300.0];

fn panes() -> [Generation; 2] {
    let story = [
        (" lived", 0.9),
        (" in", 0.5),
        ("\n\n", 0.02),
        (" <mill>", 0.3),
        ("</s>", 0.6),
    ];
    let mut panes = [generation(&story), generation(&story[..4])];
    "Pure & simple".clone_into(&mut panes[1].name);
    panes
}

/// Returns the pictures of a small run, each with strings that it must contain.
fn pictures(palette: Palette) -> Vec<(String, Vec<&'static str>)> {
    let panes = panes();
    let panes: Vec<Option<&Generation>> = panes.iter().map(Some).collect();
    let caption = caption(&panes);
    let draw = |plot: &dyn PicturePlot| {
        svg(&Picture {
            plot,
            caption: &caption,
            size: SIZE,
            palette,
            transparent: false,
        })
    };
    let mut score = ScoreData::of(&panes, ScoreMeasure::Probability);
    score.pinned = Some(StepAt { pane: 0, step: 2 });
    let next = NextTokenData::of(0, &panes[0].unwrap().clone(), 3);
    let speed = SpeedData::of(&panes);
    vec![
        (
            draw(&score),
            vec![
                "Probability",
                "Top-p",
                "Pure &amp; simple",
                "T 0.7",
                "100 %",
                ">Token<",
                "Once there was",
            ],
        ),
        (
            draw(&next),
            vec![
                "Next token",
                "little",
                "&lt;mill&gt;",
                "&lt;/s&gt;",
                "chosen",
                ">Probability<",
            ],
        ),
        (
            draw(&speed),
            vec![
                "tokens per second",
                "Pure &amp; simple",
                // There is no room for "averaged over 16 tokens".
                ">Tokens per second<",
                "rotate(-90 ",
            ],
        ),
    ]
}

#[test]
fn labels_are_text() {
    for (svg, words) in pictures(Palette::Light) {
        for word in words {
            assert!(svg.contains(word), "{word} is not in\n{svg}");
        }
    }
}

#[test]
fn text_keeps_its_face_and_weight() {
    let [(score, _), (next, _), _] = pictures(Palette::Light).try_into().unwrap();
    let cases = [
        (
            &score,
            "font-family=\"Inter, ",
            "font-weight=\"500\"",
            "Probability",
        ),
        (
            &score,
            "font-family=\"Inter, ",
            "font-weight=\"400\"",
            "Token",
        ),
        (
            &next,
            "font-family=\"Literata, ",
            "font-weight=\"400\"",
            "little",
        ),
        (
            &next,
            "font-family=\"'JetBrains Mono', ",
            "font-size=\"11\"",
            "&lt;/s&gt;",
        ),
    ];
    for (svg, family, attribute, word) in cases {
        let end = format!(">{word}</text>");
        let line = svg.lines().find(|line| line.ends_with(&end)).unwrap();
        assert!(line.contains(family) && line.contains(attribute), "{line}");
    }
}

#[test]
fn a_plot_of_one_step_names_only_its_own_prompt() {
    let mut panes = panes();
    let prompt = Arc::make_mut(&mut panes[1].prompt);
    "Another".clone_into(&mut prompt.text);
    let panes = panes.each_ref().map(Some);
    let of = |plot, pane| {
        let choices = PlotChoices {
            step: Some(StepAt { pane, step: 0 }),
            ..PlotChoices::default()
        };
        let run = PlottedRun {
            panes: &panes,
            choices,
            finished_at: None,
        };
        let drawing = drawing(plot, run, Look::default());
        ["‘Once there was", "‘Another’"].map(|prompt| drawing.contains(prompt))
    };
    assert_eq!(of(Plot::NextToken, 0), [true, false]);
    assert_eq!(of(Plot::NextToken, 1), [false, true]);
    assert_eq!(of(Plot::Speed, 0), [true, true]);
}

#[test]
fn a_png_has_the_requested_size_and_is_not_blank() {
    for palette in [Palette::Light, Palette::Dark, Palette::Print] {
        for (svg, _) in pictures(palette) {
            let pixmap = Pixmap::decode_png(&png(&svg, 2.0).unwrap()).unwrap();
            assert_eq!((pixmap.width(), pixmap.height()), (960, 600));
            let paper = pixmap.pixels()[0];
            let n_painted = pixmap
                .pixels()
                .iter()
                .filter(|pixel| **pixel != paper)
                .count();
            assert!(n_painted > 5_000, "{n_painted}");
            assert_eq!(paper.alpha(), 255);
            assert_eq!(paper.red() > 128, palette != Palette::Dark);
        }
    }
}

#[test]
fn text_is_painted_in_the_bundled_faces() {
    let (score, _) = pictures(Palette::Light).remove(0);
    let options = usvg::Options::default();
    let without_faces = usvg::Tree::from_str(&score, &options).unwrap();
    let n_texts = without_faces.root().children().len();
    let blank = score.replace(">Probability<", "><");
    assert_ne!(png(&score, 1.0).unwrap(), png(&blank, 1.0).unwrap());
    assert!(n_texts > 0);
}

#[test]
fn long_names_are_truncated_and_none_is_omitted() {
    let mut panes = vec![generation(&[(" lived", 0.9), (" in", 0.5)]); 8];
    for (number, pane) in panes.iter_mut().enumerate() {
        pane.name = format!("{number} top-k and top-p, min-p");
    }
    panes[0].name = "a name without an end ".repeat(20);
    let panes: Vec<Option<&Generation>> = panes.iter().map(Some).collect();
    let speed = SpeedData::of(&panes);
    let score = ScoreData::of(&panes, ScoreMeasure::Probability);
    let plots: [&dyn PicturePlot; 2] = [&speed, &score];
    for plot in plots {
        let size = plot.default_size();
        let svg = svg(&Picture {
            plot,
            caption: "",
            size,
            palette: Palette::Light,
            transparent: false,
        });
        assert!(svg.contains("…</text>"), "{svg}");
        let names: Vec<&str> = svg.lines().filter(|line| line.contains("min-p<")).collect();
        assert_eq!(names.len(), 7, "{svg}");
        for name in names {
            let number = |key: &str| -> f32 {
                let after = name.split(&format!(" {key}=\"")).nth(1).unwrap();
                after.split('"').next().unwrap().parse().unwrap()
            };
            assert!(number("x") + number("textLength") <= size[0], "{name}");
        }
    }
}

#[test]
fn the_legend_of_a_trend_names_all_panes() {
    let mut panes = vec![generation(&[(" lived", 0.9), (" in", 0.5)]); 8];
    for (number, pane) in panes.iter_mut().enumerate() {
        pane.name = format!("{number} {}", "top-k and top-p, min-p ".repeat(4));
    }
    for n_panes in [4, 8] {
        let panes: Vec<Option<&Generation>> = panes.iter().take(n_panes).map(Some).collect();
        for kind in [Trend::Kept, Trend::Ranks] {
            let trend = TrendData::of(&panes, kind);
            let plot = &trend;
            let svg = svg(&Picture {
                plot,
                caption: "",
                size: plot.default_size(),
                palette: Palette::Light,
                transparent: false,
            });
            for number in 0..n_panes {
                assert!(svg.contains(&format!(">{number} top-k and top-p")), "{svg}");
            }
        }
    }
}

#[test]
fn the_title_of_the_speeds_fits_beside_its_axis() {
    let of = |n_panes: usize, name: &str| {
        let mut pane = generation(&[(" lived", 0.9), (" in", 0.5)]);
        name.clone_into(&mut pane.name);
        let panes = vec![pane; n_panes];
        let panes: Vec<Option<&Generation>> = panes.iter().map(Some).collect();
        let speed = SpeedData::of(&panes);
        let plot = &speed;
        let svg = svg(&Picture {
            plot,
            caption: "A model",
            size: plot.default_size(),
            palette: Palette::Light,
            transparent: false,
        });
        svg.contains(">Tokens per second, averaged over 16 tokens<")
    };
    assert!(of(2, "top-p 0.9"));
    assert!(!of(8, "top-k 40, temperature 0.7, top-p 0.9"));
}

#[test]
fn scripts_missing_from_the_bundled_faces_are_rendered() {
    let mut pane = generation(&[(" lived", 0.9)]);
    "狐 ثعلب 🦊".clone_into(&mut pane.name);
    let panes = [Some(&pane)];
    let score = ScoreData::of(&panes, ScoreMeasure::Probability);
    let svg = svg(&Picture {
        plot: &score,
        caption: "",
        size: SIZE,
        palette: Palette::Light,
        transparent: false,
    });
    // In logical order, including the right-to-left part.
    assert!(svg.contains(">狐 ثعلب 🦊</text>"), "{svg}");
    let pixmap = Pixmap::decode_png(&png(&svg, 1.0).unwrap()).unwrap();
    assert_eq!((pixmap.width(), pixmap.height()), (480, 300));
}

#[test]
fn right_to_left_words_stand_in_their_visual_order_with_their_letters_as_stored() {
    // "Peace, world (42)" in Hebrew, then a book in Arabic, with its number in Arabic digits.
    let words = [
        ("\n", 0.5),
        ("שלו", 0.5),
        ("ם", 0.1),
        (" עולם", 0.5),
        (" (42)", 0.5),
        (" كتاب", 0.3),
        (" ١٢", 0.3),
    ];
    let pane = generation(&words);
    let panes = [Some(&pane)];
    let texts = TextsPicture::of(&panes, Tint::Probability, None);
    let picture = svg(&Picture {
        plot: &texts,
        caption: "",
        size: [700.0, 300.0],
        palette: Palette::Light,
        transparent: false,
    });
    let x_of = |word: &str| -> f32 {
        let mut elements = picture.lines().filter(|line| line.starts_with("<text"));
        let ending = format!(">{word}</text>");
        let element = elements.find(|element| element.ends_with(&ending));
        let element = element.unwrap_or_else(|| panic!("{word} is missing: {picture}"));
        let after = element.split(" x=\"").nth(1).unwrap();
        after.split('"').next().unwrap().parse().unwrap()
    };
    let from_left = ["١", "٢", "كتاب", "42", "עולם", "שלום"];
    let xs = from_left.map(x_of);
    assert!(xs.is_sorted(), "{xs:?}");
}

#[test]
fn an_empty_plot_can_be_exported() {
    let none: [Option<&Generation>; 4] = [None; 4];
    let score = ScoreData::of(&none, ScoreMeasure::Surprise);
    let speed = SpeedData::of(&none);
    let plots: [(&dyn PicturePlot, &str); 3] = [
        (&score, "One row for each pane"),
        (&None::<NextTokenData>, "The candidates for the latest"),
        (&speed, "Tokens per second for each pane"),
    ];
    for (plot, words) in plots {
        let svg = svg(&Picture {
            plot,
            caption: &caption(&none),
            size: plot.default_size(),
            palette: Palette::Light,
            transparent: false,
        });
        assert!(svg.contains(words), "{svg}");
        usvg::Tree::from_str(&svg, &usvg::Options::default()).unwrap();
    }
}

#[test]
fn invalid_and_oversized_pictures_are_rejected() {
    let unreadable = png("<svg", 1.0).unwrap_err();
    assert!(matches!(unreadable, PictureError::Unreadable { .. }));
    let (svg, _) = pictures(Palette::Light).remove(0);
    assert_eq!(
        png(&svg, 100.0).unwrap_err().to_string(),
        "a picture of 48000 × 30000 pixels is too large"
    );
}

#[test]
fn every_trend_is_a_picture_with_named_axes() {
    let panes = panes();
    let panes: Vec<Option<&Generation>> = panes.iter().map(Some).collect();
    for (kind, expected) in [
        (Trend::Kept, ["Tokens kept", "Mass kept", ">Token<"]),
        (
            Trend::Surprise,
            ["Cumulative surprise", ">Bits<", ">Token<"],
        ),
        (
            Trend::Ranks,
            ["% of tokens", "101–1,000", "Rank before the chain"],
        ),
        (
            Trend::Millis,
            ["Time per token", ">Milliseconds<", ">Token<"],
        ),
    ] {
        let drawing = svg(&Picture {
            plot: &TrendData::of(&panes, kind),
            caption: "",
            size: [720.0, 420.0],
            palette: Palette::Dark,
            transparent: false,
        });
        for words in expected {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
    }
}

#[test]
fn every_trend_on_the_list_states_its_title_and_its_panels() {
    let panes = panes();
    let panes: Vec<Option<&Generation>> = panes.iter().map(Some).collect();
    for trend in Trend::ALL {
        let spec = trend.spec();
        let run = PlottedRun {
            panes: &panes,
            choices: PlotChoices::default(),
            finished_at: Some(1_700_000_000),
        };
        let drawing = drawing(Plot::Trend(trend), run, Look::default());
        assert!(drawing.contains(&format!(">{}<", spec.name)), "{drawing}");
        if let TrendShape::Lines { panels, .. } = spec.shape {
            let titles = panels.iter().map(|panel| panel.title);
            for words in titles.chain([spec.subtitle]) {
                let label = format!(">{words}<");
                assert!(drawing.contains(&label), "{label}: {drawing}");
            }
        }
    }
}
