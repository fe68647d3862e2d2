//! What a verification proved: one strip per pane, one cell per token.

use egui::{Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::frame::{TITLE_ROW, title_ui};
use super::picture::{AROUND, PicturePlot};
use super::scale::{count, label_step};
use crate::analysis::contradictions::{RunPlace, is_by_settings};
use crate::analysis::replay::Verdict;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;

/// The height of a strip, and the distance between two of them, in points.
const STRIP: f32 = 20.0;
const PITCH: f32 = 34.0;

/// The space for the badges, and for the labels below, in points.
const LEFT: f32 = 32.0;
const BELOW: f32 = 18.0;

/// What was proven about the texts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenData {
    /// The place of each pane, and its cells.
    strips: Vec<(usize, Vec<Cell>)>,
    sentence: String,
    has_contradiction: bool,
}

/// What was proven about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// The settings choose it.
    Chosen,
    /// It was given by hand, scored, or chosen by a server.
    Given,
    /// It contradicts the file.
    Contradicts,
    /// It comes after a contradiction.
    Unjudged,
}

impl ProvenData {
    /// Describes what a verdict proves about these texts, one per pane.
    pub fn of<'a>(verdict: &Verdict, texts: impl IntoIterator<Item = &'a Generation>) -> Self {
        let found = verdict.contradiction.as_ref();
        let strips = texts
            .into_iter()
            .zip(verdict.places())
            .map(|(text, place)| {
                let found = found.filter(|found| found.place == RunPlace::Pane(*place));
                // A contradiction about a whole text leaves nothing to judge.
                let from = found.map(|found| found.step.unwrap_or_default());
                let cell = |(index, step): (usize, &crate::generation::Step)| {
                    let is_here = found.is_some_and(|found| found.step == Some(index));
                    match from {
                        _ if is_here => Cell::Contradicts,
                        Some(from) if index >= from => Cell::Unjudged,
                        _ if is_by_settings(&step.trace.draw) => Cell::Chosen,
                        _ => Cell::Given,
                    }
                };
                (*place, text.steps.iter().enumerate().map(cell).collect())
            });
        Self {
            strips: strips.collect(),
            sentence: verdict.to_string(),
            has_contradiction: found.is_some(),
        }
    }

    fn n_steps(&self) -> usize {
        let lengths = self.strips.iter().map(|(_, cells)| cells.len());
        lengths.max().unwrap_or_default()
    }

    /// Returns the height that it needs, in points.
    pub fn height(&self) -> f32 {
        TITLE_ROW + self.height_of_strips()
    }

    fn height_of_strips(&self) -> f32 {
        PITCH * self.strips.len() as f32 + BELOW
    }

    /// Returns the verdict in words.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

/// Draws the strips from the top of `ui`.
pub fn proven_ui(ui: &mut Ui, data: &ProvenData) {
    let subtitles = if data.has_contradiction {
        [
            "filled: chosen again from the record; red: contradicts the file; line: not checked",
            "red: contradicts the file; line: not checked",
        ]
    } else {
        [
            "filled: chosen by the settings from the coins; open: given by hand, scored or by a server",
            "filled: chosen by the settings; open: given",
        ]
    };
    title_ui(ui, "What was proven", None, &subtitles.map(str::to_owned));
    let size = vec2(ui.available_width(), data.height_of_strips());
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let sentence = format!("What was proven: {}", data.sentence);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &sentence));
    let theme = Theme::of(ui);
    let n_steps = data.n_steps().max(1);
    let width = (rect.width() - LEFT) / n_steps as f32;
    for (row, (pane, strip)) in data.strips.iter().enumerate() {
        let middle = rect.top() + PITCH * row as f32 + STRIP / 2.0;
        let center = pos2(rect.left() + SMALL_BADGE / 2.0, middle);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, *pane);
        let left = pos2(rect.left() + LEFT, middle);
        ui.painter().add(cells(strip, left, width, theme, *pane));
        paint_unjudged(ui, strip, left, width);
    }
    paint_axis(ui, rect, n_steps, width);
}

