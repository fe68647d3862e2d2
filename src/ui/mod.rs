//! Drawing and nothing else. The only module that draws, on the screen or as a picture.

pub mod fonts;
pub mod icons;
pub mod plots;
pub mod style;
pub mod theme;
pub mod widgets;
