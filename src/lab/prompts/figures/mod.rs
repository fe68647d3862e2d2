//! The tasks, what counts as a right answer, and what the answers say about the settings.

mod answer;
mod better_by;
pub mod checks;
mod curve;
mod curve_reading;
mod overview;
mod reading;
mod results;
mod sampling;
pub mod statistics;
pub mod tasks;

pub use answer::AnswerText;
pub use curve::{Curve, CurvePoint};
pub use curve_reading::CurveReading;
pub use overview::PaneOverview;
pub use reading::TasksReading;
pub use results::{Fork, JudgedAnswer, JudgedPane, KeptTasks, TaskResults};
