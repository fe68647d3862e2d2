//! Compares tokenizers from GGUF metadata, and chat templates, with their reference
//! implementations. The scripts next to the fixtures ran those.

mod chats;
mod metadata;
mod vocabularies;
