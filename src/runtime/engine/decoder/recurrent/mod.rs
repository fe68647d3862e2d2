//! Layers that keep a state of fixed size instead of keys and values.
//!
//! Both backends share this code, which works on plain slices in 32 bits, one token after the other:
//! so a text gives the same bits however it is divided into passes. The projections around it are
//! matrix products, as in layers with attention.

mod delta_net;
mod gates;
mod mamba;
mod mamba2;
mod short_conv;
mod states;
#[cfg(test)]
mod tests;
mod window;

use pulp::Arch;

use super::batch::Place;
use super::cache::Cache;
use crate::kernels::ThreadPool;

pub(super) use delta_net::DeltaNetWeights;
pub(super) use mamba::{ConvolutionWeights, ScanWeights};
pub(super) use mamba2::Mamba2Weights;
pub(super) use short_conv::ShortConvWeights;
pub(super) use states::{LayerStates, RecurrentStates};
pub(super) use window::Taps;

/// What keeps one state in a sequence.
#[derive(Debug)]
pub(super) struct RecurrentLayer {
    /// The index of its state among all states of a sequence.
    pub index: usize,
    /// The width of the rows that it reads.
    pub input_width: usize,
    /// The width of the rows that it returns.
    pub output_width: usize,
    /// The size of its state.
    pub n_state_values: usize,
    pub block: Block,
}

/// What the layer computes between its projections.
#[derive(Debug)]
pub(super) enum Block {
    ShortConv(ShortConvWeights),
    DeltaNet(DeltaNetWeights),
    MambaConvolution(ConvolutionWeights),
    MambaScan(ScanWeights),
    Mamba2(Mamba2Weights),
}

/// What computes the layers: the instructions, and the threads unless there is only one.
#[derive(Clone, Copy)]
pub(super) struct Workers<'a> {
    pub arch: Arch,
    pub threads: Option<&'a ThreadPool>,
}

/// The rows of one sequence, and the state that they change.
struct Stream<'a> {
    state: &'a mut [f32],
    /// Receives a copy of the state once the rows before the mark have been read.
    marked: Option<&'a mut Vec<f32>>,
    /// How many of the rows come before the mark.
    n_before_mark: usize,
    rows: Vec<StreamRow<'a>>,
}

/// One token of a sequence.
struct StreamRow<'a> {
    input: &'a [f32],
    output: &'a mut [f32],
}

impl Workers<'_> {
    /// Processes each item.
    fn each<T: Send>(self, items: Vec<T>, work: impl Fn(T) + Send + Sync) {
        match self.threads {
            Some(threads) => threads.run(items, work),
            None => items.into_iter().for_each(work),
        }
    }
}

impl RecurrentLayer {
    /// Reads the rows and advances the states of their sequences. The rows of a sequence are in the
    /// order of their positions.
    ///
    /// `input` is `[rows, input_width]`; the result is `[rows, output_width]`.
    pub(super) fn forward<R: Default>(
        &self,
        input: &[f32],
        places: &[Place],
        caches: &mut [Cache<R>],
        workers: Workers<'_>,
    ) -> Vec<f32> {
        let width = self.output_width;
        let mut output = vec![0.0; places.len() * width];
        let streams = caches.iter_mut().map(|cache| {
            let states = cache.layer_states(self.index, self.n_state_values);
            Stream {
                state: states.state,
                marked: states.marked,
                n_before_mark: states.n_before_mark,
                rows: Vec::new(),
            }
        });
        let mut streams: Vec<Stream<'_>> = streams.collect();
        let inputs = input.chunks_exact(self.input_width.max(1));
        let outputs = output.chunks_exact_mut(width.max(1));
        for ((input, output), place) in inputs.zip(outputs).zip(places) {
            if let Some(stream) = streams.get_mut(place.cache) {
                stream.rows.push(StreamRow { input, output });
            }
        }
        let later: Vec<_> = streams.iter_mut().map(Stream::split_at_mark).collect();
        self.read(&mut streams, workers);
        for (stream, rows) in streams.iter_mut().zip(later) {
            stream.pass_mark(rows);
        }
        self.read(&mut streams, workers);
        output
    }

    /// Reads the rows of all streams, and removes them.
    fn read(&self, streams: &mut [Stream<'_>], workers: Workers<'_>) {
        if streams.iter().all(|stream| stream.rows.is_empty()) {
            return;
        }
        match &self.block {
            Block::ShortConv(conv) => conv.read(streams, workers),
            Block::DeltaNet(net) => net.read(streams, workers),
            Block::MambaConvolution(convolution) => convolution.read(streams, workers),
            Block::MambaScan(scan) => scan.read(streams, workers),
            Block::Mamba2(mamba) => mamba.read(streams, workers),
        }
    }
}

impl<'a> Stream<'a> {
    /// Removes and returns the rows after the mark. Without a mark, these are all rows.
    fn split_at_mark(&mut self) -> Vec<StreamRow<'a>> {
        let n_before = self.n_before_mark.min(self.rows.len());
        self.rows.split_off(n_before)
    }

    /// Copies the state if there is a mark, and continues with the rows after it.
    fn pass_mark(&mut self, rows: Vec<StreamRow<'a>>) {
        if let Some(marked) = &mut self.marked {
            marked.clear();
            marked.extend_from_slice(self.state);
        }
        self.rows = rows;
    }
}
