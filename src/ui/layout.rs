//! Where each part of the window stands, in whole points.

use egui::{Rect, Vec2, pos2, vec2};

/// Between the window's edge and what is in it.
pub const EDGE: f32 = 12.0;

/// Between two cards.
pub const GAP: f32 = 8.0;

/// The height of the dock's tabs, which is all that is seen of it when it is folded.
pub const TABS: f32 = 36.0;

/// The least that a row of panes is left.
const LEAST_PANE: f32 = 140.0;

/// The same beside a dock that the user has opened.
const LEAST_PANE_BY_DOCK: f32 = 100.0;

/// The least that the dock is dragged to.
const LEAST_DOCK: f32 = 160.0;

/// How much room there is from side to side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// Less than 1024 points: panes in two rows.
    Tight,
    /// Up to 1199 points: short words.
    Small,
    /// Up to 1599 points: as drawn.
    Normal,
    /// More: a higher dock.
    Wide,
}

impl Room {
    /// The room in a window of this width.
    pub fn of(width: f32) -> Self {
        match width {
            ..1024.0 => Self::Tight,
            ..1200.0 => Self::Small,
            ..1600.0 => Self::Normal,
            _ => Self::Wide,
        }
    }

    /// The width of the column with Generate.
    pub const fn run_column(self) -> f32 {
        match self {
            Self::Tight | Self::Small => 268.0,
            Self::Normal | Self::Wide => 300.0,
        }
    }

    const fn dock(self) -> f32 {
        match self {
            Self::Tight | Self::Small => 208.0,
            Self::Normal => 248.0,
            Self::Wide => 396.0,
        }
    }
}

/// What the layout depends on, beside the window's size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wishes {
    /// How many panes there are.
    pub n_panes: usize,
    /// The height of the prompt's text.
    pub prompt_height: f32,
    /// Whether the dock is to show more than its tabs.
    pub dock_open: Option<bool>,
    /// The dock's height, once it was dragged.
    pub dock_height: Option<f32>,
}

/// Where each part of the window stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// How much room there is from side to side.
    pub room: Room,
    /// Mark, model, export, theme.
    pub top_bar: Rect,
    /// The prompt's card.
    pub prompt: Rect,
    /// Generate and the limits.
    pub run_column: Rect,
    /// The sentence of the fork, the tint.
    pub view_bar: Rect,
    /// The panes, from left to right and then down.
    pub panes: Vec<Rect>,
    /// The dock, with its tabs.
    pub dock: Rect,
    /// Whether the dock shows more than its tabs.
    pub dock_open: bool,
}

impl Layout {
    /// Lays the window out.
    pub fn of(window: Rect, wishes: Wishes) -> Self {
        let room = Room::of(window.width());
        let inner = window.shrink2(vec2(EDGE, 0.0));
        let top_bar = Rect::from_min_size(inner.min, vec2(inner.width(), 44.0));

        let prompt_height = (wishes.prompt_height + 44.0).ceil().max(68.0);
        let run_width = room.run_column();
        let prompt_width = (inner.width() - run_width - EDGE).max(200.0);
        let prompt = below(top_bar, vec2(prompt_width, prompt_height));
        let run_column = Rect::from_min_max(
            pos2(prompt.right() + EDGE, prompt.top()),
            pos2(inner.right(), prompt.bottom()),
        );
        let view_bar = below(prompt, vec2(inner.width(), 36.0));

        let n_rows = rows(wishes.n_panes, inner.width());
        let rest = Rect::from_min_max(
            view_bar.left_bottom(),
            pos2(inner.right(), window.bottom() - EDGE),
        );
        let (dock_open, dock_height) = dock(window, rest.height(), n_rows, wishes);
        let dock = Rect::from_min_max(pos2(rest.left(), rest.bottom() - dock_height), rest.max);
        let field = Rect::from_min_max(rest.min, pos2(rest.right(), dock.top() - GAP));
        Self {
            room,
            top_bar,
            prompt,
            run_column,
            view_bar,
            panes: panes(field, wishes.n_panes, n_rows),
            dock,
            dock_open,
        }
    }
}

fn below(rect: Rect, size: Vec2) -> Rect {
    Rect::from_min_size(rect.left_bottom(), size)
}

/// Two rows where the panes would be narrower than a line can be read in.
fn rows(n_panes: usize, width: f32) -> usize {
    let narrow = (width + GAP) / n_panes.max(1) as f32 - GAP < 236.0;
    if n_panes > 4 || (narrow && n_panes > 1) {
        2
    } else {
        1
    }
}

