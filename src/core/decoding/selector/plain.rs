//! The two usual ways to pick: the most likely candidate, and a draw by one coin.

use super::rule::{Memory, SelectorRule, Toss};
use super::{Candidates, Draw, Selector, SelectorSpec, Tosses, draw_by_coin, greedy};

/// Takes the most likely candidate.
pub(super) struct Greedy;

impl Greedy {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["greedy"],
        name: "Greedy",
        label: "Greedy",
        help: "Takes the most likely token that is left, as temperature 0 does. It tosses no coin, so \
               only XTC can make the text depend on the seed.",
        formula: "argmax of the logits",
        edges: &["Among equally likely tokens, the one with the lowest id is taken."],
        source: "No paper: the simplest way to decode",
        params: &[],
        needs: &[],
        tosses: Tosses::None,
        reweighs: false,
        engines: None,
        usual: Selector::Greedy,
    };
}

impl SelectorRule for Greedy {
    fn pick(&self, _toss: Toss<'_>, _memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        greedy(candidates)
    }
}

/// Draws each candidate with its probability.
pub(super) struct Multinomial;

impl Multinomial {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["sample", "multinomial"],
        name: "Multinomial",
        label: "Sample",
        help: "Tosses one coin from the seed and takes each token that is left with its probability. \
               This is the usual way.",
        formula: "the first token, the most likely first, at which Σ p > coin",
        edges: &[
            "The tokens lie end to end from 0 to 1, the most likely first; the coin takes the one on which it falls.",
        ],
        source: "No paper: sampling from a distribution",
        params: &[],
        needs: &[],
        tosses: Tosses::One,
        reweighs: false,
        engines: None,
        usual: Selector::Multinomial,
    };
}

impl SelectorRule for Multinomial {
    fn pick(&self, toss: Toss<'_>, _memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        draw_by_coin(toss.coins.draw(), candidates)
    }
}
