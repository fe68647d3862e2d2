//! View choices: how the window shows the record, without changing it.

use serde::{Deserialize, Serialize};

use super::{
    PaneId, PictureTarget, PictureTheme, PictureWidth, ReadingFont, RightPlot, RunFileStyle,
    TextSize,
};
use crate::analysis::token_kinds::TokenKind;
use crate::analysis::{Prices, TokenScale};
use crate::decoding::watermark::Watermark;
use crate::generation::Step;

/// What the height of a token's bar in the score plot shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreMeasure {
    /// The negative base-2 logarithm of the token's probability before the chain, in bits.
    #[default]
    Surprise,
    /// The token's probability before the chain.
    Probability,
    /// The entropy of the distribution before the chain, in bits.
    Entropy,
    /// The token's rank before the chain, from 1.
    Rank,
    /// The number of tokens left after the chain.
    Kept,
}

impl ScoreMeasure {
    /// All measures, in menu order.
    pub const ALL: [Self; 5] = [
        Self::Surprise,
        Self::Probability,
        Self::Entropy,
        Self::Rank,
        Self::Kept,
    ];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Surprise => "Surprise",
            Self::Probability => "Probability",
            Self::Entropy => "Entropy",
            Self::Rank => "Rank",
            Self::Kept => "How many kept",
        }
    }

    /// Returns its value at one step: bits, a probability between 0 and 1, or a count from 1.
    /// Returns `None` if it depends on what a server did not report.
    pub fn value(self, step: &Step) -> Option<f64> {
        let trace = &step.trace;
        match self {
            Self::Surprise => trace.known_surprise_bits(),
            Self::Probability => trace.known_raw_prob(),
            Self::Entropy => Some(trace.known_entropy_nats()? / std::f64::consts::LN_2),
            Self::Rank => trace.known_rank().map(f64::from),
            Self::Kept => trace.n_known_kept().map(f64::from),
        }
    }
}

/// The maximum number of bits that a staff of the score shows, so that a few rare surprises do not
/// make all other bars tiny.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreCap {
    FourBits,
    #[default]
    EightBits,
    SixteenBits,
    /// The staff is as high as the largest value.
    Uncapped,
}

impl ScoreCap {
    /// All caps, in menu order.
    pub const ALL: [Self; 4] = [
        Self::FourBits,
        Self::EightBits,
        Self::SixteenBits,
        Self::Uncapped,
    ];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FourBits => "4 bits",
            Self::EightBits => "8 bits",
            Self::SixteenBits => "16 bits",
            Self::Uncapped => "No cap",
        }
    }

    /// Returns the number of bits.
    pub const fn bits(self) -> f64 {
        match self {
            Self::FourBits => 4.0,
            Self::EightBits => 8.0,
            Self::SixteenBits => 16.0,
            Self::Uncapped => f64::INFINITY,
        }
    }
}

/// What the color behind a token shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tint {
    None,
    /// The token's probability before the chain.
    #[default]
    Probability,
    /// The token's rank before the chain.
    Rank,
    /// The entropy of the distribution before the chain.
    Entropy,
    /// The token's surprise, in bits.
    Surprisal,
    /// How well the token matches a watermark.
    Watermark,
}

impl Tint {
    /// All tints, in menu order.
    pub const ALL: [Self; 6] = [
        Self::Probability,
        Self::Rank,
        Self::Entropy,
        Self::Surprisal,
        Self::Watermark,
        Self::None,
    ];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Probability => "Probability",
            Self::Rank => "Rank",
            Self::Entropy => "Entropy",
            Self::Surprisal => "Surprise",
            Self::Watermark => "Watermark",
        }
    }

    /// Returns the label of each step of the scale, from expected to unexpected. For a watermark,
    /// see [`ViewChoices::tint_legend`](crate::state::ViewChoices::tint_legend).
    pub const fn legend(self) -> [&'static str; 5] {
        match self.scale() {
            Some(scale) => scale.legend(),
            None => [""; 5],
        }
    }

    /// Returns a token's step on the scale, 0 to 4; 0 for a watermark, whose steps come from a
    /// scan.
    pub fn step(self, step: &Step) -> usize {
        self.scale().map_or(0, |scale| scale.step(step))
    }

    const fn scale(self) -> Option<TokenScale> {
        match self {
            Self::None | Self::Watermark => None,
            Self::Probability => Some(TokenScale::Probability),
            Self::Rank => Some(TokenScale::Rank),
            Self::Entropy => Some(TokenScale::Entropy),
            Self::Surprisal => Some(TokenScale::Surprise),
        }
    }
}

/// The user's choice of theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// Follow the system.
    #[default]
    System,
    Dark,
    Light,
}

impl ThemeChoice {
    /// All choices, in menu order.
    pub const ALL: [Self; 3] = [Self::System, Self::Dark, Self::Light];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Dark => "Dark",
            Self::Light => "Light",
        }
    }
}

