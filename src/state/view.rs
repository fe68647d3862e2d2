//! How the record is looked at: choices of the reader that change nothing in it.

use serde::{Deserialize, Serialize};

use super::PaneId;
use crate::generation::Step;

/// What the height of a token's bar in the score tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreMeasure {
    /// How little the model expected the token, in bits.
    #[default]
    Surprise,
    /// The token's probability before the chain.
    Probability,
    /// How undecided the model was, in bits.
    Entropy,
    /// The token's place before the chain.
    Rank,
    /// How many tokens the choice could have fallen on.
    Kept,
}

impl ScoreMeasure {
    /// All, in the order of the menu.
    pub const ALL: [Self; 5] = [
        Self::Surprise,
        Self::Probability,
        Self::Entropy,
        Self::Rank,
        Self::Kept,
    ];

    /// The word in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Surprise => "Surprise",
            Self::Probability => "Probability",
            Self::Entropy => "Entropy",
            Self::Rank => "Rank",
            Self::Kept => "Kept",
        }
    }

    /// What it is at one step: bits, a probability between 0 and 1, or a count from 1.
    pub fn value(self, step: &Step) -> f64 {
        let trace = &step.trace;
        match self {
            Self::Surprise => -trace.raw_prob.log2(),
            Self::Probability => trace.raw_prob,
            Self::Entropy => trace.raw.entropy_nats / std::f64::consts::LN_2,
            Self::Rank => f64::from(trace.raw_rank),
            Self::Kept => f64::from(trace.draw.n_kept),
        }
    }
}

/// What the fill behind a token tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tint {
    /// Nothing.
    None,
    /// The token's probability before the chain.
    #[default]
    Probability,
    /// The token's place before the chain.
    Rank,
    /// How undecided the model was.
    Entropy,
    /// How little the model expected the token.
    Surprisal,
}

impl Tint {
    /// All, in the order of the menu.
    pub const ALL: [Self; 5] = [
        Self::Probability,
        Self::Rank,
        Self::Entropy,
        Self::Surprisal,
        Self::None,
    ];

    /// The word in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Probability => "Probability",
            Self::Rank => "Rank",
            Self::Entropy => "Entropy",
            Self::Surprisal => "Surprise",
        }
    }

    /// What each step of the scale stands for, from sure to unexpected.
    pub const fn legend(self) -> [&'static str; 5] {
        match self {
            Self::None => [""; 5],
            Self::Probability => ["≥ 50 %", "20–50", "5–20", "1–5", "< 1 %"],
            Self::Rank => ["1", "2–10", "11–100", "101–1,000", "> 1,000"],
            Self::Entropy => ["< 0.5 bits", "0.5–1.5", "1.5–3", "3–5", "> 5"],
            Self::Surprisal => ["< 1 bit", "1–3", "3–5", "5–8", "> 8"],
        }
    }

    /// The step of the scale on which a token stands, 0 to 4.
    pub fn step(self, step: &Step) -> usize {
        let trace = &step.trace;
        let (value, borders) = match self {
            Self::None => return 0,
            Self::Probability => (-trace.raw_prob, [-0.5, -0.2, -0.05, -0.01]),
            Self::Rank => (f64::from(trace.raw_rank), [1.0, 10.0, 100.0, 1000.0]),
            Self::Entropy => (
                trace.raw.entropy_nats / std::f64::consts::LN_2,
                [0.5, 1.5, 3.0, 5.0],
            ),
            Self::Surprisal => (-trace.raw_prob.log2(), [1.0, 3.0, 5.0, 8.0]),
        };
        borders.iter().filter(|border| value > **border).count()
    }
}

/// Which theme is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// As the system says.
    #[default]
    System,
    /// Dark, always.
    Dark,
    /// Light, always.
    Light,
}

impl ThemeChoice {
    /// All, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::System, Self::Dark, Self::Light];

    /// The words in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "As the system",
            Self::Dark => "Dark",
            Self::Light => "Light",
        }
    }
}

/// What the dock at the foot of the window shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DockTab {
    /// The pictures.
    #[default]
    Plots,
    /// One token's way through the chain.
    Xray,
    /// The same for scores that are set by hand.
    ByHand,
    /// The figures behind the pictures.
    Numbers,
}

impl DockTab {
    /// All, from left to right.
    pub const ALL: [Self; 4] = [Self::Plots, Self::Xray, Self::ByHand, Self::Numbers];

    /// The word on the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plots => "Plots",
            Self::Xray => "X-ray",
            Self::ByHand => "By hand",
            Self::Numbers => "Numbers",
        }
    }
}

/// A picture of the dock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plot {
    /// How little the model expected each token, a staff a pane.
    Score,
    /// The candidates of one step, before the chain and after it.
    NextToken,
    /// Tokens a second.
    Speed,
}

impl Plot {
    /// All, from left to right.
    pub const ALL: [Self; 3] = [Self::Score, Self::NextToken, Self::Speed];

    /// Its title.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "The score",
            Self::NextToken => "Next token",
            Self::Speed => "Speed",
        }
    }
}

/// How a picture is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// Shapes and text.
    Svg,
    /// Pixels.
    Png,
}

impl PictureFormat {
    /// All, in the order of the menu.
    pub const ALL: [Self; 2] = [Self::Svg, Self::Png];

    /// The usual end of the file's name.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// A token that the reader holds on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// In which pane.
    pub pane: PaneId,
    /// Which of its steps, counted from 0.
    pub step: usize,
}

/// The reader's choices that are kept between starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewChoices {
    /// What the fill behind a token tells.
    pub tint: Tint,
    /// Whether spaces, line breaks and tabs are drawn.
    pub show_marks: bool,
    /// What the height of a token's bar in the score tells.
    pub score: ScoreMeasure,
    /// Which theme is drawn.
    pub theme: ThemeChoice,
    /// What the dock shows.
    pub dock_tab: DockTab,
    /// Whether the dock shows more than its tabs; nothing until the user says, then the window's
    /// size decides.
    pub dock_open: Option<bool>,
    /// The dock's height in points, once it was dragged.
    pub dock_height: Option<f32>,
}
