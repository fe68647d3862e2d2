//! Settings that a server can't have.

use super::{Connection, SampledBy, ServerError};
use crate::decoding::Need::{Memory, TokenIds, WholeVocabulary};
use crate::decoding::{ChainConfig, Host, Need};

/// Rejects settings that need more than the server offers.
pub(super) fn check_settings(
    connection: &Connection,
    chain: &ChainConfig,
) -> Result<(), ServerError> {
    let Some(need) = host(connection).lacks(chain) else {
        return Ok(());
    };
    Err(ServerError::Unsupported {
        what: chain.needing(need),
        needed: match need {
            WholeVocabulary => "the whole vocabulary, or the server’s own sampler",
            TokenIds => "token ids",
            Need::SeveralTexts | Memory | Need::SecondRow | Need::DraftRows | Need::SecondModel => {
                "a model on this computer"
            }
        },
        kind: connection.kind().name(),
    })
}

/// Returns what a server offers: its own sampler follows grammars, and some kinds report no ids.
fn host(connection: &Connection) -> Host {
    let has_ids = connection.kind().has_ids();
    Host {
        offers: match (connection.sampled_by(), has_ids) {
            (SampledBy::Chain, true) => &[Memory, TokenIds],
            (SampledBy::Chain, false) => &[Memory],
            (SampledBy::Server, true) => &[Memory, WholeVocabulary, TokenIds],
            (SampledBy::Server, false) => &[Memory, WholeVocabulary],
        },
        refusals: &[],
    }
}
