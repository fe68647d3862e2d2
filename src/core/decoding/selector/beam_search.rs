//! Beam search: several texts grow side by side, and those with the highest total log-prob go on.

use serde::{Deserialize, Serialize};

use super::rule::{Memory, SelectorRule, Toss};
use super::{Candidates, Draw, Selector, SelectorSpec, Tosses, draw_without_coin};
use crate::decoding::dialect::Dialect;
use crate::decoding::setting::{Limits, ParamSpec, Scale, field};
use crate::decoding::{Need, TokenId};

/// The most beams that a search may keep.
const MAX_WIDTH: f32 = 16.0;

/// Keeps the `width` texts with the highest total log-prob after each pass. A text that ends is
/// scored by its total divided by its length to the power of `length_penalty`, and the best of them
/// is the result.
///
/// The log-probs are those that the stages leave, so that a stage can rule out a token or change
/// its probability; [`BeamScores`] says whether they are normalized. A search looks at several
/// texts, so it needs a separate decoding loop; on a single row of logits it takes the top token.
///
/// Lowerre 1976, "The HARPY Speech Recognition System"; the rules for when texts end and when the
/// search ends are those of `_beam_search` in transformers 5.
///
/// [`BeamScores`]: crate::decoding::rules::BeamScores
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BeamSearch {
    /// How many texts go on after each pass, 2 to 16.
    pub width: u32,
    /// The power of the length by which a total is divided. Above 0, longer texts gain.
    pub length_penalty: f32,
    /// When the search ends: 0 as soon as the running texts, at their present length, can't beat
    /// those that have ended; 1 as soon as `width` texts have ended; 2 as soon as they can't beat
    /// them at any length.
    pub early_stopping: u32,
}

impl BeamSearch {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["beams", "beam-search"],
        name: "Beam search",
        label: "Beam search",
        help: "Lets several texts grow side by side and keeps those with the highest total probability. \
               It tosses no coin, and its texts tend to be short and dull.",
        formula: "keep the n texts with the highest Σ ln p; in the end, the highest Σ ln p / length^penalty",
        edges: &[
            "It needs several texts, so nothing can be stepped or picked by hand.",
            "Whether log-probs are normalized again after the stages is a setting of its own, as engines disagree.",
        ],
        source: "Lowerre 1976, \"The HARPY Speech Recognition System\"; with neural networks: Sutskever, \
                 Vinyals, Le 2014, \"Sequence to Sequence Learning with Neural Networks\", arXiv \
                 1409.3215",
        params: &[
            ParamSpec {
                label: "Beams",
                help: "How many texts grow side by side: more beams find more likely texts but take \
                       longer.",
                range: 2.0..=MAX_WIDTH,
                limits: Limits::Between(2.0, MAX_WIDTH),
                usual: 4.0..=8.0,
                decimals: 0,
                scale: Scale::Linear,
                ..ParamSpec::new(field!(Count, Selector::BeamSearch.width))
            },
            ParamSpec {
                key: "length",
                label: "Length penalty",
                help: "The power of a text’s length by which its total is divided: above 0 longer texts \
                       gain, below 0 shorter ones.",
                range: -2.0..=2.0,
                limits: Limits::Finite,
                neutral: Some(0.0),
                usual: 0.6..=1.0,
                ..ParamSpec::new(field!(Real, Selector::BeamSearch.length_penalty))
            },
            ParamSpec {
                key: "early",
                label: "Early stopping",
                help: "When the search ends: 0 once the texts that go on look worse than those that have \
                       ended, 1 once as many have ended as there are beams, 2 once none can catch up.",
                range: 0.0..=2.0,
                limits: Limits::Between(0.0, 2.0),
                usual: 0.0..=1.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Selector::BeamSearch.early_stopping))
            },
        ],
        needs: &[Need::SeveralTexts],
        tosses: Tosses::None,
        reweighs: false,
        engines: Some(&[Dialect::Transformers]),
        usual: Selector::BeamSearch(Self {
            width: 4,
            length_penalty: 1.0,
            early_stopping: 0,
        }),
    };

    /// The number of texts that go on after each pass.
    pub const fn n_beams(&self) -> usize {
        self.width as usize
    }

    /// How many continuations each pass compares: enough that `width` of them go on even if every
    /// beam ends with each of these tokens.
    pub fn n_compared(&self, n_end_tokens: usize) -> usize {
        (1 + n_end_tokens).max(2) * self.n_beams()
    }

    /// The score of a text with this total log-prob, in nats, and this many generated tokens.
    pub fn score(&self, log_prob: f64, n_tokens: usize) -> f64 {
        log_prob / (n_tokens as f64).powf(f64::from(self.length_penalty))
    }

    /// Returns the best continuations of all beams, best first; among equals, those of better beams
    /// and lower ids come first.
    ///
    /// `rows` has the continuations of each beam, with the total log-prob of each text.
    pub fn best(rows: &[Vec<BeamCandidate>], n: usize) -> Vec<BeamCandidate> {
        let mut all: Vec<BeamCandidate> = rows.iter().flatten().copied().collect();
        all.sort_by(|a, b| {
            let order = b.log_prob.total_cmp(&a.log_prob);
            order.then_with(|| (a.parent, a.token).cmp(&(b.parent, b.token)))
        });
        all.truncate(n);
        all
    }

    /// Decides what becomes of the compared continuations. `ends` says for each of them, in order,
    /// whether it ends its text.
    pub fn fates(&self, ends: impl IntoIterator<Item = bool>, n_ended: usize) -> Vec<Fate> {
        let is_full = self.early_stopping == 1 && n_ended >= self.n_beams();
        let mut n_running = 0;
        let fates = ends.into_iter().enumerate().map(|(rank, ends)| {
            if ends && rank < self.n_beams() && !is_full {
                Fate::Ended
            } else if !ends && n_running < self.n_beams() {
                n_running += 1;
                Fate::Running
            } else {
                Fate::Dropped
            }
        });
        fates.collect()
    }

    /// Whether the search is over, given the scores of the best texts that have ended, the total of
    /// the best running text, its number of tokens, and the most that it may reach.
    pub fn is_over(
        &self,
        ended: &[f64],
        best_running: f64,
        n_tokens: usize,
        n_max_tokens: usize,
    ) -> bool {
        if ended.len() < self.n_beams() {
            return false;
        }
        let n_likely = match self.early_stopping {
            1 => return true,
            2 if self.length_penalty > 0.0 => n_max_tokens,
            _ => n_tokens,
        };
        let worst = ended.iter().copied().fold(f64::INFINITY, f64::min);
        self.score(best_running, n_likely) <= worst
    }
}

