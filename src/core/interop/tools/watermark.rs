//! The watermarks of transformers: `WatermarkingConfig`, a green list, and
//! `SynthIDTextWatermarkingConfig`.
//!
//! Source: `generation/configuration_utils.py` and `WatermarkLogitsProcessor` of
//! `generation/logits_process.py` (transformers 5.23).

use super::fields::Fields;
use super::python;
use super::transformers::float;
use super::value::Value;
use crate::decoding::Filter;
use crate::decoding::filters::{GreenList, SynthId};
use crate::decoding::watermark::LayerKeys;

/// The argument that holds the watermark.
pub(super) const NAME: &str = "watermarking_config";

/// The classes of a green list and of SynthID-Text.
const CLASS: &str = "WatermarkingConfig";
const SYNTH_CLASS: &str = "SynthIDTextWatermarkingConfig";

/// transformers' defaults.
const DEFAULT: GreenList = GreenList {
    bias: 2.0,
    ratio: 0.25,
    key: 15_485_863,
    window: 1,
};

/// Formats SynthID-Text as Python.
pub(super) fn write_synth_id(synth: &SynthId) -> Value {
    let keys: Vec<String> = synth.keys.as_slice().iter().map(u32::to_string).collect();
    Value::Code(format!(
        "transformers.{SYNTH_CLASS}(ngram_len={}, keys=[{}])",
        synth.window + 1,
        keys.join(", ")
    ))
}

/// Formats a green list as Python.
pub(super) fn write_green_list(list: &GreenList) -> Value {
    let scheme = if list.window == 1 {
        "lefthash"
    } else {
        "selfhash"
    };
    Value::Code(format!(
        "transformers.{CLASS}(greenlist_ratio={}, bias={}, hashing_key={}, \
         seeding_scheme=\"{scheme}\", context_width={})",
        float(list.ratio).python(),
        float(list.bias).python(),
        list.key,
        list.window,
    ))
}

/// Takes the watermark from the settings, if there is one.
pub(super) fn read(fields: &mut Fields) -> Result<Option<Filter>, String> {
    let Some(field) = fields.take(NAME) else {
        return Ok(None);
    };
    let entries = match &field.value {
        Value::Map(entries) => named(entries),
        Value::Code(code) => {
            python::arguments(code, SYNTH_CLASS).or_else(|| python::arguments(code, CLASS))
        }
        _ => None,
    };
    let Some(entries) = entries else {
        return Err(format!("{NAME} must be a {CLASS}, not {}", field.value));
    };
    if entries.iter().any(|(name, _)| name == "keys") {
        return synth_id(&entries).map(|synth| Some(Filter::SynthId(synth)));
    }
    green_list(&entries, fields).map(|list| Some(Filter::GreenList(list)))
}

/// Reads SynthID-Text. Its table of bits is always the default one.
fn synth_id(entries: &[(String, Value)]) -> Result<SynthId, String> {
    let wrong = |name: &str, value: &Value| format!("{NAME} is invalid: {name} cannot be {value}");
    let (mut keys, mut window) = (LayerKeys::USUAL, 4);
    for (name, value) in entries {
        let found = match (name.as_str(), value) {
            ("ngram_len", Value::Number(number)) => {
                let n: Option<u32> = number.parse().ok();
                n.and_then(|n| n.checked_sub(1)).map(|n| window = n)
            }
            ("keys", Value::List(values)) => {
                let read: Option<Vec<u32>> = values
                    .iter()
                    .map(|value| match value {
                        Value::Number(number) => number.parse().ok(),
                        _ => None,
                    })
                    .collect();
                read.and_then(|read| LayerKeys::new(&read))
                    .map(|read| keys = read)
            }
            ("ngram_len" | "keys", _) => None,
            _ => Some(()),
        };
        found.ok_or_else(|| wrong(name, value))?;
    }
    Ok(SynthId { window, keys })
}

fn green_list(entries: &[(String, Value)], fields: &mut Fields) -> Result<GreenList, String> {
    let mut list = DEFAULT;
    let mut hashes_itself = false;
    for (name, value) in entries {
        let wrong = || Err(format!("{NAME} is invalid: {name} cannot be {value}"));
        match (name.as_str(), value) {
            ("greenlist_ratio", Value::Number(number)) => match number.parse() {
                Ok(ratio) => list.ratio = ratio,
                Err(_) => return wrong(),
            },
            ("bias", Value::Number(number)) => match number.parse() {
                Ok(bias) => list.bias = bias,
                Err(_) => return wrong(),
            },
            ("hashing_key", Value::Number(number)) => match number.parse() {
                Ok(key) => list.key = key,
                Err(_) => return wrong(),
            },
            ("context_width", Value::Number(number)) => match number.parse() {
                Ok(window) => list.window = window,
                Err(_) => return wrong(),
            },
            ("seeding_scheme", Value::Text(scheme)) => match scheme.as_str() {
                "lefthash" => hashes_itself = false,
                "selfhash" => hashes_itself = true,
                _ => return wrong(),
            },
            (
                "greenlist_ratio" | "bias" | "hashing_key" | "context_width" | "seeding_scheme",
                _,
            ) => {
                return wrong();
            }
            _ => {}
        }
    }
    if hashes_itself && list.window == 1 {
        fields.ignored.push(format!(
            "{NAME} uses selfhash with a context_width of 1, which Quartet lacks; the list depends \
             on the token before instead"
        ));
    }
    if !hashes_itself && list.window > 1 {
        // The wider context only delays the first token that is marked.
        list.window = 1;
        fields.ignored.push(format!(
            "{NAME} uses lefthash, which reads one token whatever its context_width"
        ));
    }
    Ok(list)
}

fn named(entries: &[(Value, Value)]) -> Option<Vec<(String, Value)>> {
    let named = entries.iter().map(|(key, value)| match key {
        Value::Text(key) => Some((key.clone(), value.clone())),
        _ => None,
    });
    named.collect()
}
