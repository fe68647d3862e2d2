//! Reads the rotary embedding and its scaling from `rope_parameters`, the older `rope_scaling`, or
//! GGUF metadata.

use super::facts::{Facts, Key};
use super::rope::{Factors, Rope, RopeForm, RopeScaling, Yarn};
use super::{Naming, TensorRole};
use crate::engine::EngineError;

const MODEL_TYPE: Key = Key::config("model_type");
const THETA: Key = Key::new("rope_theta", "rope.freq_base");
const PARTIAL: Key = Key::config("partial_rotary_factor");
const N_DIMS: Key = Key::gguf("rope.dimension_count");
const KIND: Key = Key::new("rope_type", "rope.scaling.type");
const OLDER_KIND: Key = Key::config("type");
const FACTOR: Key = Key::new("factor", "rope.scaling.factor");
const OLDER_FACTOR: Key = Key::gguf("rope.scale_linear");
const N_ORIGINAL: Key = Key::new(
    "original_max_position_embeddings",
    "rope.scaling.original_context_length",
);
const AMPLITUDE: Key = Key::new("attention_factor", "rope.scaling.attn_factor");
const BETA_FAST: Key = Key::new("beta_fast", "rope.scaling.yarn_beta_fast");
const BETA_SLOW: Key = Key::new("beta_slow", "rope.scaling.yarn_beta_slow");
const TRUNCATE: Key = Key::config("truncate");
const MSCALE: Key = Key::config("mscale");
const MSCALE_ALL: Key = Key::new("mscale_all_dim", "rope.scaling.yarn_log_multiplier");
const ALPHA: Key = Key::config("alpha");
const LOW_FREQ: Key = Key::config("low_freq_factor");
const HIGH_FREQ: Key = Key::config("high_freq_factor");
const SHORT: Key = Key::config("short_factor");
const LONG: Key = Key::config("long_factor");

/// The supported kinds of scaling, for messages.
const KNOWN_KINDS: &str = "default, linear, llama3, longrope, proportional and yarn";

/// The kind of scaling in which only some planes rotate.
const PROPORTIONAL: &str = "proportional";

/// The values needed to read a rotary embedding.
#[derive(Clone, Copy)]
pub(super) struct RopeSetting {
    pub head_dim: usize,
    /// The context length that the file specifies.
    pub n_context: usize,
    /// The base to use if the file specifies none.
    pub theta: f32,
    /// The share of a head's dimensions that rotate if the file specifies none.
    pub share: f32,
}

/// Reads a rotary embedding that all layers share.
pub(super) fn read(facts: &Facts<'_>, setting: RopeSetting) -> Result<Rope, EngineError> {
    // As in transformers, the older object counts if a file has both.
    let older = facts.object("rope_scaling", "rope_scaling.")?;
    let scaling = if older.has_values() {
        older
    } else {
        facts.object("rope_parameters", "rope_parameters.")?
    };
    read_scaled(facts, &scaling, setting)
}

/// Reads the rotary embeddings of the layers without and of those with a sliding window, in this
/// order. Only the first is scaled.
pub(super) fn by_layer_type(
    facts: &Facts<'_>,
    setting: RopeSetting,
    local_theta: f32,
) -> Result<Vec<Rope>, EngineError> {
    let newer = facts.object("rope_parameters", "rope_parameters.")?;
    let global = newer.object("full_attention", "rope_parameters.full_attention.")?;
    let local = newer.object("sliding_attention", "rope_parameters.sliding_attention.")?;
    let global = if global.exists() {
        global
    } else {
        facts.object("rope_scaling", "rope_scaling.")?
    };
    let stated = if facts.is_gguf() {
        None
    } else {
        local.number(THETA)?
    };
    Ok(vec![
        read_scaled(facts, &global, setting)?,
        Rope {
            theta: stated.unwrap_or(local_theta),
            n_dims: setting.head_dim,
            form: RopeForm::HalfSplit,
            scaling: RopeScaling::None,
        },
    ])
}

