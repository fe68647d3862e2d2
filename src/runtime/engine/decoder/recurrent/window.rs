//! Causal convolutions of a few tokens, each channel by itself.

/// The weights of a convolution: `[taps, channels]`. The last tap multiplies the current token.
#[derive(Debug)]
pub(crate) struct Taps {
    weights: Vec<f32>,
    n_channels: usize,
}

impl Taps {
    /// Arranges weights that are stored by channel: `[channels, taps]`.
    pub(crate) fn from_channels(stored: &[f32], n_taps: usize) -> Self {
        let n_channels = stored.len() / n_taps.max(1);
        let taps = (0..n_taps).flat_map(|tap| stored.iter().skip(tap).step_by(n_taps.max(1)));
        Self {
            weights: taps.copied().collect(),
            n_channels,
        }
    }

    /// Convolves the current token with those in the window, which holds the inputs of the tokens
    /// before it, oldest first. Moves the window on by one token.
    #[inline(always)]
    pub(super) fn convolve(&self, window: &mut [f32], current: &[f32], output: &mut [f32]) {
        let n_channels = self.n_channels.max(1);
        let mut taps = self.weights.chunks_exact(n_channels);
        output.fill(0.0);
        let before = window.chunks_exact(n_channels);
        for (inputs, weights) in before.chain(std::iter::once(current)).zip(&mut taps) {
            for ((sum, input), weight) in output.iter_mut().zip(inputs).zip(weights) {
                *sum += input * weight;
            }
        }
        if window.len() >= n_channels {
            window.copy_within(n_channels.., 0);
            let start = window.len() - n_channels;
            if let Some(newest) = window.get_mut(start..) {
                newest.copy_from_slice(current);
            }
        }
    }
}
