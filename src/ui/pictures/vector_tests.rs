//! Tests of pictures as PDF and with outlined text.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use resvg::usvg;

use super::{Look, TextsPicture, encode, pixels, styled_svg};
use crate::generation::testing::generation;
use crate::plots::{PicturePlot, ScoreData, SpeedData};
use crate::state::{PictureFormat, PictureStyle, PictureWidth, ScoreMeasure, Tint};

/// Returns a picture of tinted words, some of them from right to left.
fn drawing(style: PictureStyle) -> String {
    let words = [(" lived", 0.9), (" שלום", 0.1), (" fi", 0.5), ("</s>", 0.2)];
    let pane = generation(&words);
    let panes = [Some(&pane)];
    let look = Look {
        style,
        ..Look::default()
    };
    styled_svg(
        &TextsPicture::of(&panes, Tint::Probability, None),
        "Test & <caption>",
        look,
    )
}

fn on_paper(millimeters: u16) -> PictureStyle {
    PictureStyle {
        width: PictureWidth::Millimeters(millimeters),
        ..PictureStyle::default()
    }
}

/// Returns a PDF with its streams unpacked, byte by byte as characters.
fn unpacked(pdf: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = pdf;
    let find = |bytes: &[u8], words: &[u8]| bytes.windows(words.len()).position(|it| it == words);
    while let Some(start) = find(rest, b"stream\n") {
        let (head, stream) = rest.split_at(start + 7);
        text.extend(head.iter().copied().map(char::from));
        let mut content = Vec::new();
        ZlibDecoder::new(stream).read_to_end(&mut content).unwrap();
        text.extend(content.into_iter().map(char::from));
        let end = find(stream, b"endstream").unwrap();
        rest = &stream[end + b"endstream".len()..];
    }
    text.extend(rest.iter().copied().map(char::from));
    text
}

#[test]
fn a_pdf_has_text_in_embedded_fonts_and_the_size_of_a_column() {
    let style = on_paper(85);
    let pdf = encode(&drawing(style), PictureFormat::Pdf, style).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.7"));
    assert!(pdf.len() < 60_000, "{} bytes", pdf.len());
    let page = unpacked(&pdf);
    let box_start = page.split("/MediaBox [0 0 ").nth(1).unwrap();
    let width: f32 = box_start.split(' ').next().unwrap().parse().unwrap();
    assert!((width - 85.0 * 72.0 / 25.4).abs() < 0.01, "{width} pt");
    for words in [
        "/Subtype /Type0",
        "+Inter",
        "-wght400",
        "-wght600",
        "+Literata",
        "/FontFile2",
        "/Title (The texts)",
        "/Subject (Test & <caption>)",
        "/Creator (Quartet ",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The letters of the text can be searched: "l" of "lived" and the Hebrew "ש".
    for hex in ["<006C>", "<05E9>"] {
        assert!(page.contains(hex), "{hex}");
    }
    assert!(!page.contains("/Image"), "no part of it is pixels");
}

#[test]
fn a_picture_is_the_same_file_each_time() {
    let style = PictureStyle::default();
    for format in PictureFormat::ALL {
        let [one, other] = [(); 2].map(|()| encode(&drawing(style), format, style).unwrap());
        assert!(one == other, "{}", format.extension());
    }
}

#[test]
fn a_png_has_the_size_of_the_pdf_on_paper() {
    let style = PictureStyle {
        scale: 4,
        ..on_paper(85)
    };
    let png = encode(&drawing(style), PictureFormat::Png, style).unwrap();
    let pixmap = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!(&png[37..41], b"pHYs");
    let per_meter = u32::from_be_bytes(png[41..45].try_into().unwrap());
    let width = 1000.0 * f64::from(pixmap.width()) / f64::from(per_meter);
    assert!((width - 85.0).abs() < 0.1, "{width} mm");
}

#[test]
fn outlined_text_looks_as_before_without_any_font() {
    let style = PictureStyle {
        outlined_text: true,
        ..PictureStyle::default()
    };
    let drawing = drawing(style);
    let outlined = encode(&drawing, PictureFormat::Svg, style).unwrap();
    let outlined = String::from_utf8(outlined).unwrap();
    assert!(drawing.contains("<text") && !outlined.contains("<text"));
    assert!(outlined.contains("<title>The texts</title>"), "{outlined}");
    assert!(outlined.contains("<desc>Test &amp; &lt;caption&gt;</desc>"));
    let options = usvg::Options::default();
    let tree = usvg::Tree::from_str(&outlined, &options).unwrap();
    let own = usvg::Tree::from_str(&drawing, &options).unwrap();
    assert_eq!(tree.size(), own.size());
    let [before, after] = [&drawing, &outlined].map(|svg| pixels(svg, 1.0).unwrap());
    let pairs = before.rgba.iter().zip(&after.rgba);
    let differs = |(a, b): &(&u8, &u8)| a.abs_diff(**b) > 24;
    let n_different = pairs.filter(differs).count();
    assert!(n_different < before.rgba.len() / 1000, "{n_different}");
}

#[test]
fn a_plot_fits_a_column_and_its_caption_has_room() {
    let pane = generation(&[(" lived", 0.9), (" in", 0.5)]);
    let panes = [Some(&pane)];
    let score = ScoreData::of(&panes, ScoreMeasure::Surprise);
    let speed = SpeedData::of(&panes);
    let plots: [&dyn PicturePlot; 2] = [&score, &speed];
    for plot in plots {
        let height = |caption: &str| {
            let look = Look {
                style: on_paper(85),
                ..Look::default()
            };
            let svg = styled_svg(plot, caption, look);
            let tree = usvg::Tree::from_str(&svg, &usvg::Options::default()).unwrap();
            assert!((tree.size().width() - 321.26).abs() < 0.01);
            tree.size().height()
        };
        let short = height("A model");
        assert!(short >= 280.0, "{short}");
        assert!(height(&"A model with a long caption, ".repeat(20)) > short + 60.0);
    }
}
