//! What everything on screen has in common: colors, fonts, icons and small widgets.
//!
//! It draws values that it is given, and reads neither a run nor the state.

pub mod appearance;
pub mod child_ui;
pub mod fonts;
pub mod icons;
pub mod memo;
pub mod style;
pub mod theme;
pub mod widgets;
