//! What a lesson can read about one token.

use std::f64::consts::LN_2;

use super::value::Value;
use crate::analysis::WhatIfReader;
use crate::decoding::{ChainConfig, FinalProb, RankedCandidate, StageReport, WhatIf};
use crate::generation::formatting::token_word;
use crate::generation::{Generation, Step, in_sentence};

/// A field of a token, or of another candidate at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenField {
    /// Its text.
    Word,
    Drawn(DrawnField),
    /// The candidate of this rank in the model's own distribution.
    Ranked(usize, CandidateField),
    /// The candidate with this text.
    Named(String, CandidateField),
    /// The token that the pane's current settings would draw there, with the same coin.
    WhatIf,
}

/// A field of the token that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnField {
    /// Its probability before the settings.
    Prob,
    /// Its probability after the settings.
    Final,
    /// Its rank before the settings.
    Rank,
    /// How many candidates the settings left.
    Kept,
    /// The coin that drew it.
    Coin,
    /// The entropy of the model's distribution, in bits.
    Entropy,
    /// Its surprise before the settings, in bits.
    Surprise,
    /// Its number in the text.
    Number,
    /// The size of the vocabulary.
    Candidates,
}

/// A field of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateField {
    Word,
    Prob,
    Final,
    Logit,
    /// What cut it: a stage, the selector, or nothing.
    Cut,
}

/// The names of [`DrawnField`].
const DRAWN: [(&str, DrawnField); 9] = [
    ("prob", DrawnField::Prob),
    ("final", DrawnField::Final),
    ("rank", DrawnField::Rank),
    ("kept", DrawnField::Kept),
    ("coin", DrawnField::Coin),
    ("entropy", DrawnField::Entropy),
    ("surprise", DrawnField::Surprise),
    ("number", DrawnField::Number),
    ("candidates", DrawnField::Candidates),
];

impl CandidateField {
    fn read(parts: &[&str]) -> Option<Self> {
        match parts {
            [] => Some(Self::Word),
            ["prob"] => Some(Self::Prob),
            ["final"] => Some(Self::Final),
            ["logit"] => Some(Self::Logit),
            ["cut"] => Some(Self::Cut),
            _ => None,
        }
    }

    fn value(self, text: &Generation, step: &Step, candidate: &RankedCandidate) -> Option<Value> {
        match self {
            Self::Word => {
                let piece = text.vocabulary.piece(candidate.token);
                Some(Value::Text(token_word(&piece)))
            }
            Self::Prob => Some(Value::prob(candidate.prob)),
            Self::Final => {
                let mut head = step.trace.raw.head.iter();
                let index = head.position(|ranked| ranked.token == candidate.token)?;
                match step.trace.known_head_final(index) {
                    FinalProb::Kept(prob) => Some(Value::prob(prob)),
                    FinalProb::Cut => Some(Value::prob(0.0)),
                    FinalProb::Unknown => None,
                }
            }
            Self::Logit => Some(Value::plain(f64::from(candidate.logit))),
            Self::Cut => Some(Value::Text(cut_by(step, candidate)?)),
        }
    }
}

/// Returns the name of the stage that cut a candidate, "selector", or "nothing".
fn cut_by(step: &Step, candidate: &RankedCandidate) -> Option<String> {
    let trace = &step.trace;
    let mut head = trace.raw.head.iter();
    let index = head.position(|ranked| ranked.token == candidate.token)?;
    let is_cut = |stage: &&StageReport| matches!(stage.head_probs.get(index), Some(None));
    Some(match trace.stages.iter().find(is_cut) {
        Some(stage) => in_sentence(stage.filter.name()),
        None if trace.head_final_prob(index).is_none() => "selector".to_owned(),
        None => "nothing".to_owned(),
    })
}

