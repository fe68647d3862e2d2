//! What everything that is drawn has in common: colors, fonts, icons and small widgets.
//!
//! It knows how things look, and nothing of models or runs.

pub mod appearance;
pub mod child_ui;
pub mod fonts;
pub mod icons;
pub mod style;
pub mod theme;
pub mod widgets;
