//! Tokenizers from the metadata of GGUF files, and chat templates, against the references that the
//! scripts beside the fixtures ran.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may panic, in a helper too"
)]

mod chats;
mod metadata;
mod vocabularies;
