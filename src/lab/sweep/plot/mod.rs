//! The pictures of a sweep: maps over two numbers, a curve over one, and two metrics against each
//! other.
//!
//! Each picture is painted into a rectangle, the same on the screen and in a file.

mod curve;
mod data;
mod map;
mod scatter;

pub(super) use curve::{Curve, curve_ui};
pub(super) use data::{Mark, SweepMap};
pub(super) use map::map_ui;
pub(super) use scatter::{Scatter, scatter_ui};
