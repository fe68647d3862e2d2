//! The matrix of all pairs: above the diagonal the divergence at the fork, below it the fork and
//! the edit distance.

use egui::{Align2, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, focus_ring, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::grouped;
use crate::generation::formatting::pane_letter;
use crate::state::ComparedPair;

/// The height of the title, and the thickness of the row and the column of badges.
const TITLE: f32 = 22.0;
const BADGES: f32 = 26.0;

/// The gap between cells.
const GAP: f32 = 2.0;

/// The height of the legend below the cells.
const LEGEND: f32 = 20.0;

/// Returns the height of a matrix of these many texts, with cells of their maximum size.
pub(super) fn matrix_height(n_texts: usize) -> f32 {
    TITLE + BADGES + n_texts as f32 * (max_cell(n_texts).y + GAP) + LEGEND
}

/// Returns the maximum size of a cell.
fn max_cell(n_texts: usize) -> Vec2 {
    if n_texts <= 4 {
        vec2(76.0, 40.0)
    } else {
        vec2(40.0, 28.0)
    }
}

/// Draws the matrix. Returns the pair that the user selected.
pub(super) fn matrix_ui(
    ui: &mut Ui,
    texts: &[(usize, &Generation)],
    pairs: &[ComparedPair],
    selected: [usize; 2],
) -> Option<[usize; 2]> {
    let theme = Theme::of(ui);
    let area = ui.max_rect();
    let at = |y: f32| pos2(area.left(), area.top() + y);
    let title = paint(ui, at(8.0), "How far apart", Face::SmallMedium, false);
    paint(
        ui,
        pos2(title.right() + 8.0, title.center().y),
        "above: divergence · below: token",
        Face::Small,
        true,
    );
    let n = texts.len() as f32;
    let wide = texts.len() <= 4;
    let max = max_cell(texts.len());
    let room = vec2(
        area.width() - BADGES,
        area.height() - TITLE - BADGES - LEGEND,
    );
    let cell = vec2(
        (room.x / n - GAP).clamp(20.0, max.x),
        (room.y / n - GAP).clamp(18.0, max.y),
    );
    let origin = at(TITLE + BADGES) + vec2(BADGES, 0.0);
    let cell_rect = |row: usize, column: usize| {
        let step = cell + Vec2::splat(GAP);
        let corner = origin + vec2(step.x * column as f32, step.y * row as f32);
        Rect::from_min_size(corner, cell)
    };
    let mut clicked = None;
    for (row, (row_pane, _)) in texts.iter().enumerate() {
        let first = cell_rect(row, 0);
        badge_at(ui, pos2(origin.x - 16.0, first.center().y), *row_pane);
        let top = cell_rect(0, row);
        badge_at(ui, pos2(top.center().x, origin.y - 14.0), *row_pane);
        for (column, (column_pane, _)) in texts.iter().enumerate() {
            let rect = cell_rect(row, column);
            if row == column {
                let edge = Stroke::new(1.0, theme.stroke_1);
                ui.painter().rect_stroke(rect, 2, edge, StrokeKind::Inside);
                continue;
            }
            let panes = [*row_pane.min(column_pane), *row_pane.max(column_pane)];
            let Some(pair) = pairs.iter().find(|pair| pair.panes == panes) else {
                continue;
            };
            let cell = Cell {
                pair,
                above: column > row,
                selected: panes == selected,
                detailed: wide,
            };
            if cell.ui(ui, rect) {
                clicked = Some(panes);
            }
        }
    }
    let bottom = cell_rect(texts.len().saturating_sub(1), 0).bottom() + 12.0;
    legend_ui(ui, pos2(area.left() + BADGES, bottom));
    clicked
}

fn paint(ui: &Ui, at: Pos2, text: &str, face: Face, dim: bool) -> Rect {
    let theme = Theme::of(ui);
    let color = if dim { theme.text_3 } else { theme.text_1 };
    ui.painter()
        .text(at, Align2::LEFT_CENTER, text, face.font(), color)
}

fn badge_at(ui: &Ui, center: Pos2, pane: usize) {
    let rect = Rect::from_center_size(center, Vec2::splat(SMALL_BADGE));
    paint_badge(ui.painter(), Theme::of(ui), rect, pane);
}

/// Draws the legend of the cells' colors, from 0 to 1 bit.
fn legend_ui(ui: &Ui, at: Pos2) {
    let theme = Theme::of(ui);
    let zero = paint(ui, at, "0", Face::Micro, true);
    let mut x = zero.right() + 6.0;
    for step in 0..Theme::N_HEAT {
        let rect = Rect::from_center_size(pos2(x + 6.0, at.y), vec2(12.0, 8.0));
        ui.painter().rect_filled(rect, 0, theme.heat(step));
        x += 12.0;
    }
    let words = "1 bit after the settings, where they diverge";
    paint(ui, pos2(x + 6.0, at.y), words, Face::Micro, true);
}

/// One cell of the matrix.
struct Cell<'a> {
    pair: &'a ComparedPair,
    /// Whether it is above the diagonal.
    above: bool,
    selected: bool,
    /// Whether it has room for a second line.
    detailed: bool,
}

