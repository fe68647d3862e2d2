//! The results of a sweep: maps over two numbers, a curve over one, and two metrics against each
//! other.
//!
//! Each picture is painted into a rectangle, the same on the screen and in a file.

mod axes;
mod curve;
mod data;
mod map;
mod scatter;

pub(super) use axes::{Axes, Scale};
pub use curve::{Curve, curve_ui};
pub use data::SweepMap;
pub(super) use map::heat_legend_width;
pub use map::{MapResponse, heat_legend, heat_step, map_height, map_ui};
pub use scatter::{Scatter, scatter_ui};
