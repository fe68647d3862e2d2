//! What the tabs of the Lab page consist of. Each experiment defines its own.

use egui::{Rect, Ui};

use super::foot::Foot;
use crate::lab::{Lab, LabCommand};
use crate::state::{AppState, Command};

/// A tab of the page: its setup in the left column, its results to the right of it.
pub(in crate::lab) struct Tab {
    /// Draws the export menu, the choices and the summary in the row of tabs, from right to left.
    pub bar: fn(&mut Ui, &mut AppState, &mut Vec<Command>),
    /// Draws the form of the setup column.
    pub form: fn(&mut Ui, &mut AppState, &mut Vec<Command>),
    /// Returns what stands below the form.
    pub foot: fn(&AppState) -> Foot,
    /// Draws the results or, before there are any, a picture of what will come.
    pub results: fn(&mut Ui, Columns, &mut AppState, &mut Vec<Command>),
    /// What the arrow keys select, if there is anything.
    pub selection: Option<Selection>,
    /// Handles further keys, which work even if a control has the focus.
    pub keys: Option<fn(&Ui, &AppState, &mut Vec<Command>)>,
}

/// The columns of the results.
#[derive(Debug, Clone, Copy)]
pub(in crate::lab) struct Columns {
    /// The pictures or the table.
    pub middle: Rect,
    /// What the selected cell means, with its texts.
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
