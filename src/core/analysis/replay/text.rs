//! Compares a recorded text with the same text generated again.

use super::description::false_description;
use super::facts::computed_alike;
use super::plan::was_interrupted;
use super::step::{
    Numbers, Unit, compare_numbers, drafted_alike, guided_alike, largest_gap, logit_gap,
    unconfirmed,
};
use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace};
use crate::decoding::TokenId;
use crate::generation::formatting::quoted;
use crate::generation::{FinishReason, Generation, Implementation, Step};

/// How a text compares with its replay.
#[derive(Debug, Clone, PartialEq)]
pub struct TextReplay {
    /// The largest difference of a logit or log-prob at each step, up to the first different token.
    pub gaps: Vec<f32>,
    /// What the gaps are between.
    pub unit: Unit,
    /// `None` if all tokens are the same.
    pub first_difference: Option<Difference>,
    /// The indices of the steps at which a number or the token is not the same, in order, up to the
    /// first different token.
    pub different: Vec<usize>,
    /// Whether the numbers should be the same, because the record names the same computation.
    pub is_alike: bool,
    /// Whether tokens were drafted in other passes than now, as in a text that was written in pieces.
    pub has_other_passes: bool,
    /// At how many steps the hashes of all logits were compared.
    pub n_hashed: usize,
    /// At how many steps nothing but the token was compared: earlier settings wrote them under
    /// another guidance, which is not repeated.
    pub n_unguided: usize,
    /// The first statement of the record that the same logits rule out.
    pub contradiction: Option<TextContradiction>,
}

/// The first step at which two texts have different tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The index of the step, from 0.
    pub step: usize,
    /// `None` if the text had ended.
    pub then: Option<TokenId>,
    /// `None` if the text has ended.
    pub now: Option<TokenId>,
    /// How far apart the logits of the two tokens were in the recorded text, if both are recorded.
    pub logit_gap: Option<f32>,
}

/// A statement of a text's record that the same logits rule out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextContradiction {
    /// The index of the step, from 0, if it is about one.
    pub step: Option<usize>,
    pub kind: ContradictionKind,
    /// One sentence that names both statements, without a full stop.
    pub words: String,
}

impl TextContradiction {
    /// Returns it as one of the text at this place.
    pub(super) fn at(self, place: RunPlace) -> Contradiction {
        let Self { step, kind, words } = self;
        Contradiction {
            place,
            step,
            kind,
            words,
        }
    }
}

impl TextReplay {
    /// Compares a recorded text with its replay, which may still be running: a replay without a
    /// finish reason is compared as far as it goes.
    pub fn of(then: &Generation, now: &Generation) -> Self {
        let is_served = then.model.implementation == Implementation::Server;
        let mut replay = Self {
            gaps: Vec::new(),
            unit: if is_served {
                Unit::LogProbs
            } else {
                Unit::Logits
            },
            first_difference: None,
            different: Vec::new(),
            is_alike: computed_alike(then, now),
            has_other_passes: false,
            n_hashed: 0,
            n_unguided: 0,
            contradiction: None,
        };
        if let Some(words) = false_description(then, now) {
            replay.contradict(None, ContradictionKind::Model, words);
        }
        let n_steps = match now.finish {
            Some(_) => then.steps.len().max(now.steps.len()),
            None => now.steps.len().min(then.steps.len()),
        };
        for index in 0..n_steps {
            replay.compare_step(index, then, now);
            if replay.first_difference.is_some() {
                break;
            }
        }
        replay.compare_end(then, now);
        replay
    }

    fn compare_step(&mut self, index: usize, then: &Generation, now: &Generation) {
        let n_under_earlier = then.n_under_earlier();
        let steps = (then.steps.get(index), now.steps.get(index));
        if let (Some(then), Some(now)) = steps {
            self.compare_numbers(index, then, now, index < n_under_earlier);
        }
        let token = |step: Option<&Step>| step.map(|step| step.token);
        let (token_then, token_now) = (token(steps.0), token(steps.1));
        if token_then == token_now {
            return;
        }
        if self.is_proving()
            && steps
                .0
                .zip(steps.1)
                .is_none_or(|(then, now)| drafted_alike(then, now))
        {
            let words = choice_words((then, steps.0), (now, steps.1));
            self.contradict(Some(index), ContradictionKind::Choice, words);
        }
        self.note_difference(index);
        self.first_difference = Some(Difference {
            step: index,
            then: token_then,
            now: token_now,
            logit_gap: logit_gap(steps.0, token_then, token_now),
        });
    }

