//! Drawing and nothing else. The only module that draws, on the screen or as a picture.

pub mod theme;
