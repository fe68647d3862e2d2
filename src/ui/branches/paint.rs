//! Paints the tree: lines, forks, words and the axis.

use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, Galley, Painter, Pos2, Rangef, Rect, Stroke, Ui, Vec2, pos2, vec2};

use super::geometry::Geometry;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::grouped;
use crate::state::{BranchRow, BranchTree};

/// The space between a fork and the words after it.
const INDENT: f32 = 12.0;

/// The minimum width for words on a line.
const MIN_WORDS: f32 = 110.0;

/// The maximum width of the words, so that the line stays visible.
const MAX_WORDS: f32 = 420.0;

const FORK_RADIUS: f32 = 4.0;

/// Whether the pointer or the cursor is on a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowLook {
    pub hovered: bool,
    pub at_cursor: bool,
}

pub(super) struct TreePainter<'a> {
    painter: Painter,
    theme: &'static Theme,
    tree: &'a BranchTree,
    geometry: Geometry,
    /// The rows from the first one to the selected text.
    path: Vec<usize>,
    path_color: Color32,
    /// The color behind the words.
    paper: Color32,
}

impl<'a> TreePainter<'a> {
    pub(super) fn new(ui: &Ui, tree: &'a BranchTree, geometry: Geometry, paper: Color32) -> Self {
        let theme = Theme::of(ui);
        let selected = tree.selected.and_then(|row| tree.rows.get(row)?.place);
        Self {
            painter: ui.painter().clone(),
            theme,
            tree,
            geometry,
            path: tree.path(),
            path_color: selected.map_or(theme.text_1, |place| theme.pane(place)),
            paper,
        }
    }

    /// Paints the axis below the rows, and its grid lines behind them.
    pub(super) fn axis(&self, axis: Rect, top: f32) {
        let grid = Stroke::new(1.0, self.theme.stroke_1);
        let rows = Rangef::new(top, axis.top());
        let painter = self.painter.with_clip_rect(Rect::EVERYTHING);
        for tick in self.geometry.ticks() {
            let x = self.geometry.x(tick).round();
            painter.vline(x, rows, grid);
            let words = match tick {
                0 => "token 0".to_owned(),
                n => grouped(n as f64),
            };
            let at = pos2(x, axis.center().y + 2.0);
            let font = Face::Micro.font();
            painter.text(at, Align2::CENTER_CENTER, words, font, self.theme.text_3);
        }
    }

    /// Paints the rows that are visible.
    pub(super) fn rows(&self, looks: &[RowLook]) {
        let clip = self.painter.clip_rect();
        let rows = || self.tree.rows.iter().enumerate();
        for ((index, _), look) in rows().zip(looks) {
            if look.hovered || look.at_cursor {
                let row = self.geometry.row_rect(clip, index);
                let fill = if look.at_cursor {
                    self.theme.surface_3
                } else {
                    self.theme.surface_2
                };
                self.painter.rect_filled(row, 4, fill);
            }
        }
        // The path is painted over the other lines, and words over both.
        for (index, row) in rows() {
            self.lines(index, row, Stroke::new(1.5, self.theme.stroke_3));
        }
        self.path();
        let visible = |index: usize| {
            let y = self.geometry.y(index);
            clip.y_range().expand(20.0).contains(y)
        };
        for ((index, row), look) in rows().zip(looks) {
            if visible(index) {
                self.words(index, row, *look);
            }
        }
        for (_, row) in rows() {
            if let Some(parent) = row.parent {
                self.fork(row, parent);
            }
        }
    }

    /// Paints a text's own line, and the line from its parent down to it.
    fn lines(&self, index: usize, row: &BranchRow, stroke: Stroke) {
        let start = self.branch_line(index, row, stroke);
        let end = self.geometry.at_token(row.n_tokens, index);
        self.painter.line_segment([start, end], stroke);
    }

    /// Paints the line from the parent down to a row. Returns where the row's own line begins.
    fn branch_line(&self, index: usize, row: &BranchRow, stroke: Stroke) -> Pos2 {
        let start = self.geometry.at_token(row.fork, index);
        let Some(parent) = row.parent else {
            return start - vec2(INDENT, 0.0);
        };
        let top = self.geometry.at_token(row.fork, parent);
        let elbow = start - vec2(0.0, 5.0);
        let turned = start + vec2(5.0, 0.0);
        self.painter.line(vec![top, elbow, turned], stroke);
        turned
    }

    /// Paints the path from the first row to the end of the selected text.
    fn path(&self) {
        let stroke = Stroke::new(2.5, self.path_color);
        let rows = self
            .path
            .iter()
            .filter_map(|index| Some((*index, self.tree.rows.get(*index)?)));
        let rows: Vec<(usize, &BranchRow)> = rows.collect();
        let next = rows.iter().skip(1).map(|(_, next)| next.fork);
        let ends = next.chain(rows.last().map(|(_, last)| last.n_tokens));
        for ((index, row), end) in rows.iter().zip(ends) {
            let start = self.branch_line(*index, row, stroke);
            let end = self.geometry.at_token(end.max(row.fork), *index);
            self.painter.line_segment([start, end], stroke);
        }
    }

