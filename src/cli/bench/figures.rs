//! The benchmark's figures: medians of the measurements, and what follows from them.

use serde::Serialize;

use super::decode::Sample;
use super::memory::Memory;
use super::plan::{Part, Plan};
use super::rounds::Samples;
use super::{bandwidth, branch, fork, futures, strategies};
use crate::engine::ForwardTimes;
use crate::generation::ModelOutline;

/// The results of a benchmark. Parts that were not measured are `None`.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    /// The median memory bandwidth, with the number of streams of the fastest round.
    pub bandwidth: Option<bandwidth::Sample>,
    pub prefill: Option<Vec<Prefill>>,
    pub decode: Option<Vec<Decode>>,
    pub context: Option<Vec<Context>>,
    pub fork: Option<Fork>,
    pub branch: Option<Branch>,
    pub futures: Option<Vec<Futures>>,
    pub strategies: Option<Vec<Strategy>>,
    pub memory: Option<Memory>,
}

/// Prefill speed at one prompt length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Prefill {
    pub tokens: usize,
    pub tokens_per_sec: f64,
}

/// Decode speed for a given number of panes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Decode {
    pub panes: usize,
    /// Tokens per second in each pane.
    pub each_per_sec: f64,
    /// Tokens per second over all panes.
    pub together_per_sec: f64,
    /// Milliseconds per decode step.
    pub step_ms: f64,
    /// The step time divided by the step time of one pane, or `None` if one pane was not measured.
    pub time_against_one: Option<f64>,
    /// The share of the memory bandwidth that reading the weights uses.
    pub bandwidth_share: Option<f64>,
    /// Where the time goes, or `None` if the backend does not report it.
    pub shares: Option<Shares>,
}

/// Shares of a step's time. They sum to 1 only approximately, because each is a median.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Shares {
    /// Matrix products in the layers.
    pub products: f64,
    pub attention: f64,
    /// The matrix product of the output head.
    pub head: f64,
    /// The rest of the forward pass: norms, activations, residual sums.
    pub other: f64,
    /// Sampling tokens and recording the evidence.
    pub chain_and_record: f64,
}

/// The decode step of one pane at one context length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Context {
    pub tokens: usize,
    pub step_ms: f64,
}

/// The cost of forking a sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Fork {
    /// The length of the forked sequence.
    pub tokens: usize,
    pub ms: f64,
    /// The memory of a fork before it decodes.
    pub extra_bytes: Option<u64>,
    /// The memory that the first token of a fork adds.
    pub written_bytes: Option<u64>,
}

/// The first token of a branch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Branch {
    /// The length of the text before it.
    pub tokens: usize,
    /// Milliseconds with the text in the KV cache.
    pub ms: f64,
    /// Milliseconds in a fresh run, which prefills the text.
    pub fresh_ms: f64,
    /// How many times faster the branch is.
    pub speed_against_fresh: f64,
}

/// The speed of drawing futures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Futures {
    /// How many are drawn together, or `None` for panes run one after another.
    pub width: Option<usize>,
    /// The time of all futures.
    pub secs: f64,
    pub tokens_per_sec: f64,
    /// The speed relative to panes run one after another.
    pub speed_against_panes: f64,
}

/// The speed of one decoding strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Strategy {
    pub name: String,
    /// The time of a forward pass and of choosing tokens by its logits, in milliseconds.
    pub pass_ms: f64,
    /// The mean number of tokens that a pass generated in one pane.
    pub tokens_per_pass: f64,
    /// The speed of one pane.
    pub tokens_per_sec: f64,
    /// The time of a pass divided by the baseline's: the greedy pane, or as many panes as there are
    /// beams.
    pub pass_against_baseline: f64,
    /// The speed divided by the baseline's.
    pub speed_against_baseline: f64,
}

impl Figures {
    /// Computes the figures from the measurements.
    pub(super) fn new(plan: &Plan, outline: &ModelOutline, samples: &Samples) -> Self {
        let bandwidth = bandwidth(&samples.bandwidth);
        let limit =
            bandwidth.map(|bandwidth| outline.n_step_bytes as f64 / bandwidth.bytes_per_sec);
        let has = |part| plan.has(part).then_some(());
        Self {
            bandwidth,
            prefill: has(Part::Prefill).map(|()| prefill(&plan.prefill, &samples.prefill)),
            decode: has(Part::Decode).map(|()| decode(&plan.n_panes, limit, &samples.decode)),
            context: has(Part::Context).map(|()| context(&plan.context, &samples.context)),
            fork: has(Part::Fork).map(|()| fork(plan.n_fork, &samples.fork)),
            branch: has(Part::Branch).map(|()| branch(plan.n_branch, &samples.branch)),
            futures: has(Part::Futures).map(|()| futures(&samples.futures)),
            strategies: has(Part::Strategies).map(|()| strategies(&samples.strategies)),
            memory: samples.memory,
        }
    }
}

