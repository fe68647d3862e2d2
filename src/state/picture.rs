//! What a picture can show, in which colors and in which file format. [`Plot`] lists the pictures of
//! a run for the menus and the palette.

use serde::{Deserialize, Serialize};

use crate::analysis::trend::Trend;

/// A view that can be exported as a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Plot {
    /// A measure of each token as a bar, one staff per pane.
    #[default]
    Score,
    /// The candidates of one step, before and after the chain.
    NextToken,
    /// Decoding speed in tokens per second.
    Speed,
    /// A value of each token, or a histogram of them.
    Trend(Trend),
    /// How often the most likely token is taken, against its probability.
    Calibration,
    /// What each stage of the chain did to the candidates of one step.
    Xray,
    /// The X-ray of the logits that the user set by hand.
    ByHand,
    /// All texts that continue one prompt, as a tree.
    Tree,
    /// The texts side by side, tinted as in the window.
    Texts,
    /// What the verification of an opened run proved, or how far its logits are from those of the
    /// rerun.
    Gaps,
    /// How far apart the texts are.
    Compare,
    /// One step as the stages of the generation loop.
    Loop,
    /// The tree of a beam search.
    Beams,
    /// The passes of speculative decoding.
    Drafts,
}

impl Plot {
    /// Returns all pictures of a run, in menu order. [`Plot::Gaps`] exists only once an opened run
    /// has been verified, and [`Plot::Beams`] and [`Plot::Drafts`] only if a text was written that
    /// way.
    pub fn all() -> impl Iterator<Item = Self> {
        let plots = [Self::Score, Self::NextToken, Self::Speed].into_iter();
        let others = [
            Self::Calibration,
            Self::Xray,
            Self::ByHand,
            Self::Loop,
            Self::Tree,
            Self::Compare,
            Self::Texts,
        ];
        plots.chain(Trend::ALL.map(Self::Trend)).chain(others)
    }

    /// Returns the title for use in a sentence: "the X-ray", "the surprise plot".
    pub fn name_in_sentence(self) -> String {
        match self {
            Self::Compare => "the comparison".to_owned(),
            Self::Loop => "the loop".to_owned(),
            Self::Xray => "the X-ray".to_owned(),
            _ => self.name().to_lowercase(),
        }
    }

    /// Returns the picture's title.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "The surprise plot",
            Self::NextToken => "Next token",
            Self::Speed => "Speed",
            Self::Trend(trend) => trend.spec().name,
            Self::Calibration => "Calibration",
            Self::Xray => "X-ray",
            Self::ByHand => "By hand",
            Self::Tree => "The tree",
            Self::Texts => "The texts",
            Self::Gaps => "Then and now",
            Self::Compare => "Compare",
            Self::Loop => "Loop",
            Self::Beams => "The beams",
            Self::Drafts => "The drafts",
        }
    }
}

impl Plot {
    /// Returns the plots that the Plots tab can show on the right, in menu order.
    pub fn all_on_right() -> impl Iterator<Item = Self> {
        let trends = Trend::ALL.map(Self::Trend).into_iter();
        [Self::Speed]
            .into_iter()
            .chain(trends)
            .chain([Self::Calibration])
    }

    /// Returns its name in files: "candidates-kept".
    pub fn file_word(self) -> String {
        self.name().to_lowercase().replace(' ', "-")
    }
}

/// The plot on the right of the Plots tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RightPlot(pub Plot);

impl Default for RightPlot {
    fn default() -> Self {
        Self(Plot::Speed)
    }
}

impl From<RightPlot> for String {
    fn from(RightPlot(plot): RightPlot) -> Self {
        plot.file_word()
    }
}

impl From<String> for RightPlot {
    /// A plot of another version of Quartet becomes the default.
    fn from(word: String) -> Self {
        let mut plots = Plot::all_on_right();
        let plot = plots.find(|plot| plot.file_word() == word);
        plot.map_or_else(Self::default, Self)
    }
}

/// The colors of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureTheme {
    /// Those of the window.
    #[default]
    Window,
    Dark,
    /// The light colors on white.
    Light,
    /// Grays on white, for printers without color.
    Print,
}

