//! Trends: plots of a value of each token of a text.
//!
//! [`Trend`] lists them. Each has a file with its spec, which the dock, the menus, the pictures and
//! the run folder read. How a trend is drawn is not known here.

mod kept;
mod margin;
mod millis;
mod ranks;
mod surprise;
mod watermark;

use serde::{Deserialize, Serialize};

pub use self::kept::KeptMass;
pub(super) use self::margin::margin_nats;
pub use self::millis::{has_token_times, token_millis};
pub use self::ranks::{RANK_BINS, rank_bin, rank_counts};
use super::watermark::first_mark;
use crate::generation::Generation;

/// A value of each token, plotted over all texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The candidates that the chain keeps, and their mass.
    Kept,
    /// The surprise of all tokens so far.
    Surprise,
    /// The gap between the two most likely tokens.
    Margin,
    /// How often each rank was taken.
    Ranks,
    /// The time of each token.
    Millis,
    /// The probability of matching a watermark's key this well by chance.
    Watermark,
}

impl Trend {
    /// All trends, in menu order.
    pub const ALL: [Self; 6] = [
        Self::Kept,
        Self::Surprise,
        Self::Margin,
        Self::Ranks,
        Self::Millis,
        Self::Watermark,
    ];

    /// Returns its description.
    pub const fn spec(self) -> &'static TrendSpec {
        match self {
            Self::Kept => &kept::SPEC,
            Self::Surprise => &surprise::SPEC,
            Self::Margin => &margin::SPEC,
            Self::Ranks => &ranks::SPEC,
            Self::Millis => &millis::SPEC,
            Self::Watermark => &watermark::SPEC,
        }
    }
}

/// All there is to know about a trend besides its drawing.
#[derive(Debug)]
pub struct TrendSpec {
    /// The title, in plots and in menus.
    pub name: &'static str,
    /// What is plotted, for the line beside the title.
    pub subtitle: &'static str,
    /// What stands in place of the plot if there is nothing to plot.
    pub hint: &'static str,
    /// The name of its files in a run folder, without their extension.
    pub file_name: &'static str,
    /// What its files show, for lists.
    pub file_summary: &'static str,
    /// Whether it needs the times of tokens, which a scored text lacks.
    pub needs_times: bool,
    pub shape: TrendShape,
}

/// How the values of a trend are plotted.
#[derive(Debug)]
pub enum TrendShape {
    /// Lines over the tokens.
    Lines {
        /// From top to bottom.
        panels: &'static [PanelSpec],
        /// Describes the step at an index, for a tooltip.
        words: fn(&Generation, usize) -> Option<String>,
    },
    /// A histogram of ranks.
    Ranks,
    /// The p-values of a watermark scan, as lines over the tokens.
    PValues,
}

/// A line for each text, on one vertical axis.
#[derive(Debug)]
pub struct PanelSpec {
    /// The quantity and its unit.
    pub title: &'static str,
    pub axis: TrendAxis,
    /// Returns the value at each step, or `None` where it is unknown. It depends on the steps alone.
    pub values: fn(&Generation) -> Vec<Option<f64>>,
}

/// The vertical axis of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendAxis {
    /// From 0 to the largest value.
    Linear,
    /// From 0 to a value that few exceed, so that a rare pause does not flatten the rest.
    Typical,
    /// From 0 to 100 %.
    Share,
    /// From 1 in powers of ten.
    Log,
}

impl TrendSpec {
    /// Returns whether these texts have anything to plot. A scored text took no time per token, and
    /// only a watermark can be looked for.
    pub fn has_data<'a>(&self, mut texts: impl Iterator<Item = &'a Generation>) -> bool {
        match self.shape {
            TrendShape::PValues => first_mark(texts.map(|text| &text.config.chain)).is_some(),
            TrendShape::Lines { .. } | TrendShape::Ranks => {
                !self.needs_times || texts.any(has_token_times)
            }
        }
    }
}