fn bandwidth(samples: &[bandwidth::Sample]) -> Option<bandwidth::Sample> {
    let fastest = samples
        .iter()
        .max_by(|a, b| a.bytes_per_sec.total_cmp(&b.bytes_per_sec))?;
    Some(bandwidth::Sample {
        bytes_per_sec: median(samples.iter().map(|sample| sample.bytes_per_sec))?,
        ..*fastest
    })
}

fn prefill(lengths: &[usize], samples: &[(usize, f64)]) -> Vec<Prefill> {
    let figures = lengths.iter().map(|tokens| Prefill {
        tokens: *tokens,
        tokens_per_sec: *tokens as f64 / of(*tokens, samples),
    });
    figures.collect()
}

fn context(lengths: &[usize], samples: &[(usize, f64)]) -> Vec<Context> {
    let figures = lengths.iter().map(|tokens| Context {
        tokens: *tokens,
        step_ms: 1000.0 * of(*tokens, samples),
    });
    figures.collect()
}

/// Returns the median of the values for this length.
fn of(number: usize, samples: &[(usize, f64)]) -> f64 {
    let of_number = samples.iter().filter(|(known, _)| *known == number);
    median(of_number.map(|(_, value)| *value)).unwrap_or(f64::NAN)
}

/// `limit` is the shortest possible step time in seconds, if it is known.
fn decode(n_panes: &[usize], limit: Option<f64>, samples: &[Sample]) -> Vec<Decode> {
    let step_secs = |n_panes| {
        let own = samples
            .iter()
            .filter(move |sample| sample.n_panes == n_panes);
        median(own.map(|sample| sample.secs / sample.n_steps as f64))
    };
    let figures = n_panes.iter().map(|n_panes| {
        let secs = step_secs(*n_panes).unwrap_or(f64::NAN);
        let own = samples.iter().filter(|sample| sample.n_panes == *n_panes);
        Decode {
            panes: *n_panes,
            each_per_sec: 1.0 / secs,
            together_per_sec: *n_panes as f64 / secs,
            step_ms: 1000.0 * secs,
            time_against_one: step_secs(1).map(|one| secs / one),
            bandwidth_share: limit.map(|limit| limit / secs),
            shares: shares(&own.copied().collect::<Vec<_>>()),
        }
    });
    figures.collect()
}

fn shares(samples: &[Sample]) -> Option<Shares> {
    let reported = samples.iter().all(|sample| sample.times.total_secs > 0.0);
    let share = |secs: fn(&Sample) -> f64| {
        let shares = samples.iter().map(|sample| secs(sample) / sample.secs);
        median(shares).filter(|_| reported)
    };
    Some(Shares {
        products: share(|sample| sample.times.product_secs)?,
        attention: share(|sample| sample.times.attention_secs)?,
        head: share(|sample| sample.times.head_secs)?,
        other: share(|sample| {
            let ForwardTimes {
                product_secs,
                attention_secs,
                head_secs,
                total_secs,
            } = sample.times;
            total_secs - product_secs - attention_secs - head_secs
        })?,
        chain_and_record: share(|sample| sample.secs - sample.times.total_secs)?,
    })
}

fn fork(tokens: usize, samples: &[fork::Sample]) -> Fork {
    let bytes = |bytes: fn(&fork::Sample) -> Option<u64>| {
        let mut all: Vec<u64> = samples.iter().filter_map(bytes).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    };
    Fork {
        tokens,
        ms: 1000.0 * median(samples.iter().map(|sample| sample.secs)).unwrap_or(f64::NAN),
        extra_bytes: bytes(|sample| sample.n_bytes),
        written_bytes: bytes(|sample| sample.n_written_bytes),
    }
}

