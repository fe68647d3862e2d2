//! The arguments that say how exported pictures and tables look.

use clap::Args;

use crate::export::CsvReader;
use crate::state::{PictureStyle, PictureWidth};

/// The limits of a picture's width, in points and on paper in millimeters.
const POINTS: std::ops::RangeInclusive<u16> = 240..=4_096;
const MILLIMETERS: std::ops::RangeInclusive<u16> = 60..=1_000;

/// How pictures look.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PictureArguments {
    /// The width of the pictures: in points of 1/96 inch, such as 960, or on paper, such as 85mm.
    /// The default is the usual width of each
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    picture_width: Option<PictureWidth>,

    /// Draw the text of SVG pictures as outlines, for programs without Quartet’s fonts
    #[arg(long)]
    outline_text: bool,
}

impl PictureArguments {
    /// Returns the style of the pictures.
    pub(crate) fn style(self) -> PictureStyle {
        PictureStyle {
            width: self.picture_width.unwrap_or_default(),
            outlined_text: self.outline_text,
            ..PictureStyle::default()
        }
    }
}

/// How exported pictures and tables look.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ExportStyleArguments {
    #[command(flatten)]
    pub pictures: PictureArguments,

    /// Write CSV tables for Excel: with a byte order mark at the start, and an apostrophe before text
    /// that a spreadsheet would take for a formula
    #[arg(long)]
    excel: bool,
}

impl ExportStyleArguments {
    /// Returns the program that tables are for.
    pub(crate) const fn csv_reader(self) -> CsvReader {
        if self.excel {
            CsvReader::Excel
        } else {
            CsvReader::Any
        }
    }
}

/// Parses a width: "960" or "85mm".
fn width(text: &str) -> Result<PictureWidth, String> {
    let text = text.trim();
    let (number, limits, width): (_, _, fn(u16) -> PictureWidth) = match text.strip_suffix("mm") {
        Some(number) => (number, MILLIMETERS, PictureWidth::Millimeters),
        None => (text, POINTS, PictureWidth::Points),
    };
    let number: Option<u16> = number.trim().parse().ok();
    let number = number.filter(|number| limits.contains(number));
    number.map(width).ok_or_else(|| {
        format!(
            "a width is {} to {} points, such as 960, or {} to {} mm, such as 85mm",
            POINTS.start(),
            POINTS.end(),
            MILLIMETERS.start(),
            MILLIMETERS.end()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::width;
    use crate::state::PictureWidth;

    #[test]
    fn a_width_is_in_points_or_in_millimeters() {
        for (text, expected) in [
            ("960", Some(PictureWidth::Points(960))),
            ("85mm", Some(PictureWidth::Millimeters(85))),
            ("180 mm", Some(PictureWidth::Millimeters(180))),
            ("0", None),
            ("99999", None),
            ("5mm", None),
            ("8.5cm", None),
            ("", None),
        ] {
            assert_eq!(width(text).ok(), expected, "{text}");
        }
        let on_paper = PictureWidth::Millimeters(254).points();
        assert_eq!(on_paper, Some(960.0), "ten inches");
    }
}
