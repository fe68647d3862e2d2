//! What a lesson can read about a curve of Lab, Prompts: the share of right answers over a setting.

use std::fmt::Debug;

use super::field::{Field, field};
use super::value::{Unit, Value};

/// The lists of tasks that a lesson can judge, by the names of their files.
pub const TASK_LISTS: [&str; 3] = ["facts", "sentiment", "stories"];

/// How far below the best a share must be so that accuracy has fallen: ten points.
const FALL: f64 = 0.1;

/// Tasks whose share grows by less don't rise.
const RISE: f64 = 0.02;

/// A complete curve over the values of a setting.
pub trait TaskCurve: Debug {
    /// Returns the name of the list, if it comes with Quartet.
    fn list(&self) -> Option<&str>;

    /// Returns the words that name the setting, such as "temp".
    fn setting(&self) -> String;

    /// Returns the values of the setting, in order, each with the share of right answers.
    fn points(&self) -> Vec<(f64, f64)>;

    /// Returns the share of each task at the first value and at the last.
    fn ends(&self) -> Vec<(f64, f64)>;

    /// Returns the interval of the share at the first value, for other tasks like these.
    fn interval(&self) -> Option<(f64, f64)>;
}

/// A field of a curve.
pub(super) type TaskField = Field<dyn TaskCurve>;

/// All fields of a curve.
pub(super) const TASK_FIELDS: &[TaskField] = &[
    field(
        "list",
        "the list of tasks: \"facts\", \"sentiment\" or \"stories\"",
        |curve| Some(Value::Text(curve.list()?.to_owned())),
    ),
    field("count", "how many tasks the list has", |curve| {
        Some(Value::count(curve.ends().len()))
    }),
    field(
        "setting",
        "the setting that is varied, such as \"temp\"",
        |curve| Some(Value::Text(curve.setting())),
    ),
    field("from", "the first value of the setting", |curve| {
        Some(setting(curve.points().first()?.0))
    }),
    field("to", "the last value of the setting", |curve| {
        Some(setting(curve.points().last()?.0))
    }),
    field(
        "first",
        "the share of right answers at the first value",
        |curve| Some(Value::prob(curve.points().first()?.1)),
    ),
    field(
        "at_one",
        "the share of right answers at the value that is nearest to 1",
        |curve| {
            let points = curve.points().into_iter();
            let nearest =
                points.min_by(|(a, _), (b, _)| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()));
            Some(Value::prob(nearest?.1))
        },
    ),
    field(
        "last",
        "the share of right answers at the last value",
        |curve| Some(Value::prob(curve.points().last()?.1)),
    ),
    field(
        "falls",
        "the first value after the best one at which the share is at least ten points below it",
        |curve| {
            let points = curve.points();
            let best = points.iter().map(|(_, share)| *share).fold(0.0, f64::max);
            let mut after = points.iter().skip_while(|(_, share)| *share < best);
            let fallen = after.find(|(_, share)| best - share >= FALL);
            Some(setting(fallen?.0))
        },
    ),
    field(
        "rising",
        "how many tasks are right more often at the last value than at the first",
        |curve| {
            let rises = |(first, last): &(f64, f64)| last - first >= RISE;
            Some(Value::count(
                curve.ends().iter().filter(|ends| rises(ends)).count(),
            ))
        },
    ),
    field(
        "low",
        "the lower end of the 95 % interval of the share at the first value, for other tasks like these",
        |curve| Some(Value::prob(curve.interval()?.0)),
    ),
    field("high", "the upper end of that interval", |curve| {
        Some(Value::prob(curve.interval()?.1))
    }),
];

fn setting(value: f64) -> Value {
    Value::Number(value, Unit::Setting)
}

#[cfg(test)]
mod tests {
    use super::{TASK_FIELDS, TaskCurve, Value};
    use crate::lessons::field::{assert_documented, named};

    /// A curve that rises a little before it falls.
    #[derive(Debug)]
    struct Accuracy;

    impl TaskCurve for Accuracy {
        fn list(&self) -> Option<&str> {
            Some("stories")
        }

        fn setting(&self) -> String {
            "temp".to_owned()
        }

        fn points(&self) -> Vec<(f64, f64)> {
            vec![
                (0.1, 0.55),
                (0.4, 0.7),
                (0.7, 0.65),
                (1.0, 0.59),
                (1.3, 0.3),
            ]
        }

        fn ends(&self) -> Vec<(f64, f64)> {
            vec![(1.0, 0.4), (0.1, 0.2), (0.5, 0.51)]
        }

        fn interval(&self) -> Option<(f64, f64)> {
            Some((0.4, 0.7))
        }
    }

    #[test]
    fn the_documentation_lists_every_name() {
        assert_documented("tasks", TASK_FIELDS);
    }

    #[test]
    fn accuracy_is_read_from_the_curve() {
        let value = |name: &str| named(TASK_FIELDS, name).unwrap().value(&Accuracy);
        let number = |name: &str| value(name).unwrap().number().unwrap();
        assert_eq!(value("list"), Some(Value::Text("stories".to_owned())));
        let expected = [
            ("count", 3.0),
            ("from", 0.1),
            ("to", 1.3),
            ("first", 0.55),
            ("at_one", 0.59),
            ("last", 0.3),
            ("falls", 1.0),
            ("rising", 1.0),
            ("low", 0.4),
            ("high", 0.7),
        ];
        for (name, expected) in expected {
            assert!((number(name) - expected).abs() < 1e-9, "{name}");
        }
    }
}
