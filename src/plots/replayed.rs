//! How many runs were repeated token for token: one strip per run.

use egui::{Align2, Color32, Rect, Sense, Shape, Ui, pos2, vec2};

use super::frame::{TITLE_ROW, title_ui};
use super::picture::{AROUND, PicturePlot};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{cut, grouped};

/// The most strips that are drawn.
const MAX_STRIPS: usize = 400;

/// The height of a strip, the distance between two of them, and the space for the names, in points.
const STRIP: f32 = 10.0;
const PITCH: f32 = 16.0;
const LEFT: f32 = 190.0;

/// How many characters of a name are shown.
const N_NAME: usize = 30;

/// A run and how far its replay is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedRun {
    pub name: String,
    /// How many tokens its longest text has.
    pub n_tokens: usize,
    /// The index of the first different token, if there is one.
    pub first_difference: Option<usize>,
    /// Whether its texts were generated again and the file is consistent.
    pub is_compared: bool,
}

/// The runs that are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedRuns {
    runs: Vec<ReplayedRun>,
    /// How many runs there are.
    n_all: usize,
}

impl ReplayedRuns {
    /// Describes runs. Of many, only the first are drawn.
    pub fn of(runs: impl IntoIterator<Item = ReplayedRun>) -> Self {
        let mut runs: Vec<ReplayedRun> = runs.into_iter().collect();
        let n_all = runs.len();
        runs.truncate(MAX_STRIPS);
        Self { runs, n_all }
    }

    fn subtitle(&self) -> String {
        let marks = "filled: the same tokens; red: the first difference; no strip: not compared";
        match self.n_all - self.runs.len() {
            0 => marks.to_owned(),
            n_more => format!(
                "{marks}; {} more runs are not drawn",
                grouped(n_more as f64)
            ),
        }
    }
}

impl PicturePlot for ReplayedRuns {
    fn title(&self) -> &'static str {
        "Replayed runs"
    }

    fn default_size(&self) -> [f32; 2] {
        let strips = PITCH * self.runs.len() as f32;
        [960.0, TITLE_ROW + strips + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(480.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        title_ui(ui, "Replayed runs", None, &[self.subtitle()]);
        let size = vec2(ui.available_width(), PITCH * self.runs.len() as f32);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        let theme = Theme::of(ui);
        let lengths = self.runs.iter().map(|run| run.n_tokens);
        let n_longest = lengths.max().unwrap_or_default().max(1);
        let width = (rect.width() - LEFT) / n_longest as f32;
        for (row, run) in self.runs.iter().enumerate() {
            let middle = rect.top() + PITCH * (row as f32 + 0.5);
            let name = pos2(rect.left(), middle);
            let words = cut(&run.name, N_NAME);
            let font = Face::Micro.font();
            ui.painter()
                .text(name, Align2::LEFT_CENTER, words, font, theme.text_2);
            if run.is_compared {
                ui.painter()
                    .extend(strip(run, theme, pos2(rect.left() + LEFT, middle), width));
            }
        }
    }
}

/// Returns the strip of a run, from this point on.
fn strip(run: &ReplayedRun, theme: &Theme, left: egui::Pos2, width: f32) -> Vec<Shape> {
    let bar = |from: usize, to: usize, height: f32, color: Color32| {
        let [from, to] = [from, to].map(|token| left.x + width * token as f32);
        let (top, bottom) = (left.y - height / 2.0, left.y + height / 2.0);
        // Every mark is visible, however many tokens there are.
        let rect = Rect::from_min_max(pos2(from, top), pos2(to.max(from + 1.0), bottom));
        Shape::rect_filled(rect, 0, color)
    };
    let n_same = run.first_difference.unwrap_or(run.n_tokens);
    let mut shapes = Vec::new();
    if n_same > 0 {
        shapes.push(bar(0, n_same, STRIP, theme.pane(0)));
    }
    if let Some(first) = run.first_difference {
        shapes.push(bar(first, run.n_tokens, 1.0, theme.text_3));
        shapes.push(bar(first, first + 1, STRIP + 4.0, theme.error));
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::{MAX_STRIPS, ReplayedRun, ReplayedRuns};

    #[test]
    fn only_so_many_strips_are_drawn_and_the_rest_is_counted() {
        let run = ReplayedRun {
            name: "a".to_owned(),
            n_tokens: 3,
            first_difference: None,
            is_compared: true,
        };
        let few = ReplayedRuns::of([run.clone()]);
        assert!(!few.subtitle().contains("more runs"));
        let many = ReplayedRuns::of(vec![run; MAX_STRIPS + 2]);
        assert_eq!(many.runs.len(), MAX_STRIPS);
        assert!(many.subtitle().ends_with("2 more runs are not drawn"));
    }
}
