//! Ministral 3: a Llama whose queries grow with their position in long texts.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, Temperature};

pub(super) const MINISTRAL3: Family = Family {
    model_type: "ministral3",
    class: "Ministral3ForCausalLM",
    gguf: "mistral3",
    aliases: &[],
    defaults: &[
        ("head_dim", "128"),
        (
            "rope_parameters",
            r#"{"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
                "original_max_position_embeddings": 16384, "beta_fast": 32.0, "beta_slow": 1.0,
                "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}"#,
        ),
    ],
    blueprint,
};

const BETA: Key = Key::new("llama_4_scaling_beta", "attention.temperature_scale");
const N_ORIGINAL: Key = Key::new(
    "original_max_position_embeddings",
    "rope.scaling.original_context_length",
);

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?.interleaved_in_gguf(facts);
    let base = base.windowed(facts.window()?, None, |_| true);
    let older = facts.object("rope_scaling", "rope_scaling.")?;
    let scaling = if older.has_values() {
        older
    } else {
        facts.object("rope_parameters", "rope_parameters.")?
    };
    let temperature = match scaling.number(BETA)?.filter(|beta| *beta != 0.0) {
        None => None,
        Some(beta) => Some(Temperature {
            beta,
            n_original: scaling.required_size(N_ORIGINAL)?,
        }),
    };
    Ok(Blueprint {
        temperature,
        ..base
    })
}