impl SelectorRule for BeamSearch {
    /// Takes the top token of a single row. All candidates stay, because a search compares them
    /// with those of other rows.
    fn pick(&self, _toss: Toss<'_>, _memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        let best = candidates.best();
        draw_without_coin(best, &candidates.softmax())
    }
}

/// A token that a beam may take next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamCandidate {
    /// The rank of the beam, from 0.
    pub parent: usize,
    pub token: TokenId,
    /// The total log-prob of the text with this token, in nats.
    pub log_prob: f64,
}

/// What becomes of a continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Its text goes on.
    Running,
    /// Its text has ended, and may be the result.
    Ended,
    /// Better ones took all the places.
    Dropped,
}

#[cfg(test)]
mod tests {
    use super::{BeamCandidate, BeamSearch, Fate};
    use crate::decoding::TokenId;

    const SEARCH: BeamSearch = BeamSearch {
        width: 2,
        length_penalty: 1.0,
        early_stopping: 0,
    };

    fn candidate(parent: usize, token: u32, log_prob: f64) -> BeamCandidate {
        BeamCandidate {
            parent,
            token: TokenId(token),
            log_prob,
        }
    }

    #[test]
    fn the_best_of_all_beams_come_first() {
        let rows = [
            vec![candidate(0, 5, -1.0), candidate(0, 6, -3.0)],
            vec![candidate(1, 4, -1.0), candidate(1, 7, -2.0)],
        ];
        let best = BeamSearch::best(&rows, 3);
        let best: Vec<u32> = best.iter().map(|best| best.token.0).collect();
        assert_eq!(best, [5, 4, 7]);
    }

    #[test]
    fn only_the_first_places_may_end_and_only_width_texts_go_on() {
        use Fate::{Dropped, Ended, Running};
        let fates = SEARCH.fates([true, false, true, false, false], 0);
        assert_eq!(fates, [Ended, Running, Dropped, Running, Dropped]);
        let eager = BeamSearch {
            early_stopping: 1,
            ..SEARCH
        };
        assert_eq!(eager.fates([true, false], 2), [Dropped, Running]);
        assert_eq!(SEARCH.fates([true, false], 2), [Ended, Running]);
    }

    #[test]
    fn a_search_ends_when_nothing_better_can_come() {
        // Two texts have ended with −1.0 and −1.2 per token.
        let ended = [-1.0, -1.2];
        assert!(!SEARCH.is_over(&ended[..1], -100.0, 4, 8));
        assert!(!SEARCH.is_over(&ended, -4.0, 4, 8));
        assert!(SEARCH.is_over(&ended, -4.8, 4, 8));
        let [eager, patient] = [1, 2].map(|early_stopping| BeamSearch {
            early_stopping,
            ..SEARCH
        });
        assert!(eager.is_over(&ended, -4.0, 4, 8));
        // At eight tokens, the same total would be −0.6 per token.
        assert!(!patient.is_over(&ended, -4.8, 4, 8));
        assert!(patient.is_over(&ended, -9.6, 4, 8));
    }

    #[test]
    fn a_length_penalty_of_0_scores_the_total() {
        let plain = BeamSearch {
            length_penalty: 0.0,
            ..SEARCH
        };
        assert!((plain.score(-6.0, 3) - -6.0).abs() < 1e-12);
        assert!((SEARCH.score(-6.0, 3) - -2.0).abs() < 1e-12);
        assert_eq!((SEARCH.n_compared(0), SEARCH.n_compared(2)), (4, 6));
    }
}
