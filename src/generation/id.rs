//! The name under which a generation is asked for and reported.

/// A generation that was asked for. Never used twice, so that late news of an abandoned one is told
/// apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GenerationId(pub u64);