impl Cell<'_> {
    /// Draws the cell. Returns whether it was clicked.
    fn ui(&self, ui: &Ui, rect: Rect) -> bool {
        let theme = Theme::of(ui);
        let id = ui.scope_id().with((self.pair.panes, self.above));
        let response = ui.interact(rect, id, Sense::click());
        let sentence = self.sentence();
        response.widget_info(|| {
            WidgetInfo::selected(Role::Button, true, self.selected, sentence.clone())
        });
        let fork = self.pair.comparison.as_ref().map(|both| both.fork.as_ref());
        let (fill, ink) = match fork {
            Some(Some(fork)) if self.above => {
                let reached = |step: &usize| fork.after.bits * Theme::N_HEAT as f64 >= *step as f64;
                let step = (0..Theme::N_HEAT).rev().find(reached).unwrap_or(0);
                (theme.heat(step), theme.heat_ink(step))
            }
            _ => (theme.surface_2, theme.text_1),
        };
        ui.painter().rect_filled(rect, 2, fill);
        let [figure, line] = self.words();
        let painter = ui.painter();
        let center = |y: f32| pos2(rect.center().x, rect.center().y + y);
        let put = |at: Pos2, text: &str, face: Face, color| {
            painter.text(at, Align2::CENTER_CENTER, text, face.font(), color);
        };
        if self.detailed && !line.is_empty() && rect.height() >= 34.0 {
            put(center(-7.0), &figure, Face::Small, ink);
            put(center(8.0), &line, Face::Micro, theme.text_2);
        } else {
            let is_wide = Face::Small.width(ui, &figure) > rect.width() - 4.0;
            let face = if is_wide { Face::Micro } else { Face::Small };
            put(center(0.0), &figure, face, ink);
        }
        if self.selected && self.above {
            let ring = Stroke::new(2.0, theme.text_1);
            ui.painter().rect_stroke(rect, 2, ring, StrokeKind::Inside);
        }
        focus_ring(ui, &response, 2);
        response.on_hover_text(sentence).clicked()
    }

    /// Returns the figure and the second line.
    fn words(&self) -> [String; 2] {
        let Some(both) = &self.pair.comparison else {
            return ["–".to_owned(), String::new()];
        };
        match (&both.fork, self.above) {
            (Some(fork), true) => [bits(fork.after.bits, fork.after.exact), String::new()],
            (None, true) => ["–".to_owned(), String::new()],
            (fork, false) => {
                let at = fork.as_ref().map(|fork| grouped(fork.step as f64 + 1.0));
                [at.unwrap_or_else(|| "–".to_owned()), edits(both.n_edits)]
            }
        }
    }

    fn sentence(&self) -> String {
        let [a, b] = self.pair.panes.map(pane_letter);
        let Some(both) = &self.pair.comparison else {
            return format!("{a} and {b} have different prompts, conversations or models");
        };
        let edits = edits(both.n_edits);
        match &both.fork {
            Some(fork) => format!(
                "{a} and {b}: diverge at token {}, {edits}, divergence {} bits",
                fork.step + 1,
                bits(fork.after.bits, fork.after.exact)
            ),
            None if both.n_edits == 0 => format!("{a} and {b} are identical"),
            None => format!("{a} and {b} agree up to the end of the shorter text, {edits}"),
        }
    }
}

fn edits(n: usize) -> String {
    match n {
        1 => "1 edit".to_owned(),
        n => format!("{} edits", grouped(n as f64)),
    }
}

/// "0.38", or "≥ 0.38" for a lower bound.
pub(super) fn bits(bits: f64, exact: bool) -> String {
    let bound = if exact { "" } else { "≥ " };
    format!("{bound}{bits:.2}")
}
