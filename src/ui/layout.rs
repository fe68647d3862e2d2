//! The window's layout: the rectangle of each area, in whole points.

use std::ops::Range;

use egui::{Rect, Vec2, pos2, vec2};

use super::run_bar::RUN_BAR;

/// The margin around the window's content.
pub(super) const EDGE: f32 = 12.0;

/// The height of the top bar.
pub(super) const TOP_BAR: f32 = 44.0;

/// The gap between two cards.
pub(super) const GAP: f32 = 8.0;

/// The height of the dock's tab row, the only visible part of a collapsed dock.
pub(super) const TABS: f32 = 36.0;

/// The minimum height of a row of panes in a window that is too low for five lines of text.
const MIN_PANE_HEIGHT: f32 = 140.0;

/// The same above a dock that the user has opened.
const MIN_PANE_HEIGHT_OVER_OPEN_DOCK: f32 = 100.0;

/// The minimum height of an open dock.
const MIN_DOCK_HEIGHT: f32 = 160.0;

/// The size class of the window's width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Breakpoint {
    /// Below 1024 points: the dock starts collapsed.
    Tight,
    /// Up to 1199 points: short labels.
    Small,
    /// Up to 1599 points: the default layout.
    Normal,
    /// 1600 points or more: a taller dock.
    Wide,
}

impl Breakpoint {
    /// Returns the size class of a window of this width, in points.
    pub(super) fn of(width: f32) -> Self {
        match width {
            ..1024.0 => Self::Tight,
            ..1200.0 => Self::Small,
            ..1600.0 => Self::Normal,
            _ => Self::Wide,
        }
    }

    /// Returns the width of the column that holds Generate and the limits.
    pub(super) const fn run_column(self) -> f32 {
        match self {
            Self::Tight | Self::Small => 268.0,
            Self::Normal | Self::Wide => 300.0,
        }
    }

    const fn default_dock_height(self) -> f32 {
        match self {
            Self::Tight | Self::Small => 208.0,
            Self::Normal => 248.0,
            Self::Wide => 396.0,
        }
    }
}

/// Everything the layout depends on besides the window's size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LayoutInput {
    pub n_panes: usize,
    /// The index of the pane that is always shown.
    pub kept_pane: usize,
    /// The height of a pane that shows five lines of text.
    pub five_lines: f32,
    /// The height of the prompt card's content.
    pub prompt_height: f32,
    /// Whether the bar of an opened run replaces the prompt and the run column.
    pub run_bar: bool,
    /// Whether the user has opened or collapsed the dock; `None` leaves it to the layout.
    pub dock_open: Option<bool>,
    /// The height of the open dock; `None` means the default of the size class.
    pub dock_height: Option<f32>,
}

/// The rectangle of each area of the window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub breakpoint: Breakpoint,
    /// Logo, model, export and theme.
    pub top_bar: Rect,
    /// The prompt, or the bar of an opened run.
    pub prompt: Rect,
    /// Generate, Step and the limits.
    pub run_column: Rect,
    /// Where the panes diverge, and the tint.
    pub view_bar: Rect,
    /// The panes that are shown, row by row, from left to right.
    pub panes: Vec<Rect>,
    /// The index of the first of them. Only one row of panes is shown if the dock leaves no room for
    /// two.
    pub first_pane: usize,
    /// Includes the tab row.
    pub dock: Rect,
    /// Whether the dock shows more than its tab row.
    pub dock_open: bool,
}

impl Layout {
    /// Divides the window's rectangle into areas.
    pub(super) fn of(window: Rect, input: LayoutInput) -> Self {
        let breakpoint = Breakpoint::of(window.width());
        let inner = window.shrink2(vec2(EDGE, 0.0));
        let top_bar = Rect::from_min_size(inner.min, vec2(inner.width(), TOP_BAR));

        let run_width = breakpoint.run_column();
        let prompt_size = if input.run_bar {
            vec2(inner.width(), RUN_BAR)
        } else {
            let width = (inner.width() - run_width - EDGE).max(200.0);
            vec2(width, (input.prompt_height + 44.0).ceil().max(68.0))
        };
        let prompt = below(top_bar, prompt_size);
        let run_column = Rect::from_min_max(
            pos2(prompt.right() + EDGE, prompt.top()),
            pos2(inner.right(), prompt.bottom()),
        );
        let view_bar = below(prompt, vec2(inner.width(), 36.0));

        let n_rows = pane_rows(input.n_panes, inner.width());
        let rest = Rect::from_min_max(
            view_bar.left_bottom(),
            pos2(inner.right(), window.bottom() - EDGE),
        );
        let split = Split::of(window, rest.height(), n_rows, input);
        let dock = Rect::from_min_max(pos2(rest.left(), rest.bottom() - split.dock), rest.max);
        let shown = shown_panes(n_rows, split.n_rows, input);
        let pane_area = Rect::from_min_max(rest.min, pos2(rest.right(), dock.top() - GAP));
        Self {
            breakpoint,
            top_bar,
            prompt,
            run_column,
            view_bar,
            panes: panes(pane_area, shown.len(), split.n_rows),
            first_pane: shown.start,
            dock,
            dock_open: split.dock_open,
        }
    }
}