/// Whether the dock is open, and its height. The panes keep their least height in any case.
fn dock(window: Rect, available: f32, n_rows: usize, wishes: Wishes) -> (bool, f32) {
    let room = Room::of(window.width());
    let crowded = n_rows > 1 && window.height() <= 900.0;
    let usual = room > Room::Tight && !crowded && window.height() >= 640.0;
    let least = if wishes.dock_open == Some(true) {
        LEAST_PANE_BY_DOCK
    } else {
        LEAST_PANE
    };
    let panes = n_rows as f32 * (least + GAP);
    let most = (available - panes).min(window.height() * 0.6).floor();
    let wanted = wishes.dock_height.unwrap_or(room.dock());
    let open = wishes.dock_open.unwrap_or(usual) && most >= LEAST_DOCK;
    if open {
        (true, wanted.round().clamp(LEAST_DOCK, most))
    } else {
        (false, TABS)
    }
}

fn panes(field: Rect, n_panes: usize, n_rows: usize) -> Vec<Rect> {
    let n_columns = n_panes.div_ceil(n_rows).max(1);
    let height = (field.height() + GAP) / n_rows as f32 - GAP;
    let edge =
        |index: usize, n: usize, length: f32| (index as f32 * (length + GAP) / n as f32).round();
    (0..n_panes)
        .map(|index| {
            let (row, column) = (index / n_columns, index % n_columns);
            // The last row may hold fewer; they share its whole width.
            let n_here = n_columns.min(n_panes - row * n_columns);
            let left = edge(column, n_here, field.width());
            let right = edge(column + 1, n_here, field.width()) - GAP;
            let top = edge(row, n_rows, field.height());
            Rect::from_min_size(
                field.min + vec2(left, top),
                vec2(right - left, height.floor().max(0.0)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Layout, Rect, Room, Wishes};
    use egui::{Pos2, vec2};

    const USUAL: Wishes = Wishes {
        n_panes: 4,
        prompt_height: 24.0,
        dock_open: None,
        dock_height: None,
    };

    fn layout(width: f32, height: f32, wishes: Wishes) -> Layout {
        Layout::of(Rect::from_min_size(Pos2::ZERO, vec2(width, height)), wishes)
    }

    #[test]
    fn the_usual_window_is_laid_out_as_drawn() {
        let layout = layout(1280.0, 800.0, USUAL);
        assert_eq!(layout.room, Room::Normal);
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
    fn nothing_overlaps_and_nothing_leaves_the_window() {
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
                        Wishes {
                            n_panes,
                            dock_open,
                            ..USUAL
                        },
                    );
                    let window = Rect::from_min_size(Pos2::ZERO, vec2(width, height));
                    let mut parts = layout.panes.clone();
                    assert_eq!(parts.len(), n_panes);
                    parts.extend([
                        layout.prompt,
                        layout.run_column,
                        layout.view_bar,
                        layout.dock,
                    ]);
                    for (index, part) in parts.iter().enumerate() {
                        assert!(window.contains_rect(*part), "{part:?} in {window:?}");
                        assert!(part.is_positive(), "{part:?}");
                        for other in &parts[index + 1..] {
                            let shared = part.intersect(*other);
                            assert!(!shared.is_positive(), "{part:?} and {other:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_dock_gives_way_where_there_is_little_room() {
        let open = |width, height, n_panes| {
            let wishes = Wishes { n_panes, ..USUAL };
            layout(width, height, wishes).dock_open
        };
        assert!(open(1024.0, 700.0, 4));
        assert!(!open(1000.0, 700.0, 4), "narrow");
        assert!(!open(1280.0, 600.0, 4), "low");
        assert!(!open(1280.0, 800.0, 5), "two rows");
        assert!(open(1280.0, 960.0, 5), "two rows, but high");
    }

    #[test]
    fn a_dragged_dock_stays_within_its_bounds() {
        for (wanted, height) in [(50.0, 160.0), (300.0, 300.0), (2000.0, 480.0)] {
            let wishes = Wishes {
                dock_height: Some(wanted),
                ..USUAL
            };
            let dock = layout(1280.0, 800.0, wishes).dock;
            assert!((dock.height() - height).abs() < 0.5, "{dock:?}");
        }
    }
}
