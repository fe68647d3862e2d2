//! Rotary position embedding, and the ways to stretch it over longer texts.

use std::f32::consts::PI;

use super::TensorRole;

/// Rotary position embedding.
///
/// Su et al. 2021, "`RoFormer`: Enhanced Transformer with Rotary Position Embedding".
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    /// The base of the wavelengths.
    pub theta: f32,
    /// How many of a head's dimensions turn; the rest stand still.
    pub n_dims: usize,
    /// Which dimensions of a head turn together.
    pub form: RopeForm,
    /// How it reaches beyond the texts that the model was first trained on.
    pub scaling: RopeScaling,
}

/// Which dimensions of a head turn together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeForm {
    /// 2i and 2i + 1, as GGUF stores Llama's weights.
    Interleaved,
    /// i and i + half of those that turn, as transformers stores them.
    HalfSplit,
}

/// How rotary embedding reaches beyond the texts that a model was first trained on.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// All planes turn more slowly. Chen et al. 2023, "Extending Context Window of Large Language
    /// Models via Positional Interpolation".
    Linear {
        /// By how much.
        factor: f32,
    },
    /// Slow planes turn more slowly still, fast ones stay, with a blend between. Grattafiori et al.
    /// 2024, "The Llama 3 Herd of Models".
    Llama3 {
        /// By how much.
        factor: f32,
        /// A plane that turns less often than this in the first context is slow.
        slow_turns: f32,
        /// A plane that turns more often than this in it is fast.
        fast_turns: f32,
        /// The first context, in tokens.
        n_original: usize,
    },
    /// Likewise, with a blend along the dimensions. Peng et al. 2023, "`YaRN`: Efficient Context
    /// Window Extension of Large Language Models".
    Yarn(Yarn),
    /// Each plane turns more slowly by a factor of its own.
    EachPlane(Factors),
    /// Likewise, by other factors for texts that are longer than the first context. Ding et al.
    /// 2024, "`LongRoPE`: Extending LLM Context Window Beyond 2 Million Tokens".
    LongRope {
        /// The factors up to the first context.
        short: Factors,
        /// The factors of a text that is longer.
        long: Factors,
        /// The first context, in tokens.
        n_original: usize,
        /// What queries and keys are multiplied with.
        amplitude: f32,
    },
}

/// The numbers of `YaRN`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yarn {
    /// By how much slow planes are slowed.
    pub factor: f32,
    /// The first context, in tokens.
    pub n_original: usize,
    /// A plane that turns more often than this in the first context stays as it is.
    pub beta_fast: f32,
    /// A plane that turns less often than this in it is slowed in full.
    pub beta_slow: f32,
    /// Whether the blend begins and ends at whole planes.
    pub truncate: bool,
    /// What queries and keys are multiplied with.
    pub amplitude: f32,
}

/// One factor for each plane.
#[derive(Debug, Clone, PartialEq)]
pub enum Factors {
    /// As the configuration lists them.
    Given(Vec<f32>),
    /// As a tensor of the file holds them.
    Stored(TensorRole),
}

/// A rotation, ready to turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotation {
    /// Which dimensions turn together.
    pub form: RopeForm,
    /// How far each plane turns from one position to the next, in radians.
    pub steps: Vec<f32>,
    /// How far it does in a text of more than so many tokens, where that differs.
    pub far: Option<(usize, Vec<f32>)>,
    /// What queries and keys are multiplied with.
    pub amplitude: f32,
}

impl Rope {
    /// The rotation. `stored` gives the factors that a tensor holds.
    pub fn rotation<E>(
        &self,
        mut stored: impl FnMut(TensorRole) -> Result<Vec<f32>, E>,
    ) -> Result<Rotation, E> {
        let mut factors = |factors: &Factors| match factors {
            Factors::Given(factors) => Ok(factors.clone()),
            Factors::Stored(role) => stored(*role),
        };
        let plain = self.plain_steps();
        let mut far = None;
        let (steps, amplitude) = match &self.scaling {
            RopeScaling::None => (plain, 1.0),
            RopeScaling::Linear { factor } => {
                (plain.iter().map(|step| step / factor).collect(), 1.0)
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
                far = Some((*n_original, divided(&plain, &factors(long)?)));
                (divided(&plain, &factors(short)?), *amplitude)
            }
        };
        Ok(Rotation {
            form: self.form,
            steps,
            far,
            amplitude,
        })
    }

    fn plain_steps(&self) -> Vec<f32> {
        (0..self.n_dims)
            .step_by(2)
            .map(|i| 1.0 / self.theta.powf(i as f32 / self.n_dims as f32))
            .collect()
    }

    fn yarn_steps(&self, yarn: &Yarn, plain: &[f32]) -> Vec<f32> {
        // The plane that turns so often in the first context, as a real number.
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
    /// What queries and keys are multiplied with where the file does not say.
    pub fn usual_amplitude(factor: f32, scale: f32) -> f32 {
        if factor <= 1.0 {
            1.0
        } else {
            0.1 * scale * factor.ln() + 1.0
        }
    }
}

impl RopeScaling {
    /// The same for `LongRoPE`.
    pub fn usual_long_amplitude(factor: f32, n_original: usize) -> f32 {
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
