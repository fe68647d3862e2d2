//! What the tabs of the Lab page consist of. Each experiment defines its own.

use egui::{Rect, Ui};

use crate::lab::{Lab, LabCommand};
use crate::state::{AppState, Command};

/// A tab of the page.
pub(in crate::lab) struct Tab {
    /// Draws the export menu, the choices and the summary in the row of tabs, from right to left.
    pub bar: fn(&mut Ui, &mut AppState, &mut Vec<Command>),
    pub page: TabPage,
    /// What the arrow keys select, if there is anything.
    pub selection: Option<Selection>,
    /// Handles further keys, which work even if a control has the focus.
    pub keys: Option<fn(&Ui, &AppState, &mut Vec<Command>)>,
}

/// How a tab uses the area below the row of tabs.
pub(in crate::lab) enum TabPage {
    Whole(fn(&mut Ui, Rect, &mut AppState, &mut Vec<Command>)),
    /// A wide column on the left and a narrow one on the right.
    TwoColumns(fn(&mut Ui, [Rect; 2], &mut AppState, &mut Vec<Command>)),
    ThreeColumns(fn(&mut Ui, Columns, &mut AppState, &mut Vec<Command>)),
}

/// The columns of a page.
#[derive(Debug, Clone, Copy)]
pub(in crate::lab) struct Columns {
    /// What to vary, or what to choose from.
    pub left: Rect,
    /// The pictures or the table.
    pub middle: Rect,
    /// What the selected cell means.
    pub right: Rect,
    /// Whether there is room for several pictures side by side.
    pub is_wide: bool,
}

/// What the arrow keys select, and what Enter opens.
pub(in crate::lab) struct Selection {
    /// Moves the selection by this many rows and columns.
    pub step: fn(&mut Lab, isize, isize),
    /// Returns the command that opens what is selected as a pane.
    pub open: fn(&Lab) -> Option<LabCommand>,
}
