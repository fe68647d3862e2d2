//! The interval of each setting within which no token of a text changes.

use serde::{Deserialize, Serialize};

use crate::analysis::sweep::{Parameter, label};
use crate::analysis::{ChangedTo, Side, SmallestChange};
use crate::decoding::{ChainConfig, FilterKind, Picked, TokenId};
use crate::generation::Generation;

/// The nearest value at which a token certainly changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flip {
    pub value: f64,
    /// The value, formatted; "off" if the stage has no effect there.
    pub words: String,
    /// The index of the first step that changes there.
    pub step: usize,
    /// The token that takes its place.
    pub token: ChangedTo,
}

/// The interval of one setting within which the record proves that no token changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StableInterval {
    pub parameter: Parameter,
    /// The text's own value.
    pub value: f64,
    /// The outermost values up to which nothing changes.
    pub low: f64,
    pub high: f64,
    /// The nearest values at which something changes, or `None` if nothing is known to change up to
    /// the end of the slider.
    pub below: Option<Flip>,
    pub above: Option<Flip>,
    /// Whether it is unknown what happens just below `low` and just above `high`. Otherwise a token
    /// changes there, or the slider ends.
    pub open_below: bool,
    pub open_above: bool,
}

impl StableInterval {
    /// Says on which sides it is unknown what happens, or `None` if both ends are proven.
    pub const fn unknown_words(&self) -> Option<&'static str> {
        match (self.open_below, self.open_above) {
            (false, false) => None,
            (true, false) => Some("unknown below"),
            (false, true) => Some("unknown above"),
            (true, true) => Some("unknown beyond"),
        }
    }

    /// Formats a value; "off" if a chain's stage has no effect there.
    pub fn value_words(&self, chain: &ChainConfig, value: f64) -> String {
        let mut chain = chain.clone();
        self.parameter.set(&mut chain, value);
        let Parameter::Filter(kind, _) = self.parameter else {
            return label(value);
        };
        let filter = chain.enabled().find(|filter| filter.kind() == kind);
        let is_off = filter.is_some_and(|filter| {
            let is_heat = matches!(
                kind,
                FilterKind::Temperature | FilterKind::DynamicTemperature
            );
            let is_single = filter.spec().params.len() == 1;
            is_single && !is_heat && filter.is_off(chain.rules)
        });
        if is_off {
            "off".to_owned()
        } else {
            label(value)
        }
    }

    /// Returns what changes just outside the interval.
    pub fn flips(&self) -> impl Iterator<Item = &Flip> {
        [&self.below, &self.above].into_iter().flatten()
    }

    /// Leaves only the text's own value.
    const fn close(&mut self) {
        (self.low, self.high) = (self.value, self.value);
        (self.open_below, self.open_above) = (true, true);
    }

    /// Narrows the interval to what one step allows.
    fn narrow(&mut self, side: &Side) {
        let (end, is_open) = if side.up {
            (&mut self.high, &mut self.open_above)
        } else {
            (&mut self.low, &mut self.open_below)
        };
        let stays_to = if side.up {
            side.stays_to.max(self.value)
        } else {
            side.stays_to.min(self.value)
        };
        let is_nearer = (stays_to - self.value).abs() < (*end - self.value).abs();
        let is_equal = (stays_to - *end).abs() <= f64::EPSILON * end.abs();
        if is_equal {
            // If one step certainly changes beyond this value, it doesn't matter whether others do.
            *is_open &= side.is_open;
        } else if is_nearer {
            (*end, *is_open) = (stays_to, side.is_open);
        }
    }
}

/// A search for the nearest changes at every step, which can be continued from frame to frame.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalSearch {
    intervals: Vec<StableInterval>,
    n_searched: usize,
    n_steps: usize,
}

impl IntervalSearch {
    /// Prepares the search for a text.
    pub fn new(generation: &Generation) -> Self {
        let chain = &generation.config.chain;
        let parameters = Parameter::all().into_iter().filter_map(|parameter| {
            let value = parameter.get(chain)?;
            let [low, high] = parameter.slider_ends()?;
            Some(StableInterval {
                parameter,
                value,
                low: low.min(value),
                high: high.max(value),
                below: None,
                above: None,
                open_below: false,
                open_above: false,
            })
        });
        Self {
            intervals: parameters.collect(),
            n_searched: 0,
            n_steps: generation.steps.len(),
        }
    }

    /// Prepares the search for one token of a text.
    pub fn of_token(generation: &Generation, step: usize) -> Self {
        Self {
            n_searched: step,
            n_steps: (step + 1).min(generation.steps.len()),
            ..Self::new(generation)
        }
    }

    /// Creates a search that has found these intervals.
    pub const fn complete(intervals: Vec<StableInterval>) -> Self {
        Self {
            intervals,
            n_searched: 0,
            n_steps: 0,
        }
    }

    /// Searches further steps while `has_time` returns true. Returns whether all were searched.
    pub fn advance(&mut self, text: &Generation, mut has_time: impl FnMut() -> bool) -> bool {
        while self.n_searched < self.n_steps {
            if !has_time() {
                return false;
            }
            if let Some(search) = SmallestChange::find(text, self.n_searched) {
                self.narrow(self.n_searched, &search);
            }
            self.n_searched += 1;
        }
        true
    }

    /// Returns the share of the search that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.n_searched as f64 / self.n_steps.max(1) as f64
    }

    /// Returns whether every step was searched.
    pub const fn is_complete(&self) -> bool {
        self.n_searched >= self.n_steps
    }

    /// Returns the tokens that are known to be chosen just outside the intervals.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> {
        let flips = self.intervals.iter().flat_map(StableInterval::flips);
        flips.filter_map(|flip| match flip.token {
            ChangedTo::Token(token) => Some(token),
            ChangedTo::Unrecorded | ChangedTo::Unknown => None,
        })
    }

    /// Returns the intervals, as far as they are known.
    pub fn intervals(&self) -> &[StableInterval] {
        &self.intervals
    }

    fn narrow(&mut self, step: usize, search: &SmallestChange) {
        // These depend on the settings, but in a way that the record does not show.
        let is_unknown = matches!(
            search.picked(),
            Picked::ByRatio | Picked::ByBeams | Picked::ByServer
        );
        for interval in &mut self.intervals {
            if is_unknown {
                interval.close();
            }
            let name = crate::generation::in_sentence(&interval.parameter.name());
            let sides = search.sides().iter();
            for side in sides.filter(|side| side.setting == name) {
                interval.narrow(side);
            }
            let changes = search.changes().iter();
            for change in changes.filter(|change| change.setting == name) {
                let flip = if change.to > interval.value {
                    &mut interval.above
                } else {
                    &mut interval.below
                };
                let distance = |value: f64| (value - interval.value).abs();
                let is_nearest = flip
                    .as_ref()
                    .is_none_or(|flip| distance(change.to) < distance(flip.value));
                if is_nearest {
                    *flip = Some(Flip {
                        value: change.to,
                        words: change.to_words.clone(),
                        step,
                        token: change.token,
                    });
                }
            }
        }
    }
}
