//! Reads a `config.json`, in the older form and in that of transformers 5.

use serde::Deserialize;

use super::{Blueprint, KNOWN, Rope, RopeForm};
use crate::decoding::TokenId;
use crate::engine::EngineError;

/// The keys of a `config.json` that matter here.
#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Vec<String>,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    vocab_size: usize,
    max_position_embeddings: usize,
    rms_norm_eps: f32,
    rope_theta: Option<f32>,
    rope_scaling: Option<RopeParameters>,
    rope_parameters: Option<RopeParameters>,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    sliding_window: Option<usize>,
    tie_word_embeddings: Option<bool>,
    eos_token_id: Option<EndTokens>,
}

/// `rope_scaling` of the older form, `rope_parameters` of the newer one.
#[derive(Deserialize)]
struct RopeParameters {
    rope_theta: Option<f32>,
    rope_type: Option<String>,
    r#type: Option<String>,
}

/// One end token or several: both are written.
#[derive(Deserialize)]
#[serde(untagged)]
enum EndTokens {
    One(u32),
    Many(Vec<u32>),
}

/// The keys of a `generation_config.json` that matter here.
#[derive(Deserialize)]
struct GenerationConfig {
    eos_token_id: Option<EndTokens>,
}

/// The end tokens that a `generation_config.json` names.
pub fn end_tokens_of_generation_config(
    json: &[u8],
    path: &str,
) -> Result<Vec<TokenId>, EngineError> {
    match serde_json::from_slice::<GenerationConfig>(json) {
        Ok(config) => Ok(end_tokens(config.eos_token_id)),
        Err(error) => Err(EngineError::malformed(
            "The model's generation settings",
            error.to_string(),
            path,
        )),
    }
}

pub(super) fn read(json: &[u8], path: &str) -> Result<Blueprint, EngineError> {
    refuse_unknown(json, path)?;
    let config: Config = parse(json, path)?;
    refuse_unsupported(&config, path)?;
    let newer = config.rope_parameters.as_ref();
    let theta = newer.and_then(|rope| rope.rope_theta).or(config.rope_theta);
    let n_heads = config.num_attention_heads;
    Ok(Blueprint {
        architecture: config.model_type.unwrap_or_else(|| "llama".to_owned()),
        hidden_size: config.hidden_size,
        n_layers: config.num_hidden_layers,
        n_heads,
        n_kv_heads: config.num_key_value_heads.unwrap_or(n_heads),
        head_dim: config
            .head_dim
            .unwrap_or_else(|| config.hidden_size / n_heads.max(1)),
        ffn_size: config.intermediate_size,
        norm_eps: config.rms_norm_eps,
        rope: Rope {
            theta: theta.unwrap_or(10_000.0),
            form: RopeForm::HalfSplit,
        },
        n_context: config.max_position_embeddings,
        n_vocab: Some(config.vocab_size),
        tied_head: Some(config.tie_word_embeddings.unwrap_or(false)),
        end_tokens: end_tokens(config.eos_token_id),
    })
}

fn parse<'a, T: Deserialize<'a>>(json: &'a [u8], path: &str) -> Result<T, EngineError> {
    serde_json::from_slice(json).map_err(|error| {
        EngineError::malformed("The model's configuration", error.to_string(), path)
    })
}

/// Comes before all else, so that a foreign family is named rather than a key that it lacks.
fn refuse_unknown(json: &[u8], path: &str) -> Result<(), EngineError> {
    #[derive(Deserialize)]
    struct Family {
        model_type: Option<String>,
        #[serde(default)]
        architectures: Vec<String>,
    }
    let family: Family = parse(json, path)?;
    let class = family.architectures.first().map(String::as_str);
    match (family.model_type.as_deref(), class) {
        (Some("llama"), None | Some("LlamaForCausalLM"))
        | (Some("mistral"), None | Some("MistralForCausalLM"))
        | (None, Some("LlamaForCausalLM" | "MistralForCausalLM")) => Ok(()),
        (None, None) => Err(EngineError::malformed(
            "The model's configuration",
            "it names no architecture",
            path,
        )),
        (model_type, class) => Err(EngineError::UnknownArchitecture {
            architecture: class.or(model_type).unwrap_or_default().to_owned(),
            known: KNOWN,
        }),
    }
}