/// Returns the cells of a strip.
fn cells(strip: &[Cell], left: Pos2, width: f32, theme: &Theme, pane: usize) -> Shape {
    // Cells that are too narrow touch each other, so that those of the same kind are one.
    let touches = width < 3.0;
    let gap = if touches { 0.0 } else { 1.0 };
    let mut shapes: Vec<Shape> = Vec::new();
    let mut fill = |x: f32, y: f32, width: f32, height: f32, color: Color32| {
        let rect = Rect::from_min_size(pos2(x, y), vec2(width, height));
        shapes.push(Shape::rect_filled(rect, 0, color));
    };
    let (top, bottom) = (left.y - STRIP / 2.0, left.y + STRIP / 2.0);
    let mut first = 0;
    for run in strip.chunk_by(|a, b| touches && a == b) {
        let (x, width) = (left.x + width * first as f32, width * run.len() as f32);
        match run.first() {
            Some(Cell::Chosen) => fill(x, top, width - gap, STRIP, theme.pane(pane)),
            Some(Cell::Given) => {
                fill(x, top, width - gap, 1.0, theme.text_1);
                fill(x, bottom - 1.0, width - gap, 1.0, theme.text_1);
            }
            Some(Cell::Contradicts) => {
                fill(x, top - 3.0, width.max(5.0), STRIP + 6.0, theme.error);
            }
            Some(Cell::Unjudged) | None => {}
        }
        first += run.len();
    }
    Shape::Vec(shapes)
}

/// Paints a dashed line through the tokens that were not judged.
fn paint_unjudged(ui: &Ui, strip: &[Cell], left: egui::Pos2, width: f32) {
    let Some(first) = strip.iter().position(|cell| *cell == Cell::Unjudged) else {
        return;
    };
    let ends = [first, strip.len()].map(|index| left + vec2(width * index as f32, 0.0));
    let stroke = Stroke::new(1.0, Theme::of(ui).text_3);
    ui.painter()
        .extend(Shape::dashed_line(&ends, stroke, 3.0, 2.0));
}

fn paint_axis(ui: &Ui, rect: Rect, n_steps: usize, width: f32) {
    let theme = Theme::of(ui);
    let write = |x: f32, align: Align2, words: String| {
        let at = pos2(x, rect.bottom() - BELOW + 2.0);
        ui.painter()
            .text(at, align, words, Face::Micro.font(), theme.text_3);
    };
    let left = rect.left() + LEFT;
    write(left, Align2::LEFT_TOP, "token 1".to_owned());
    let step = count(label_step(n_steps as f64, width * n_steps as f32, 60.0)).max(1);
    let labels = (1..).map(|number| step * number);
    for token in labels.take_while(|token| *token <= n_steps) {
        let x = left + width * (token as f32 - 0.5);
        if x - left > 60.0 {
            write(x, Align2::CENTER_TOP, token.to_string());
        }
    }
}

impl PicturePlot for ProvenData {
    fn title(&self) -> &'static str {
        "What was proven"
    }

    fn default_size(&self) -> [f32; 2] {
        // Its caption ends with the verdict.
        [960.0, self.height() + AROUND + 32.0]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(480.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        proven_ui(ui, self);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Cell, ProvenData};
    use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace};
    use crate::analysis::replay::{TextPlaces, Verdict};
    use crate::decoding::Picked;
    use crate::generation::testing::generation;

    #[test]
    fn strips_show_who_chose_each_token_up_to_a_contradiction() {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5), (" ran", 0.5)]);
        Arc::make_mut(&mut text.steps[0].trace).draw.picked = Picked::ByHand;
        let found = |step| Contradiction {
            place: RunPlace::Pane(1),
            step,
            kind: ContradictionKind::Choice,
            words: String::new(),
        };
        let whole = [Cell::Given, Cell::Chosen, Cell::Chosen];
        for (step, second) in [
            (Some(1), [Cell::Given, Cell::Contradicts, Cell::Unjudged]),
            (None, [Cell::Unjudged; 3]),
        ] {
            let texts = [&text, &text];
            let verdict = Verdict::contradicted(&texts, TextPlaces::default(), found(step));
            let data = ProvenData::of(&verdict, texts);
            assert_eq!(data.strips, [(0, whole.to_vec()), (1, second.to_vec())]);
        }
    }
}
