//! The user's presets as a file: versioned JSON, to keep and to share.
//!
//! | field | meaning |
//! | --- | --- |
//! | `format_version` | 1 |
//! | `quartet` | the version of the program that wrote the file |
//! | `presets` | one entry per preset: `name`, and `chain` as in a pane's settings |
//!
//! Readers ignore unknown fields.

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;
use crate::interop::presets::OwnPreset;
use crate::json_words::json_words;

/// The current format, which is the one that is written.
const FORMAT_VERSION: u32 = 1;

const MAX_NAME_CHARS: usize = 80;

#[derive(Serialize, Deserialize)]
struct File {
    format_version: u32,
    #[serde(default)]
    quartet: String,
    presets: Vec<OwnPreset>,
}

/// Only the version, so that a file in a newer format is reported as such.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

/// Returns the content of a file with these presets.
pub fn render(presets: &[OwnPreset]) -> Vec<u8> {
    let file = File {
        format_version: FORMAT_VERSION,
        quartet: env!("CARGO_PKG_VERSION").to_owned(),
        presets: presets.to_vec(),
    };
    // Serializing plain data with string keys to memory can't fail.
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads a file that [`render`] wrote. An error is a message for the user.
pub fn parse(bytes: &[u8]) -> Result<Vec<OwnPreset>, String> {
    let unreadable = |error| {
        let reason = json_words(&error);
        format!("this is not a Quartet preset file: {reason}")
    };
    let Version { format_version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if format_version > FORMAT_VERSION {
        return Err(format!(
            "this file has format {format_version}, but this version of Quartet only reads up to \
             format {FORMAT_VERSION}; update Quartet to open it"
        ));
    }
    let file: File = serde_json::from_slice(bytes).map_err(unreadable)?;
    file.presets.into_iter().map(checked).collect()
}

fn checked(preset: OwnPreset) -> Result<OwnPreset, String> {
    let name = preset.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        return Err(format!(
            "a preset in this file has an empty name or one of more than {MAX_NAME_CHARS} characters"
        ));
    }
    let chain = &preset.chain;
    let too_large =
        || (!survives_json(chain)).then(|| "One of its numbers is too large".to_owned());
    let invalid = chain.validate().err().map(|error| error.to_string());
    match invalid.or_else(too_large) {
        Some(reason) => Err(format!("the preset ‘{name}’ can’t be used: {reason}")),
        None => Ok(OwnPreset {
            name: name.to_owned(),
            ..preset
        }),
    }
}

/// Whether the chain can be read back after it is written. A number beyond the range of `f32`
/// becomes infinite, which JSON can't represent. Validation does not catch it in a disabled stage.
fn survives_json(chain: &ChainConfig) -> bool {
    let written = serde_json::to_vec(chain);
    written.is_ok_and(|json| serde_json::from_slice::<ChainConfig>(&json).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{parse, render};
    use crate::decoding::dialect::Dialect;
    use crate::interop::presets::OwnPreset;

    fn presets() -> Vec<OwnPreset> {
        let engine = |dialect: Dialect| OwnPreset {
            name: format!("My {}", dialect.name()),
            chain: dialect.chain(),
        };
        Dialect::ALL.map(engine).into()
    }

    #[test]
    fn presets_survive_a_round_trip() {
        assert_eq!(parse(&render(&presets())), Ok(presets()));
        assert_eq!(parse(&render(&[])), Ok(Vec::new()));
    }

    #[test]
    fn invalid_files_are_rejected_with_a_message() {
        let one = |from: &str, to: &str| {
            let text = String::from_utf8(render(&presets()[..1])).unwrap();
            text.replace(from, to)
        };
        for (text, message) in [
            (String::new(), "this is not a Quartet preset file"),
            ("{}".to_owned(), "this is not a Quartet preset file"),
            (
                r#"{"format_version": 1}"#.to_owned(),
                "this is not a Quartet preset file: ‘presets’ is missing",
            ),
            (
                r#"{"format_version": 2, "presets": 7}"#.to_owned(),
                "this file has format 2, but this version of Quartet only reads up to format 1",
            ),
            (
                one("My llama.cpp", " "),
                "a preset in this file has an empty name or one of more than 80 characters",
            ),
            (
                one("\"k\": 40", "\"k\": \"many\""),
                "this is not a Quartet preset file",
            ),
            (
                one("\"p\": 0.95", "\"p\": 95"),
                "the preset ‘My llama.cpp’ can’t be used: Top-p must be between 0 and 1",
            ),
            (
                r#"{"format_version": 1, "presets": [{"name": "Hot", "chain": {
                    "stages": [{"filter": "temperature", "temperature": 1e39, "enabled": false}],
                    "selector": {"selector": "greedy"}}}]}"#
                    .to_owned(),
                "the preset ‘Hot’ can’t be used: One of its numbers is too large",
            ),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
