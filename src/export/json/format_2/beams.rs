//! The passes of a beam search.

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::decoding::selector::Fate;
use crate::export::json::ParseError;
use crate::generation::{BeamNode, BeamPass, Beams, Vocabulary};

/// All passes of the search that generated a text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BeamsEntry {
    /// How many generated tokens the text had before the first pass.
    n_before: usize,
    passes: Vec<Vec<NodeEntry>>,
}

/// A continuation that a pass compared.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    /// Its parent's index among the running nodes of the previous pass.
    parent: usize,
    token: TokenId,
    /// The total log-prob, in nats.
    log_prob: f64,
    fate: Fate,
}

impl BeamsEntry {
    /// Returns the entry of a text, or `None` if no beam search generated it.
    pub(super) fn of(beams: &Beams) -> Option<Self> {
        let node = |node: &BeamNode| NodeEntry {
            parent: node.parent,
            token: node.token,
            log_prob: node.log_prob,
            fate: node.fate,
        };
        let passes = beams.passes.iter();
        let passes = passes.map(|pass| pass.nodes.iter().map(node).collect());
        (!beams.passes.is_empty()).then(|| Self {
            n_before: beams.n_before,
            passes: passes.collect(),
        })
    }

    /// Converts the entry to beams. Fails if a node has no parent.
    pub(super) fn into_beams(self, vocabulary: &Vocabulary) -> Result<Beams, ParseError> {
        let mut passes: Vec<BeamPass> = Vec::new();
        let mut n_parents = 1;
        for nodes in self.passes {
            if nodes.iter().any(|node| node.parent >= n_parents) {
                return Err(ParseError::damaged("a beam continues a text that ended"));
            }
            let nodes = nodes.into_iter().map(|node| BeamNode {
                parent: node.parent,
                token: node.token,
                piece: vocabulary.piece(node.token),
                log_prob: node.log_prob,
                fate: node.fate,
            });
            let pass = BeamPass {
                nodes: nodes.collect(),
            };
            n_parents = pass.running().count();
            passes.push(pass);
        }
        Ok(Beams {
            n_before: self.n_before,
            passes,
        })
    }
}
