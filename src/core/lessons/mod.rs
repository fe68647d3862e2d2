//! Lessons as data: their format, what they can read of a run, what they can check, and what a
//! prediction costs.
//!
//! This module is pure. It knows neither the state nor the window nor files: it is given the text
//! of a file and a `Scene`. `assets/lessons/README.md` describes the format.

mod act;
mod cache_fields;
mod condition;
mod draft;
mod field;
mod file;
mod hand_fields;
mod lesson;
mod library;
mod path;
mod prediction;
mod problem;
mod questions;
mod scene;
mod score;
mod task_fields;
mod template;
#[cfg(test)]
mod tests;
mod text_fields;
mod token_fields;
mod value;

pub use act::{Act, TABS, TINTS};
pub use cache_fields::CacheTimes;
pub use condition::{Condition, all_hold};
pub use draft::draft;
pub use file::{MAX_LESSON_BYTES, is_lesson_name};
pub use lesson::{
    Bar, ChoiceOption, Curve, Direction, Lesson, LessonStep, OrderItem, Question, Ring, Setup,
};
pub use library::built_in;
pub use path::Path;
pub use prediction::{Origin, Prediction};
pub use problem::LessonProblem;
pub use scene::Scene;
pub use score::{Belief, Confidence, SAYABLE, Score, calibration_words, closeness, mean_excess};
pub use task_fields::{TASK_LISTS, TaskCurve};
pub use template::Template;
pub use value::{Unit, Value};
