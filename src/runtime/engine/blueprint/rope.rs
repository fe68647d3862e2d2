//! Rotary position embedding, and the ways to scale it to longer contexts.

use std::f32::consts::PI;

use super::TensorRole;

/// Rotary position embedding.
///
/// Su et al. 2021, "`RoFormer`: Enhanced Transformer with Rotary Position Embedding".
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rope {
    /// The base of the wavelengths.
    pub theta: f32,
    /// How many dimensions of a head rotate. The remaining ones pass through unchanged.
    pub n_dims: usize,
    pub form: RopeForm,
    pub scaling: RopeScaling,
}

/// Which two dimensions of a head form a plane that rotates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RopeForm {
    /// 2i and 2i + 1, as GGUF stores Llama's weights.
    Interleaved,
    /// i and i + n/2 of the n rotating dimensions, as transformers stores them.
    HalfSplit,
}

/// How rotary embedding is scaled beyond the context that a model was first trained on, called the
/// original context.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RopeScaling {
    None,
    /// All planes rotate more slowly. Chen et al. 2023, "Extending Context Window of Large Language
    /// Models via Positional Interpolation".
    Linear {
        factor: f32,
    },
    /// The base grows, so that the slowest planes rotate more slowly by this factor and the fastest
    /// stay unchanged (NTK-aware scaling). bloc97 2023, "NTK-Aware Scaled `RoPE`".
    NtkAlpha {
        alpha: f32,
    },
    /// Only the fastest planes rotate, each as if all did (p-RoPE). Barbero et al. 2024, "Round and
    /// Round We Go! What makes Rotary Positional Encodings useful?"
    Proportional {
        /// The share of the planes that rotate.
        share: f32,
        /// The factor by which these are slowed.
        factor: f32,
    },
    /// Slow planes rotate more slowly, fast planes stay unchanged, and those in between are
    /// blended. Grattafiori et al. 2024, "The Llama 3 Herd of Models".
    Llama3 {
        /// The factor by which slow planes are slowed.
        factor: f32,
        /// A plane with fewer turns than this in the original context is slow.
        slow_turns: f32,
        /// A plane with more turns than this in the original context is fast.
        fast_turns: f32,
        /// The original context, in tokens.
        n_original: usize,
    },
    /// As in Llama 3, but blended linearly over the index of the plane. Peng et al. 2023, "`YaRN`:
    /// Efficient Context Window Extension of Large Language Models".
    Yarn(Yarn),
    /// Each plane is slowed by its own factor.
    EachPlane(Factors),
    /// Each plane is slowed by its own factor, with separate factors for texts longer than the
    /// original context. Ding et al. 2024, "`LongRoPE`: Extending LLM Context Window Beyond 2
    /// Million Tokens".
    LongRope {
        /// The factors for texts up to the original context.
        short: Factors,
        /// The factors for longer texts.
        long: Factors,
        /// The original context, in tokens.
        n_original: usize,
        /// Scales the rotated queries and keys.
        amplitude: f32,
    },
}

/// The parameters of `YaRN`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Yarn {
    /// The factor by which slow planes are slowed.
    pub factor: f32,
    /// The original context, in tokens.
    pub n_original: usize,
    /// A plane with more turns than this in the original context stays unchanged.
    pub beta_fast: f32,
    /// A plane with fewer turns than this in the original context is slowed by the full factor.
    pub beta_slow: f32,
    /// Whether the blend starts and ends at whole planes.
    pub truncate: bool,
    /// Scales the rotated queries and keys.
    pub amplitude: f32,
}

/// One factor for each plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Factors {
    /// Listed in the configuration.
    Given(Vec<f32>),
    /// Stored as a tensor with this role.
    Stored(TensorRole),
}

/// A rotation with its scaling applied, ready to compute angles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rotation {
    pub form: RopeForm,
    /// The angle by which each plane turns per position, in radians.
    pub steps: Vec<f32>,
    /// The angles for long texts, if they differ.
    pub long: Option<LongRotation>,
    /// Scales the rotated queries and keys.
    pub amplitude: f32,
}

/// The angles of a rotation in long texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LongRotation {
    /// The length up to which a text counts as short, in tokens.
    pub n_max_short: usize,
    /// The angle by which each plane turns per position, in radians.
    pub steps: Vec<f32>,
}