    fn compare_numbers(&mut self, index: usize, then: &Step, now: &Step, under_earlier: bool) {
        if under_earlier && !guided_alike(then, now) {
            self.gaps.push(0.0);
            self.n_unguided += 1;
            return;
        }
        self.gaps.push(largest_gap(then, now, self.unit));
        let has_hashes = then.logits_hash.is_some() && now.logits_hash.is_some();
        self.n_hashed += usize::from(self.is_alike && has_hashes);
        let same_author = then.trace.draw.picked == now.trace.draw.picked;
        self.has_other_passes |= same_author && !under_earlier && !drafted_alike(then, now);
        match compare_numbers(then, now, self.is_alike) {
            Numbers::Same if then.token != now.token => {}
            Numbers::Same => {
                if let Some(part) = unconfirmed(then, now, under_earlier) {
                    let words = format!("{part} is not what its logits and its settings give");
                    self.contradict_if_proving(index, words);
                    self.note_difference(index);
                }
            }
            Numbers::Different => self.note_difference(index),
            Numbers::NotThoseOfHash => {
                let words = "its logits are not those of its hash".to_owned();
                self.contradict_if_proving(index, words);
                self.note_difference(index);
            }
        }
    }

    /// Compares how both texts ended.
    fn compare_end(&mut self, then: &Generation, now: &Generation) {
        let is_over = now.finish.is_some() && self.first_difference.is_none();
        if !is_over || !self.is_proving() || was_interrupted(then) {
            return;
        }
        if then.finish != now.finish {
            let (then, now) = (ending(then), ending(now));
            let words = format!("its settings end it with {now}; it says {then}");
            self.contradict(None, ContradictionKind::Ending, words);
        } else if then.beams.passes != now.beams.passes {
            let words = "its beams are not those that its settings keep".to_owned();
            self.contradict(None, ContradictionKind::Figures, words);
        }
    }

    fn note_difference(&mut self, step: usize) {
        if self.different.last() != Some(&step) {
            self.different.push(step);
        }
    }

    /// Returns whether all recorded numbers are bit-identical.
    pub const fn is_identical(&self) -> bool {
        self.different.is_empty()
    }

    /// Returns whether all numbers so far are bit-identical and were computed alike, so that
    /// whatever else differs contradicts them.
    const fn is_proving(&self) -> bool {
        self.is_alike && self.is_identical()
    }

    fn contradict_if_proving(&mut self, index: usize, words: String) {
        if self.is_proving() {
            self.contradict(Some(index), ContradictionKind::Figures, words);
        }
    }

    fn contradict(&mut self, step: Option<usize>, kind: ContradictionKind, words: String) {
        let found = TextContradiction { step, kind, words };
        self.contradiction.get_or_insert(found);
    }

    /// Returns the largest difference of all steps.
    pub fn largest_gap(&self) -> f32 {
        self.gaps.iter().copied().fold(0.0, f32::max)
    }
}

/// Says what the settings choose, and what the record says: "its settings and its coin 0.729 draw
/// ‘nest’; it says ‘hole’".
fn choice_words(then: (&Generation, Option<&Step>), now: (&Generation, Option<&Step>)) -> String {
    let word = |(text, step): (&Generation, Option<&Step>)| {
        step.map(|step| quoted(&text.vocabulary.piece(step.token)))
    };
    let coin = now.1.and_then(|step| step.trace.draw.coin);
    match (word(then), word(now), coin) {
        (Some(then), Some(now), Some(coin)) => {
            format!("its settings and its coin {coin:.3} draw {now}; it says {then}")
        }
        (Some(then), Some(now), None) => format!("its settings choose {now}; it says {then}"),
        (Some(then), None, _) => format!("its settings end the text before {then}"),
        (None, Some(now), _) => format!("its settings go on with {now}; it ends"),
        (None, None, _) => "it ends".to_owned(),
    }
}

