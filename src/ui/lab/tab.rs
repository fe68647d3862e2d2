//! What the tabs of the Lab page consist of. Each tab has one entry, which its module defines.

use egui::{Rect, Ui};

use super::{batch, blind, by_hand, cache, fit, models, stability, sweep};
use crate::state::{AppState, Command, Lab, LabCommand, LabTab};

/// A tab of the page.
pub(super) struct Tab {
    /// Draws the export menu, the choices and the summary in the row of tabs, from right to left.
    pub bar: fn(&mut Ui, &mut AppState, &mut Vec<Command>),
    pub page: TabPage,
    /// What the arrow keys select, if there is anything.
    pub selection: Option<Selection>,
    /// Handles further keys, which work even if a control has the focus.
    pub keys: Option<fn(&Ui, &AppState, &mut Vec<Command>)>,
}

/// How a tab uses the area below the row of tabs.
pub(super) enum TabPage {
    Whole(fn(&mut Ui, Rect, &mut AppState, &mut Vec<Command>)),
    /// A wide column on the left and a narrow one on the right.
    TwoColumns(fn(&mut Ui, [Rect; 2], &mut AppState, &mut Vec<Command>)),
    ThreeColumns(fn(&mut Ui, Columns, &mut AppState, &mut Vec<Command>)),
}

/// The columns of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
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
pub(super) struct Selection {
    /// Moves the selection by this many rows and columns.
    pub step: fn(&mut Lab, isize, isize),
    /// Returns the command that opens what is selected as a pane.
    pub open: fn(&Lab) -> Option<LabCommand>,
}

/// Returns the entry of a tab.
pub(super) const fn tab_of(tab: LabTab) -> Tab {
    match tab {
        LabTab::Sweep => sweep::TAB,
        LabTab::Prompts => batch::TAB,
        LabTab::Stability => stability::TAB,
        LabTab::Fit => fit::TAB,
        LabTab::Cache => cache::TAB,
        LabTab::Models => models::TAB,
        LabTab::Blind => blind::TAB,
        LabTab::ByHand => by_hand::TAB,
    }
}