/// A tab of the dock at the bottom of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DockTab {
    #[default]
    Plots,
    /// What each stage of the chain did to the candidates of one step.
    Xray,
    /// One step as the stages of the generation loop.
    Loop,
    /// The tree of all texts.
    Branches,
    /// How far apart the panes' texts are.
    Compare,
    /// The metrics behind the plots.
    Numbers,
}

impl DockTab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 6] = [
        Self::Plots,
        Self::Xray,
        Self::Loop,
        Self::Branches,
        Self::Compare,
        Self::Numbers,
    ];

    /// Returns the label of the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plots => "Plots",
            Self::Xray => "X-ray",
            Self::Loop => "Loop",
            Self::Branches => "Branches",
            Self::Compare => "Compare",
            Self::Numbers => "Numbers",
        }
    }
}

/// What the Branches tab shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchesView {
    /// The tree of the texts that were written.
    #[default]
    Written,
    /// The tree of the texts that could be written.
    Futures,
}

impl BranchesView {
    /// Both views, from left to right.
    pub const ALL: [Self; 2] = [Self::Written, Self::Futures];

    /// Returns the label of the switch.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Written => "Written",
            Self::Futures => "Futures",
        }
    }
}

/// Which turns of a conversation the plots show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnsPlotted {
    /// The one that all tabs show.
    #[default]
    Shown,
    /// All of them, one after the other.
    All,
}

/// How the score arranges the panes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreLayout {
    /// A staff of bars for each pane.
    #[default]
    Staves,
    /// A line for each pane, all in one plot.
    OnePlot,
}

impl ScoreLayout {
    /// Returns whether all panes share one plot.
    pub fn is_one_plot(self) -> bool {
        self == Self::OnePlot
    }

    /// Returns the other arrangement.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Staves => Self::OnePlot,
            Self::OnePlot => Self::Staves,
        }
    }
}

/// How plots are exported as pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PictureStyle {
    /// The height follows.
    pub width: PictureWidth,
    /// The PNG's pixels per point, from 1 to 4.
    pub scale: u8,
    /// Whether the background is left out.
    pub transparent: bool,
    /// Whether the text of an SVG is drawn as outlines, for programs without its fonts.
    pub outlined_text: bool,
}

impl PictureStyle {
    /// The scales to choose from.
    pub const SCALES: [u8; 4] = [1, 2, 3, 4];
}

impl Default for PictureStyle {
    fn default() -> Self {
        Self {
            width: PictureWidth::Usual,
            scale: 2,
            transparent: false,
            outlined_text: false,
        }
    }
}

/// A pinned token: the inspector and the dock stay on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    pub pane: PaneId,
    /// The index of its step, from 0.
    pub step: usize,
}

/// How Compare shows the texts.
#[expect(clippy::struct_excessive_bools, reason = "independent choices")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompareChoices {
    /// Whether it dims the prefix that all texts share.
    pub dim_shared: bool,
    /// Whether it scrolls all texts to the same token.
    pub scroll_together: bool,
    /// Whether the measures of a text count its thought.
    pub counts_thinking: bool,
    /// The panes whose distributions are shown, the left one first. `None` means the first and the
    /// last pane.
    #[serde(skip)]
    pub pair: Option<[usize; 2]>,
    /// Whether it marks where texts break the grammar of another pane.
    pub grammar_breaks: bool,
}

/// The view choices, which persist across restarts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewChoices {
    pub tint: Tint,
    /// Whether spaces, line breaks and tabs are visible.
    pub show_marks: bool,
    /// The kind of token to step by and to underline; `None` for every token.
    pub kind: Option<TokenKind>,
    pub score: ScoreMeasure,
    pub score_cap: ScoreCap,
    pub turns_plotted: TurnsPlotted,
    /// The watermark to look for; `None` for the first one that a pane leaves.
    pub watermark: Option<Watermark>,
    pub right_plot: RightPlot,
    pub score_layout: ScoreLayout,
    pub picture: PictureStyle,
    pub theme: ThemeChoice,
    pub text_size: TextSize,
    pub reading_font: ReadingFont,
    /// Whether animations are off.
    pub reduce_motion: bool,
    pub dock_tab: DockTab,
    /// What the Branches tab shows.
    pub branches: BranchesView,
    /// Whether the dock is expanded; `None` lets the window's size decide until the user does.
    pub dock_open: Option<bool>,
    /// The dock's height in points; `None` until the user drags it.
    pub dock_height: Option<f32>,
    /// Whether Plots stays when a token is pressed, because the user chose it over X-ray.
    pub keeps_plots: bool,
    #[serde(flatten)]
    pub compare: CompareChoices,
    /// What a token costs, for the cost of a text.
    pub prices: Prices,
    /// The colors and the format of exported pictures.
    pub picture_theme: PictureTheme,
    pub picture_target: PictureTarget,
    /// How run files are written.
    pub run_file: RunFileStyle,
}
