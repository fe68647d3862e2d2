//! Mamba 1: a convolution and a scan, each of which keeps a state. Between them are two projections,
//! which the backends compute.

use pulp::{Simd, WithSimd};

use super::gates::{silu, softplus};
use super::window::Taps;
use super::{Stream, StreamRow, Workers};
use crate::engine::blueprint::Mamba;
use crate::kernels::exp;

/// How many channels are scanned together.
const N_TOGETHER: usize = 64;

/// The weights of the convolution.
#[derive(Debug)]
pub(crate) struct ConvolutionWeights {
    pub taps: Taps,
    /// Added to the output of the convolution.
    pub bias: Vec<f32>,
}

/// The weights of the scan.
#[derive(Debug)]
pub(crate) struct ScanWeights {
    mamba: Mamba,
    /// −exp(A), in the order of the states.
    rates: Vec<f32>,
    /// By how much a channel's input is added to its output.
    skip: Vec<f32>,
}

/// Convolves the rows of one sequence.
struct Convolve<'a, 'b> {
    weights: &'a ConvolutionWeights,
    stream: &'a mut Stream<'b>,
}

/// Scans the rows of one sequence in neighboring channels.
struct ScanChannels<'a> {
    /// `[state_dim, channels]`.
    state: &'a mut [f32],
    /// As the state.
    rates: &'a [f32],
    skip: &'a [f32],
    rows: Vec<ChannelRow<'a>>,
}

/// One token in neighboring channels.
struct ChannelRow<'a> {
    inputs: &'a [f32],
    gates: &'a [f32],
    steps: &'a [f32],
    /// The directions in which all channels write their states.
    writes: &'a [f32],
    /// The directions in which all channels read their states.
    reads: &'a [f32],
    output: &'a mut [f32],
}

impl Mamba {
    /// Normalizes what tokens have selected, if this model does: time steps and directions each for
    /// themselves.
    pub(crate) fn normalize(&self, selection: &mut [f32]) {
        let Some(eps) = self.selection_eps else {
            return;
        };
        for row in selection.chunks_exact_mut(self.selection_width().max(1)) {
            let (steps, directions) = row.split_at_mut(self.step_rank.min(row.len()));
            let directions = directions.chunks_exact_mut(self.state_dim.max(1));
            for part in std::iter::once(steps).chain(directions) {
                let sum: f32 = part.iter().map(|value| value * value).sum();
                let scale = 1.0 / (sum / part.len().max(1) as f32 + eps).sqrt();
                for value in part {
                    *value *= scale;
                }
            }
        }
    }

    /// Returns the part of what tokens have selected from which their time steps are projected.
    pub(crate) fn step_sources(&self, selection: &[f32]) -> Vec<f32> {
        let rows = selection.chunks_exact(self.selection_width().max(1));
        let sources = rows.flat_map(|row| row.iter().take(self.step_rank));
        sources.copied().collect()
    }

    /// Returns the width of a row that the scan reads.
    pub(crate) const fn scan_width(&self) -> usize {
        self.n_channels
            .saturating_mul(3)
            .saturating_add(self.state_dim.saturating_mul(2))
    }

    /// Arranges rows for the scan: inputs, gates, steps, and directions to write and to read.
    pub(crate) fn scan_input(
        &self,
        projected: &[f32],
        convolved: &[f32],
        steps: &[f32],
        selection: &[f32],
    ) -> Vec<f32> {
        let n_channels = self.n_channels.max(1);
        let mut rows = Vec::with_capacity(convolved.len() / n_channels * self.scan_width());
        let projected = projected.chunks_exact(2 * n_channels);
        let convolved = convolved.chunks_exact(n_channels);
        let steps = steps.chunks_exact(n_channels);
        let selection = selection.chunks_exact(self.selection_width().max(1));
        for (((projected, convolved), steps), selection) in
            projected.zip(convolved).zip(steps).zip(selection)
        {
            let (_, gates) = projected.split_at(n_channels);
            let (_, directions) = selection.split_at(self.step_rank.min(selection.len()));
            for part in [convolved, gates, steps, directions] {
                rows.extend_from_slice(part);
            }
        }
        rows
    }
}