impl Rope {
    /// Computes the rotation. `stored` loads the factors that are stored as a tensor.
    pub(crate) fn rotation<E>(
        &self,
        mut stored: impl FnMut(TensorRole) -> Result<Vec<f32>, E>,
    ) -> Result<Rotation, E> {
        let mut factors = |factors: &Factors| match factors {
            Factors::Given(factors) => Ok(factors.clone()),
            Factors::Stored(role) => stored(*role),
        };
        let plain = self.steps_with(self.theta);
        let mut long_rotation = None;
        let (steps, amplitude) = match &self.scaling {
            RopeScaling::None => (plain, 1.0),
            RopeScaling::Linear { factor } => {
                (plain.iter().map(|step| step / factor).collect(), 1.0)
            }
            RopeScaling::Proportional { share, factor } => {
                let n_planes = plain.len() as f32 * share;
                let rotates = |index: usize| ((index + 1) as f32) <= n_planes;
                let planes = plain.iter().enumerate();
                let steps = planes.map(
                    |(index, step)| {
                        if rotates(index) { step / factor } else { 0.0 }
                    },
                );
                (steps.collect(), 1.0)
            }
            RopeScaling::NtkAlpha { alpha } => {
                let n_dims = self.n_dims as f32;
                let growth = alpha.powf(n_dims / (n_dims - 2.0));
                (self.steps_with(self.theta * growth), 1.0)
            }
            RopeScaling::Llama3 {
                factor,
                slow_turns,
                fast_turns,
                n_original,
            } => {
                let slowed = |step: &f32| {
                    let n_turns = *n_original as f32 * step / (2.0 * PI);
                    let kept = (n_turns - slow_turns) / (fast_turns - slow_turns);
                    blend(step / factor, *step, kept.clamp(0.0, 1.0))
                };
                (plain.iter().map(slowed).collect(), 1.0)
            }
            RopeScaling::Yarn(yarn) => (self.yarn_steps(yarn, &plain), yarn.amplitude),
            RopeScaling::EachPlane(each) => (divided(&plain, &factors(each)?), 1.0),
            RopeScaling::LongRope {
                short,
                long,
                n_original,
                amplitude,
            } => {
                long_rotation = Some(LongRotation {
                    n_max_short: *n_original,
                    steps: divided(&plain, &factors(long)?),
                });
                (divided(&plain, &factors(short)?), *amplitude)
            }
        };
        Ok(Rotation {
            form: self.form,
            steps,
            long: long_rotation,
            amplitude,
        })
    }

    /// Returns the step of each plane with this base.
    fn steps_with(&self, theta: f32) -> Vec<f32> {
        (0..self.n_dims)
            .step_by(2)
            .map(|i| 1.0 / theta.powf(i as f32 / self.n_dims as f32))
            .collect()
    }

    fn yarn_steps(&self, yarn: &Yarn, plain: &[f32]) -> Vec<f32> {
        // The fractional index of the plane with this many turns in the original context.
        let plane = |n_turns: f32| {
            let ratio = yarn.n_original as f32 / (n_turns * 2.0 * PI);
            self.n_dims as f32 * ratio.ln() / (2.0 * self.theta.ln())
        };
        let (mut low, mut high) = (plane(yarn.beta_fast), plane(yarn.beta_slow));
        if yarn.truncate {
            (low, high) = (low.floor(), high.ceil());
        }
        let (low, high) = (low.max(0.0), high.min(self.n_dims as f32 - 1.0));
        let width = (high - low).max(0.001);
        let planes = plain.iter().enumerate();
        planes
            .map(|(index, step)| {
                let slowed = ((index as f32 - low) / width).clamp(0.0, 1.0);
                blend(*step, step / yarn.factor, slowed)
            })
            .collect()
    }
}

impl Yarn {
    /// Returns the amplitude to use if the file does not specify one.
    pub(crate) fn usual_amplitude(factor: f32, scale: f32) -> f32 {
        if factor <= 1.0 {
            1.0
        } else {
            0.1 * scale * factor.ln() + 1.0
        }
    }
}

impl RopeScaling {
    /// Returns the amplitude of `LongRoPE` to use if the file does not specify one.
    pub(crate) fn usual_long_amplitude(factor: f32, n_original: usize) -> f32 {
        if factor <= 1.0 {
            1.0
        } else {
            (1.0 + factor.ln() / (n_original as f32).ln()).sqrt()
        }
    }
}

fn divided(steps: &[f32], factors: &[f32]) -> Vec<f32> {
    let pairs = steps.iter().zip(factors);
    pairs.map(|(step, factor)| step / factor).collect()
}

fn blend(from: f32, to: f32, share: f32) -> f32 {
    (1.0 - share) * from + share * to
}
