//! Reads a model's weights from GGUF and safetensors files: first the headers, which list the
//! tensors, then the values of each tensor on request, while a thread hashes the files.
//!
//! This module knows file formats. It knows nothing about architectures and devices.

mod buffer_pool;
mod catalog;
mod checkpoint;
mod converted;
mod exponents;
mod factors;
mod file_start;
mod fingerprint;
mod finite;
mod formats;
mod gguf;
mod load_stop;
mod open_files;
mod safetensors;
mod slices;
mod source;
mod stored_type;
mod stream;
mod synthetic;
mod tensor;
mod tensor_entry;

pub(super) use catalog::Catalog;
pub(super) use checkpoint::Checkpoint;
pub(super) use file_start::WantedBytes;
pub(super) use fingerprint::sha256_of;
pub(super) use gguf::{Header, Split, read_header, read_known_metadata};
pub(super) use load_stop::LoadStop;
pub(super) use open_files::OpenFiles;
pub(super) use safetensors::Index;
pub(super) use source::Source;
pub(super) use stored_type::{StoredType, is_half};
pub(super) use synthetic::{SyntheticTensor, SyntheticWeights};
pub(super) use tensor::StoredTensor;
pub(super) use tensor_entry::TensorEntry;

/// What error messages call the files.
const WHAT: &str = "The model’s weights";
