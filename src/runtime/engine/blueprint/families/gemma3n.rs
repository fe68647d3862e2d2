//! Gemma 3n, text only: four copies of the residual stream, of which each layer computes one and
//! predicts the others, and per-layer embeddings.

use super::Family;
use super::gemma4::{listed, set_sources};
use crate::engine::EngineError;
use crate::engine::blueprint::base::{Defaults, FFN_SIZE};
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{RopeSetting, by_layer_type};
use crate::engine::blueprint::{
    Activation, AltUp, Blueprint, Caps, HeadNorm, LayerInputs, Naming, NormPlaces, Scales,
};

pub(super) const GEMMA3N: Family = Family {
    model_type: "gemma3n_text",
    class: "Gemma3nForCausalLM",
    gguf: "gemma3n",
    aliases: &[],
    defaults: &[
        ("altup_num_inputs", "4"),
        ("head_dim", "256"),
        ("hidden_size", "2048"),
        ("hidden_size_per_layer_input", "256"),
        ("intermediate_size", "16384"),
        ("laurel_rank", "64"),
        ("max_position_embeddings", "32768"),
        ("num_attention_heads", "8"),
        ("num_hidden_layers", "35"),
        ("num_key_value_heads", "2"),
        ("num_kv_shared_layers", "15"),
        ("sliding_window", "512"),
        ("vocab_size", "262400"),
        ("vocab_size_per_layer_input", "262144"),
    ],
    blueprint,
};

const ACTIVE_STREAM: Key = Key::new("altup_active_idx", "altup.active_idx");
const CUTOFFS: Key = Key::gguf("activation_sparsity_scale");
const HAS_OUTPUT_SCALE: Key = Key::config("altup_correct_scale");
const INPUT_WIDTH: Key = Key::new(
    "hidden_size_per_layer_input",
    "embedding_length_per_layer_input",
);
const LAUREL_RANK: Key = Key::config("laurel_rank");
const LOCAL_THETA: Key = Key::new("rope_local_base_freq", "rope.freq_base_swa");
const LOGIT_CAP: Key = Key::new("final_logit_softcapping", "final_logit_softcapping");
const N_INPUT_ROWS: Key = Key::config("vocab_size_per_layer_input");
const N_STREAMS: Key = Key::new("altup_num_inputs", "altup.num_inputs");
const SPARSITIES: Key = Key::config("activation_sparsity_pattern");

/// One of so many layers has no sliding window.
const PERIOD: usize = 5;

/// How many layers are sparse, and how sparse, if a file doesn't say so.
const N_USUALLY_SPARSE: usize = 10;
const USUAL_SPARSITY: f32 = 0.95;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.size(ACTIVE_STREAM)?.unwrap_or(0) != 0 {
        let name = facts.name(ACTIVE_STREAM);
        return Err(facts.unsupported(format!("another {name} than 0 in this family")));
    }
    let ffn_sizes = listed(facts, FFN_SIZE)?;
    let defaults = Defaults {
        tied_head: true,
        activation: Activation::GeluTanh,
        ffn_size: ffn_sizes.as_ref().and_then(|sizes| sizes.first()).copied(),
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?;
    let window = facts.window()?;
    let mut base = base.windowed_by_period(facts, window, PERIOD)?;
    let setting = RopeSetting {
        head_dim: base.head_dim,
        n_context: base.n_context,
        theta: 1_000_000.0,
        share: 1.0,
    };
    let local_theta = facts.number(LOCAL_THETA)?.unwrap_or(10_000.0);
    base.ropes = by_layer_type(facts, setting, local_theta)?;
    for (index, layer) in base.layers.iter_mut().enumerate() {
        layer.ffn_size = ffn_sizes
            .as_ref()
            .and_then(|sizes| sizes.get(index))
            .copied();
    }
    set_sources(facts, &mut base)?;
    let gate_cutoffs = gate_cutoffs(facts, base.n_layers())?;
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::Both,
        head_norm: Some(HeadNorm::EachHead),
        value_norm: true,
        scales: Scales {
            embedding: Some((base.hidden_size as f32).sqrt()),
            score: 1.0,
            ..base.scales
        },
        caps: Caps {
            score: None,
            logit: Some(facts.number(LOGIT_CAP)?.unwrap_or(30.0)),
        },
        layer_inputs: Some(LayerInputs {
            width: facts.required_size(INPUT_WIDTH)?,
            n_vocab: facts.size(N_INPUT_ROWS)?,
        }),
        alt_up: Some(AltUp {
            n_streams: facts.required_size(N_STREAMS)?,
            laurel_rank: facts.size(LAUREL_RANK)?,
            has_output_scale: facts.flag(HAS_OUTPUT_SCALE)?.unwrap_or(true),
        }),
        gate_cutoffs,
        ..base.rotating_by_layer_type()
    })
}

/// Returns how far above the mean the gates of each layer are cut off, in standard deviations. GGUF
/// files have these numbers, a `config.json` has the share of gates that is cut off.
fn gate_cutoffs(facts: &Facts<'_>, n_layers: usize) -> Result<Vec<Option<f32>>, EngineError> {
    let listed = if facts.is_gguf() {
        let cutoffs = facts.ends(CUTOFFS)?;
        // Layers that keep all gates have −∞.
        cutoffs.map(|cutoffs| {
            let cutoffs = cutoffs.into_iter();
            cutoffs
                .map(|cutoff| cutoff.is_finite().then_some(cutoff))
                .collect()
        })
    } else {
        let sparsities = facts.numbers(SPARSITIES)?;
        sparsities.map(|sparsities| sparsities.into_iter().map(cutoff).collect::<Vec<_>>())
    };
    let Some(listed) = listed else {
        let n_sparse = if n_layers > N_USUALLY_SPARSE {
            N_USUALLY_SPARSE
        } else {
            0
        };
        return Ok(vec![cutoff(USUAL_SPARSITY); n_sparse]);
    };
    if listed.len() < n_layers {
        let n_listed = listed.len();
        let reason = format!("it lists the sparsity of {n_listed} layers instead of {n_layers}");
        return Err(facts.malformed(reason));
    }
    Ok(listed)
}

/// Returns the cutoff below which this share of normally distributed numbers lies. `None` if it is 0
/// or impossible.
fn cutoff(share: f32) -> Option<f32> {
    if !(share > 0.0 && share < 1.0) {
        return None;
    }
    // The distribution function grows, so bisection finds where it takes a value.
    let (mut low, mut high) = (-10.0_f64, 10.0_f64);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        let below =
            0.5 * (1.0 + candle_core::cpu::erf::erf_f64(middle * std::f64::consts::FRAC_1_SQRT_2));
        if below < f64::from(share) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low as f32)
}

#[cfg(test)]
mod tests {
    use super::cutoff;

    #[test]
    fn the_cutoff_is_the_normal_quantile() {
        for (share, expected) in [(0.95, 1.644_853_6), (0.5, 0.0), (0.2, -0.841_621_2)] {
            let found = cutoff(share).unwrap();
            assert!((found - expected).abs() < 1e-5, "{share}: {found}");
        }
        assert_eq!((cutoff(0.0), cutoff(1.0)), (None, None));
    }
}
