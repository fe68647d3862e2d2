//! The plots of a run: the score, the next token, the speed, trends over the tokens, and what a
//! verification shows. Also what the plots of the Lab are made of: axes, grids and the color ramp.
//!
//! Each plot is data computed by pure functions, and one function that draws it both on the screen
//! and in a picture.

mod axes;
mod beams;
mod cache_curves;
mod calibration;
mod drafts;
mod fine_grid;
mod frame;
mod gaps;
mod heat;
mod line_style;
mod next_token;
mod picture;
mod proven;
mod replayed;
mod scale;
mod score;
mod speed;
mod trend;
mod verified;

use self::beams::BeamsPicture;
use self::calibration::CalibrationPicture;
use self::drafts::DraftsPicture;
use self::next_token::NextTokenPicture;
use self::score::ScorePicture;
use self::speed::SpeedPicture;
use crate::state::Plot;

pub use axes::{Axes, Scale};
pub use beams::{BeamTree, BeamView, beam_tree_ui};
pub use cache_curves::{NamedCurve, cache_curves_ui};
pub use drafts::{DraftStrip, draft_strip_ui};
pub use fine_grid::FineGrid;
pub use frame::{TITLE_ROW, TextRun, paint_text, paint_text_within, title_ui, unit_title_ui};
pub use gaps::{GapData, gap_plot_ui};
pub use heat::{MapResponse, heat_legend, heat_legend_width, heat_step};
pub use line_style::{dashed_line, paint_marker};
pub use next_token::{
    AfterChain, CandidateRow, NextTokenData, TokenStyle, next_token_plot_ui, token_galley,
};
pub use picture::{
    AROUND, CAPTION_GAP, CAPTION_ROOM, KeptPlot, MARGIN, PicturePlot, PlotChoices, PlotFile,
    PlottedRun, RunPicture,
};
pub use proven::{ProvenData, proven_ui};
pub use replayed::{ReplayedRun, ReplayedRuns};
pub use scale::count;
pub use score::{ScoreData, ScoreLane, ScoreValues, score_plot_ui};
pub use speed::{SpeedData, SpeedLine};
pub use trend::{TrendData, TrendFigures, p_value_plot_ui, trend_plot_ui};
pub use verified::VerifiedData;

/// Returns how a picture is made from the texts of a run, or `None` if it is not a plot.
pub fn run_picture(plot: Plot) -> Option<Box<dyn RunPicture>> {
    Some(match plot {
        Plot::Score => Box::new(ScorePicture),
        Plot::NextToken => Box::new(NextTokenPicture),
        Plot::Speed => Box::new(SpeedPicture),
        Plot::Trend(trend) => Box::new(trend),
        Plot::Calibration => Box::new(CalibrationPicture),
        Plot::Beams => Box::new(BeamsPicture),
        Plot::Drafts => Box::new(DraftsPicture),
        Plot::Xray
        | Plot::ByHand
        | Plot::Tree
        | Plot::Texts
        | Plot::Gaps
        | Plot::Compare
        | Plot::Loop => return None,
    })
}

/// Identifies a step of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepAt {
    /// The pane's index.
    pub pane: usize,
    /// The index of the step.
    pub step: usize,
}

/// How the user interacted with a plot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlotResponse {
    /// The step under the pointer.
    pub hovered: Option<StepAt>,
    /// The clicked step, which the caller should pin.
    pub clicked: Option<StepAt>,
}

/// What a plot is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The window, which shows the context of the plot.
    Screen,
    /// A standalone picture, with names, axis titles and a legend.
    Picture,
}