/// Returns the indices of the panes that are shown: all of them, or those of one row.
fn shown_panes(n_rows: usize, n_rows_shown: usize, input: LayoutInput) -> Range<usize> {
    if n_rows_shown == n_rows {
        return 0..input.n_panes;
    }
    let n_columns = input.n_panes.div_ceil(n_rows).max(1);
    let first = input.kept_pane / n_columns * n_columns;
    first..(first + n_columns).min(input.n_panes)
}

fn below(rect: Rect, size: Vec2) -> Rect {
    Rect::from_min_size(rect.left_bottom(), size)
}

/// Returns 2 if a single row would make the panes too narrow to read.
fn pane_rows(n_panes: usize, width: f32) -> usize {
    let narrow = (width + GAP) / n_panes.max(1) as f32 - GAP < 236.0;
    if n_panes > 4 || (narrow && n_panes > 1) {
        2
    } else {
        1
    }
}

/// How panes and dock share the height below the view bar.
struct Split {
    /// How many rows of panes are shown.
    n_rows: usize,
    dock_open: bool,
    /// The height of the dock.
    dock: f32,
}

impl Split {
    /// Splits the height. An open dock keeps one row of panes if it would leave fewer than five lines
    /// of text to each of two.
    fn of(window: Rect, available: f32, n_rows: usize, input: LayoutInput) -> Self {
        let breakpoint = Breakpoint::of(window.width());
        let crowded = n_rows > 1 && window.height() <= 900.0;
        let open_by_default =
            breakpoint > Breakpoint::Tight && !crowded && window.height() >= 640.0;
        let is_open = input.dock_open.unwrap_or(open_by_default);
        let requested = input.dock_height;
        let requested = requested.unwrap_or(breakpoint.default_dock_height());
        let highest = |n_rows: usize, pane_height: f32| {
            let panes = n_rows as f32 * (pane_height + GAP);
            (available - panes).min(window.height() * 0.6).floor()
        };
        let fits = highest(n_rows, input.five_lines) >= requested.max(MIN_DOCK_HEIGHT);
        let n_rows_shown = if is_open && !fits { 1 } else { n_rows };
        let highest_over_five = highest(n_rows_shown, input.five_lines);
        let highest = if highest_over_five >= MIN_DOCK_HEIGHT {
            highest_over_five
        } else if input.dock_open == Some(true) {
            highest(n_rows_shown, MIN_PANE_HEIGHT_OVER_OPEN_DOCK)
        } else {
            highest(n_rows_shown, MIN_PANE_HEIGHT)
        };
        if is_open && highest >= MIN_DOCK_HEIGHT {
            Self {
                n_rows: n_rows_shown,
                dock_open: true,
                dock: requested.round().clamp(MIN_DOCK_HEIGHT, highest),
            }
        } else {
            Self {
                n_rows,
                dock_open: false,
                dock: TABS,
            }
        }
    }
}

