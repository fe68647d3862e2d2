//! The rows of one forward pass: where they stand, and how far they turn.

use crate::engine::blueprint::{RopeForm, Rotation};

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

/// How far the rows turn under one of the model's rotations.
#[derive(Debug)]
pub struct Turns<T = Vec<f32>> {
    /// Which dimensions of a head turn together.
    pub form: RopeForm,
    /// How many of a head's dimensions turn: the first so many.
    pub n_dims: usize,
    /// The cosines of the angles by which the planes of a head turn: `[rows, n_dims / 2]`.
    pub cos: T,
    /// The sines, likewise.
    pub sin: T,
}

impl Turns {
    /// The angles of the rows.
    pub fn new(rotation: &Rotation, places: &[Place]) -> Self {
        let n_planes = rotation.steps.len();
        let amplitude = rotation.amplitude;
        let n_angles = places.len() * n_planes;
        let (mut cos, mut sin) = (Vec::with_capacity(n_angles), Vec::with_capacity(n_angles));
        for place in places {
            let steps = match &rotation.far {
                Some((_, steps)) if place.far => steps,
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
