//! The interval of each setting within which no token of a text changes.

use crate::analysis::SmallestChange;
use crate::analysis::sweep::Parameter;
use crate::decoding::TokenId;
use crate::generation::Generation;

/// The nearest value at which a token changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Flip {
    pub value: f64,
    /// The index of the first step that changes there.
    pub step: usize,
    /// The token that takes its place, or `None` for one that was not recorded.
    pub token: Option<TokenId>,
}

/// The interval of one setting within which no token changes.
#[derive(Debug, Clone, PartialEq)]
pub struct StableInterval {
    pub parameter: Parameter,
    /// The text's own value.
    pub value: f64,
    /// The outermost values at which nothing changes.
    pub low: f64,
    pub high: f64,
    /// What changes just outside, or `None` if nothing does up to the end of the slider.
    pub below: Option<Flip>,
    pub above: Option<Flip>,
    /// Whether the record proves the interval.
    pub exact: bool,
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
                exact: true,
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

    /// Returns the intervals, as far as they are known.
    pub fn intervals(&self) -> &[StableInterval] {
        &self.intervals
    }

    fn narrow(&mut self, step: usize, search: &SmallestChange) {
        for interval in &mut self.intervals {
            let name = crate::generation::in_sentence(&interval.parameter.name());
            interval.exact &= search.is_certain();
            let mine = search
                .changes()
                .iter()
                .filter(|change| change.setting == name);
            for change in mine {
                let flip = Flip {
                    value: change.to,
                    step,
                    token: change.token,
                };
                interval.exact &= change.exact;
                if change.to > interval.value && change.last < interval.high {
                    interval.high = change.last.max(interval.value);
                    interval.above = Some(flip);
                } else if change.to < interval.value && change.last > interval.low {
                    interval.low = change.last.min(interval.value);
                    interval.below = Some(flip);
                }
            }
        }
    }
}
