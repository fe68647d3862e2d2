//! Gated short convolutions.

use pulp::{Simd, WithSimd};

use super::window::Taps;
use super::{Stream, Workers};

/// The weights of a gated short convolution.
#[derive(Debug)]
pub(crate) struct ShortConvWeights {
    pub taps: Taps,
    pub n_channels: usize,
}

/// Reads the rows of one sequence.
struct ReadRows<'a, 'b> {
    conv: &'a ShortConvWeights,
    stream: &'a mut Stream<'b>,
}

impl ShortConvWeights {
    /// Reads the rows of all streams, and removes them.
    pub(super) fn read(&self, streams: &mut [Stream<'_>], workers: Workers<'_>) {
        let streams: Vec<_> = streams.iter_mut().collect();
        workers.each(streams, |stream| {
            workers.arch.dispatch(ReadRows { conv: self, stream });
        });
    }
}

impl WithSimd for ReadRows<'_, '_> {
    type Output = ();

    /// Computes C × conv(B × x). A row holds B, C and x. The window holds B × x.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let n_channels = self.conv.n_channels;
        let mut gated = vec![0.0; n_channels];
        let mut convolved = vec![0.0; n_channels];
        for row in self.stream.rows.drain(..) {
            let (before, rest) = row.input.split_at(n_channels);
            let (after, values) = rest.split_at(n_channels);
            for ((gated, gate), value) in gated.iter_mut().zip(before).zip(values) {
                *gated = gate * value;
            }
            let taps = &self.conv.taps;
            taps.convolve(self.stream.state, &gated, &mut convolved);
            for ((output, gate), value) in row.output.iter_mut().zip(after).zip(&convolved) {
                *output = gate * value;
            }
        }
    }
}
