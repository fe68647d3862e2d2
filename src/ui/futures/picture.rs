//! Futures as a picture: the trees as on the screen, with their figures below.

use egui::{Color32, Rect, Ui, pos2, vec2};

use super::entropy::entropy_ui;
use super::sentence::count_words;
use super::tree::paint_tree;
use super::words::paint_row;
use super::{Shown, TITLE, heading};
use crate::design::child_ui::child_ui;
use crate::generation::formatting::pane_letter;
use crate::plots::PicturePlot;
use crate::state::FuturesRun;
use crate::ui::pictures::{Look, styled_svg};

/// The size of a picture of one pane, and the width that each further pane adds, in points.
const SIZE: [f32; 2] = [960.0, 640.0];
const MORE_WIDTH: f32 = 640.0;

/// The height of the figures below a tree, and of a word's row.
const FIGURES: f32 = 170.0;
const ROW: f32 = 22.0;

/// The futures of panes side by side.
#[derive(Debug, Clone)]
pub struct FuturesPicture<'a> {
    /// Each pane's index, which determines its letter and color, and its futures.
    pub panes: Vec<(usize, &'a FuturesRun)>,
}

/// Renders the futures as SVG.
pub fn futures_drawing(futures: &FuturesPicture<'_>, look: Look) -> String {
    styled_svg(futures, &caption(futures), look)
}

/// Names the model and each pane's settings and seeds.
fn caption(futures: &FuturesPicture<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some((_, run)) = futures.panes.first() {
        parts.push(run.model.name.clone());
    }
    for (place, run) in &futures.panes {
        let plan = run.plan();
        let last = plan.seed_of(plan.n_futures.saturating_sub(1));
        parts.push(format!(
            "{}: {}, seeds {} to {last}, up to {} tokens",
            pane_letter(*place),
            plan.config.chain,
            plan.config.seed,
            plan.n_tokens
        ));
    }
    parts.join(" · ")
}

/// Draws the futures into the remaining space of `ui`.
fn draw(ui: &mut Ui, futures: &FuturesPicture<'_>) {
    let area = ui.available_rect_before_wrap();
    let all_bits = futures.panes.iter().flat_map(|(_, run)| &run.entropy_bits);
    let top_bits = all_bits.copied().fold(0.0, f64::max);
    let width = (area.width() + 28.0) / futures.panes.len().max(1) as f32;
    for (index, (place, run)) in futures.panes.iter().enumerate() {
        let left = area.left() + width * index as f32;
        let column = Rect::from_min_max(
            pos2(left, area.top()),
            pos2(left + width - 28.0, area.bottom()),
        );
        let shown = Shown {
            run,
            place: *place,
            top_bits,
        };
        draw_pane(ui, column, shown);
    }
}

fn draw_pane(ui: &mut Ui, rect: Rect, shown: Shown<'_>) {
    let run = shown.run;
    let (title, rest) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    let words = format!(
        "{}: what could follow ‘{}’",
        pane_letter(shown.place),
        run.quoted()
    );
    let facts = format!("{} · {}", run.plan().config.chain, count_words(run));
    heading(ui, title, &words, &facts);
    let (tree, figures) = rest.split_top_bottom_at_y(rest.bottom() - FIGURES);
    paint_tree(ui, tree, shown);
    let figures = figures.with_min_y(figures.top() + 12.0);
    let entropy = if run.words.is_empty() {
        figures
    } else {
        let (left, right) = figures.split_left_right_at_fraction(0.5);
        let left = left.with_max_x(left.right() - 14.0);
        let (title, rows) = left.split_top_bottom_at_y(left.top() + TITLE);
        heading(ui, title, "How often a word appears", "95 % interval");
        for (index, row) in run.words.iter().enumerate() {
            let corner = rows.min + vec2(0.0, ROW * index as f32);
            let row_rect = Rect::from_min_size(corner, vec2(rows.width(), ROW));
            if row_rect.bottom() <= rows.bottom() {
                paint_row(ui, row_rect, row, shown.place);
            }
        }
        right.with_min_x(right.left() + 14.0)
    };
    entropy_ui(&mut child_ui(ui, entropy, ("entropy", shown.place)), shown);
}

impl PicturePlot for FuturesPicture<'_> {
    fn title(&self) -> &'static str {
        "Futures"
    }

    fn default_size(&self) -> [f32; 2] {
        let [width, height] = SIZE;
        let n_more = self.panes.len().saturating_sub(1) as f32;
        [width + MORE_WIDTH * n_more, height]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = SIZE;
        let least = MORE_WIDTH * self.panes.len().max(1) as f32;
        [width.max(least), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        draw(ui, self);
    }
}
