//! The watermark of transformers: `WatermarkingConfig`, a green list.
//!
//! Source: `generation/configuration_utils.py` and `WatermarkLogitsProcessor` of
//! `generation/logits_process.py` (transformers 5.23).

use super::fields::Fields;
use super::python;
use super::transformers::float;
use super::value::Value;
use crate::decoding::filters::GreenList;

/// The argument that holds it.
pub(super) const NAME: &str = "watermarking_config";

/// The class of a green list, and the one of another watermark.
const CLASS: &str = "WatermarkingConfig";
const OTHER_CLASS: &str = "SynthIDTextWatermarkingConfig";

/// What transformers uses if it is not told.
const DEFAULT: GreenList = GreenList {
    bias: 2.0,
    ratio: 0.25,
    key: 15_485_863,
    window: 1,
};

/// Formats a green list as Python.
pub(super) fn write(list: &GreenList) -> Value {
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
pub(super) fn read(fields: &mut Fields) -> Result<Option<GreenList>, String> {
    let Some(field) = fields.take(NAME) else {
        return Ok(None);
    };
    let entries = match &field.value {
        Value::Map(entries) => named(entries),
        Value::Code(code) if python::has_call(code, OTHER_CLASS) => None,
        Value::Code(code) => python::arguments(code, CLASS),
        _ => None,
    };
    let known = |entries: &Vec<(String, Value)>| !entries.iter().any(|(name, _)| name == "keys");
    let Some(entries) = entries.filter(known) else {
        fields.ignored.push(format!(
            "{NAME} {} is not a green list; Quartet has no other watermark of transformers",
            field.value
        ));
        return Ok(None);
    };
    let mut list = DEFAULT;
    let mut hashes_itself = false;
    for (name, value) in &entries {
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
            "{NAME} uses selfhash with a context_width of 1, which Quartet lacks; the list follows the \
             token before instead"
        ));
    }
    if !hashes_itself && list.window > 1 {
        // The wider context only delays the first token that is marked.
        list.window = 1;
        fields.ignored.push(format!(
            "{NAME} uses lefthash, which reads one token whatever its context_width"
        ));
    }
    Ok(Some(list))
}

fn named(entries: &[(Value, Value)]) -> Option<Vec<(String, Value)>> {
    let named = entries.iter().map(|(key, value)| match key {
        Value::Text(key) => Some((key.clone(), value.clone())),
        _ => None,
    });
    named.collect()
}
