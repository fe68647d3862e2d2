//! The pictures of a run: the score, the next token, the speed.
//!
//! Each is data, computed by pure functions, and one function that draws it, on the screen and in
//! a [`picture`] alike.

mod frame;
mod mark;
mod next_token;
pub mod picture;
mod scale;
mod score;
mod speed;

pub(super) use next_token::word_galley;
pub use next_token::{CandidateRow, NextTokenData, next_token_plot_ui};
pub use score::{ScoreData, ScoreLane, score_measure_ui, score_plot_ui};
pub use speed::{SpeedData, SpeedLine, speed_plot_ui};

/// A step of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepAt {
    /// The pane, by its place among the panes.
    pub pane: usize,
    /// The step, counted from 0.
    pub step: usize,
}

/// What was pointed at in a plot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlotResponse {
    /// The step under the pointer.
    pub hovered: Option<StepAt>,
    /// The step that was clicked, to be pinned.
    pub clicked: Option<StepAt>,
}

/// Where a plot is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the window, which says much of what a picture must say itself.
    Screen,
    /// In a picture that has to stand alone: with names, axis titles and a legend.
    Picture,
}