fn ending(text: &Generation) -> String {
    match &text.finish {
        Some(FinishReason::EndOfText) => "the end of the text".to_owned(),
        Some(FinishReason::StopString { stop }) => format!("the stop sequence ‘{stop}’"),
        Some(FinishReason::MaxTokens) => "the token limit".to_owned(),
        Some(FinishReason::ContextFull) => "a full context".to_owned(),
        Some(FinishReason::GrammarComplete) => "a complete grammar".to_owned(),
        _ => "no end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Difference, TextReplay, Unit};
    use crate::analysis::contradictions::ContradictionKind;
    use crate::decoding::{Against, Guidance, LogitsHash, MixedRow, Mixture, TokenId};
    use crate::generation::testing::generation;
    use crate::generation::{EarlierSettings, FinishReason, Generation, Implementation, ModelInfo};

    /// A text whose record says how it was computed, with the hash of each row.
    fn known() -> Generation {
        let mut text = generation(&[(" the", 0.5), (" fox", 0.2), (" house", 0.1)]);
        let mut model = ModelInfo::clone(&text.model);
        model.provenance.version = "0.1.0".to_owned();
        text.model = Arc::new(model);
        for (index, step) in (0_u8..).zip(text.steps.iter_mut()) {
            step.logits_hash = Some(LogitsHash::of(&[index.into()]));
        }
        text.finish = Some(FinishReason::MaxTokens);
        text
    }

    #[test]
    fn a_text_is_identical_to_itself() {
        let text = generation(&[(" the", 0.5), (" fox", 0.2)]);
        let replay = TextReplay::of(&text, &text);
        assert!(replay.is_identical());
        assert_eq!(replay.gaps, [0.0, 0.0]);
        assert_eq!(replay.first_difference, None);
    }

    #[test]
    fn a_changed_logit_is_measured_and_a_changed_token_ends_the_comparison() {
        let then = generation(&[(" the", 0.5), (" fox", 0.2), (" house", 0.1)]);
        let mut now = then.clone();
        Arc::make_mut(&mut now.steps[0].trace).raw.head[1].logit += 0.25;
        let replay = TextReplay::of(&then, &now);
        assert!(!replay.is_identical() && replay.first_difference.is_none());
        assert!((replay.largest_gap() - 0.25).abs() < 1e-6);
        assert_eq!(replay.different, [0]);

        let other = generation(&[(" the", 0.5), (" a", 0.2), (" house", 0.1)]);
        let replay = TextReplay::of(&then, &other);
        let Some(Difference {
            step, logit_gap, ..
        }) = replay.first_difference
        else {
            panic!("the second token differs");
        };
        assert_eq!((step, replay.gaps.len()), (1, 2));
        assert_eq!(replay.different.last(), Some(&1));
        assert!(logit_gap.is_some());
    }

    #[test]
    fn a_text_that_ends_early_differs_where_it_ends_unless_it_is_still_running() {
        let then = generation(&[(" the", 0.5), (" fox", 0.2)]);
        let mut now = then.clone();
        now.steps.pop();
        let found = TextReplay::of(&then, &now).first_difference.unwrap();
        assert_eq!((found.step, found.now, found.logit_gap), (1, None, None));
        now.finish = None;
        assert_eq!(TextReplay::of(&then, &now).first_difference, None);
    }

    #[test]
    fn what_the_same_logits_rule_out_is_a_contradiction() {
        use ContradictionKind::{Choice, Ending, Figures};
        type Change<'a> = (
            &'a dyn Fn(&mut Generation),
            Option<usize>,
            ContradictionKind,
            &'a str,
        );
        let now = known();
        let replay = TextReplay::of(&now, &now);
        assert_eq!((replay.contradiction, replay.n_hashed), (None, 3));
        let changes: [Change<'_>; 6] = [
            (
                &|text| {
                    text.steps[1].token = text.steps[2].token;
                },
                Some(1),
                Choice,
                "; it says ‘house’",
            ),
            (
                &|text| Arc::make_mut(&mut text.steps[1].trace).raw_rank += 1,
                Some(1),
                Figures,
                "its rank is not what its logits and its settings give",
            ),
            (
                &|text| Arc::make_mut(&mut text.steps[2].trace).stages[0].n_kept += 1,
                Some(2),
                Figures,
                "what the stages did",
            ),
            (
                &|text| Arc::make_mut(&mut text.steps[0].trace).raw.head[3].logit += 1.0,
                Some(0),
                Figures,
                "its logits are not those of its hash",
            ),
            (
                &|text| {
                    text.steps.pop();
                },
                Some(2),
                Choice,
                "its settings go on with ‘house’; it ends",
            ),
            (
                &|text| text.finish = Some(FinishReason::EndOfText),
                None,
                Ending,
                "its settings end it with the token limit; it says the end of the text",
            ),
        ];
        for (change, step, kind, words) in changes {
            let mut then = now.clone();
            change(&mut then);
            let found = TextReplay::of(&then, &now).contradiction.expect(words);
            assert_eq!((found.step, found.kind), (step, kind), "{words}");
            assert!(found.words.contains(words), "{}", found.words);
            // Numbers that were computed otherwise rule nothing out.
            let mut other = now.clone();
            let mut model = ModelInfo::clone(&other.model);
            model.provenance.cache = "q8".to_owned();
            other.model = Arc::new(model);
            assert_eq!(TextReplay::of(&then, &other).contradiction, None, "{words}");
        }
    }

    #[test]
    fn a_logit_that_is_not_kept_is_noticed_by_its_hash_where_the_formats_are_the_same() {
        let then = known();
        let mut now = then.clone();
        now.steps[1].logits_hash = Some(LogitsHash::of(&[0.5]));
        let replay = TextReplay::of(&then, &now);
        assert!(!replay.is_identical() && replay.contradiction.is_none());
        assert_eq!(replay.first_difference, None);
        let mut model = ModelInfo::clone(&now.model);
        model.provenance.instructions = "portable".to_owned();
        now.model = Arc::new(model);
        let replay = TextReplay::of(&then, &now);
        assert!(replay.is_identical(), "only what is kept was compared");
        assert_eq!(replay.n_hashed, 0);
    }

    #[test]
    fn numbers_under_earlier_guidance_are_not_compared_with_those_without_it() {
        let now = known();
        let mut then = now.clone();
        let row = MixedRow {
            layer: None,
            top: TokenId(0),
            top_prob: 0.5,
            prob: 0.5,
            entropy_nats: 1.0,
            head_probs: Vec::new(),
        };
        let trace = Arc::make_mut(&mut then.steps[0].trace);
        trace.raw.head[0].logit += 1.0;
        trace.mixture = Some(Box::new(Mixture {
            guidance: Arc::new(Guidance::usual(Against::Model)),
            own: row.clone(),
            other: row,
        }));
        assert_eq!(TextReplay::of(&then, &now).different, [0]);
        let mut config = then.config.clone();
        config.chain.guidance = Some(Guidance::usual(Against::Model));
        then.earlier = vec![EarlierSettings { n_steps: 1, config }];
        let replay = TextReplay::of(&then, &now);
        assert!(replay.is_identical() && replay.contradiction.is_none());
        assert_eq!((replay.n_unguided, replay.n_hashed), (1, 2));
    }

    #[test]
    fn what_a_server_reports_is_compared_as_log_probs() {
        let now = known();
        let mut then = now.clone();
        let mut model = ModelInfo::clone(&then.model);
        model.implementation = Implementation::Server;
        then.model = Arc::new(model);
        for step in &mut then.steps {
            let raw = &mut Arc::make_mut(&mut step.trace).raw;
            for candidate in &mut raw.head {
                candidate.logit = candidate.prob.ln() as f32 + 0.01;
            }
            raw.log_sum_exp = 0.0;
        }
        let replay = TextReplay::of(&then, &now);
        assert_eq!(replay.unit, Unit::LogProbs);
        assert!((replay.largest_gap() - 0.01).abs() < 1e-5, "{replay:?}");
        assert_eq!(replay.contradiction, None);
    }
}
