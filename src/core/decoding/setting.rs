//! The numeric settings of filters and selectors: what each is called, the values it may take, and
//! the error for any other value.

use std::ops::RangeInclusive;

use super::GrammarError;

/// One number of a filter or selector (`T` is [`Filter`](super::Filter) or
/// [`Selector`](super::Selector)): how it is named, shown, limited, read and written.
///
/// The first parameter of an owner is the main one. It goes by the owner's own key, name and help,
/// so its `key`, `label` and `help` are empty.
#[derive(Debug)]
pub struct ParamSpec<T: 'static> {
    /// The word before its value in a `--pane` description: "threshold".
    pub key: &'static str,
    /// The label beside its slider.
    pub label: &'static str,
    /// The unit of its value; empty for a plain number.
    pub unit: &'static str,
    /// What it does, in one sentence without numbers: [`ParamSpec::tooltip`] adds those.
    pub help: &'static str,
    /// The values that the slider covers. Others can be typed if `limits` allow them.
    pub range: RangeInclusive<f32>,
    /// The values that are valid.
    pub limits: Limits,
    /// The value that has no effect, if there is one.
    pub neutral: Option<f32>,
    /// The values that people commonly choose.
    pub usual: RangeInclusive<f32>,
    /// The number of decimals shown.
    pub decimals: u8,
    /// How values are spread along the slider.
    pub scale: Scale,
    /// How to read and write it.
    pub field: Field<T>,
}

/// How values are spread along a slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios. The left end is 0, which no ratio reaches.
    Logarithmic,
}

/// How to read and write a number of `T`. Reading returns `None`, and writing does nothing, if `T`
/// is a variant without this number.
#[derive(Debug)]
#[expect(
    missing_docs,
    reason = "each variant holds a getter and a setter of its number"
)]
pub enum Field<T: 'static> {
    /// A real number.
    Real {
        get: fn(&T) -> Option<f32>,
        set: fn(&mut T, f32),
    },
    /// A whole number of 0 or more.
    Count {
        get: fn(&T) -> Option<u32>,
        set: fn(&mut T, u32),
    },
}

/// Reads and writes one field of one variant: `field!(Real, Filter::TopP.p)`.
macro_rules! field {
    ($number:ident, $owner:ident::$variant:ident.$field:ident) => {
        $crate::decoding::Field::$number {
            get: |owner| match owner {
                $crate::decoding::$owner::$variant(inner) => Some(inner.$field),
                _ => None,
            },
            set: |owner, value| {
                if let $crate::decoding::$owner::$variant(inner) = owner {
                    inner.$field = value;
                }
            },
        }
    };
}
pub(in crate::decoding) use field;

impl<T> ParamSpec<T> {
    /// A probability, shown with two decimals: the base that most specs start from.
    pub(in crate::decoding) const fn new(field: Field<T>) -> Self {
        Self {
            key: "",
            label: "",
            unit: "",
            help: "",
            range: 0.0..=1.0,
            limits: Limits::Between(0.0, 1.0),
            neutral: None,
            usual: 0.0..=1.0,
            decimals: 2,
            scale: Scale::Linear,
            field,
        }
    }

    /// The current value, or `None` if `owner` has no such number.
    pub fn get(&self, owner: &T) -> Option<f64> {
        match self.field {
            Field::Real { get, .. } => get(owner).map(f64::from),
            Field::Count { get, .. } => get(owner).map(f64::from),
        }
    }

    /// The current value in the fewest digits that read back as the same number.
    pub fn text(&self, owner: &T) -> Option<String> {
        match self.field {
            Field::Real { get, .. } => get(owner).map(|value| value.to_string()),
            Field::Count { get, .. } => get(owner).map(|value| value.to_string()),
        }
    }

    /// Sets the value, valid or not. A count is rounded, and clamped to what a count can hold.
    #[expect(
        clippy::cast_sign_loss,
        reason = "the value is clamped to what a count can hold"
    )]
    pub fn set(&self, owner: &mut T, value: f64) {
        match self.field {
            Field::Real { set, .. } => set(owner, value as f32),
            Field::Count { set, .. } => {
                set(owner, value.round().clamp(0.0, f64::from(u32::MAX)) as u32);
            }
        }
    }

    /// Whether it is a whole number.
    pub const fn is_count(&self) -> bool {
        matches!(self.field, Field::Count { .. })
    }

    /// Checks the current value against the limits. `owner_name` begins the error's sentence.
    pub(in crate::decoding) fn validate(
        &self,
        owner_name: &str,
        owner: &T,
    ) -> Result<(), SettingError> {
        match self.get(owner) {
            Some(value) if !self.limits.contain(value as f32) => Err(SettingError::OutOfRange {
                setting: [owner_name, &self.label.to_lowercase()]
                    .join(" ")
                    .trim_end()
                    .to_owned(),
                limits: self.limits,
            }),
            _ => Ok(()),
        }
    }

    /// The label with its unit: "Surprise, bits".
    pub fn label_with_unit(&self) -> String {
        match self.unit {
            "" => self.label.to_owned(),
            unit => format!("{}, {unit}", self.label),
        }
    }

    /// What it does, then its neutral value and its usual values.
    pub fn tooltip(&self) -> String {
        format!("{} {}", self.help, self.typical_values())
    }

    /// "1 has no effect; 0.8 to 0.95 is usual."
    pub fn typical_values(&self) -> String {
        let (low, high) = (self.usual.start(), self.usual.end());
        let usual = if low < high {
            format!("{low} to {high} is usual.")
        } else {
            format!("{low} is usual.")
        };
        match self.neutral {
            Some(neutral) => format!("{neutral} has no effect; {usual}"),
            None => usual,
        }
    }
}