impl ConvolutionWeights {
    /// Reads the rows of all streams, and removes them.
    pub(super) fn read(&self, streams: &mut [Stream<'_>], workers: Workers<'_>) {
        let streams: Vec<_> = streams.iter_mut().collect();
        workers.each(streams, |stream| {
            workers.arch.dispatch(Convolve {
                weights: self,
                stream,
            });
        });
    }
}

impl WithSimd for Convolve<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { weights, stream } = self;
        for row in stream.rows.drain(..) {
            let (current, _) = row.input.split_at(row.output.len().min(row.input.len()));
            weights.taps.convolve(stream.state, current, row.output);
            for (value, bias) in row.output.iter_mut().zip(&weights.bias) {
                *value = silu(*value + bias);
            }
        }
    }
}

impl ScanWeights {
    /// Arranges the rates, which are stored by channel: `[channels, state_dim]`.
    pub(crate) fn new(mamba: Mamba, stored_rates: &[f32], skip: Vec<f32>) -> Self {
        let n_states = mamba.state_dim.max(1);
        let groups = stored_rates.chunks(N_TOGETHER * n_states);
        let rates = groups.flat_map(|group| {
            (0..n_states).flat_map(move |state| group.iter().skip(state).step_by(n_states))
        });
        Self {
            mamba,
            rates: rates.copied().collect(),
            skip,
        }
    }

    /// Reads the rows of all streams, and removes them.
    pub(super) fn read(&self, streams: &mut [Stream<'_>], workers: Workers<'_>) {
        let groups = streams.iter_mut().flat_map(|stream| self.groups(stream));
        let groups: Vec<ScanChannels<'_>> = groups.collect();
        workers.each(groups, |group| workers.arch.dispatch(group));
    }

    /// Divides the rows of a stream by neighboring channels.
    fn groups<'a>(&'a self, stream: &'a mut Stream<'_>) -> Vec<ScanChannels<'a>> {
        let n_values = N_TOGETHER * self.mamba.state_dim.max(1);
        let states = stream.state.chunks_mut(n_values);
        let weights = self
            .rates
            .chunks(n_values)
            .zip(self.skip.chunks(N_TOGETHER));
        let mut groups: Vec<ScanChannels<'_>> = states
            .zip(weights)
            .map(|(state, (rates, skip))| ScanChannels {
                state,
                rates,
                skip,
                rows: Vec::new(),
            })
            .collect();
        let n_channels = self.mamba.n_channels;
        for StreamRow { input, output } in stream.rows.drain(..) {
            let (inputs, rest) = input.split_at(n_channels);
            let (gates, rest) = rest.split_at(n_channels);
            let (steps, directions) = rest.split_at(n_channels);
            let (writes, reads) = directions.split_at(directions.len() / 2);
            let parts = inputs
                .chunks(N_TOGETHER)
                .zip(gates.chunks(N_TOGETHER))
                .zip(steps.chunks(N_TOGETHER))
                .zip(output.chunks_mut(N_TOGETHER));
            for (group, (((inputs, gates), steps), output)) in groups.iter_mut().zip(parts) {
                group.rows.push(ChannelRow {
                    inputs,
                    gates,
                    steps,
                    writes,
                    reads,
                    output,
                });
            }
        }
        groups
    }
}

impl WithSimd for ScanChannels<'_> {
    type Output = ();

    /// h ← h × exp(dt × A) + B × dt × x; y = (C × h + D × x) × silu(z).
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let width = self.skip.len().max(1);
        let (mut steps, mut scaled) = (vec![0.0; width], vec![0.0; width]);
        for row in self.rows {
            let parts = steps.iter_mut().zip(&mut scaled);
            for ((step, scaled), (raw, input)) in parts.zip(row.steps.iter().zip(row.inputs)) {
                *step = softplus(*raw);
                *scaled = *step * input;
            }
            let outputs = row.output.iter_mut().zip(row.inputs);
            for ((output, input), skip) in outputs.zip(self.skip) {
                *output = skip * input;
            }
            let states = self.state.chunks_exact_mut(width);
            let states = states.zip(self.rates.chunks_exact(width));
            for ((state, rates), (write, read)) in states.zip(row.writes.iter().zip(row.reads)) {
                let channels = state.iter_mut().zip(rates).zip(steps.iter().zip(&scaled));
                for (((state, rate), (step, scaled)), sum) in channels.zip(row.output.iter_mut()) {
                    *state = *state * exp(step * rate) + write * scaled;
                    *sum += read * *state;
                }
            }
            for (output, gate) in row.output.iter_mut().zip(row.gates) {
                *output *= silu(*gate);
            }
        }
    }
}
