//! Compares tokenizers from GGUF metadata, and chat templates, with their reference
//! implementations. The scripts next to the fixtures ran those.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failing test may panic, in helpers too"
)]

mod chats;
mod metadata;
mod vocabularies;
