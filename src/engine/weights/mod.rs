//! A model's weights as their files store them: first which there are, from the headers alone, then
//! the tensors one by one, each read when it is asked for, while all files are hashed.
//!
//! This module knows file formats; it knows no architecture and no device.

mod buffers;
mod catalog;
mod checkpoint;
mod fingerprint;
mod finite;
mod gguf;
mod made;
mod place;
mod safetensors;
mod source;
mod stored_type;
mod stream;
mod tensor;

pub use catalog::Catalog;
pub use checkpoint::Checkpoint;
pub use gguf::{Header, Split, read_header};
pub use made::{Made, MadeTensor};
pub use place::Place;
pub use safetensors::Index;
pub use source::Source;
pub use stored_type::{StoredType, is_half};
pub use tensor::StoredTensor;

/// What messages call the files that stand behind all this.
const WHAT: &str = "The model's weights";
