//! Settings that a server can't have.

use super::{Connection, SampledBy, ServerError};
use crate::decoding::{ChainConfig, Filter, Selector};

/// Rejects settings that need more than a head.
pub(super) fn check_settings(
    connection: &Connection,
    chain: &ChainConfig,
) -> Result<(), ServerError> {
    let kind = connection.kind();
    let by_chain = connection.sampled_by() == SampledBy::Chain;
    let needs_ids = |filter: &Filter| {
        matches!(
            filter,
            Filter::LogitBias(_) | Filter::GreenList(_) | Filter::SynthId(_) | Filter::Dry(_)
        )
    };
    let local = "a model on this computer";
    let found = if matches!(chain.selector, Selector::BeamSearch(_)) {
        Some(("beam search".to_owned(), local))
    } else if chain.guidance.is_some() {
        Some(("guidance".to_owned(), local))
    } else if chain.drafts.is_some() {
        Some(("speculative decoding".to_owned(), local))
    } else if chain.grammar.is_some() && by_chain {
        Some((
            "a grammar".to_owned(),
            "the whole vocabulary, or the server’s own sampler",
        ))
    } else if let Some(filter) = chain.active().find(|filter| needs_ids(filter))
        && !kind.has_ids()
    {
        Some((filter.to_string(), "token ids"))
    } else {
        None
    };
    found.map_or(Ok(()), |(what, needed)| {
        let kind = kind.name();
        Err(ServerError::Unsupported { what, needed, kind })
    })
}