/// Reads a rotary embedding whose scaling is in a nested object.
pub(super) fn read_scaled(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<Rope, EngineError> {
    let first = |key: Key| match scaling.number(key)? {
        Some(number) => Ok(Some(number)),
        None => facts.number(key),
    };
    let share = first(PARTIAL)?.unwrap_or(setting.share);
    #[expect(
        clippy::cast_sign_loss,
        reason = "a negative share becomes 0, which is rejected later"
    )]
    let n_dims = (setting.head_dim as f32 * share) as usize;
    let is_proportional = scaling.text(KIND)?.as_deref() == Some(PROPORTIONAL);
    let n_dims = if is_proportional {
        setting.head_dim
    } else {
        n_dims
    };
    let mut rope = Rope {
        theta: first(THETA)?.unwrap_or(setting.theta),
        n_dims: facts.size(N_DIMS)?.unwrap_or(n_dims),
        form: RopeForm::HalfSplit,
        scaling: RopeScaling::None,
    };
    rope.scaling = scaling_of(facts, scaling, setting)?;
    rope.check_factors(scaling)?;
    Ok(rope)
}

fn scaling_of(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<RopeScaling, EngineError> {
    if facts.has_tensor(&Naming::Gguf.name(TensorRole::RopeFactors, 0)) {
        return Ok(RopeScaling::EachPlane(Factors::Stored(
            TensorRole::RopeFactors,
        )));
    }
    if facts.has_tensor(&Naming::Gguf.name(TensorRole::RopeLongFactors, 0)) {
        return long_rope(facts, scaling, setting);
    }
    let (key, kind) = match scaling.text(KIND)? {
        Some(kind) => (KIND, Some(kind)),
        None => (OLDER_KIND, scaling.text(OLDER_KIND)?),
    };
    match kind.as_deref() {
        None | Some("linear") if scaling.is_gguf() => {
            let factor = linear_factor_of_gguf(scaling)?;
            Ok(factor.map_or(RopeScaling::None, |factor| RopeScaling::Linear { factor }))
        }
        None | Some("default" | "none") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear {
            factor: scaling.required_number(FACTOR)?,
        }),
        // Only Hunyuan's "dynamic" scaling has an alpha, which makes it static.
        Some("dynamic") if facts.text(MODEL_TYPE)?.as_deref() == Some("hunyuan_v1_dense") => {
            Ok(RopeScaling::NtkAlpha {
                alpha: scaling.required_number(ALPHA)?,
            })
        }
        Some("llama3") => llama3(facts, scaling, setting),
        Some("longrope" | "su") => long_rope(facts, scaling, setting),
        Some("yarn") => yarn(facts, scaling, setting),
        Some(PROPORTIONAL) if !scaling.is_gguf() => Ok(RopeScaling::Proportional {
            share: scaling.number(PARTIAL)?.unwrap_or(1.0),
            factor: scaling.number(FACTOR)?.unwrap_or(1.0),
        }),
        Some(other) => {
            let key = scaling.name(key);
            let feature =
                format!("the rotary scaling {other:?} ({key}; {KNOWN_KINDS} are supported)");
            Err(facts.unsupported(feature))
        }
    }
}

/// Returns the factor of linear scaling in a GGUF file, or `None` if there is no scaling. Only for
/// files whose kind of scaling is linear or missing.
///
/// Follows llama.cpp: scaling without a kind is linear, the oldest files use another key for the
/// factor, and both 0 and 1 mean no scaling.
pub(crate) fn linear_factor_of_gguf(facts: &Facts<'_>) -> Result<Option<f32>, EngineError> {
    let factor = match facts.number(FACTOR)? {
        Some(factor) => Some(factor),
        None => facts.number(OLDER_FACTOR)?,
    };
    Ok(factor.filter(|factor| ![0.0, 1.0].contains(factor)))
}

