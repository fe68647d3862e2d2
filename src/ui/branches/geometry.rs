//! The layout of the tree: the places of its lines, its rows and the ticks of its axis.

use egui::{Pos2, Rangef, Rect, pos2};

use crate::state::BranchTree;

/// The height of the axis below the lines.
pub(super) const AXIS: f32 = 22.0;

/// The space left of the first token and right of the last one.
const LEFT: f32 = 28.0;
const RIGHT: f32 = 28.0;

const MIN_ROW: f32 = 20.0;
pub(super) const MAX_ROW: f32 = 33.0;

/// The scale of the axis and the layout of the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Geometry {
    /// The top left corner of the first row.
    origin: Pos2,
    right: f32,
    per_token: f32,
    row_height: f32,
    n_max_tokens: usize,
}

impl Geometry {
    pub(super) fn of(rect: Rect, tree: &BranchTree) -> Self {
        let n_rows = tree.rows.len().max(1) as f32;
        let longest = tree.rows.iter().map(|row| row.n_tokens).max();
        let n_max_tokens = longest.unwrap_or(0).max(1);
        Self {
            origin: rect.min,
            right: rect.right(),
            per_token: (rect.width() - LEFT - RIGHT) / n_max_tokens as f32,
            row_height: (rect.height() / n_rows).clamp(MIN_ROW, MAX_ROW).floor(),
            n_max_tokens,
        }
    }

    /// Returns the same geometry with its first row at `origin`, for scrolled rows.
    pub(super) const fn at(self, origin: Pos2) -> Self {
        Self { origin, ..self }
    }

    pub(super) fn height(self, n_rows: usize) -> f32 {
        n_rows as f32 * self.row_height
    }

    pub(super) const fn right(self) -> f32 {
        self.right
    }

    /// Returns the x-coordinate of the boundary before this token.
    pub(super) fn x(self, token: usize) -> f32 {
        self.origin.x + LEFT + token as f32 * self.per_token
    }

    /// Returns the y-coordinate of the middle of a row.
    pub(super) fn y(self, row: usize) -> f32 {
        (self.origin.y + (row as f32 + 0.5) * self.row_height).round()
    }

    pub(super) fn row_rect(self, rect: Rect, row: usize) -> Rect {
        let top = self.origin.y + row as f32 * self.row_height;
        let rows = Rangef::new(top, top + self.row_height);
        Rect::from_x_y_ranges(rect.x_range(), rows)
    }

    pub(super) fn at_token(self, token: usize, row: usize) -> Pos2 {
        pos2(self.x(token), self.y(row))
    }

    /// Returns the ticks of the axis: at most about eight round token counts.
    pub(super) fn ticks(self) -> Vec<usize> {
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|n| n * 10_usize.pow(power)));
        let step = steps
            .take(24)
            .find(|step| self.n_max_tokens / step <= 7)
            .unwrap_or(self.n_max_tokens);
        (0..=self.n_max_tokens).step_by(step.max(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::Geometry;
    use crate::state::BranchTree;

    #[test]
    fn the_axis_has_few_ticks_at_round_numbers() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(900.0, 200.0));
        let geometry = Geometry::of(rect, &BranchTree::default());
        for (n_max_tokens, ticks) in [
            (1, vec![0, 1]),
            (14, vec![0, 2, 4, 6, 8, 10, 12, 14]),
            (200, vec![0, 50, 100, 150, 200]),
        ] {
            let geometry = Geometry {
                n_max_tokens,
                ..geometry
            };
            assert_eq!(geometry.ticks(), ticks);
        }
    }
}
