//! Opens models: a GGUF file, or a folder as transformers writes it.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::advice::{advice_of_generation_config, advice_of_gguf};
use super::blueprint::{Blueprint, end_tokens_of_generation_config};
use super::chat_template;
use super::decoder::Decoder;
use super::gguf_tokenizer::{END_TOKENS, end_tokens_of, tokenizer_of};
use super::tokenizer_config::TokenizerConfig;
use super::weights::{Checkpoint, Source, read_header};
use super::{CausalLm, ChatError, ChatTemplate, Device, EngineError, LoadedModel, Tokenizer};
use crate::decoding::TokenId;
use crate::generation::preset::ModelAdvice;
use crate::generation::{ModelInfo, PieceKind, Vocabulary};

/// Opens a model: a GGUF file, a folder with `config.json`, `tokenizer.json` and `model.safetensors`,
/// or one of those files. `progress` hears how far it has come, between 0 and 1.
pub fn open_path(
    path: &Path,
    device: &Device,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    if path.is_dir() {
        return open_folder(path, device, progress);
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if extension == "safetensors" || extension == "json" {
        let folder = path.parent().unwrap_or(Path::new("."));
        return open_folder(folder, device, progress);
    }
    open_gguf_file(path, device, progress)
}

fn open_gguf_file(
    path: &Path,
    device: &Device,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    let (file, n_bytes) = open_file(path, "The model")?;
    let tokenizer = path.with_file_name("tokenizer.json");
    let gguf = Gguf {
        reader: BufReader::new(file),
        n_bytes,
        path: &path.display().to_string(),
        name: &lossy(path.file_stem()),
        file: &lossy(path.file_name()),
        tokenizer: if tokenizer.is_file() {
            Some(read_tokenizer(&tokenizer)?)
        } else {
            None
        },
    };
    open_gguf(gguf, device, progress)
}

/// A GGUF file, and what is known beside it.
pub(super) struct Gguf<'a, R> {
    pub reader: R,
    pub n_bytes: u64,
    /// For messages.
    pub path: &'a str,
    /// The model's name where the program knows it better than the file.
    pub name: &'a str,
    /// The file's name without its folder.
    pub file: &'a str,
    /// The `tokenizer.json` beside the file.
    pub tokenizer: Option<Tokenizer>,
}

pub(super) fn open_gguf<R: Read + Seek>(
    mut gguf: Gguf<'_, R>,
    device: &Device,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    let path = gguf.path;
    let header = read_header(&mut gguf.reader, path)?;
    let blueprint = Blueprint::from_gguf(&header, path)?;
    let tokenizer = match gguf.tokenizer {
        Some(tokenizer) => tokenizer,
        None => tokenizer_of(&header, path)?,
    };
    gguf.reader
        .seek(SeekFrom::Start(0))
        .map_err(|source| unreadable("The model", source, path))?;
    let source = Source {
        reader: &mut gguf.reader,
        n_bytes: gguf.n_bytes,
        path,
    };
    let parts = Parts {
        checkpoint: Checkpoint::from_gguf(&header, source, progress)?,
        end_tokens: end_tokens_of(&header),
        blueprint,
        tokenizer,
        chat: chat_template::of_gguf(&header),
        advice: advice_of_gguf(&header),
        name: gguf.name.to_owned(),
        file: gguf.file.to_owned(),
    };
    parts.assemble(device)
}

fn open_folder(
    folder: &Path,
    device: &Device,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    let config = require(folder, "config.json")?;
    let config_text = config.display().to_string();
    let blueprint = Blueprint::from_config(
        &read_file(&config, "The model's configuration")?,
        &config_text,
    )?;
    let mut tokenizer = read_tokenizer(&require(folder, "tokenizer.json")?)?;
    let tokenizer_config = TokenizerConfig::of_folder(folder)?;
    tokenizer_config.apply(&mut tokenizer);
    if folder.join("model.safetensors.index.json").is_file() {
        return Err(EngineError::FeatureMissing {
            feature: "weights that are split over several files".to_owned(),
            path: folder.display().to_string(),
        });
    }
    let weights = require(folder, "model.safetensors")?;
    let mut end_tokens = blueprint.end_tokens.clone();
    let mut advice = None;
    let settings = folder.join("generation_config.json");
    if settings.is_file() {
        let json = read_file(&settings, "The model's generation settings")?;
        let path = settings.display().to_string();
        end_tokens.extend(end_tokens_of_generation_config(&json, &path)?);
        advice = advice_of_generation_config(&json);
    }
    let (file, n_bytes) = open_file(&weights, "The model's weights")?;
    let source = Source {
        reader: &mut BufReader::new(file),
        n_bytes,
        path: &weights.display().to_string(),
    };
    let parts = Parts {
        checkpoint: Checkpoint::from_safetensors(source, progress)?,
        blueprint,
        tokenizer,
        chat: tokenizer_config.chat_template(),
        end_tokens,
        advice,
        name: lossy(folder.file_name()),
        file: lossy(weights.file_name()),
    };
    parts.assemble(device)
}

