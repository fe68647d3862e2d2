//! What an implementation of attention is given, and what it gives back.

use candle_core::{Device, Tensor};

use super::cache::{Cache, Run};
use crate::engine::blueprint::{Blueprint, Rope};

/// Causal attention with grouped queries, over caches of its own form.
///
/// Vaswani et al. 2017, "Attention Is All You Need"; Ainslie et al. 2023, "GQA: Training Generalized
/// Multi-Query Transformer Models from Multi-Head Checkpoints".
pub trait Attention: Send + Sync {
    /// How it keeps keys and values.
    type Run: Run + Send + Sync;

    /// Turns queries and keys to their positions, writes keys and values to the tails, and mixes for
    /// each row the values of all tokens up to its own.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`; the result is `[rows, q_width]`.
    fn forward(
        &self,
        layer: usize,
        qkv: &Tensor,
        batch: &Batch,
        caches: &mut [Cache<Self::Run>],
    ) -> candle_core::Result<Tensor>;
}

/// The sizes that attention needs of a blueprint.
#[derive(Debug, Clone, Copy)]
pub struct HeadShape {
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// The width of each.
    pub head_dim: usize,
    /// How positions enter.
    pub rope: Rope,
}

impl HeadShape {
    /// Those of a model.
    pub const fn new(blueprint: &Blueprint) -> Self {
        Self {
            n_heads: blueprint.n_heads,
            n_kv_heads: blueprint.n_kv_heads,
            head_dim: blueprint.head_dim,
            rope: blueprint.rope,
        }
    }

    /// The values of all query heads of a token.
    pub const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// The values of all key heads of a token.
    pub const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    /// How many query heads share a key head.
    pub const fn group(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }
}

/// The rows of one forward pass.
#[derive(Debug)]
pub struct Batch {
    /// Whose they are and where they stand, in the order of the rows.
    pub places: Vec<Place>,
    /// The cosines of the angles by which the planes of a head turn: `[rows, head_dim / 2]`.
    pub cos: Tensor,
    /// The sines, likewise.
    pub sin: Tensor,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the caches is its sequence's.
    pub cache: usize,
    /// Its place in the sequence.
    pub position: usize,
}

impl Batch {
    /// Computes the angles of the rows.
    pub fn new(
        places: Vec<Place>,
        inverse_wavelengths: &[f32],
        device: &Device,
    ) -> candle_core::Result<Self> {
        let angles: Vec<f32> = places
            .iter()
            .flat_map(|place| {
                let position = place.position as f32;
                inverse_wavelengths.iter().map(move |step| position * step)
            })
            .collect();
        let shape = (places.len(), inverse_wavelengths.len());
        let cos: Vec<f32> = angles.iter().map(|angle| angle.cos()).collect();
        let sin: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
        Ok(Self {
            places,
            cos: Tensor::from_vec(cos, shape, device)?,
            sin: Tensor::from_vec(sin, shape, device)?,
        })
    }
}
