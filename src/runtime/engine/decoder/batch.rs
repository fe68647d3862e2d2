//! The rows of one forward pass: their positions, and their rotary angles.

use crate::engine::blueprint::{RopeForm, Rotation};

/// The place of a row: which sequence it belongs to, and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of the sequence's cache among the caches of the pass.
    pub cache: usize,
    pub position: usize,
    /// Whether the sequence is rotated as a long text, in models that make the distinction.
    pub is_long: bool,
}

/// The rotary angles of all rows under one of the model's rotations.
#[derive(Debug)]
pub(super) struct RotaryAngles<T = Vec<f32>> {
    pub form: RopeForm,
    /// How many dimensions of a head rotate. The remaining ones pass through unchanged.
    pub n_dims: usize,
    /// Cosines of the angles: `[rows, n_dims / 2]`.
    pub cos: T,
    /// Sines of the angles: `[rows, n_dims / 2]`.
    pub sin: T,
}

impl RotaryAngles {
    /// Computes the angles of the rows.
    pub(super) fn new(rotation: &Rotation, places: &[Place]) -> Self {
        let n_planes = rotation.steps.len();
        let amplitude = rotation.amplitude;
        let n_angles = places.len() * n_planes;
        let (mut cos, mut sin) = (Vec::with_capacity(n_angles), Vec::with_capacity(n_angles));
        for place in places {
            let steps = match &rotation.long {
                Some(long) if place.is_long => &long.steps,
                _ => &rotation.steps,
            };
            for step in steps {
                let (angle_sin, angle_cos) = (place.position as f32 * step).sin_cos();
                cos.push(amplitude * angle_cos);
                sin.push(amplitude * angle_sin);
            }
        }
        Self {
            form: rotation.form,
            n_dims: 2 * n_planes,
            cos,
            sin,
        }
    }
}
