//! What the KV cache costs and saves: the time per token with and without it, its memory, and how
//! prefilling a prompt differs from generating a text.

mod line;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod times;
mod words;

pub(crate) use line::Line;
pub(crate) use table::CacheTable;

use serde::{Deserialize, Serialize};

use self::line::median;
use crate::decoding::TokenId;
use crate::lab::cache::{CacheFacts, CacheSample, PaneCost};

/// How many points are shown for the text generated with the cache. Each is the median of
/// neighboring tokens.
const N_ON: usize = 32;

/// How many lengths without the cache must be measured before the rest can be estimated.
const MIN_FOR_ESTIMATE: usize = 3;

/// A token generated with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OnPoint {
    /// How many tokens precede it.
    pub length: usize,
    pub secs: f64,
    pub n_bytes: Option<u64>,
}

/// A token generated without the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OffPoint {
    pub length: usize,
    pub secs: f64,
    /// Infinite if only one of two logits is.
    #[serde(with = "crate::generation::any_float::single")]
    pub largest_difference: f32,
    pub is_same_token: bool,
}

/// The time to read a prompt of one length, in parallel and one token at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReadPoint {
    pub length: usize,
    pub parallel_secs: f64,
    pub one_by_one_secs: f64,
}

/// What a prompt costs several panes if they share it, and if each reads it separately.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaneCosts {
    pub shared: PaneCost,
    pub apart: PaneCost,
}

/// Whether the text is the same with and without the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// How many lengths were compared.
    pub n_compared: usize,
    pub largest_difference: f32,
    /// The first length at which the tokens differed.
    pub first_different: Option<usize>,
}

/// The results of a measurement so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheLab {
    pub facts: CacheFacts,
    /// The tokens generated with the cache, except the first, which the prefill predicts.
    pub tokens: Vec<TokenId>,
    pub on: Vec<OnPoint>,
    pub off: Vec<OffPoint>,
    pub reads: Vec<ReadPoint>,
    pub panes: Option<PaneCosts>,
}

impl CacheLab {
    /// Creates an empty measurement.
    pub const fn new(facts: CacheFacts) -> Self {
        Self {
            facts,
            tokens: Vec::new(),
            on: Vec::new(),
            off: Vec::new(),
            reads: Vec::new(),
            panes: None,
        }
    }

    /// Adds the result of one part of the measurement.
    pub fn add(&mut self, sample: &CacheSample) {
        match *sample {
            CacheSample::On {
                length,
                token,
                secs,
                n_bytes,
            } => {
                self.tokens.push(token);
                self.on.push(OnPoint {
                    length,
                    secs,
                    n_bytes,
                });
            }
            CacheSample::Off {
                length,
                secs,
                largest_difference,
                is_same_token,
            } => self.off.push(OffPoint {
                length,
                secs,
                largest_difference,
                is_same_token,
            }),
            CacheSample::Read {
                length,
                parallel_secs,
                one_by_one_secs,
            } => self.reads.push(ReadPoint {
                length,
                parallel_secs,
                one_by_one_secs,
            }),
            CacheSample::Panes { shared, apart } => {
                self.panes = Some(PaneCosts { shared, apart });
            }
        }
    }

    /// Returns the length of the whole text, including the prompt, in tokens.
    pub const fn n_text(&self) -> usize {
        self.facts.n_prompt + self.facts.n_tokens
    }

    /// Returns the times with the cache, as lengths and milliseconds. Each point is the median of
    /// neighboring tokens, because single passes are short and their times are noisy.
    pub fn on_points(&self) -> Vec<(f64, f64)> {
        let n_joined = self.facts.n_tokens.div_ceil(N_ON).max(1);
        let whole = self
            .on
            .chunks(n_joined)
            .filter(|points| points.len() == n_joined);
        let joined = whole.filter_map(|points| {
            let of = |value: fn(&OnPoint) -> f64| median(points.iter().map(value).collect());
            Some((of(|p| p.length as f64)?, of(|p| p.secs)? * 1e3))
        });
        joined.collect()
    }

    /// Returns the times without the cache, as lengths and milliseconds.
    pub fn off_points(&self) -> Vec<(f64, f64)> {
        let points = self.off.iter();
        points.map(|p| (p.length as f64, p.secs * 1e3)).collect()
    }

    /// Returns the line fitted to the times with the cache, in milliseconds.
    pub fn on_line(&self) -> Option<Line> {
        Line::through(&self.on_points())
    }

    /// Returns the line fitted to the times without the cache, in milliseconds.
    pub fn off_line(&self) -> Option<Line> {
        Line::through(&self.off_points())
    }

    /// Returns how many times as long the last token takes without the cache, or `None` until both
    /// lines are known.
    pub fn last_ratio(&self) -> Option<f64> {
        let length = self.off.last()?.length as f64;
        let on = self.on_line()?.at(length);
        let off = self.off_line()?.at(length);
        (on > 0.0).then(|| off / on)
    }

    /// Returns the average speed with the cache, in tokens per second.
    pub fn on_tokens_per_sec(&self) -> Option<f64> {
        let secs: f64 = self.on.iter().map(|point| point.secs).sum();
        (secs > 0.0).then(|| self.on.len() as f64 / secs)
    }

    /// Returns the measured memory of the cache at the end of the text.
    pub fn n_measured_bytes(&self) -> Option<u64> {
        self.on.last()?.n_bytes
    }

    /// Returns the memory that the formula predicts for a cache of `n_tokens` tokens.
    pub fn n_formula_bytes(&self, n_tokens: usize) -> Option<u64> {
        let shape = self.facts.shape.as_ref()?;
        let n_bytes = shape.n_bytes_per_token().saturating_mul(n_tokens as u64);
        Some(n_bytes.saturating_add(shape.n_state_bytes))
    }

    /// Returns whether both texts are the same, or `None` before a length has been compared.
    pub fn agreement(&self) -> Option<Agreement> {
        let differences = self.off.iter().map(|point| point.largest_difference);
        let mut different = self.off.iter().filter(|point| !point.is_same_token);
        (!self.off.is_empty()).then(|| Agreement {
            n_compared: self.off.len(),
            largest_difference: differences.fold(0.0, f32::max),
            first_different: different.next().map(|point| point.length),
        })
    }

    /// Estimates how long the remaining lengths will take without the cache, in seconds.
    pub fn secs_left(&self) -> Option<f64> {
        if self.off.len() < MIN_FOR_ESTIMATE {
            return None;
        }
        let line = self.off_line()?;
        let left = self
            .facts
            .off_lengths
            .iter()
            .skip(self.off.len())
            .map(|length| line.at(*length as f64).max(0.0) / 1e3);
        Some(left.sum())
    }
}