/// Returns the original context length. Phi-3 stores it at the top level, other families in the
/// nested object; if both have it, that of the family counts.
fn n_original(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<usize, EngineError> {
    let (first, second) = if facts.text(MODEL_TYPE)?.as_deref() == Some("phi3") {
        (facts, scaling)
    } else {
        (scaling, facts)
    };
    let found = match first.size(N_ORIGINAL)? {
        Some(n_original) => Some(n_original),
        None => second.size(N_ORIGINAL)?,
    };
    match found.unwrap_or(setting.n_context) {
        0 => Err(scaling.malformed(format!("{} is 0", scaling.name(N_ORIGINAL)))),
        n_original => Ok(n_original),
    }
}

fn llama3(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<RopeScaling, EngineError> {
    let (slow_turns, fast_turns) = (
        scaling.required_number(LOW_FREQ)?,
        scaling.required_number(HIGH_FREQ)?,
    );
    if fast_turns <= slow_turns {
        let (low, high) = (scaling.name(LOW_FREQ), scaling.name(HIGH_FREQ));
        let reason = format!("{high} ({fast_turns}) must be greater than {low} ({slow_turns})");
        return Err(scaling.malformed(reason));
    }
    Ok(RopeScaling::Llama3 {
        factor: scaling.required_number(FACTOR)?,
        slow_turns,
        fast_turns,
        n_original: n_original(facts, scaling, setting)?,
    })
}

fn yarn(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<RopeScaling, EngineError> {
    let n_original = n_original(facts, scaling, setting)?;
    let factor = scaling
        .number(FACTOR)?
        .unwrap_or(setting.n_context as f32 / n_original as f32);
    // GGUF implies that the first is 1.
    let mscale = if scaling.is_gguf() {
        Some(1.0)
    } else {
        scaling.number(MSCALE)?
    };
    let usual = match (mscale, scaling.number(MSCALE_ALL)?) {
        (Some(one), Some(all)) if one != 0.0 && all != 0.0 => {
            Yarn::usual_amplitude(factor, one) / Yarn::usual_amplitude(factor, all)
        }
        _ => Yarn::usual_amplitude(factor, 1.0),
    };
    let amplitude = match scaling.number(AMPLITUDE)? {
        // llama.cpp multiplies the file's value by the usual amplitude.
        Some(amplitude) if scaling.is_gguf() => amplitude * usual,
        Some(amplitude) => amplitude,
        None => usual,
    };
    Ok(RopeScaling::Yarn(Yarn {
        factor,
        n_original,
        beta_fast: scaling.number(BETA_FAST)?.unwrap_or(32.0),
        beta_slow: scaling.number(BETA_SLOW)?.unwrap_or(1.0),
        truncate: scaling.flag(TRUNCATE)?.unwrap_or(true),
        amplitude,
    }))
}

fn long_rope(
    facts: &Facts<'_>,
    scaling: &Facts<'_>,
    setting: RopeSetting,
) -> Result<RopeScaling, EngineError> {
    let n_original = n_original(facts, scaling, setting)?;
    let factors = |key: Key, role: TensorRole| {
        if facts.is_gguf() {
            return Ok(Factors::Stored(role));
        }
        match scaling.numbers(key)? {
            Some(factors) => Ok(Factors::Given(factors)),
            None => Err(scaling.missing(key)),
        }
    };
    let factor = match scaling.number(FACTOR)? {
        Some(factor) => factor,
        None => setting.n_context as f32 / n_original as f32,
    };
    let amplitude = scaling.number(AMPLITUDE)?;
    Ok(RopeScaling::LongRope {
        short: factors(SHORT, TensorRole::RopeShortFactors)?,
        long: factors(LONG, TensorRole::RopeLongFactors)?,
        n_original,
        amplitude: amplitude
            .unwrap_or_else(|| RopeScaling::usual_long_amplitude(factor, n_original)),
    })
}

impl Rope {
    /// Rejects lists of factors that don't match the head size or are not all positive.
    fn check_factors(&self, scaling: &Facts<'_>) -> Result<(), EngineError> {
        let RopeScaling::LongRope { short, long, .. } = &self.scaling else {
            return Ok(());
        };
        let n_planes = self.n_dims / 2;
        for (factors, key) in [(short, SHORT), (long, LONG)] {
            let Factors::Given(factors) = factors else {
                continue;
            };
            let name = scaling.name(key);
            if factors.len() != n_planes {
                let reason = format!("{name} has {} factors instead of {n_planes}", factors.len());
                return Err(scaling.malformed(reason));
            }
            if !factors.iter().all(|factor| *factor > 0.0) {
                return Err(
                    scaling.malformed(format!("{name} contains a factor that is not positive"))
                );
            }
        }
        Ok(())
    }
}