impl TokenField {
    pub(super) fn read(parts: &[&str]) -> Option<Self> {
        match parts {
            [] => Some(Self::Word),
            ["top", rank, field @ ..] => {
                let rank = rank.parse().ok().filter(|rank: &usize| *rank > 0)?;
                Some(Self::Ranked(rank, CandidateField::read(field)?))
            }
            ["of", word, field @ ..] => {
                let field = CandidateField::read(field)?;
                Some(Self::Named((*word).to_owned(), field))
            }
            ["what_if"] => Some(Self::WhatIf),
            [field] => {
                let (_, field) = DRAWN.iter().find(|(name, _)| name == field)?;
                Some(Self::Drawn(*field))
            }
            _ => None,
        }
    }

    /// Returns the value at the step with this index. `now` is the pane's current chain.
    pub(super) fn value(
        &self,
        text: &Generation,
        index: usize,
        now: Option<&ChainConfig>,
    ) -> Option<Value> {
        let step = text.steps.get(index)?;
        let head = &step.trace.raw.head;
        match self {
            Self::Word => Some(Value::Text(token_word(&step.piece))),
            Self::WhatIf => what_if(text, index, now?).map(Value::Text),
            Self::Drawn(field) => field.value(step, index),
            Self::Ranked(rank, field) => field.value(text, step, head.get(rank - 1)?),
            Self::Named(word, field) => {
                let is_named = |candidate: &&RankedCandidate| {
                    let piece = text.vocabulary.piece(candidate.token);
                    token_word(&piece) == *word
                };
                field.value(text, step, head.iter().find(is_named)?)
            }
        }
    }
}

/// Returns the token that these settings would draw at a step, if the record determines it.
fn what_if(text: &Generation, index: usize, chain: &ChainConfig) -> Option<String> {
    chain.validate().ok()?;
    let mut reader = WhatIfReader::new(&text.prompt, chain.clone(), text.config.seed);
    let outcomes = text
        .steps
        .iter()
        .take(index + 1)
        .map(|step| reader.read(step));
    match outcomes.last()?? {
        WhatIf::Exact(token) => Some(token_word(&text.vocabulary.piece(token))),
        WhatIf::Unrecorded => Some("a rare token".to_owned()),
        WhatIf::Bounded(_) => None,
    }
}

impl DrawnField {
    fn value(self, step: &Step, index: usize) -> Option<Value> {
        let trace = &step.trace;
        Some(match self {
            Self::Prob => Value::prob(trace.known_raw_prob()?),
            Self::Final => Value::prob(trace.known_final_prob()?),
            Self::Rank => Value::count(trace.known_rank()? as usize),
            Self::Kept => Value::count(trace.n_known_kept()? as usize),
            Self::Coin => Value::plain(trace.draw.coin?),
            Self::Entropy => Value::plain(trace.known_entropy_nats()? / LN_2),
            Self::Surprise => Value::plain(trace.known_surprise_bits()?),
            Self::Number => Value::count(index + 1),
            Self::Candidates => Value::count(trace.n_known_candidates()? as usize),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::generation::PaneSettings;
    use crate::generation::testing::generation;
    use crate::lessons::{Path, Scene, Value};

    #[test]
    fn a_what_if_is_the_token_that_the_current_settings_would_draw() {
        let text = generation(&[(" fox", 0.4), (" owl", 0.1)]);
        let settings: PaneSettings = "greedy".parse().unwrap();
        let chain = &settings.chain;
        let mut scene = Scene {
            texts: vec![Some(&text)],
            ..Scene::default()
        };
        let path = Path::read("A.token.2.what_if").unwrap();
        assert_eq!(path.value(&scene, None), None, "the settings are not known");
        scene.chains = vec![Some(chain)];
        let best = Path::read("A.token.2.top.1").unwrap();
        assert_eq!(path.value(&scene, None), best.value(&scene, None));
        assert_ne!(
            path.value(&scene, None),
            Some(Value::Text("owl".to_owned()))
        );
    }
}