    fn fork(&self, row: &BranchRow, parent: usize) {
        let at = self.geometry.at_token(row.fork, parent);
        let on_path = self.path.contains(&parent)
            && self.path.iter().any(|index| {
                let other = self.tree.rows.get(*index);
                other.is_some_and(|other| other.parent == Some(parent) && other.fork == row.fork)
            });
        let color = if on_path {
            self.theme.text_1
        } else {
            self.theme.stroke_3
        };
        let edge = Stroke::new(1.5, color);
        self.painter.circle(at, FORK_RADIUS, self.paper, edge);
    }

    /// Returns where the words of a row can begin and must end so that they don't cover the fork of
    /// a child. Children are listed with the latest fork first.
    fn room_for_words(&self, index: usize, row: &BranchRow, end: f32) -> (f32, f32) {
        let mut left = self.geometry.x(row.fork) + INDENT;
        let children = self.tree.rows.iter().rev();
        for child in children.filter(|child| child.parent == Some(index)) {
            let fork = self.geometry.x(child.fork);
            if fork - INDENT - left >= MIN_WORDS {
                return (left, fork - INDENT);
            }
            left = left.max(fork + INDENT);
        }
        (left, end)
    }

    /// Paints the end of a line, the text's first words, and a chip that says how it branched off.
    fn words(&self, index: usize, row: &BranchRow, look: RowLook) {
        let end = self.geometry.at_token(row.n_tokens, index);
        self.end(end, row);
        let chip = row.origin.as_ref().map(|origin| self.chip_galley(origin));
        let chip_width = chip.as_ref().map_or(0.0, |chip| chip.size().x + 20.0);
        let (on_line, until) = self.room_for_words(index, row, end.x - SMALL_BADGE);
        let after_end = end.x + SMALL_BADGE;
        let room_on_line = (until - on_line - chip_width).min(MAX_WORDS);
        let room_after = self.geometry.right() - after_end - chip_width;
        let is_selected = self.path.last() == Some(&index);
        let galley = |room: f32| self.words_galley(&row.words, room, is_selected);
        let wanted = galley(f32::INFINITY).size().x.min(MIN_WORDS);
        let (left, galley) = if room_on_line >= wanted {
            (on_line, galley(room_on_line))
        } else if room_after >= wanted {
            (after_end, galley(room_after))
        } else {
            // The text ends near the right edge: its words go before its fork.
            let room = (on_line - 4.0 * INDENT - chip_width).max(MIN_WORDS);
            let galley = galley(room);
            let left = self.geometry.x(row.fork) - INDENT - chip_width - galley.size().x;
            (left.max(self.painter.clip_rect().left()), galley)
        };
        let fill = match look {
            RowLook {
                at_cursor: true, ..
            } => self.theme.surface_3,
            RowLook { hovered: true, .. } => self.theme.surface_2,
            _ => self.paper,
        };
        let at = Align2::LEFT_CENTER.anchor_size(pos2(left, end.y), galley.size());
        if galley.size().x > 0.0 {
            self.painter
                .rect_filled(at.expand2(vec2(4.0, 0.0)), 0, fill);
        }
        let color = if is_selected {
            self.theme.text_1
        } else {
            self.theme.text_2
        };
        self.painter.galley(at.min, galley, color);
        if let Some(chip) = chip {
            self.chip(pos2(at.right() + 8.0, end.y), chip);
        }
    }

    /// Paints the badge of the pane that shows a text, or a tick if none does.
    fn end(&self, at: Pos2, row: &BranchRow) {
        if let Some(place) = row.place {
            let badge = Rect::from_center_size(at, Vec2::splat(SMALL_BADGE));
            paint_badge(&self.painter, self.theme, badge, place);
        } else {
            let tick = Rangef::new(at.y - 4.0, at.y + 4.0);
            let stroke = Stroke::new(2.0, self.theme.text_3);
            self.painter.vline(at.x, tick, stroke);
        }
    }

    fn words_galley(&self, words: &str, width: f32, selected: bool) -> Arc<Galley> {
        let color = if selected {
            self.theme.text_1
        } else {
            self.theme.text_2
        };
        let mut job = LayoutJob::simple_singleline(words.to_owned(), Face::Candidate.font(), color);
        job.wrap = TextWrapping::truncate_at_width(width.max(0.0));
        self.painter.layout_job(job)
    }

    fn chip_galley(&self, words: &str) -> Arc<Galley> {
        let font = Face::Micro.font();
        let mut job = LayoutJob::simple_singleline(words.to_owned(), font, self.theme.text_2);
        job.wrap = TextWrapping::truncate_at_width(160.0);
        self.painter.layout_job(job)
    }

    fn chip(&self, left: Pos2, words: Arc<Galley>) {
        let size = words.size() + vec2(12.0, 3.0);
        let rect = Align2::LEFT_CENTER.anchor_size(left, size);
        self.painter.rect_filled(rect, 4, self.theme.surface_2);
        let edge = Stroke::new(1.0, self.theme.stroke_1);
        self.painter
            .rect_stroke(rect, 4, edge, egui::StrokeKind::Inside);
        let at = Align2::CENTER_CENTER.anchor_size(rect.center(), words.size());
        self.painter.galley(at.min, words, self.theme.text_2);
    }
}
