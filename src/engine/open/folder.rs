//! Finds a model in a folder as transformers writes it.

use std::path::{Path, PathBuf};

use super::architecture::Architecture;
use super::{Found, FoundTokenizer, lossy, read_file};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::end_tokens_of_generation_config;
use crate::engine::recommended_sampling::recommended_by_generation_config;
use crate::engine::tokenizer_config::TokenizerConfig;
use crate::engine::weights::{Catalog, Index, Source};
use crate::generation::RecommendedSampling;

const INDEX: &str = "model.safetensors.index.json";
const WHAT: &str = "The model's weights";

/// The model of a folder; with the weights that the user chose, where it was a file of weights.
pub fn find(folder: &Path, chosen: Option<&Path>) -> Result<Found, EngineError> {
    let config = require(folder, "config.json")?;
    let architecture = Architecture::from_config(
        &read_file(&config, "The model's configuration")?,
        &config.display().to_string(),
    )?;
    let tokenizer = require(folder, "tokenizer.json")?;
    let tokenizer_config = TokenizerConfig::of_folder(folder)?;
    let mut end_tokens = architecture.end_tokens().to_vec();
    // A model writes without these settings too.
    let (settings, unread) = match GenerationSettings::of_folder(folder) {
        Ok(settings) => (settings, None),
        Err(error) => (GenerationSettings::default(), Some(error.to_string())),
    };
    end_tokens.extend(settings.end_tokens);
    let (catalog, file) = weights(folder, chosen)?;
    Ok(Found {
        architecture,
        catalog,
        chat: tokenizer_config.chat_template(),
        tokenizer: FoundTokenizer::Json(tokenizer, Box::new(tokenizer_config)),
        end_tokens,
        recommended_sampling: settings.recommended_sampling,
        unread,
        name: name(folder),
        file,
    })
}

/// What is known of how the model is to write.
#[derive(Default)]
struct GenerationSettings {
    end_tokens: Vec<TokenId>,
    recommended_sampling: Option<RecommendedSampling>,
}

impl GenerationSettings {
    /// What the file in a folder says, if it is there.
    fn of_folder(folder: &Path) -> Result<Self, EngineError> {
        let file = folder.join("generation_config.json");
        if !file.is_file() {
            return Ok(Self::default());
        }
        let json = read_file(&file, "The model's generation settings")?;
        Ok(Self {
            end_tokens: end_tokens_of_generation_config(&json, &file.display().to_string())?,
            recommended_sampling: recommended_by_generation_config(&json),
        })
    }
}

/// What the folder is called, also where the path to it does not say.
fn name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    match folder.canonicalize() {
        Ok(whole) => lossy(whole.file_name()),
        Err(_) => lossy(folder.file_name()),
    }
}

/// The weights, and the name of the file that stands for them. As in transformers one whole file comes
/// before several.
fn weights(folder: &Path, chosen: Option<&Path>) -> Result<(Catalog, String), EngineError> {
    let index = folder.join(INDEX);
    if let Some(chosen) = chosen {
        if index.is_file() {
            let shards = shards(&index)?;
            if shards.iter().any(|(file, _)| chosen.ends_with(file)) {
                return Ok((sharded(folder, shards)?, INDEX.to_owned()));
            }
        }
        return single(chosen);
    }
    let whole = folder.join("model.safetensors");
    if !whole.is_file() && index.is_file() {
        return Ok((sharded(folder, shards(&index)?)?, INDEX.to_owned()));
    }
    single(&require(folder, "model.safetensors")?)
}

fn single(path: &Path) -> Result<(Catalog, String), EngineError> {
    let catalog = Catalog::from_safetensors(Source::file(path, WHAT)?)?;
    Ok((catalog, lossy(path.file_name())))
}

/// Files and the tensors that the index looks for in each.
fn shards(index: &Path) -> Result<Vec<(String, Vec<String>)>, EngineError> {
    let json = read_file(index, "The index of the weights")?;
    let path = index.display().to_string();
    let shards = Index::from_json(&json, &path)?.shards(&path)?;
    Ok(shards.into_iter().collect())
}

fn sharded(folder: &Path, shards: Vec<(String, Vec<String>)>) -> Result<Catalog, EngineError> {
    let mut sources = Vec::new();
    for (name, tensors) in shards {
        let path = folder.join(&name);
        if !path.is_file() {
            return Err(EngineError::PartMissing {
                name,
                path: folder.display().to_string(),
            });
        }
        sources.push((Source::file(&path, WHAT)?, tensors));
    }
    Catalog::from_shards(sources)
}

fn require(folder: &Path, what: &'static str) -> Result<PathBuf, EngineError> {
    let path = folder.join(what);
    if path.is_file() {
        Ok(path)
    } else {
        Err(EngineError::FileMissing {
            what,
            path: folder.display().to_string(),
        })
    }
}