fn refuse_unsupported(config: &Config, path: &str) -> Result<(), EngineError> {
    let scalings = [&config.rope_scaling, &config.rope_parameters];
    let scaling = scalings
        .into_iter()
        .flatten()
        .filter_map(|rope| rope.rope_type.as_deref().or(rope.r#type.as_deref()))
        .find(|kind| *kind != "default");
    let activation = config.hidden_act.as_deref().unwrap_or("silu");
    let is_mistral = config.model_type.as_deref() == Some("mistral")
        || config
            .architectures
            .iter()
            .any(|class| class.starts_with("Mistral"));
    let windowed = config
        .sliding_window
        .is_some_and(|window| window < config.max_position_embeddings);
    let feature = if let Some(kind) = scaling {
        format!("rotary scaling {kind:?}")
    } else if activation != "silu" {
        format!("the activation {activation:?}")
    } else if config.attention_bias == Some(true) || config.mlp_bias == Some(true) {
        "projections with a bias".to_owned()
    } else if is_mistral && windowed {
        "a sliding attention window".to_owned()
    } else {
        return Ok(());
    };
    Err(EngineError::FeatureMissing {
        feature,
        path: path.to_owned(),
    })
}

fn end_tokens(tokens: Option<EndTokens>) -> Vec<TokenId> {
    match tokens {
        None => Vec::new(),
        Some(EndTokens::One(id)) => vec![TokenId(id)],
        Some(EndTokens::Many(ids)) => ids.into_iter().map(TokenId).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Blueprint;
    use crate::decoding::TokenId;
    use serde_json::{Value, json};

    fn config(changes: &Value) -> Vec<u8> {
        let mut config = json!({
            "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "vocab_size": 50, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
            "rope_theta": 500.0, "eos_token_id": 2
        });
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        config.to_string().into_bytes()
    }

    fn message(changes: &Value) -> String {
        let error = Blueprint::from_config(&config(changes), "config.json").unwrap_err();
        error.to_string().lines().next().unwrap().to_owned()
    }

    #[test]
    fn both_forms_of_a_config_give_the_same_blueprint() {
        let older = Blueprint::from_config(&config(&json!({})), "").unwrap();
        let newer = json!({
            "rope_theta": null,
            "rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}
        });
        let newer = Blueprint::from_config(&config(&newer), "").unwrap();
        assert_eq!(older, newer);
        assert_eq!(older.head_dim, 16);
        assert!((newer.rope.theta - 500.0).abs() < 1e-6);
    }

    #[test]
    fn one_end_token_or_several_are_read() {
        let several = Blueprint::from_config(&config(&json!({"eos_token_id": [2, 9]})), "");
        assert_eq!(several.unwrap().end_tokens, [TokenId(2), TokenId(9)]);
        let one = Blueprint::from_config(&config(&json!({})), "");
        assert_eq!(one.unwrap().end_tokens, [TokenId(2)]);
    }

    #[test]
    fn what_the_decoder_lacks_is_refused_by_name() {
        for (changes, expected) in [
            (
                json!({"rope_scaling": {"rope_type": "llama3", "type": "llama3"}}),
                "\"llama3\"",
            ),
            (
                json!({"rope_parameters": {"rope_type": "yarn"}}),
                "\"yarn\"",
            ),
            (json!({"hidden_act": "gelu"}), "the activation \"gelu\""),
            (json!({"attention_bias": true}), "projections with a bias"),
            (
                json!({"model_type": "mistral", "sliding_window": 64}),
                "sliding attention window",
            ),
            (
                json!({"model_type": "gpt2", "hidden_size": null}),
                "architecture \"gpt2\"",
            ),
            (json!({"model_type": null}), "it names no architecture"),
            (json!({"hidden_size": null}), "could not be understood"),
            (
                json!({"hidden_size": 0, "head_dim": 8}),
                "the hidden size is 0",
            ),
            (
                json!({"num_attention_heads": 0}),
                "the number of heads is 0",
            ),
            (json!({"num_key_value_heads": 3}), "4 heads can't share 3"),
            (json!({"head_dim": 15}), "the head size 15 is odd"),
            (
                json!({"num_hidden_layers": 1u64 << 40}),
                "the number of layers is",
            ),
            (json!({"rope_theta": 0.0}), "the rotary base is 0"),
        ] {
            let message = message(&changes);
            assert!(message.contains(expected), "{message}");
        }
    }
}
