//! Sampling by hand that starts from a token of a generated text.

use super::{ByHand, HAND_SCORES, HandToken};
use crate::decoding::RankedCandidate;
use crate::generation::Piece;
use crate::state::Panes;

/// How many of a step's candidates become tokens.
const N_HELD: usize = 8;

/// The best logit after a shift, if the model's logits do not fit into the range. A shift does not
/// change any probability.
const SHIFTED_BEST: f32 = 8.0;

/// The most likely candidates of a step, to be edited by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldToken {
    /// The position of its pane.
    pane: usize,
    /// The position of the token in its text, counted from 1.
    pub number: usize,
    tokens: Vec<HandToken>,
}

impl ByHand {
    /// Replaces the tokens and logits with those of a step, and clears the history.
    pub fn load_held(&mut self, held: &HeldToken) {
        self.tokens.clone_from(&held.tokens);
        self.history.clear();
        self.n_prompt = 0;
        self.coin = None;
        self.pane = Some(held.pane);
    }
}

impl HeldToken {
    /// Returns the candidates of a step of the pane at this place. The token that was drawn is always
    /// among them.
    pub(super) fn of(panes: &Panes, (pane, index): (usize, usize)) -> Option<Self> {
        let generation = panes.get(pane)?.generation()?;
        let step = generation.steps.get(index)?;
        let head = &step.trace.raw.head;
        let mut candidates: Vec<RankedCandidate> = head.iter().take(N_HELD).copied().collect();
        let drawn = head.iter().find(|ranked| ranked.token == step.token);
        if let (Some(last), Some(drawn)) = (candidates.last_mut(), drawn)
            && drawn.logit < last.logit
        {
            *last = *drawn;
        }
        let range = *HAND_SCORES.start() as f32..=*HAND_SCORES.end() as f32;
        let fits = candidates
            .iter()
            .all(|ranked| range.contains(&ranked.logit));
        let best = candidates.first()?.logit;
        let shift = if fits { 0.0 } else { SHIFTED_BEST - best };
        let tokens: Vec<HandToken> = candidates
            .iter()
            .map(|ranked| HandToken {
                label: label_of(&generation.vocabulary.piece(ranked.token)),
                logit: (ranked.logit + shift).clamp(*range.start(), *range.end()),
            })
            .collect();
        (tokens.len() >= *super::HAND_TOKENS.start()).then_some(Self {
            pane,
            number: index + 1,
            tokens,
        })
    }
}

/// Returns a token's text without the spaces around it, or a symbol if it is blank.
fn label_of(piece: &Piece) -> String {
    let text = String::from_utf8_lossy(&piece.bytes);
    match text.trim() {
        "" if text.contains('\n') => "↵".to_owned(),
        "" => "␣".to_owned(),
        word => word.chars().take(24).collect(),
    }
}
