//! All that the window shows, without a window: commands in, effects out.

mod view;

pub use view::{ScoreMeasure, Tint};
