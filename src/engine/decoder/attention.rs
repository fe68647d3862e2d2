//! What an implementation of attention is given, and what it gives back.

use candle_core::{Device, Tensor};

use super::cache::{Cache, Run};
use crate::engine::blueprint::{Blueprint, RopeForm, Rotation};

/// Causal attention with grouped queries, over caches of its own form.
///
/// Vaswani et al. 2017, "Attention Is All You Need"; Ainslie et al. 2023, "GQA: Training Generalized
/// Multi-Query Transformer Models from Multi-Head Checkpoints".
pub trait Attention: Send + Sync {
    /// How it keeps keys and values.
    type Run: Run + Send + Sync;

    /// Turns queries and keys to their positions, writes keys and values to the tails, and mixes for
    /// each row the values of all tokens up to its own, or of as many as the layer's window holds.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`; the result is `[rows, q_width]`.
    fn forward(
        &self,
        layer: &AttentionLayer,
        qkv: &Tensor,
        batch: &Batch,
        caches: &mut [Cache<Self::Run>],
    ) -> candle_core::Result<Tensor>;
}

/// What attention needs of a blueprint.
#[derive(Debug, Clone, Copy)]
pub struct HeadShape {
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// The width of each.
    pub head_dim: usize,
    /// What the products of queries and keys are multiplied with.
    pub score_scale: f32,
    /// What they are then kept within.
    pub score_cap: Option<f32>,
}

/// What one layer's attention does differently from another's.
#[derive(Debug)]
pub struct AttentionLayer {
    /// Its place among the layers.
    pub index: usize,
    /// How many tokens a row sees, its own included; all where there is none.
    pub window: Option<usize>,
    /// Which of the batch's turns its queries and keys make, if any.
    pub rope: Option<usize>,
    /// The norms on queries and keys.
    pub norms: Option<HeadNorms>,
}

/// The norms on queries and keys. Their weights are as long as what is normed together: a head, or
/// all heads.
#[derive(Debug)]
pub struct HeadNorms {
    /// The weights for queries.
    pub queries: Tensor,
    /// The weights for keys.
    pub keys: Tensor,
    /// What is added to the mean square.
    pub eps: f32,
}

impl HeadShape {
    /// Those of a model.
    pub const fn new(blueprint: &Blueprint) -> Self {
        Self {
            n_heads: blueprint.n_heads,
            n_kv_heads: blueprint.n_kv_heads,
            head_dim: blueprint.head_dim,
            score_scale: blueprint.scales.score,
            score_cap: blueprint.caps.score,
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

impl AttentionLayer {
    /// The first position that the token at `position` sees.
    pub const fn first_visible(&self, position: usize) -> usize {
        match self.window {
            Some(window) => (position + 1).saturating_sub(window),
            None => 0,
        }
    }

    /// The turns that its queries and keys make.
    pub fn turns<'a>(&self, batch: &'a Batch) -> Option<&'a Turns> {
        self.rope.and_then(|rope| batch.turns.get(rope))
    }
}

/// The rows of one forward pass.
#[derive(Debug)]
pub struct Batch {
    /// Whose they are and where they stand, in the order of the rows.
    pub places: Vec<Place>,
    /// How far they turn, for each of the model's rotations.
    pub turns: Vec<Turns>,
}

/// How far the rows turn.
#[derive(Debug)]
pub struct Turns {
    /// Which dimensions of a head turn together.
    pub form: RopeForm,
    /// How many of a head's dimensions turn: the first so many.
    pub n_dims: usize,
    /// The cosines of the angles by which the planes of a head turn: `[rows, n_dims / 2]`.
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
    /// Whether its sequence is read as a long one, where rotations tell those apart.
    pub far: bool,
}

impl Batch {
    /// Computes the angles of the rows.
    pub fn new(
        places: Vec<Place>,
        rotations: &[Rotation],
        device: &Device,
    ) -> candle_core::Result<Self> {
        let turns = rotations
            .iter()
            .map(|rotation| Turns::new(rotation, &places, device));
        Ok(Self {
            turns: turns.collect::<candle_core::Result<_>>()?,
            places,
        })
    }
}

impl Turns {
    fn new(rotation: &Rotation, places: &[Place], device: &Device) -> candle_core::Result<Self> {
        let angles: Vec<f32> = places
            .iter()
            .flat_map(|place| {
                let position = place.position as f32;
                let steps = match &rotation.far {
                    Some((_, steps)) if place.far => steps,
                    _ => &rotation.steps,
                };
                steps.iter().map(move |step| position * step)
            })
            .collect();
        let n_planes = rotation.steps.len();
        let shape = (places.len(), n_planes);
        let amplitude = rotation.amplitude;
        let cos: Vec<f32> = angles.iter().map(|angle| amplitude * angle.cos()).collect();
        let sin: Vec<f32> = angles.iter().map(|angle| amplitude * angle.sin()).collect();
        Ok(Self {
            form: rotation.form,
            n_dims: 2 * n_planes,
            cos: Tensor::from_vec(cos, shape, device)?,
            sin: Tensor::from_vec(sin, shape, device)?,
        })
    }
}