fn branch(tokens: usize, samples: &[branch::Sample]) -> Branch {
    let milliseconds = |secs: fn(&branch::Sample) -> f64| {
        1000.0 * median(samples.iter().map(secs)).unwrap_or(f64::NAN)
    };
    let (ms, fresh_ms) = (
        milliseconds(|sample| sample.branch_secs),
        milliseconds(|sample| sample.fresh_secs),
    );
    Branch {
        tokens,
        ms,
        fresh_ms,
        speed_against_fresh: fresh_ms / ms,
    }
}

fn futures(samples: &[futures::Sample]) -> Vec<Futures> {
    let secs = |width| {
        let own = samples.iter().filter(|sample| sample.width == width);
        median(own.map(|sample| sample.secs)).unwrap_or(f64::NAN)
    };
    let panes_secs = secs(None);
    let widths = futures::WIDTHS.map(Some).into_iter().chain([None]);
    let figures = widths.map(|width| Futures {
        width,
        secs: secs(width),
        tokens_per_sec: (futures::N_FUTURES * futures::N_TOKENS) as f64 / secs(width),
        speed_against_panes: panes_secs / secs(width),
    });
    figures.collect()
}

fn strategies(samples: &[strategies::Sample]) -> Vec<Strategy> {
    let of = |case, value: fn(&strategies::Sample) -> f64| {
        let own = samples.iter().filter(|sample| sample.case == case);
        median(own.map(value)).unwrap_or(f64::NAN)
    };
    let pass_ms = |case| of(case, |sample| 1e3 * sample.secs / sample.n_passes as f64);
    let speed = |case| of(case, |sample| sample.n_tokens as f64 / sample.secs);
    let figures = strategies::Case::ALL.map(|case| Strategy {
        name: case.name(),
        pass_ms: pass_ms(case),
        tokens_per_pass: of(case, |sample| {
            sample.n_tokens as f64 / sample.n_passes as f64
        }),
        tokens_per_sec: speed(case),
        pass_against_baseline: pass_ms(case) / pass_ms(case.baseline()),
        speed_against_baseline: speed(case) / speed(case.baseline()),
    });
    figures.into()
}

/// Returns the middle value, or the mean of the two middle values.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::{Decode, Sample, Shares, branch, decode, median};
    use crate::engine::ForwardTimes;

    #[test]
    fn the_median_is_the_middle_value() {
        for (values, expected) in [
            (vec![], None),
            (vec![3.0], Some(3.0)),
            (vec![9.0, 1.0], Some(5.0)),
            (vec![9.0, 1.0, 2.0], Some(2.0)),
        ] {
            assert_eq!(median(values.into_iter()), expected);
        }
    }

    #[test]
    fn a_branch_is_compared_with_a_fresh_run() {
        let samples = [3.0, 1.0, 2.0].map(|secs| branch::Sample {
            fresh_secs: 10.0 * secs,
            branch_secs: secs,
        });
        let figures = branch(300, &samples);
        assert_eq!((figures.ms, figures.fresh_ms), (2000.0, 20_000.0));
        assert_eq!((figures.tokens, figures.speed_against_fresh), (300, 10.0));
    }

    #[test]
    fn speeds_are_per_pane_and_for_all_panes() {
        let sample = |n_panes, secs| Sample {
            n_panes,
            n_steps: 8,
            secs,
            times: ForwardTimes {
                product_secs: 0.25 * secs,
                attention_secs: 0.125 * secs,
                head_secs: 0.25 * secs,
                total_secs: 0.75 * secs,
            },
        };
        let samples = [
            sample(1, 1.0),
            sample(4, 2.0),
            sample(1, 1.0),
            sample(4, 2.0),
        ];
        let figures = decode(&[1, 4], Some(0.1), &samples);
        let four = Decode {
            panes: 4,
            each_per_sec: 4.0,
            together_per_sec: 16.0,
            step_ms: 250.0,
            time_against_one: Some(2.0),
            bandwidth_share: Some(0.4),
            shares: Some(Shares {
                products: 0.25,
                attention: 0.125,
                head: 0.25,
                other: 0.125,
                chain_and_record: 0.25,
            }),
        };
        assert_eq!(figures.len(), 2);
        assert_eq!(figures[1], four);
        // Shares are missing, not invented, if the backend does not report times.
        let silent = samples.map(|sample| Sample {
            times: ForwardTimes::default(),
            ..sample
        });
        assert_eq!(decode(&[4], None, &silent)[0].shares, None);
        assert_eq!(decode(&[4], None, &silent)[0].bandwidth_share, None);
    }
}
