//! What a plot says and does to be a picture of its own, and how the pictures of a run are made.

use std::fmt;
use std::sync::Arc;

use egui::{Color32, Ui};

use super::StepAt;
use crate::analysis::Prices;
use crate::decoding::watermark::Watermark;
use crate::design::theme::Theme;
use crate::generation::Generation;
use crate::state::{CompareChoices, ScoreCap, ScoreMeasure, Tint};

/// The margin around a picture, in points.
pub const MARGIN: f32 = 20.0;

/// The space above the caption, the height of a caption of two lines, and the height around a plot
/// with such a caption, in points.
pub const CAPTION_GAP: f32 = 12.0;
pub const CAPTION_ROOM: f32 = 32.0;
pub const AROUND: f32 = 2.0 * MARGIN + CAPTION_GAP + CAPTION_ROOM;

/// The minimum height of a plot that is narrower than usual, in points.
const MIN_HEIGHT: f32 = 280.0;

/// A plot, a table or texts that can be a picture of their own.
pub trait PicturePlot: fmt::Debug {
    /// Returns its title.
    fn title(&self) -> &str;

    /// Returns the size of a picture that is legible in an article, in points. Texts and tables are
    /// as tall as their content.
    fn default_size(&self) -> [f32; 2];

    /// Returns the size at which it is drawn in a picture of this width, in points. A wider drawing
    /// is scaled down. The height of a plot follows the width, but a narrow plot stays readable.
    fn size_at(&self, width: f32) -> [f32; 2] {
        let [usual, height] = self.default_size();
        [width, (height * width / usual).max(height.min(MIN_HEIGHT))]
    }

    /// Draws it into the remaining space of `ui`, on a background of this color.
    fn draw(&self, ui: &mut Ui, paper: Color32);

    /// Draws it into the remaining space of the window.
    fn show(&self, ui: &mut Ui) {
        self.draw(ui, Theme::of(ui).bg);
    }
}

/// A plot that is kept until a text changes.
pub type KeptPlot = Arc<dyn PicturePlot + Send + Sync>;

/// What the plots of a run show of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlotChoices {
    /// What the bars of the score show, and its cap.
    pub measure: ScoreMeasure,
    pub cap: ScoreCap,
    /// Whether the score shows all panes in one plot.
    pub in_one: bool,
    /// What the color behind a token shows.
    pub tint: Tint,
    /// The watermark to look for; `None` means the first that a text's chain embeds.
    pub watermark: Option<Watermark>,
    /// The step whose candidates the next-token plot and the X-ray show.
    pub step: Option<StepAt>,
    /// What the comparison of the texts shows.
    pub compare: CompareChoices,
    pub prices: Prices,
}

/// The texts of a run, and what to show of them.
#[derive(Debug, Clone, Copy)]
pub struct PlottedRun<'a> {
    /// A pane's index determines its letter, so panes without text keep their place in the list.
    pub panes: &'a [Option<&'a Generation>],
    pub choices: PlotChoices,
    /// When the texts were finished, in seconds since 1970.
    pub finished_at: Option<u64>,
}

impl<'a> PlottedRun<'a> {
    /// Returns the chosen step and its text.
    pub fn step(&self) -> Option<(StepAt, &'a Generation)> {
        let at = self.choices.step?;
        let generation = self.panes.get(at.pane).copied().flatten()?;
        Some((at, generation))
    }
}

/// A picture in the folder of a run, saved in each format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotFile {
    /// The file name without its extension.
    pub name: &'static str,
    /// What it shows, for lists and headings.
    pub title: &'static str,
    pub choices: PlotChoices,
    /// Whether the web page shows it too.
    pub on_page: bool,
}

impl PlotFile {
    /// Creates a picture that is only in the folder, not on the web page.
    pub fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            choices: PlotChoices::default(),
            on_page: false,
        }
    }
}

/// How a picture is made from the texts of a run.
pub trait RunPicture {
    /// Returns its files in the folder of a run.
    fn files(&self) -> Vec<PlotFile>;

    /// Returns whether these texts have anything to plot.
    fn has_data(&self, _texts: &[&Generation]) -> bool {
        true
    }

    /// Returns whether it shows one step, so that its caption names no other pane.
    fn is_of_step(&self) -> bool {
        false
    }

    /// Returns the plot, or `None` if there is nothing to plot.
    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>>;

    /// Returns the plot as the window keeps it, if the Plots tab can show it on the right.
    fn kept_plot(&self, _panes: &[Option<&Generation>]) -> Option<KeptPlot> {
        None
    }
}
