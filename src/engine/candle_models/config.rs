//! A `config.json` in the words in which candle-transformers reads it.

use serde_json::{Map, Value, json};

use super::families::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::{MAX_LAYERS, MAX_SIZE};

/// Beyond this a mixture is a broken file.
const MAX_EXPERTS: u64 = 1 << 12;

/// What the file says of a model of this family, in the words of candle-transformers: rotations at the
/// top, and what goes without saying said. Refuses what would be computed wrongly.
pub fn adapted(
    family: &Family,
    mut values: Map<String, Value>,
    path: &str,
) -> Result<Map<String, Value>, EngineError> {
    let unsupported = |feature: String| EngineError::FeatureMissing {
        feature,
        path: path.to_owned(),
    };
    if let Some(reason) = fault_of_sizes(&values) {
        return Err(EngineError::malformed(
            "The model's configuration",
            reason,
            path,
        ));
    }
    lift_rotations(&mut values).map_err(unsupported)?;
    values.retain(|_, value| !value.is_null());
    // Some files give the width of a window that is not used.
    if values.get("use_sliding_window") == Some(&json!(false)) {
        values.remove("sliding_window");
    }
    for (name, other) in family.aliases {
        if let Some(value) = values.get(*other).cloned() {
            values.entry(*name).or_insert(value);
        }
    }
    list_layers(&mut values).map_err(unsupported)?;
    let general = [
        ("hidden_act", json!("silu")),
        ("rope_theta", json!(10_000.0)),
        ("tie_word_embeddings", json!(false)),
    ];
    let defaults = family.defaults.iter();
    let defaults = defaults.map(|(name, text)| (*name, parsed(text)));
    for (name, value) in defaults.chain(general) {
        values.entry(name).or_insert(value);
    }
    for (name, expected) in family.fixed {
        if let Some(value) = values.get(*name)
            && !is_same(value, &parsed(expected))
        {
            return Err(unsupported(format!("{name} {value} for this family")));
        }
    }
    if let Some(reason) = fault_of_experts(&values) {
        return Err(EngineError::malformed(
            "The model's configuration",
            reason,
            path,
        ));
    }
    // Nothing looks at the tokens, but some models want one of each; a cache there is always.
    values.insert("bos_token_id".to_owned(), json!(0));
    values.insert("eos_token_id".to_owned(), json!(0));
    values.insert("use_cache".to_owned(), json!(true));
    Ok(values)
}

/// Products of two sizes must be safe, whatever each is for.
fn fault_of_sizes(values: &Map<String, Value>) -> Option<String> {
    let sizes = values.iter().filter(|(name, _)| *name != "rope_theta");
    let mut sizes = sizes.filter_map(|(name, value)| Some((name, value.as_u64()?)));
    let (name, size) = sizes.find(|(_, size)| *size > MAX_SIZE as u64)?;
    Some(format!("{name} is {size}"))
}

/// A mixture's experts, of which a router chooses some for each token.
fn fault_of_experts(values: &Map<String, Value>) -> Option<String> {
    let size = |name: &str| values.get(name).and_then(Value::as_u64);
    let n_experts = size("num_experts").or_else(|| size("num_local_experts"))?;
    let n_chosen = size("num_experts_per_tok")?;
    if n_experts > MAX_EXPERTS {
        return Some(format!("the number of experts is {n_experts}"));
    }
    let can_choose = n_experts == 0 || (1..=n_experts).contains(&n_chosen);
    (!can_choose).then(|| format!("{n_chosen} of {n_experts} experts can't be chosen"))
}

/// Whether a value is the one of the table; whole numbers are also written as fractions.
fn is_same(value: &Value, expected: &Value) -> bool {
    let numbers = value.as_f64().zip(expected.as_f64());
    numbers.map_or_else(
        || value == expected,
        |(number, expected)| (number - expected).abs() < f64::EPSILON,
    )
}

/// A value of the table of families.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The newer form keeps in `rope_parameters` what stood at the top before, the older in `rope_scaling`
/// how rotations are stretched.
fn lift_rotations(values: &mut Map<String, Value>) -> Result<(), String> {
    for name in ["rope_parameters", "rope_scaling"] {
        let Some(Value::Object(rope)) = values.remove(name) else {
            continue;
        };
        for key in ["rope_type", "type"] {
            if let Some(kind) = rope.get(key).filter(|kind| *kind != "default") {
                return Err(format!("rotary scaling {kind} for this family"));
            }
        }
        for key in ["rope_theta", "partial_rotary_factor"] {
            if let Some(value) = rope.get(key) {
                values.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    Ok(())
}

/// What each layer is, in the words of the family: Granite's are all of attention.
fn list_layers(values: &mut Map<String, Value>) -> Result<(), String> {
    let hybrid = values
        .get("model_type")
        .is_some_and(|kind| kind == "granitemoehybrid");
    if let Some(Value::Array(layers)) = values.get_mut("layer_types") {
        for layer in layers.iter_mut().filter(|_| hybrid) {
            match layer.as_str() {
                Some("attention" | "full_attention") => *layer = json!("attention"),
                _ => return Err(format!("a layer of the type {layer} in this family")),
            }
        }
        return Ok(());
    }
    if hybrid {
        return Err("a layer of the type \"mamba\" in this family".to_owned());
    }
    // LFM2's first files only say which layers are of attention.
    let n_layers = values.get("num_hidden_layers").and_then(Value::as_u64);
    if let (Some(Value::Array(indices)), Some(n_layers)) = (values.get("full_attn_idxs"), n_layers)
    {
        let kind = |index| {
            let is_attention = indices.contains(&json!(index));
            if is_attention {
                "full_attention"
            } else {
                "conv"
            }
        };
        let n_layers = n_layers.min(MAX_LAYERS as u64);
        let layers: Vec<&str> = (0..n_layers).map(kind).collect();
        values.insert("layer_types".to_owned(), json!(layers));
    }
    Ok(())
}