impl PictureTheme {
    /// All themes, in menu order.
    pub const ALL: [Self; 4] = [Self::Window, Self::Dark, Self::Light, Self::Print];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "Same as window",
            Self::Dark => "Dark",
            Self::Light => "Light",
            Self::Print => "Print",
        }
    }
}

/// Where a picture goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureTarget {
    Pdf,
    #[default]
    Svg,
    Png,
    /// The clipboard, as an image.
    Clipboard,
}

impl PictureTarget {
    /// All targets, in menu order.
    pub const ALL: [Self; 4] = [Self::Pdf, Self::Svg, Self::Png, Self::Clipboard];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pdf => "PDF",
            Self::Svg => "SVG",
            Self::Png => "PNG",
            Self::Clipboard => "Clipboard",
        }
    }

    /// Returns the format of its file; the clipboard has none.
    pub const fn format(self) -> Option<PictureFormat> {
        match self {
            Self::Pdf => Some(PictureFormat::Pdf),
            Self::Svg => Some(PictureFormat::Svg),
            Self::Png => Some(PictureFormat::Png),
            Self::Clipboard => None,
        }
    }
}

/// How wide a picture is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedWidth", into = "SavedWidth")]
pub enum PictureWidth {
    /// As wide as its plot usually is.
    #[default]
    Usual,
    /// In points, of which a screen shows one or more pixels each.
    Points(u16),
    /// On paper, in millimeters.
    Millimeters(u16),
}

impl PictureWidth {
    /// The widths for screens to choose from.
    pub const ON_SCREEN: [Self; 4] = [
        Self::Usual,
        Self::Points(960),
        Self::Points(1280),
        Self::Points(1920),
    ];

    /// The widths for paper to choose from: one column of a journal, one and a half, and two.
    pub const ON_PAPER: [Self; 3] = [
        Self::Millimeters(85),
        Self::Millimeters(120),
        Self::Millimeters(180),
    ];

    /// Returns the width in points, or `None` if the plot decides. An inch has 96 points, as in CSS.
    pub fn points(self) -> Option<f32> {
        match self {
            Self::Usual => None,
            Self::Points(points) => Some(points.into()),
            Self::Millimeters(length) => Some(f32::from(length) * 96.0 / 25.4),
        }
    }

    /// Returns the label in the menu.
    pub fn name(self) -> String {
        match self {
            Self::Usual => "default".to_owned(),
            Self::Points(points) => points.to_string(),
            Self::Millimeters(length) => format!("{length} mm"),
        }
    }
}

/// A width in the settings: nothing, a number of points, or "85mm".
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SavedWidth {
    Points(Option<u16>),
    OnPaper(String),
}

impl From<SavedWidth> for PictureWidth {
    /// A width of another version of Quartet becomes the usual one.
    fn from(saved: SavedWidth) -> Self {
        match saved {
            SavedWidth::Points(points) => points.map_or(Self::Usual, Self::Points),
            SavedWidth::OnPaper(length) => {
                let length = length.strip_suffix("mm").map(str::parse);
                length
                    .and_then(Result::ok)
                    .map_or(Self::Usual, Self::Millimeters)
            }
        }
    }
}

impl From<PictureWidth> for SavedWidth {
    fn from(width: PictureWidth) -> Self {
        match width {
            PictureWidth::Usual => Self::Points(None),
            PictureWidth::Points(points) => Self::Points(Some(points)),
            PictureWidth::Millimeters(length) => Self::OnPaper(format!("{length}mm")),
        }
    }
}

/// The file format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    Pdf,
    Svg,
    Png,
}

impl PictureFormat {
    /// All formats, in menu order.
    pub const ALL: [Self; 3] = [Self::Pdf, Self::Svg, Self::Png];

    /// Returns the file extension, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PictureWidth;

    #[test]
    fn a_width_survives_in_the_settings_also_of_an_older_version() {
        for (width, saved) in [
            (PictureWidth::Usual, "null"),
            (PictureWidth::Points(960), "960"),
            (PictureWidth::Millimeters(85), "\"85mm\""),
        ] {
            assert_eq!(serde_json::to_string(&width).unwrap(), saved);
            let read: PictureWidth = serde_json::from_str(saved).unwrap();
            assert_eq!(read, width);
        }
        let unknown: PictureWidth = serde_json::from_str("\"3 parsecs\"").unwrap();
        assert_eq!(unknown, PictureWidth::Usual);
    }
}