fn panes(area: Rect, n_panes: usize, n_rows: usize) -> Vec<Rect> {
    let n_columns = n_panes.div_ceil(n_rows).max(1);
    let height = (area.height() + GAP) / n_rows as f32 - GAP;
    let edge =
        |index: usize, n: usize, length: f32| (index as f32 * (length + GAP) / n as f32).round();
    (0..n_panes)
        .map(|index| {
            let (row, column) = (index / n_columns, index % n_columns);
            // The last row may hold fewer panes, which share its full width.
            let n_in_row = n_columns.min(n_panes - row * n_columns);
            let left = edge(column, n_in_row, area.width());
            let right = edge(column + 1, n_in_row, area.width()) - GAP;
            let top = edge(row, n_rows, area.height());
            Rect::from_min_size(
                area.min + vec2(left, top),
                vec2(right - left, height.floor().max(0.0)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Breakpoint, Layout, LayoutInput, Rect};
    use egui::{Pos2, vec2};

    const DEFAULT: LayoutInput = LayoutInput {
        n_panes: 4,
        kept_pane: 0,
        five_lines: 198.0,
        prompt_height: 24.0,
        run_bar: false,
        dock_open: None,
        dock_height: None,
    };

    fn layout(width: f32, height: f32, input: LayoutInput) -> Layout {
        Layout::of(Rect::from_min_size(Pos2::ZERO, vec2(width, height)), input)
    }

    #[test]
    fn the_default_window_matches_the_design() {
        let layout = layout(1280.0, 800.0, DEFAULT);
        assert_eq!(layout.breakpoint, Breakpoint::Normal);
        assert_eq!(layout.prompt, rect(12.0, 44.0, 956.0, 112.0));
        assert_eq!(layout.run_column, rect(968.0, 44.0, 1268.0, 112.0));
        assert_eq!(layout.panes[0], rect(12.0, 148.0, 320.0, 532.0));
        assert_eq!(layout.panes[3], rect(960.0, 148.0, 1268.0, 532.0));
        assert_eq!(layout.dock, rect(12.0, 540.0, 1268.0, 788.0));
    }

    fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Rect {
        Rect::from_min_max(Pos2::new(left, top), Pos2::new(right, bottom))
    }

    #[test]
    fn areas_neither_overlap_nor_leave_the_window() {
        for (width, height) in [
            (720.0, 520.0),
            (900.0, 1000.0),
            (1024.0, 700.0),
            (1280.0, 800.0),
            (1920.0, 1080.0),
            (3000.0, 1200.0),
        ] {
            for n_panes in 1..=8 {
                for dock_open in [None, Some(true), Some(false)] {
                    let layout = layout(
                        width,
                        height,
                        LayoutInput {
                            n_panes,
                            dock_open,
                            ..DEFAULT
                        },
                    );
                    let window = Rect::from_min_size(Pos2::ZERO, vec2(width, height));
                    let mut areas = layout.panes.clone();
                    let is_whole = areas.len() == n_panes;
                    assert!(is_whole || (layout.dock_open && areas.len() >= n_panes / 2));
                    areas.extend([
                        layout.prompt,
                        layout.run_column,
                        layout.view_bar,
                        layout.dock,
                    ]);
                    for (index, area) in areas.iter().enumerate() {
                        assert!(window.contains_rect(*area), "{area:?} in {window:?}");
                        assert!(area.is_positive(), "{area:?}");
                        for other in &areas[index + 1..] {
                            let shared = area.intersect(*other);
                            assert!(!shared.is_positive(), "{area:?} and {other:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_dock_starts_collapsed_in_a_small_window() {
        let open = |width, height, n_panes| {
            let input = LayoutInput { n_panes, ..DEFAULT };
            layout(width, height, input).dock_open
        };
        assert!(open(1024.0, 700.0, 4));
        assert!(!open(1000.0, 700.0, 4), "narrow");
        assert!(!open(1280.0, 600.0, 4), "short");
        assert!(!open(1280.0, 800.0, 5), "two rows");
        assert!(open(1280.0, 960.0, 5), "two rows, but tall enough");
    }

    #[test]
    fn an_open_dock_leaves_five_lines_to_each_pane_that_is_shown() {
        for (size, n_panes, kept_pane, shown) in [
            ([900.0, 600.0], 4, 0, 0..2),
            ([900.0, 600.0], 4, 3, 2..4),
            ([1280.0, 800.0], 5, 2, 0..3),
            ([1280.0, 800.0], 5, 4, 3..5),
            ([1280.0, 800.0], 4, 3, 0..4),
            ([1920.0, 1080.0], 5, 4, 0..5),
        ] {
            let input = LayoutInput {
                n_panes,
                kept_pane,
                dock_open: Some(true),
                dock_height: Some(304.0),
                ..DEFAULT
            };
            let layout = layout(size[0], size[1], input);
            assert!(layout.dock_open);
            assert_eq!(
                (layout.first_pane, layout.panes.len()),
                (shown.start, shown.len())
            );
            for pane in &layout.panes {
                assert!(pane.height() >= 198.0, "{pane:?} in {size:?}");
            }
            let closed = LayoutInput {
                dock_open: Some(false),
                ..input
            };
            let closed = self::layout(size[0], size[1], closed);
            assert_eq!(closed.panes.len(), n_panes);
        }
    }

    #[test]
    fn a_dragged_dock_stays_within_its_bounds() {
        for (requested, height) in [(50.0, 160.0), (300.0, 300.0), (2000.0, 434.0)] {
            let input = LayoutInput {
                dock_height: Some(requested),
                ..DEFAULT
            };
            let dock = layout(1280.0, 800.0, input).dock;
            assert!((dock.height() - height).abs() < 0.5, "{dock:?}");
        }
    }
}
