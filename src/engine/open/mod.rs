//! Opens models: first what the headers of their files say, then the weights.
//!
//! A file that is no model is refused by its header, and so is a part that the model lacks: before any
//! weight is read.

mod architecture;
mod folder;
mod gguf;
mod infinities;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::quantized::gguf_file::Content;

use super::gguf_tokenizer::{END_TOKENS, tokenizer_of};
use super::tokenizer_config::TokenizerConfig;
use super::weights::Catalog;
use super::{ChatError, ChatTemplate, Compute, EngineError, LoadProgress, LoadedModel, Tokenizer};
use crate::decoding::TokenId;
use crate::generation::RecommendedSampling;
use crate::generation::{ModelInfo, ModelOutline, PieceKind, Vocabulary};

use self::architecture::Architecture;

pub(super) use gguf::Gguf;

/// Opens a model: a GGUF file or any part of one that is split, a folder with `config.json`,
/// `tokenizer.json` and safetensors, or one of those files. Nothing comes back where `progress` wants no
/// more of it.
pub fn open_path(
    path: &Path,
    compute: &Compute,
    progress: LoadProgress<'_>,
) -> Result<Option<LoadedModel>, EngineError> {
    find(path)?.load(compute, progress)
}

/// What the files of a model say of it, and what it would take to load it. Reads their headers only.
pub fn inspect(path: &Path) -> Result<ModelOutline, EngineError> {
    Ok(find(path)?.outline())
}

fn find(path: &Path) -> Result<Found, EngineError> {
    if path.is_dir() {
        return folder::find(path, None);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("json") => folder::find(folder, None),
        Some("safetensors") => folder::find(folder, Some(path)),
        _ => Gguf::from_path(path)?.find(),
    }
}

/// A model whose headers have been read.
pub(super) struct Found {
    architecture: Architecture,
    catalog: Catalog,
    tokenizer: FoundTokenizer,
    chat: Option<Result<ChatTemplate, ChatError>>,
    end_tokens: Vec<TokenId>,
    recommended_sampling: Option<RecommendedSampling>,
    unread: Option<String>,
    name: String,
    file: String,
}

/// Where a model's tokenizer is. To build it takes long, and an outline does not need it.
pub(super) enum FoundTokenizer {
    /// Here.
    Ready(Box<Tokenizer>),
    /// In a `tokenizer.json`, with what the files beside it add.
    Json(PathBuf, Box<TokenizerConfig>),
    /// In the metadata of the GGUF file at the path.
    Gguf(Box<Content>, String),
}

impl Found {
    /// What the headers say.
    pub fn outline(self) -> ModelOutline {
        ModelOutline {
            unread: self.unread,
            ..self.architecture.outline(self.name, &self.catalog)
        }
    }

    /// Reads the weights; nothing comes back where `progress` wants no more of it.
    pub fn load(
        self,
        compute: &Compute,
        progress: LoadProgress<'_>,
    ) -> Result<Option<LoadedModel>, EngineError> {
        let architecture = self.architecture.name().to_owned();
        let implementation = self.architecture.implementation();
        let quantization = self.catalog.quantization();
        let compute = self.architecture.compute(compute);
        // All files are being hashed from here on.
        let mut checkpoint = self.catalog.open(progress)?;
        let tokenizer = self.tokenizer.build()?;
        let loaded = self.architecture.load(&mut checkpoint, &compute);
        if checkpoint.is_left() {
            return Ok(None);
        }
        let (lm, n_params) = loaded?;
        let n_vocab = lm.n_vocab();
        check_tokenizer(&tokenizer, n_vocab)?;
        let vocabulary = tokenizer.vocabulary(n_vocab);
        let Some(sha256) = checkpoint.sha256()? else {
            return Ok(None);
        };
        let info = ModelInfo {
            name: self.name,
            architecture,
            implementation,
            n_params,
            quantization,
            device: compute.name(),
            n_threads: compute.threads_of(implementation),
            n_vocab,
            n_context: lm.n_context(),
            file: self.file,
            sha256,
        };
        Ok(Some(LoadedModel {
            lm,
            end_tokens: all_end_tokens(self.end_tokens, &tokenizer, &vocabulary),
            tokenizer,
            chat: self.chat,
            vocabulary: Arc::new(vocabulary),
            info: Arc::new(info),
            recommended_sampling: self.recommended_sampling.map(Arc::new),
            unread: self.unread,
        }))
    }
}

impl FoundTokenizer {
    fn build(self) -> Result<Tokenizer, EngineError> {
        match self {
            Self::Ready(tokenizer) => Ok(*tokenizer),
            Self::Json(path, config) => {
                let json = read_file(&path, "The tokenizer")?;
                let mut tokenizer = Tokenizer::from_json(&json, &path.display().to_string())?;
                config.apply(&mut tokenizer);
                Ok(tokenizer)
            }
            Self::Gguf(content, path) => tokenizer_of(&content, &path),
        }
    }
}

/// A table may have some rows more than the tokenizer has tokens, for the sake of round numbers. A few
/// tokens may have no row: the Gemma 3 that reads only text has the tokenizer of the one that also sees,
/// and some fine-tunes add tokens that they never use. With more than that on either side the two
/// can't belong together.
fn check_tokenizer(tokenizer: &Tokenizer, n_model: usize) -> Result<(), EngineError> {
    let n_tokenizer = tokenizer.n_tokens();
    let n_unnamed_rows = n_model.saturating_sub(n_tokenizer);
    let n_rowless_tokens = n_tokenizer.saturating_sub(n_model);
    let most = n_model / 8;
    if n_unnamed_rows <= most.max(1024) && n_rowless_tokens <= most.min(64) {
        Ok(())
    } else {
        Err(EngineError::TokenizerMismatch {
            n_tokenizer,
            n_model,
        })
    }
}

/// The end tokens that the files name, and those that are known by their own names.
fn all_end_tokens(
    mut tokens: Vec<TokenId>,
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
) -> Vec<TokenId> {
    let by_name = END_TOKENS
        .into_iter()
        .filter_map(|name| tokenizer.token(name))
        .filter(|token| vocabulary.piece(*token).kind == PieceKind::Special);
    tokens.extend(by_name);
    tokens.retain(|token| token.index() < vocabulary.n_tokens());
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn read_file(path: &Path, what: &'static str) -> Result<Vec<u8>, EngineError> {
    std::fs::read(path).map_err(|source| EngineError::FileUnreadable {
        what,
        source,
        path: path.display().to_string(),
    })
}

fn lossy(name: Option<&std::ffi::OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}
