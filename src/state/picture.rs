//! What a picture can show, in which colors and in which file format. [`Plot`] lists the pictures of
//! a run for the menus, the palette and the folder of a run.

use serde::{Deserialize, Serialize};

use super::ScoreMeasure;
use crate::analysis::trend::{Trend, has_token_times};
use crate::generation::Generation;

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
        let others = [Self::Xray, Self::ByHand, Self::Tree, Self::Texts];
        plots.chain(Trend::ALL.map(Self::Trend)).chain(others)
    }

    /// Returns the title for use in a sentence: "the X-ray", "the surprise plot".
    pub fn name_in_sentence(self) -> String {
        match self {
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
            Self::Xray => "X-ray",
            Self::ByHand => "By hand",
            Self::Tree => "The tree",
            Self::Texts => "The texts",
            Self::Gaps => "Then and now",
            Self::Beams => "The beams",
            Self::Drafts => "The drafts",
        }
    }
}

/// A picture in the folder of a run, saved in each format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlotFile {
    /// The file name without its extension.
    pub name: &'static str,
    /// What it shows, for lists and headings.
    pub title: &'static str,
    pub plot: Plot,
    pub measure: ScoreMeasure,
    pub in_one: bool,
    /// Whether the web page shows it too.
    pub on_page: bool,
}

impl PlotFile {
    /// Creates a picture that is only in the folder, not on the web page.
    const fn new(name: &'static str, title: &'static str, plot: Plot) -> Self {
        Self {
            name,
            title,
            plot,
            measure: ScoreMeasure::Surprise,
            in_one: false,
            on_page: false,
        }
    }
}

impl Plot {
    /// Returns its pictures in the folder of a run.
    pub fn files(self) -> Vec<PlotFile> {
        let file = |name, title| PlotFile::new(name, title, self);
        match self {
            Self::Score => {
                let surprise = PlotFile {
                    on_page: true,
                    ..file("surprise", "surprise of each token")
                };
                let in_one = PlotFile {
                    name: "surprise-in-one",
                    title: "surprise of each token, all panes in one plot",
                    in_one: true,
                    ..surprise
                };
                let probability = PlotFile {
                    measure: ScoreMeasure::Probability,
                    ..file("probability", "probability of each token")
                };
                vec![surprise, in_one, probability]
            }
            Self::NextToken => vec![file("next-token", "candidates where the texts diverge")],
            Self::Speed => vec![PlotFile {
                on_page: true,
                ..file("speed", "decoding speed")
            }],
            Self::Trend(trend) => vec![file(trend.spec().file_name, trend.spec().file_summary)],
            Self::Xray => vec![file("x-ray", "what each stage did where the texts diverge")],
            Self::Texts => vec![file("texts", "the texts, tinted by probability")],
            Self::ByHand | Self::Tree | Self::Gaps | Self::Beams | Self::Drafts => Vec::new(),
        }
    }

    /// Returns whether these texts have anything to plot. A scored text took no time per token.
    pub fn has_data<'a>(self, mut texts: impl Iterator<Item = &'a Generation>) -> bool {
        match self {
            Self::Speed => texts.any(has_token_times),
            Self::Trend(trend) => trend.spec().has_data(texts),
            Self::Score
            | Self::NextToken
            | Self::Xray
            | Self::ByHand
            | Self::Tree
            | Self::Texts
            | Self::Gaps
            | Self::Beams
            | Self::Drafts => true,
        }
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
    #[default]
    Svg,
    Png,
    /// The clipboard, as an image.
    Clipboard,
}

impl PictureTarget {
    /// All targets, in menu order.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Clipboard];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svg => "SVG",
            Self::Png => "PNG",
            Self::Clipboard => "Clipboard",
        }
    }
}

/// The file format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    Svg,
    Png,
}

impl PictureFormat {
    /// All formats, in menu order.
    pub const ALL: [Self; 2] = [Self::Svg, Self::Png];

    /// Returns the file extension, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}
