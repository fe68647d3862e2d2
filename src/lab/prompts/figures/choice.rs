//! The choice at which right and wrong answers part: the candidates, the coin of each answer, and the
//! smallest change of a setting that would have chosen otherwise.

use std::sync::Arc;

use super::results::{Fork, JudgedAnswer, TaskResults};
use crate::analysis::{SmallestChange, smallest_change_words};
use crate::decoding::{RankedCandidate, Sampled};
use crate::generation::{
    Generation, GenerationConfig, Limits, PromptRecord, Step, StepTime, TextModels, Vocabulary,
};
use crate::lab::prompts::ForkFound;

/// How many candidates are listed, and how many coins are shown.
const N_CANDIDATES: usize = 5;
const N_COINS: usize = 16;

/// The choice at which answers part.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkChoice {
    /// The candidates that the settings left, the most likely first, with their probabilities.
    pub kept: Vec<RankedCandidate>,
    /// The most likely candidates of the model, each with its probability before and after the
    /// settings, `None` if they removed it.
    pub candidates: Vec<(RankedCandidate, Option<f64>)>,
    /// What was drawn with the coin of each answer.
    pub draws: Vec<ForkDraw>,
    /// Whether the candidates differ between the answers, because a stage tosses its own coin.
    pub differs: bool,
}

/// The draw of one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkDraw {
    /// The index of the answer among those to its task.
    pub answer: usize,
    pub is_right: bool,
    /// `None` if no single coin decided.
    pub coin: Option<f64>,
    pub sampled: Sampled,
    /// The smallest change that would have chosen otherwise, in a sentence. Only the first right and
    /// the first wrong answer have one.
    pub change: Option<String>,
}

impl ForkChoice {
    /// Returns the indices of the answers whose coins are shown: both a right and a wrong one are
    /// among them.
    pub fn answers(answers: &[JudgedAnswer]) -> Vec<usize> {
        let first = |is_right: bool| answers.iter().position(|it| it.is_right() == is_right);
        let needed = [first(true), first(false)];
        let mut shown: Vec<usize> = (0..answers.len()).take(N_COINS).collect();
        for index in needed.into_iter().flatten() {
            if !shown.contains(&index) {
                shown.pop();
                shown.push(index);
            }
        }
        shown
    }

    /// Explains what was found. Returns `None` if it does not fit the answers.
    pub fn of(
        results: &TaskResults,
        (task, settings): (usize, usize),
        fork: &Fork,
        found: ForkFound,
    ) -> Option<Self> {
        let answers = results.answers(task, settings);
        let chain = results.settings_at(settings)?.chain.clone();
        let vocabulary = Arc::clone(results.model_vocabulary(settings)?);
        let first = found.draws.first()?.trace.clone();
        let differs = found.draws.iter().any(|draw| {
            let kept = draw.trace.survivors.iter().map(|it| it.token);
            !kept.eq(first.survivors.iter().map(|it| it.token))
        });
        let candidates = first.raw.head.iter().copied().enumerate();
        let candidates = candidates.map(|(index, raw)| (raw, first.head_final_prob(index)));
        let prompt = Arc::new(PromptRecord {
            tokens: found.prompt,
            ..PromptRecord::default()
        });
        let shown = Self::answers(answers).into_iter().zip(found.draws);
        let mut explained = [false; 2];
        let draws = shown.filter_map(|(index, sampled)| {
            let answer = answers.get(index)?;
            let config = GenerationConfig {
                chain: chain.clone(),
                seed: answer.seed,
                limits: Limits::default(),
            };
            let is_known =
                std::mem::replace(explained.get_mut(usize::from(answer.is_right()))?, true);
            let text = (!is_known).then(|| text(&vocabulary, config, (&prompt, fork), &sampled));
            Some(ForkDraw {
                answer: index,
                is_right: answer.is_right(),
                coin: sampled.trace.draw.coin,
                change: text.and_then(|text| {
                    let search = SmallestChange::find(&text, fork.shared.len())?;
                    Some(smallest_change_words(&text, &search))
                }),
                sampled,
            })
        });
        Some(Self {
            draws: draws.collect(),
            candidates: candidates.take(N_CANDIDATES).collect(),
            kept: first.survivors,
            differs,
        })
    }
}

/// Returns the beginning of an answer up to the choice, as a pane would have recorded it. Of the tokens
/// before the choice only the ids are known, and only those are read.
fn text(
    vocabulary: &Arc<Vocabulary>,
    config: GenerationConfig,
    (prompt, fork): (&Arc<PromptRecord>, &Fork),
    sampled: &Sampled,
) -> Generation {
    let models = TextModels {
        vocabulary: Arc::clone(vocabulary),
        ..TextModels::default()
    };
    let mut text = Generation::begin(String::new(), config, Arc::clone(prompt), models);
    let trace = Arc::new(sampled.trace.clone());
    for token in fork.shared.iter().chain([&sampled.token]) {
        text.steps.push(Step {
            token: *token,
            piece: vocabulary.piece(*token),
            trace: Arc::clone(&trace),
            time: StepTime::default(),
            draft: None,
            logits_hash: None,
        });
    }
    text
}
