//! Locates a model in a folder in transformers format.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::architecture::Architecture;
use super::other_formats::{UnreadWeights, reason_for_missing};
use super::{LocatedModel, TokenizerSource, lossy};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::end_tokens_of_generation_config;
use crate::engine::model_folder::ModelFolder;
use crate::engine::recommended_sampling::recommended_by_generation_config;
use crate::engine::tokenizer_config::TokenizerConfig;
use crate::engine::weights::{Catalog, Index};
use crate::generation::RecommendedSampling;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const SETTINGS: &str = "generation_config.json";
const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const WHAT: &str = "The model’s weights";

/// Locates the model in a folder. `chosen` is the weights file that the user opened, if any.
pub(super) fn locate(
    folder: ModelFolder<'_>,
    chosen: Option<&Path>,
) -> Result<LocatedModel, EngineError> {
    let architecture = architecture(folder)?;
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
        tokenizer: TokenizerSource::json(folder, Box::new(tokenizer_config))?,
        end_tokens,
        recommended_sampling: settings.recommended_sampling,
        warnings,
        name: name(folder),
        file,
    })
}

/// Reads the model's architecture, and checks that the folder has a tokenizer.
pub(super) fn architecture(folder: ModelFolder<'_>) -> Result<Architecture, EngineError> {
    require(folder, CONFIG)?;
    let json = folder.settings(CONFIG, "The model’s configuration")?;
    let path = folder.path_of(CONFIG);
    if let Ok(config) = serde_json::from_slice(&json)
        && let Some(unread) = UnreadWeights::of(&config)
    {
        let reason = unread.to_string();
        return Err(EngineError::OtherFormat { reason, path });
    }
    let architecture = Architecture::from_config(&json, &path)?;
    require(folder, TOKENIZER)?;
    Ok(architecture)
}

/// Fails if the folder lacks one of the files that a model needs.
pub(super) fn check_files(folder: ModelFolder<'_>) -> Result<(), EngineError> {
    require(folder, CONFIG)?;
    require(folder, TOKENIZER)?;
    if folder.has(INDEX) {
        Ok(())
    } else {
        require(folder, SINGLE)
    }
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
    fn of_folder(folder: ModelFolder<'_>) -> Result<Self, EngineError> {
        if !folder.has(SETTINGS) {
            return Ok(Self::default());
        }
        let json = folder.settings(SETTINGS, "The model’s generation settings")?;
        Ok(Self {
            end_tokens: end_tokens_of_generation_config(&json, &folder.path_of(SETTINGS))?,
            recommended_sampling: recommended_by_generation_config(&json),
        })
    }
}

/// Returns the folder's name, even for a path such as ".".
fn name(folder: ModelFolder<'_>) -> String {
    let folder = match folder {
        ModelFolder::Local(folder) => folder,
        ModelFolder::Remote(_) => return folder.path(),
    };
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
fn weights(
    folder: ModelFolder<'_>,
    chosen: Option<&Path>,
) -> Result<(Catalog, String), EngineError> {
    let has_index = folder.has(INDEX);
    if let Some(chosen) = chosen {
        if has_index {
            let shards = shards(folder)?;
            if shards.iter().any(|file| chosen.ends_with(file)) {
                return Ok((sharded(folder, shards)?, INDEX.to_owned()));
            }
        }
        return single(folder, Path::new(chosen.file_name().unwrap_or_default()));
    }
    if !folder.has(SINGLE) && has_index {
        return Ok((sharded(folder, shards(folder)?)?, INDEX.to_owned()));
    }
    require(folder, SINGLE)?;
    single(folder, Path::new(SINGLE))
}

fn single(folder: ModelFolder<'_>, file: &Path) -> Result<(Catalog, String), EngineError> {
    let catalog = Catalog::from_safetensors(folder.source(file, WHAT)?)?;
    Ok((catalog, lossy(file.file_name())))
}

/// Returns the files that the index lists.
fn shards(folder: ModelFolder<'_>) -> Result<BTreeSet<String>, EngineError> {
    let json = folder.settings(INDEX, "The index of the weights")?;
    let path = folder.path_of(INDEX);
    Index::from_json(&json, &path)?.files(&path)
}

fn sharded(folder: ModelFolder<'_>, shards: BTreeSet<String>) -> Result<Catalog, EngineError> {
    let files = Arc::default();
    let mut sources = Vec::new();
    folder.expect_headers(shards.iter().map(String::as_str));
    for name in shards {
        if !folder.has(&name) {
            return Err(EngineError::PartMissing {
                name,
                place: folder.noun(),
                path: folder.path(),
            });
        }
        sources.push(folder.part(&name, WHAT, &files)?);
    }
    Catalog::from_shards(sources)
}

/// Fails if a file is missing, and says what the folder has instead if that is known.
fn require(folder: ModelFolder<'_>, what: &'static str) -> Result<(), EngineError> {
    if folder.has(what) {
        return Ok(());
    }
    let path = folder.path();
    Err(match reason_for_missing(folder, what) {
        Some(reason) => EngineError::OtherFormat { reason, path },
        None => EngineError::FileMissing {
            what,
            place: folder.noun(),
            path,
        },
    })
}
