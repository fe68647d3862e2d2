//! A number that an experiment varies, as the user sets it.

use serde::{Deserialize, Serialize};

use crate::analysis::sweep::{Axis, Parameter};

/// The maximum number of steps in a saved range, so that a damaged file can't ask for more.
const MAX_STEPS: usize = 64;

/// A number to vary and its range. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisForm {
    pub parameter: Parameter,
    pub from: f64,
    pub to: f64,
    pub n_steps: usize,
}

impl AxisForm {
    /// Creates an axis over the usual range of a parameter.
    pub fn new(parameter: Parameter, n_steps: usize) -> Self {
        let [from, to] = parameter.usual_range();
        Self {
            parameter,
            from,
            to,
            n_steps,
        }
    }

    /// Returns the values, or why there are none.
    pub fn axis(&self) -> Result<Axis, String> {
        let ends = [self.from, self.to];
        Axis::range(self.parameter, ends, self.n_steps).map_err(|error| error.to_string())
    }
}

/// An axis as it is kept across restarts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedAxis {
    /// The words of `--vary`: "temp", "xtc threshold".
    setting: String,
    from: f64,
    to: f64,
    n_steps: usize,
}

impl From<&AxisForm> for SavedAxis {
    fn from(form: &AxisForm) -> Self {
        Self {
            setting: form.parameter.key(),
            from: form.from,
            to: form.to,
            n_steps: form.n_steps,
        }
    }
}

impl SavedAxis {
    /// Returns the form, or `None` if its setting is one that this version of Quartet lacks.
    pub(super) fn form(&self) -> Option<AxisForm> {
        let mut all = Parameter::of_sweeps().into_iter();
        let parameter = all.find(|parameter| parameter.key() == self.setting)?;
        Some(AxisForm {
            parameter,
            from: self.from,
            to: self.to,
            n_steps: self.n_steps.min(MAX_STEPS),
        })
    }

    /// Returns the form of an axis that may be missing. One that this version of Quartet lacks is
    /// replaced by the usual one.
    pub(super) fn optional_form(saved: Option<Self>, usual: Option<AxisForm>) -> Option<AxisForm> {
        saved.and_then(|saved| saved.form().or(usual))
    }
}
