//! A checkpoint of one architecture, and its expected logits.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use quartet::engine::{self, Compute, LoadedModel};
use quartet::kernels::InputBits;

/// The format in which a checkpoint is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Safetensors with a `config.json` as transformers 5 writes it.
    Newer,
    /// Safetensors with a `config.json` as earlier versions write it.
    Older,
    Gguf,
}

/// An opened checkpoint.
pub(crate) struct Fixture {
    pub model: RefCell<LoadedModel>,
    pub tokens: Vec<u32>,
    logits: Vec<Vec<f32>>,
    /// The expected logits of texts up to a certain length, for models that process longer texts
    /// differently.
    short: Vec<Vec<f32>>,
    /// The first tokens, which the greedy text follows. Empty if the fixture has none.
    pub prompt: Vec<u32>,
    /// The text that transformers writes after the prompt, if the fixture has it.
    pub greedy: Vec<u32>,
}

impl Fixture {
    pub(crate) fn open(name: &str, form: Form) -> Self {
        Self::open_with(name, form, InputBits::default())
    }

    /// Opens a fixture that rounds the inputs of quantized weights to so many bits.
    pub(crate) fn open_with(name: &str, form: Form, inputs: InputBits) -> Self {
        let folder = folder(name);
        let model = open(&folder, form, inputs);
        let expected = folder.join("expected.safetensors");
        let expected = candle_core::safetensors::load(expected, &Device::Cpu).unwrap();
        let rows = |name: &str| expected.get(name).map(|rows| rows.to_vec2().unwrap());
        let text = |name: &str| expected.get(name).map(ids).unwrap_or_default();
        let in_gguf = rows("gguf_logits").filter(|_| form == Form::Gguf);
        Self {
            model: RefCell::new(model),
            tokens: ids(&expected["tokens"]),
            logits: in_gguf.or(rows("logits")).unwrap(),
            short: rows("short_logits").unwrap_or_default(),
            prompt: text("prompt"),
            greedy: match text("gguf_greedy") {
                other if form == Form::Gguf && !other.is_empty() => other,
                _ => text("greedy"),
            },
        }
    }

    /// Returns transformers' logits after each token.
    pub(crate) fn logits(&self) -> &[Vec<f32>] {
        &self.logits
    }

    /// Returns the expected logits at `position` if the sequence has `n_read` tokens after the
    /// forward pass.
    pub(crate) fn expected(&self, position: usize, n_read: usize) -> &[f32] {
        let is_short = n_read <= self.short.len();
        let rows = if is_short { &self.short } else { &self.logits };
        &rows[position]
    }
}

/// Returns the names of all fixtures in a folder: `fixtures` for our decoder, or `borrowed` for
/// candle-transformers.
pub(crate) fn names(kind: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(kind)).unwrap();
    let folders = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    folders
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

/// Reads a file of a fixture.
pub(crate) fn read(name: &str, file: &str) -> Vec<u8> {
    std::fs::read(folder(name).join(file)).unwrap()
}

/// Copies some of a fixture's files, and the tokenizer, to a folder.
pub(crate) fn copy(name: &str, files: &[&str], folder: &Path) {
    for file in files {
        std::fs::write(folder.join(file), read(name, file)).unwrap();
    }
    let tokenizer = root().join("fixtures/tokenizer.json");
    std::fs::copy(tokenizer, folder.join("tokenizer.json")).unwrap();
}

fn open(source: &Path, form: Form, inputs: InputBits) -> LoadedModel {
    let folder = tempfile::tempdir().unwrap();
    let name = source.file_name().unwrap().to_str().unwrap();
    let path = match form {
        Form::Newer => {
            copy(name, &["config.json", "model.safetensors"], folder.path());
            folder.path().to_owned()
        }
        Form::Older => {
            copy(name, &["model.safetensors"], folder.path());
            let older = read(name, "config.older.json");
            std::fs::write(folder.path().join("config.json"), older).unwrap();
            folder.path().to_owned()
        }
        Form::Gguf => {
            copy(name, &["model.gguf"], folder.path());
            folder.path().join("model.gguf")
        }
    };
    let compute = Compute {
        inputs,
        ..Compute::on_cpu()
    };
    open_path(&path, &compute)
}

/// Opens a folder or a file on the CPU.
pub(crate) fn open_folder(path: &Path) -> LoadedModel {
    open_path(path, &Compute::on_cpu())
}

fn open_path(path: &Path, compute: &Compute) -> LoadedModel {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(path, compute, keep_going);
    opened.unwrap().unwrap()
}

fn ids(tokens: &Tensor) -> Vec<u32> {
    tokens.to_dtype(DType::U32).unwrap().to_vec1().unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures")
}

fn folder(name: &str) -> PathBuf {
    let mut folders = ["fixtures", "borrowed"]
        .map(|kind| root().join(kind).join(name))
        .into_iter();
    folders.find(|folder| folder.is_dir()).unwrap()
}
