//! The loop as a picture: one step of a text as the boxes of the generation loop.

use egui::{Color32, Ui};

use super::{GAP, HEAD, LoopBox, LoopStep, RETURN, boxes_ui, shown_step};
use crate::generation::{Generation, Step};
use crate::plots::{
    AROUND, MARGIN, PicturePlot, PlotFile, PlottedRun, RunPicture, StepAt, TITLE_ROW, count,
    title_ui,
};
use crate::state::AppState;

/// The minimum width of a box, and its height, in points.
const MIN_BOX: f32 = 118.0;
const BOX: f32 = HEAD + 180.0;

/// The usual width of a picture.
const WIDTH: f32 = 1120.0;

/// A step with what its boxes show.
#[derive(Debug, Clone)]
pub(in crate::ui) struct LoopPicture {
    pub at: StepAt,
    generation: Generation,
    step: Step,
    is_upcoming: bool,
    is_step_mode: bool,
}

impl LoopPicture {
    /// Copies the step that the tab shows.
    pub(in crate::ui) fn shown(state: &AppState) -> Option<Self> {
        shown_step(state).map(Self::of)
    }

    fn of(shown: LoopStep<'_>) -> Self {
        Self {
            at: StepAt {
                pane: shown.pane,
                step: shown.index,
            },
            generation: shown.generation.clone(),
            step: shown.step.clone(),
            is_upcoming: shown.is_upcoming,
            is_step_mode: shown.is_step_mode,
        }
    }

    fn step(&self) -> LoopStep<'_> {
        LoopStep {
            pane: self.at.pane,
            generation: &self.generation,
            step: &self.step,
            index: self.at.step,
            is_upcoming: self.is_upcoming,
            is_step_mode: self.is_step_mode,
        }
    }

    /// Returns the text of the step.
    pub(in crate::ui) const fn text(&self) -> &Generation {
        &self.generation
    }
}

/// Returns the number of boxes in a row of this width, so that the rows are about equally long.
fn n_in_row(width: f32) -> usize {
    let n_boxes = LoopBox::ALL.len();
    let fit = count(f64::from((width + GAP) / (MIN_BOX + GAP))).clamp(1, n_boxes);
    n_boxes.div_ceil(n_boxes.div_ceil(fit))
}

impl PicturePlot for LoopPicture {
    fn title(&self) -> &'static str {
        "Loop"
    }

    fn default_size(&self) -> [f32; 2] {
        self.size_at(WIDTH)
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let width = width.max(2.0 * MIN_BOX + GAP + 2.0 * MARGIN);
        let n_rows = LoopBox::ALL.len().div_ceil(n_in_row(width - 2.0 * MARGIN)) as f32;
        let boxes = n_rows * (BOX + GAP) - GAP;
        [width, TITLE_ROW + boxes + RETURN + AROUND]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let n_steps = self.generation.steps.len();
        let number = self.at.step + 1;
        let words = if self.is_upcoming {
            format!("token {number}, before the draw")
        } else {
            format!("token {number} of {n_steps}")
        };
        title_ui(ui, "Loop", Some(self.at.pane), &[words]);
        let area = ui.available_rect_before_wrap();
        boxes_ui(ui, area, self.step(), n_in_row(area.width()));
    }
}

/// The chosen step of a run as the boxes of the loop.
pub(in crate::ui) struct LoopOfRun;

impl RunPicture for LoopOfRun {
    fn files(&self) -> Vec<PlotFile> {
        vec![PlotFile::new(
            "loop",
            "the generation loop where the texts diverge",
        )]
    }

    fn has_data(&self, texts: &[&Generation]) -> bool {
        texts.iter().any(|text| !text.steps.is_empty())
    }

    fn is_of_step(&self) -> bool {
        true
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let (at, generation) = run.step()?;
        Some(Box::new(LoopPicture::of(LoopStep {
            pane: at.pane,
            generation,
            step: generation.steps.get(at.step)?,
            index: at.step,
            is_upcoming: false,
            is_step_mode: false,
        })))
    }
}
