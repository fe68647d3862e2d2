//! The record of a beam search: which texts went on after each pass, and which were dropped.

use super::Piece;
use crate::decoding::TokenId;
use crate::decoding::selector::Fate;

/// All passes of a beam search. Empty for a text that was written otherwise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beams {
    /// How many generated tokens the text had before the first pass.
    pub n_before: usize,
    pub passes: Vec<BeamPass>,
}

/// What one pass of a beam search compared: the best continuations of all beams, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamPass {
    pub nodes: Vec<BeamNode>,
}

/// A token by which a beam could continue, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamNode {
    /// The text that it continues: its place among the running nodes of the previous pass. The
    /// first pass has one text, the prompt.
    pub parent: usize,
    pub token: TokenId,
    pub piece: Piece,
    /// The total log-prob of the generated text with this token, in nats, under the pane's stages.
    /// With [`BeamScores::LogProbs`], it is what the stages leave of the model's log-probs.
    ///
    /// [`BeamScores::LogProbs`]: crate::decoding::rules::BeamScores::LogProbs
    pub log_prob: f64,
    pub fate: Fate,
}

/// The place of a node: its pass, and its rank there, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BeamPlace {
    pub pass: usize,
    pub node: usize,
}

impl BeamPass {
    /// Iterates over the nodes that go on, with their places, best first.
    pub fn running(&self) -> impl Iterator<Item = (usize, &BeamNode)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.fate == Fate::Running)
    }
}

impl Beams {
    /// Returns the node at a place.
    pub fn node(&self, place: BeamPlace) -> Option<&BeamNode> {
        self.passes.get(place.pass)?.nodes.get(place.node)
    }

    /// Returns the place of the node that this one continues, or `None` if it continues the prompt.
    pub fn parent_of(&self, place: BeamPlace) -> Option<BeamPlace> {
        let parent = self.node(place)?.parent;
        let pass = place.pass.checked_sub(1)?;
        let (node, _) = self.passes.get(pass)?.running().nth(parent)?;
        Some(BeamPlace { pass, node })
    }

    /// Returns the nodes from the first pass to this one.
    pub fn path_to(&self, place: BeamPlace) -> Vec<BeamPlace> {
        let up = std::iter::successors(Some(place), |place| self.parent_of(*place));
        let mut path: Vec<BeamPlace> = up.collect();
        path.reverse();
        path
    }

    /// Returns the path of nodes with these tokens, as far as there is one. If there are several,
    /// it is the one that goes furthest and ends with the best rank.
    pub fn path_of(&self, tokens: &[TokenId]) -> Vec<BeamPlace> {
        // The nodes at which a path with the tokens so far ends.
        let mut ends: Vec<BeamPlace> = Vec::new();
        for ((pass, compared), token) in self.passes.iter().enumerate().zip(tokens) {
            let nodes = compared.nodes.iter().enumerate();
            let taken =
                nodes.filter(|(_, node)| node.token == *token && node.fate != Fate::Dropped);
            let places = taken.map(|(node, _)| BeamPlace { pass, node });
            let continues = |place: &BeamPlace| {
                let parent = self.parent_of(*place);
                parent.is_none_or(|parent| ends.contains(&parent))
            };
            let next: Vec<BeamPlace> = places.filter(continues).collect();
            if next.is_empty() {
                break;
            }
            ends = next;
        }
        let best = ends.first();
        best.map(|place| self.path_to(*place)).unwrap_or_default()
    }

    /// Returns which nodes of each pass lead to a text that goes on or has ended.
    pub fn alive(&self) -> Vec<Vec<bool>> {
        let fates =
            |pass: &BeamPass, fate| pass.nodes.iter().map(|node| node.fate == fate).collect();
        let mut alive: Vec<Vec<bool>> = self.passes.iter().map(|p| fates(p, Fate::Ended)).collect();
        if let (Some(last), Some(pass)) = (alive.last_mut(), self.passes.last()) {
            for (place, _) in pass.running() {
                if let Some(node) = last.get_mut(place) {
                    *node = true;
                }
            }
        }
        for pass in (1..self.passes.len()).rev() {
            for node in 0..alive.get(pass).map_or(0, Vec::len) {
                let lives = alive.get(pass).and_then(|nodes| nodes.get(node)) == Some(&true);
                let parent = self.parent_of(BeamPlace { pass, node });
                if let Some(parent) = parent.filter(|_| lives)
                    && let Some(flag) = alive
                        .get_mut(parent.pass)
                        .and_then(|p| p.get_mut(parent.node))
                {
                    *flag = true;
                }
            }
        }
        alive
    }
}

#[cfg(test)]
mod tests {
    use super::{BeamNode, BeamPass, BeamPlace, Beams};
    use crate::decoding::TokenId;
    use crate::decoding::selector::Fate;
    use crate::generation::Piece;

    fn node(parent: usize, token: u32, fate: Fate) -> BeamNode {
        BeamNode {
            parent,
            token: TokenId(token),
            piece: Piece::text(*b"x"),
            log_prob: -f64::from(token),
            fate,
        }
    }

    #[test]
    fn a_path_leads_through_the_beams_that_went_on() {
        let first = [Fate::Ended, Fate::Running, Fate::Running]
            .map(|fate| node(0, 1, fate))
            .to_vec();
        let second = vec![node(1, 2, Fate::Running), node(0, 3, Fate::Dropped)];
        let passes = [first, second].map(|nodes| BeamPass { nodes }).into();
        let beams = Beams {
            n_before: 0,
            passes,
        };
        let place = |pass, node| BeamPlace { pass, node };
        assert_eq!(beams.path_to(place(1, 0)), [place(0, 2), place(1, 0)]);
        assert_eq!(beams.path_to(place(1, 1)), [place(0, 1), place(1, 1)]);
        assert_eq!(beams.path_to(place(0, 0)), [place(0, 0)]);
        let path = |tokens: [u32; 2]| beams.path_of(&tokens.map(TokenId));
        assert_eq!(path([1, 2]), [place(0, 2), place(1, 0)]);
        assert_eq!(path([1, 3]), [place(0, 0)]);
        assert_eq!(path([9, 2]), []);
        let alive = [vec![true, false, true], vec![true, false]];
        assert_eq!(beams.alive(), alive);
    }
}