/// All that a model is made of.
struct Parts {
    blueprint: Blueprint,
    checkpoint: Checkpoint,
    tokenizer: Tokenizer,
    chat: Option<Result<ChatTemplate, ChatError>>,
    end_tokens: Vec<TokenId>,
    advice: Option<ModelAdvice>,
    name: String,
    file: String,
}

impl Parts {
    fn assemble(mut self, device: &Device) -> Result<LoadedModel, EngineError> {
        let architecture = self.blueprint.architecture.clone();
        let quantization = self.checkpoint.quantization().to_owned();
        let (lm, n_params) = decoder(self.blueprint, &mut self.checkpoint, device)?;
        let n_vocab = lm.n_vocab();
        check_tokenizer(&self.tokenizer, n_vocab)?;
        let vocabulary = self.tokenizer.vocabulary(n_vocab);
        let info = ModelInfo {
            name: self.name,
            architecture,
            n_params,
            quantization,
            device: device.name(),
            n_vocab,
            n_context: lm.n_context(),
            file: self.file,
            sha256: self.checkpoint.sha256(),
        };
        Ok(LoadedModel {
            lm,
            end_tokens: all_end_tokens(self.end_tokens, &self.tokenizer, &vocabulary),
            tokenizer: self.tokenizer,
            chat: self.chat,
            vocabulary: Arc::new(vocabulary),
            info: Arc::new(info),
            advice: self.advice.map(Arc::new),
        })
    }
}

fn decoder(
    blueprint: Blueprint,
    checkpoint: &mut Checkpoint,
    device: &Device,
) -> Result<(Box<dyn CausalLm>, u64), EngineError> {
    let candle = device.candle().clone();
    if candle.is_cpu() {
        let decoder = Decoder::on_cpu(blueprint, checkpoint)?;
        let n_params = decoder.n_params();
        Ok((Box::new(decoder), n_params))
    } else {
        let decoder = Decoder::on_device(blueprint, checkpoint, candle)?;
        let n_params = decoder.n_params();
        Ok((Box::new(decoder), n_params))
    }
}

/// A table may have some rows more than the tokenizer has tokens, for the sake of round numbers, but
/// never fewer, and never so many more that the two can't belong together.
fn check_tokenizer(tokenizer: &Tokenizer, n_model: usize) -> Result<(), EngineError> {
    let n_tokenizer = tokenizer.n_tokens();
    let n_surplus = (n_model / 8).max(1024);
    if n_tokenizer <= n_model && n_model - n_tokenizer <= n_surplus {
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

fn read_tokenizer(path: &Path) -> Result<Tokenizer, EngineError> {
    let json = read_file(path, "The tokenizer")?;
    Tokenizer::from_json(&json, &path.display().to_string())
}

fn read_file(path: &Path, what: &'static str) -> Result<Vec<u8>, EngineError> {
    std::fs::read(path).map_err(|source| unreadable(what, source, &path.display().to_string()))
}

fn open_file(path: &Path, what: &'static str) -> Result<(File, u64), EngineError> {
    let opened = File::open(path).and_then(|file| {
        let n_bytes = file.metadata()?.len();
        Ok((file, n_bytes))
    });
    opened.map_err(|source| unreadable(what, source, &path.display().to_string()))
}

fn unreadable(what: &'static str, source: std::io::Error, path: &str) -> EngineError {
    EngineError::FileUnreadable {
        what,
        source,
        path: path.to_owned(),
    }
}

fn lossy(name: Option<&std::ffi::OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}
