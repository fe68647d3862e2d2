//! The tree of texts as a picture, drawn as on the screen.

use egui::{Color32, Ui};

use super::geometry::{AXIS, Geometry, MAX_ROW};
use super::paint::{RowLook, TreePainter};
use crate::plots::{AROUND, PicturePlot, title_ui};
use crate::state::BranchTree;

/// The height of the title, with the space below it.
const TITLE: f32 = 30.0;

/// Returns the height that the tree needs below its title.
fn height(tree: &BranchTree) -> f32 {
    TITLE + tree.rows.len() as f32 * MAX_ROW + AXIS
}

/// Draws the tree into the remaining space of `ui`, on a background of this color.
fn draw(ui: &mut Ui, tree: &BranchTree, paper: Color32) {
    let whole = ui.available_rect_before_wrap();
    let subtitle = match tree.rows.len() {
        1 => "1 text, by position in tokens".to_owned(),
        n => format!("{n} texts of one prompt, by position in tokens"),
    };
    title_ui(ui, "The tree", None, &[subtitle]);
    let rest = whole.with_min_y(whole.top() + TITLE);
    let (rows, axis) = rest.split_top_bottom_at_y(rest.bottom() - AXIS);
    let painter = TreePainter::new(ui, tree, Geometry::of(rows, tree), paper);
    painter.axis(axis, rows.top());
    painter.rows(&vec![RowLook::default(); tree.rows.len()]);
}

impl PicturePlot for BranchTree {
    fn title(&self) -> &'static str {
        "The tree"
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, height(self) + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(480.0), height]
    }

    fn draw(&self, ui: &mut Ui, paper: Color32) {
        draw(ui, self, paper);
    }
}
