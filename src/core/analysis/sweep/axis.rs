//! What a sweep varies: a parameter of a chain, and its values.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decoding::{
    Against, ChainConfig, FilterKind, Guidance, Need, ParamSpec, Selector, SelectorSpec,
    SettingError, Stage,
};
use crate::generation::in_sentence;

/// The maximum number of values of one parameter in a sweep.
const MAX_STEPS: usize = 64;

/// A numeric parameter of a filter, of a selector or of guidance. Files name it by its key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Parameter {
    /// A parameter of a filter, by its index among the filter's parameters.
    Filter(FilterKind, usize),
    /// A parameter of a selector, by its index among the selector's parameters.
    Selector(&'static SelectorSpec, usize),
    /// A parameter of guidance, by its index in [`Guidance::PARAMS`]. Varying it requires running
    /// the model.
    Guidance(usize),
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Parameter {}

impl Parameter {
    /// Returns whether it is a parameter of guidance.
    pub const fn is_guidance(&self) -> bool {
        matches!(self, Self::Guidance(_))
    }

    /// Returns every parameter that a chain can have, those of common filters first. Beam search is
    /// left out because it produces a single text, so there is nothing to compare.
    pub fn all() -> Vec<Self> {
        let filters = FilterKind::by_usage().into_iter().flat_map(|kind| {
            let n = kind.spec().params.len();
            (0..n).map(move |index| Self::Filter(kind, index))
        });
        let sampling = Selector::SPECS
            .into_iter()
            .filter(|spec| !spec.needs.contains(&Need::SeveralTexts));
        let selectors = sampling.flat_map(|spec| {
            let n = spec.params.len();
            (0..n).map(move |index| Self::Selector(spec, index))
        });
        filters.chain(selectors).collect()
    }

    /// Returns every parameter that a sweep can vary: those of a chain and those of its guidance.
    pub fn of_sweeps() -> Vec<Self> {
        let guidance = (0..Guidance::PARAMS.len()).map(Self::Guidance);
        Self::all().into_iter().chain(guidance).collect()
    }

    /// The name for menus and titles: "Top-p", "XTC threshold".
    pub fn name(self) -> String {
        let (owner, label) = match self {
            Self::Filter(kind, index) => {
                let label = kind.spec().params.get(index).map(|param| param.label);
                (kind.spec().name, label)
            }
            // A selector's only parameter goes by the selector's name.
            Self::Selector(spec, index) => {
                let label = spec.params.get(index).map(|param| param.label);
                (
                    spec.name,
                    label.filter(|_| index > 0 || spec.params.len() > 1),
                )
            }
            Self::Guidance(index) => {
                let label = Guidance::PARAMS.get(index).map(|param| param.label);
                (Guidance::NAME, label)
            }
        };
        match label {
            Some(label) if !label.is_empty() => format!("{owner} {}", in_sentence(label)),
            _ => owner.to_owned(),
        }
    }

    /// The words that name it in a `--pane` description and in files: "temp", "xtc threshold".
    pub fn key(self) -> String {
        let (owner, key) = match self {
            Self::Filter(kind, index) => {
                let spec = kind.spec();
                (
                    spec.keys.first(),
                    spec.params.get(index).map(|param| param.key),
                )
            }
            Self::Selector(spec, index) => {
                let key = spec.params.get(index).map(|param| param.key);
                (spec.keys.first(), key)
            }
            Self::Guidance(index) => {
                let key = Guidance::PARAMS.get(index).map(|param| param.key);
                (Some(&Guidance::KEY), key)
            }
        };
        let words = [owner.copied().unwrap_or_default(), key.unwrap_or_default()];
        words.join(" ").trim_end().to_owned()
    }

    /// How a chip spells it: "T", "top-p", "xtc threshold".
    pub fn chip(self) -> String {
        match self {
            Self::Filter(kind, 0) => kind.spec().chip.to_owned(),
            _ => self.key(),
        }
    }

    /// Returns whether its values are whole numbers.
    pub fn is_count(self) -> bool {
        match self {
            Self::Filter(kind, index) => {
                param(kind.spec().params, index).is_some_and(ParamSpec::is_count)
            }
            Self::Selector(spec, index) => {
                param(spec.params, index).is_some_and(ParamSpec::is_count)
            }
            Self::Guidance(index) => {
                param(Guidance::PARAMS, index).is_some_and(ParamSpec::is_count)
            }
        }
    }

    /// Returns the range of commonly used values, as a starting point.
    pub fn usual_range(self) -> [f64; 2] {
        let range = match self {
            Self::Filter(FilterKind::Temperature, 0) => return [0.2, 1.6],
            Self::Filter(FilterKind::TopP, 0) => return [0.5, 1.0],
            Self::Filter(kind, index) => {
                param(kind.spec().params, index).map(|param| param.usual.clone())
            }
            Self::Selector(spec, index) => {
                param(spec.params, index).map(|param| param.usual.clone())
            }
            Self::Guidance(index) => {
                param(Guidance::PARAMS, index).map(|param| param.usual.clone())
            }
        };
        range.map_or([0.0, 1.0], |range| {
            [*range.start(), *range.end()].map(exact)
        })
    }

    /// Returns the ends of its slider.
    pub fn slider_ends(self) -> Option<[f64; 2]> {
        let range = match self {
            Self::Filter(kind, index) => param(kind.spec().params, index)?.range.clone(),
            Self::Selector(spec, index) => param(spec.params, index)?.range.clone(),
            Self::Guidance(index) => param(Guidance::PARAMS, index)?.range.clone(),
        };
        Some([*range.start(), *range.end()].map(exact))
    }

    /// Sets it in a chain: in the first stage of its kind, which is switched on, or in a new stage
    /// at the usual place. A parameter of a selector switches the chain to that selector. A
    /// parameter of guidance is ignored by a chain without guidance.
    pub fn set(self, chain: &mut ChainConfig, value: f64) {
        match self {
            Self::Filter(kind, index) => {
                let found = chain
                    .stages
                    .iter()
                    .position(|stage| stage.filter.kind() == kind);
                let place = found.unwrap_or_else(|| {
                    let later = |stage: &Stage| stage.filter.kind() > kind;
                    let place = chain
                        .stages
                        .iter()
                        .position(later)
                        .unwrap_or(chain.stages.len());
                    chain
                        .stages
                        .insert(place, Stage::from((kind.spec().usual)()));
                    place
                });
                if let (Some(stage), Some(param)) = (
                    chain.stages.get_mut(place),
                    param(kind.spec().params, index),
                ) {
                    stage.enabled = true;
                    param.set(&mut stage.filter, value);
                }
            }
            Self::Selector(spec, index) => {
                if chain.selector.spec().name != spec.name {
                    chain.selector = spec.usual;
                }
                if let Some(param) = param(spec.params, index) {
                    param.set(&mut chain.selector, value);
                }
            }
            Self::Guidance(index) => {
                let param = param(Guidance::PARAMS, index);
                if let (Some(guidance), Some(param)) = (&mut chain.guidance, param) {
                    param.set(guidance, value);
                }
            }
        }
    }

    /// Returns the value in a chain, or `None` if the chain lacks the parameter.
    pub fn get(self, chain: &ChainConfig) -> Option<f64> {
        match self {
            Self::Filter(kind, index) => {
                let filter = chain.enabled().find(|filter| filter.kind() == kind)?;
                param(kind.spec().params, index)?.get(filter)
            }
            Self::Selector(spec, index) => param(spec.params, index)?.get(&chain.selector),
            Self::Guidance(index) => param(Guidance::PARAMS, index)?.get(chain.guidance.as_ref()?),
        }
    }
}

/// Returns the number as it is written: 0.1, not 0.10000000149.
fn exact(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn param<T>(params: &'static [ParamSpec<T>], index: usize) -> Option<&'static ParamSpec<T>> {
    params.get(index)
}

/// One parameter of a chain, and the values that it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredAxis", into = "StoredAxis")]
pub struct Axis {
    pub parameter: Parameter,
    /// At least one value, all distinct.
    values: Vec<f64>,
}

/// An axis as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredAxis {
    setting: Parameter,
    values: Vec<f64>,
}

impl From<Axis> for StoredAxis {
    fn from(axis: Axis) -> Self {
        Self {
            setting: axis.parameter,
            values: axis.values,
        }
    }
}

impl TryFrom<StoredAxis> for Axis {
    type Error = String;

    fn try_from(stored: StoredAxis) -> Result<Self, String> {
        Self::of(stored.setting, stored.values).map_err(|error| error.to_string())
    }
}

/// Why a sweep can't vary a parameter like this. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AxisError {
    #[error("{0}")]
    Setting(#[from] SettingError),
    #[error("{name} needs at least one value")]
    NoValue { name: String },
    #[error("{name} takes at most {MAX_STEPS} values, but {n} were given")]
    TooManyValues { name: String, n: usize },
}

impl Axis {
    /// Creates an axis of `n_steps` equally spaced values, both ends included. Counts are rounded.
    pub fn range(
        parameter: Parameter,
        [from, to]: [f64; 2],
        n_steps: usize,
    ) -> Result<Self, AxisError> {
        if n_steps > MAX_STEPS {
            let name = parameter.name();
            return Err(AxisError::TooManyValues { name, n: n_steps });
        }
        // The values must not show rounding errors such as 0.6000000000000001.
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        let last = n_steps.saturating_sub(1).max(1) as f64;
        let value = |step: usize| rounded(from + (to - from) * step as f64 / last);
        Self::of(parameter, (0..n_steps).map(value))
    }

    /// Creates an axis of these values. Repeated values count once.
    pub fn of(
        parameter: Parameter,
        values: impl IntoIterator<Item = f64>,
    ) -> Result<Self, AxisError> {
        let mut kept: Vec<f64> = Vec::new();
        let mut n = 0;
        for value in values {
            n += 1;
            let value = if parameter.is_count() {
                value.round()
            } else {
                value
            };
            let is_new = kept
                .iter()
                .all(|other| (other - value).abs() > f64::EPSILON);
            if is_new && n <= MAX_STEPS {
                kept.push(value);
            }
            let mut chain = ChainConfig::sampled([]);
            if parameter.is_guidance() {
                chain.guidance = Some(Guidance::usual(Against::Model));
            }
            parameter.set(&mut chain, value);
            chain.validate()?;
        }
        let name = parameter.name();
        if kept.is_empty() {
            return Err(AxisError::NoValue { name });
        }
        if n > MAX_STEPS {
            return Err(AxisError::TooManyValues { name, n });
        }
        Ok(Self {
            parameter,
            values: kept,
        })
    }

    /// Returns the values, in the order in which they were given.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the values as short labels that differ from each other: "0.2", "0.75", "40".
    pub fn labels(&self) -> Vec<String> {
        let labels = |n_digits: i32| -> Vec<String> {
            let values = self.values.iter();
            values.map(|value| rounded(*value, n_digits)).collect()
        };
        let is_distinct = |labels: &Vec<String>| {
            labels.iter().collect::<BTreeSet<_>>().len() == self.values.len()
        };
        let mut by_length = (LABEL_DIGITS..MAX_LABEL_DIGITS).map(labels);
        by_length
            .find(is_distinct)
            .unwrap_or_else(|| labels(MAX_LABEL_DIGITS))
    }
}

/// The decimals of a label, or the significant digits of a value that is near 0.
const LABEL_DIGITS: i32 = 4;

/// The maximum number of digits that tell the values of an axis apart.
const MAX_LABEL_DIGITS: i32 = 12;

/// Formats a value with at most four decimals, or four significant digits if it is near 0: "0.2",
/// "0.8333", "0.00001234".
pub fn label(value: f64) -> String {
    rounded(value, LABEL_DIGITS)
}

fn rounded(value: f64, n_digits: i32) -> String {
    // The zeros between the decimal point and the first digit of a small value.
    let n_zeros = match value.abs() {
        size if size > 0.0 && size < 0.1 => (-size.log10().floor()) as i32 - 1,
        _ => 0,
    };
    let power = 10_f64.powi((n_digits + n_zeros).min(100));
    ((value * power).round() / power).to_string()
}

impl fmt::Display for Axis {
    /// Writes the key and the values: "temp 0.2, 0.4, 0.6".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter.key(), self.labels().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, AxisError, Parameter, label};
    use crate::decoding::{ChainConfig, FilterKind};
    use crate::generation::PaneSettings;

    fn parameter(name: &str) -> Parameter {
        let mut all = Parameter::all().into_iter();
        all.find(|parameter| parameter.name() == name).unwrap()
    }

    #[test]
    fn every_parameter_has_its_own_name_and_key() {
        let all = Parameter::all();
        let names: std::collections::BTreeSet<_> = all.iter().map(|p| p.name()).collect();
        let keys: std::collections::BTreeSet<_> = all.iter().map(|p| p.key()).collect();
        assert_eq!((names.len(), keys.len()), (all.len(), all.len()));
        for name in [
            "Temperature",
            "Top-p",
            "XTC threshold",
            "Mirostat v2 target surprise",
        ] {
            parameter(name);
        }
        for parameter in all {
            let mut chain = ChainConfig::sampled([]);
            let [from, _] = parameter.usual_range();
            parameter.set(&mut chain, from);
            let found = parameter.get(&chain).unwrap();
            assert!((found - from).abs() < 1e-6, "{}: {found}", parameter.name());
        }
    }

    #[test]
    fn a_range_is_evenly_spaced_and_reads_well() {
        let axis = Axis::range(parameter("Temperature"), [0.2, 1.6], 8).unwrap();
        assert_eq!(
            axis.to_string(),
            "temp 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6"
        );
        let axis = Axis::range(parameter("Top-p"), [0.9, 0.5], 4).unwrap();
        assert_eq!(axis.labels(), ["0.9", "0.7667", "0.6333", "0.5"]);
        let axis = Axis::range(parameter("Top-k"), [1.0, 4.0], 9).unwrap();
        assert_eq!(axis.labels(), ["1", "2", "3", "4"], "counts are whole");
        assert_eq!(
            Axis::range(parameter("Top-k"), [5.0, 9.0], 1)
                .unwrap()
                .labels(),
            ["5"]
        );
    }

    #[test]
    fn labels_of_close_or_tiny_values_differ() {
        let epsilon = parameter("Epsilon cutoff");
        let axis = Axis::range(epsilon, [0.000_01, 0.000_1], 4).unwrap();
        assert_eq!(axis.labels(), ["0.00001", "0.00004", "0.00007", "0.0001"]);
        let axis = Axis::of(parameter("Top-p"), [0.9, 0.900_01, 1.0]).unwrap();
        assert_eq!(axis.labels(), ["0.9", "0.90001", "1"]);
        for (value, words) in [
            (0.0, "0"),
            (1.0 / 30.0, "0.03333"),
            (2.0 / 3.0, "0.6667"),
            (1.0, "1"),
            (-0.25, "-0.25"),
            (0.000_012_346, "0.00001235"),
        ] {
            assert_eq!(label(value), words);
        }
    }

    #[test]
    fn values_that_are_out_of_range_or_too_many_are_rejected() {
        let error = Axis::range(parameter("Top-p"), [0.5, 1.2], 3).unwrap_err();
        assert_eq!(error.to_string(), "Top-p must be between 0 and 1");
        let error = Axis::range(parameter("Top-p"), [0.5, 1.0], 0).unwrap_err();
        assert_eq!(error.to_string(), "Top-p needs at least one value");
        let error = Axis::range(parameter("Top-p"), [0.5, 1.0], 65).unwrap_err();
        let name = "Top-p".to_owned();
        assert_eq!(error, AxisError::TooManyValues { name, n: 65 });
    }

    #[test]
    fn a_parameter_is_set_in_its_stage_or_in_a_new_one_at_the_usual_place() {
        let set = |settings: &str, name: &str, value: f64| {
            let mut chain = settings.parse::<PaneSettings>().unwrap().chain;
            parameter(name).set(&mut chain, value);
            PaneSettings::from(chain).to_string()
        };
        assert_eq!(
            set("top-p 0.9, T 0.7", "Temperature", 1.5),
            "top-p 0.9, T 1.5"
        );
        assert_eq!(
            set("T 0.7 off, top-p 0.9", "Temperature", 1.0),
            "T 1, top-p 0.9"
        );
        assert_eq!(set("top-p 0.9", "Temperature", 0.5), "T 0.5, top-p 0.9");
        assert_eq!(set("T 0.5", "Top-k", 5.0), "T 0.5, top-k 5");
        let mirostat = set("T 1", "Mirostat v2 target surprise", 3.0);
        assert!(mirostat.starts_with("T 1, mirostat 3"), "{mirostat}");
        assert_eq!(
            Parameter::Filter(FilterKind::TopP, 0).get(&ChainConfig::greedy()),
            None
        );
    }
}
