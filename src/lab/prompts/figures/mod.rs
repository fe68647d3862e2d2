//! The tasks, what counts as a right answer, and what the answers say about the settings.

mod answer;
mod better_by;
pub mod checks;
mod choice;
mod order;
mod overview;
mod reading;
mod results;
mod sampling;
pub mod statistics;
mod sweep;
mod sweep_reading;
pub mod tasks;

pub use answer::AnswerText;
pub use choice::{ForkChoice, ForkDraw};
pub use order::TaskOrder;
pub use overview::PaneOverview;
pub use reading::TasksReading;
pub use results::{Fork, JudgedAnswer, JudgedPane, KeptTasks, TaskResults};
pub use sweep::{CurvePoint, TaskSweep};
pub use sweep_reading::{DrawnSettings, SweepReading};