/// The values that a number may take. NaN is never one of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limits {
    /// Any finite number.
    Finite,
    /// A finite number that is not below this one.
    AtLeast(f32),
    /// A finite number greater than this one.
    Above(f32),
    /// Any number that is not above this one.
    AtMost(f32),
    /// Between these two, both included.
    Between(f32, f32),
    /// Between these two, the upper one excluded.
    Below(f32, f32),
    /// Between these two, both excluded.
    Open(f32, f32),
}

impl Limits {
    /// Whether a value is within the limits.
    pub fn contain(self, value: f32) -> bool {
        match self {
            Self::Finite => value.is_finite(),
            Self::AtLeast(low) => value.is_finite() && value >= low,
            Self::Above(low) => value.is_finite() && value > low,
            Self::AtMost(high) => value <= high,
            Self::Between(low, high) => (low..=high).contains(&value),
            Self::Below(low, high) => (low..high).contains(&value),
            Self::Open(low, high) => low < value && value < high,
        }
    }
}

impl std::fmt::Display for Limits {
    /// The end of a sentence that begins "Top-p must be".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finite => f.write_str("a finite number"),
            Self::AtLeast(low) => write!(f, "{low} or more"),
            Self::Above(low) => write!(f, "greater than {low}"),
            Self::AtMost(high) => write!(f, "{high} or less"),
            Self::Between(low, high) => write!(f, "between {low} and {high}"),
            Self::Below(low, high) => write!(f, "at least {low} and below {high}"),
            Self::Open(low, high) => write!(f, "greater than {low} and below {high}"),
        }
    }
}

/// Why the settings of a chain are invalid. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// A number is outside its limits.
    #[error("{setting} must be {limits}")]
    OutOfRange {
        /// What the number is called: "Top-p", "XTC threshold".
        setting: String,
        /// The values that it may take.
        limits: Limits,
    },

    #[error(
        "A chain has at most {} stages, not {n_stages}",
        super::chain_config::N_MAX_STAGES
    )]
    TooManyStages { n_stages: usize },

    /// A logit bias is infinite or NaN.
    #[error("A bias must be a finite number; to forbid a token, ban it")]
    BiasNotFinite,

    /// The message of a thinking budget contains the tag that opens a thought.
    #[error("The message can’t open another thought, because that would be cut as well")]
    MessageOpensThought,

    /// A beam search was given drafts.
    #[error("Beam search compares whole texts, so it can’t use drafts")]
    DraftsWithBeams,

    /// Guidance was combined with beam search or drafts.
    #[error("Guidance writes one token at a time, so it can’t be combined with beams or drafts")]
    GuidanceWithOthers,

    /// The layers that guide are none, too many or repeated.
    #[error(
        "Guidance takes 1 to {} different early layers",
        super::EarlyLayers::MAX
    )]
    EarlyLayers,

    /// A plain difference was requested of something other than early layers.
    #[error("The difference is taken from early layers: guide dola against layers 2 4 6")]
    DifferenceWithoutLayers,

    /// The min(1, p/q) rule was combined with a selector that does more than a plain draw.
    #[error("{selector} draws in its own way; choose the same-coin rule for its drafts")]
    RatioWithOthers {
        /// The name of the selector.
        selector: &'static str,
    },
    /// The grammar can't be used.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn limits_contain_what_their_sentence_says() {
        for (limits, words, inside, outside) in [
            (Limits::Finite, "a finite number", -5.0, f32::INFINITY),
            (Limits::AtLeast(0.0), "0 or more", 0.0, -0.1),
            (Limits::Above(0.0), "greater than 0", 0.1, 0.0),
            (Limits::AtMost(1.0), "1 or less", -9.0, 1.1),
            (Limits::Between(0.0, 1.0), "between 0 and 1", 1.0, 1.1),
            (Limits::Below(0.0, 1.0), "at least 0 and below 1", 0.0, 1.0),
            (
                Limits::Open(0.0, 1.0),
                "greater than 0 and below 1",
                0.5,
                0.0,
            ),
        ] {
            assert_eq!(limits.to_string(), words);
            assert!(limits.contain(inside), "{words}");
            assert!(!limits.contain(outside), "{words}");
            assert!(!limits.contain(f32::NAN), "{words}");
        }
    }
}
