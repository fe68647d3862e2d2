//! Locates a model in a folder in transformers format.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::architecture::Architecture;
use super::other_formats::{reason_for_missing, unread_weights};
use super::{LocatedModel, TokenizerSource, lossy};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::end_tokens_of_generation_config;
use crate::engine::recommended_sampling::recommended_by_generation_config;
use crate::engine::small_file::read_settings;
use crate::engine::tokenizer_config::TokenizerConfig;
use crate::engine::weights::{Catalog, Index, Source};
use crate::generation::RecommendedSampling;

const INDEX: &str = "model.safetensors.index.json";
const WHAT: &str = "The model’s weights";

/// Locates the model in a folder. `chosen` is the weights file that the user opened, if any.
pub(super) fn locate(folder: &Path, chosen: Option<&Path>) -> Result<LocatedModel, EngineError> {
    let config = require(folder, "config.json")?;
    let json = read_settings(&config, "The model’s configuration")?;
    let config = config.display().to_string();
    if let Some(reason) = unread_weights(&json) {
        let path = config;
        return Err(EngineError::OtherFormat { reason, path });
    }
    let architecture = Architecture::from_config(&json, &config)?;
    let tokenizer = require(folder, "tokenizer.json")?;
    let tokenizer_config = TokenizerConfig::of_folder(folder)?;
    let mut warnings = Vec::new();
    // The model also works without these settings, so a failure to read them is only noted.
    let settings = GenerationSettings::of_folder(folder).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        GenerationSettings::default()
    });
    let end_tokens = end_tokens(
        architecture.end_tokens(),
        settings.end_tokens,
        &mut warnings,
    );
    let (catalog, file) = weights(folder, chosen)?;
    Ok(LocatedModel {
        architecture,
        catalog,
        chat: tokenizer_config.chat_template(),
        tokenizer: TokenizerSource::Json(tokenizer, Box::new(tokenizer_config)),
        end_tokens,
        recommended_sampling: settings.recommended_sampling,
        warnings,
        name: name(folder),
        file,
    })
}

/// Returns the tokens that end a text. As in transformers, those of `generation_config.json` replace
/// those of `config.json`.
fn end_tokens(
    of_config: &[TokenId],
    of_settings: Vec<TokenId>,
    warnings: &mut Vec<String>,
) -> Vec<TokenId> {
    if of_settings.is_empty() {
        return of_config.to_vec();
    }
    if let Some(token) = of_config.iter().find(|token| !of_settings.contains(token)) {
        warnings.push(format!(
            "config.json says that token {token} ends a text, and generation_config.json does not; \
             as in transformers, generation_config.json counts"
        ));
    }
    of_settings
}

/// The relevant content of a `generation_config.json`.
#[derive(Default)]
struct GenerationSettings {
    end_tokens: Vec<TokenId>,
    recommended_sampling: Option<RecommendedSampling>,
}

impl GenerationSettings {
    /// Reads the file in a folder. Returns the default if there is none.
    fn of_folder(folder: &Path) -> Result<Self, EngineError> {
        let file = folder.join("generation_config.json");
        if !file.is_file() {
            return Ok(Self::default());
        }
        let json = read_settings(&file, "The model’s generation settings")?;
        Ok(Self {
            end_tokens: end_tokens_of_generation_config(&json, &file.display().to_string())?,
            recommended_sampling: recommended_by_generation_config(&json),
        })
    }
}

/// Returns the folder's name, even for a path such as ".".
fn name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    match folder.canonicalize() {
        Ok(absolute) => lossy(absolute.file_name()),
        Err(_) => lossy(folder.file_name()),
    }
}

/// Locates the weights. Also returns the file name to show for them. As in transformers, a single
/// file takes precedence over several.
fn weights(folder: &Path, chosen: Option<&Path>) -> Result<(Catalog, String), EngineError> {
    let index = folder.join(INDEX);
    if let Some(chosen) = chosen {
        if index.is_file() {
            let shards = shards(&index)?;
            if shards.iter().any(|file| chosen.ends_with(file)) {
                return Ok((sharded(folder, shards)?, INDEX.to_owned()));
            }
        }
        return single(chosen);
    }
    let single_file = folder.join("model.safetensors");
    if !single_file.is_file() && index.is_file() {
        return Ok((sharded(folder, shards(&index)?)?, INDEX.to_owned()));
    }
    single(&require(folder, "model.safetensors")?)
}

fn single(path: &Path) -> Result<(Catalog, String), EngineError> {
    let catalog = Catalog::from_safetensors(Source::file(path, WHAT)?)?;
    Ok((catalog, lossy(path.file_name())))
}

/// Returns the files that the index lists.
fn shards(index: &Path) -> Result<BTreeSet<String>, EngineError> {
    let json = read_settings(index, "The index of the weights")?;
    let path = index.display().to_string();
    Index::from_json(&json, &path)?.files(&path)
}

fn sharded(folder: &Path, shards: BTreeSet<String>) -> Result<Catalog, EngineError> {
    let files = Arc::default();
    let mut sources = Vec::new();
    for name in shards {
        let path = folder.join(&name);
        if !path.is_file() {
            return Err(EngineError::PartMissing {
                name,
                path: folder.display().to_string(),
            });
        }
        sources.push(Source::part(&path, WHAT, &files)?);
    }
    Catalog::from_shards(sources)
}

fn require(folder: &Path, what: &'static str) -> Result<PathBuf, EngineError> {
    let path = folder.join(what);
    if path.is_file() {
        return Ok(path);
    }
    let path = folder.display().to_string();
    Err(match reason_for_missing(folder, what) {
        Some(reason) => EngineError::OtherFormat {
            reason: reason.to_owned(),
            path,
        },
        None => EngineError::FileMissing { what, path },
    })
}
