//! Sweeps: which settings to try, and the figures of the texts that they produce.

mod axis;
mod cell;
mod metric;
mod parameter_key;
mod position;
mod progress;
mod results;
mod similarity;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod text;

pub use axis::{Axis, AxisError, Parameter, label};
pub use cell::quantile;
pub use cell::{Cell, CellText, Summary};
pub use metric::{Metric, Unit};
pub use position::positions;
pub use progress::SweepProgress;
pub use results::{Keep, SetupError, SweepResults, SweepSetup};
pub use text::TextFigures;
