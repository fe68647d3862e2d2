//! Own presets as a file: JSON with a version, to be kept and given to others.
//!
//! | field | meaning |
//! | --- | --- |
//! | `format_version` | 1 |
//! | `quartet` | the version of the program that wrote the file |
//! | `presets` | one entry for each: `name`, and `chain` as in a pane's settings |
//!
//! Readers pass over fields that they do not know.

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;
use crate::interop::presets::OwnPreset;

/// The newest format; the one that is written.
const FORMAT_VERSION: u32 = 1;

/// Longer names are no names.
const MOST_NAME_CHARS: usize = 80;

#[derive(Serialize, Deserialize)]
struct File {
    format_version: u32,
    #[serde(default)]
    quartet: String,
    presets: Vec<OwnPreset>,
}

/// The version alone, so that a later format can say that it is one.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

/// The bytes of a file that holds these presets.
pub fn render(presets: &[OwnPreset]) -> Vec<u8> {
    let file = File {
        format_version: FORMAT_VERSION,
        quartet: env!("CARGO_PKG_VERSION").to_owned(),
        presets: presets.to_vec(),
    };
    // Plain data has no part that JSON lacks, so this does not fail.
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads what [`render`] wrote; an error is a sentence.
pub fn parse(bytes: &[u8]) -> Result<Vec<OwnPreset>, String> {
    let unreadable = |error| format!("this is not a file of presets: {error}");
    let Version { format_version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if format_version > FORMAT_VERSION {
        return Err(format!(
            "a newer Quartet wrote this file, in format {format_version}; this one reads up to \
             {FORMAT_VERSION}"
        ));
    }
    let file: File = serde_json::from_slice(bytes).map_err(unreadable)?;
    file.presets.into_iter().map(checked).collect()
}

fn checked(preset: OwnPreset) -> Result<OwnPreset, String> {
    let name = preset.name.trim();
    if name.is_empty() || name.chars().count() > MOST_NAME_CHARS {
        return Err(format!(
            "a preset in this file has no name of 1 to {MOST_NAME_CHARS} characters"
        ));
    }
    let chain = &preset.chain;
    let too_large = || (!can_be_kept(chain)).then(|| "A number in it is too large".to_owned());
    match chain
        .validate()
        .err()
        .map(|error| error.to_string())
        .or_else(too_large)
    {
        Some(complaint) => Err(format!("the preset ‘{name}’ can't be used: {complaint}")),
        None => Ok(OwnPreset {
            name: name.to_owned(),
            ..preset
        }),
    }
}

/// Whether it can be read again once it is written. A number that is too large for us comes to
/// infinity, for which JSON has no word; a stage that is muted may hold one and not complain.
fn can_be_kept(chain: &ChainConfig) -> bool {
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
    fn presets_survive_being_written_and_read() {
        assert_eq!(parse(&render(&presets())), Ok(presets()));
        assert_eq!(parse(&render(&[])), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_file_of_presets_gives_a_sentence() {
        let one = |from: &str, to: &str| {
            let text = String::from_utf8(render(&presets()[..1])).unwrap();
            text.replace(from, to)
        };
        for (text, sentence) in [
            (String::new(), "this is not a file of presets"),
            ("{}".to_owned(), "this is not a file of presets"),
            (
                r#"{"format_version": 1}"#.to_owned(),
                "this is not a file of presets: missing field `presets`",
            ),
            (
                r#"{"format_version": 2, "presets": 7}"#.to_owned(),
                "a newer Quartet wrote this file, in format 2; this one reads up to 1",
            ),
            (
                one("My llama.cpp", " "),
                "a preset in this file has no name of 1 to 80 characters",
            ),
            (
                one("\"k\": 40", "\"k\": \"many\""),
                "this is not a file of presets",
            ),
            (
                one("\"p\": 0.95", "\"p\": 95"),
                "the preset ‘My llama.cpp’ can't be used: Top-p must be between 0 and 1",
            ),
            (
                r#"{"format_version": 1, "presets": [{"name": "Hot", "chain": {
                    "stages": [{"filter": "temperature", "temperature": 1e39, "enabled": false}],
                    "selector": {"selector": "greedy"}}}]}"#
                    .to_owned(),
                "the preset ‘Hot’ can't be used: A number in it is too large",
            ),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(sentence), "{error}");
        }
    }
}
