//! The id that links a generation request to its events.

/// Identifies a requested generation. Ids are never reused, so late events of an abandoned
/// generation can be recognized and dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GenerationId(pub u64);
