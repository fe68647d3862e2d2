//! A running blind test: the texts that were written for it, and those on screen.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{place_of, settings_words};
use crate::decoding::{ChainConfig, Coins};
use crate::generation::{
    GenerationId, Limits, ModelInfo, PromptText, SweepPlan, SweepText, Vocabulary,
};
use crate::lab::blind::figures::next_shown;
use crate::lab::blind::{BlindText, BlindVote, Strengths};
use crate::state::{ReadyModel, RunStatus};

/// How many texts of each contestant are written at a time.
const N_SEEDS: usize = 4;

/// How often two contestants may write the same text before they are no longer compared.
const MAX_SAME: usize = 8;

/// A text on screen, numbered by its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownText {
    contestant: usize,
    seed: u64,
    pub text: String,
}

/// A text that was written but not shown yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WaitingText {
    seed: u64,
    text: String,
}

/// A blind test between these settings.
#[derive(Debug, Clone, PartialEq)]
pub struct BlindRun {
    chains: Vec<ChainConfig>,
    /// The chains in words.
    settings: Vec<String>,
    pub prompt: PromptText,
    limits: Limits,
    model: Arc<ModelInfo>,
    vocabulary: Arc<Vocabulary>,
    /// The texts that are being written, and their first seed.
    writing: Option<(GenerationId, u64)>,
    /// The texts of each contestant that were not shown yet, oldest first.
    waiting: Vec<Vec<WaitingText>>,
    shown: Vec<ShownText>,
    /// How often two contestants wrote the same text.
    n_same: BTreeMap<(usize, usize), usize>,
    /// Complete once all settings write the same texts.
    pub status: RunStatus,
}

impl BlindRun {
    pub(super) fn new(
        chains: Vec<ChainConfig>,
        (prompt, limits): (PromptText, Limits),
        model: &ReadyModel,
    ) -> Self {
        Self {
            settings: chains.iter().map(settings_words).collect(),
            waiting: vec![Vec::new(); chains.len()],
            chains,
            prompt,
            limits,
            model: Arc::clone(&model.info),
            vocabulary: Arc::clone(&model.vocabulary),
            writing: None,
            shown: Vec::new(),
            n_same: BTreeMap::new(),
            status: RunStatus::Running,
        }
    }

    /// Returns whether this instance of a model writes the texts.
    pub(super) fn is_of(&self, model: &Arc<ModelInfo>) -> bool {
        Arc::ptr_eq(&self.model, model)
    }

    /// Returns the settings that are compared.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// Returns the texts on screen.
    pub fn shown(&self) -> &[ShownText] {
        &self.shown
    }

    pub(super) const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    /// Returns whether no texts are on screen although some should be.
    pub(super) fn wants_texts(&self) -> bool {
        self.is_running() && self.shown.is_empty()
    }

    /// Hides the texts. Returns the id of those that are being written.
    pub(super) fn stop(&mut self) -> Option<GenerationId> {
        if self.is_running() {
            self.status = RunStatus::Stopped;
        }
        self.shown.clear();
        self.writing.take().map(|(id, _)| id)
    }

    pub(super) fn fail(&mut self, error: &str) {
        if self.is_running() {
            let error = error.to_owned();
            self.end(RunStatus::Failed { error });
        }
    }

    /// Plans more texts of all contestants, with seeds starting at this one.
    pub(super) fn write(&mut self, id: GenerationId, seed: u64) -> SweepPlan {
        self.writing = Some((id, seed));
        SweepPlan {
            prompts: vec![self.prompt.clone()],
            cells: self.chains.clone(),
            limits: self.limits.clone(),
            seed,
            n_seeds: N_SEEDS,
            width: SweepPlan::DEFAULT_WIDTH,
        }
    }

    /// Returns the id of the texts that are being written.
    pub(super) fn writing(&self) -> Option<GenerationId> {
        self.writing.map(|(id, _)| id)
    }

    /// Adds texts that were written.
    pub(super) fn add(&mut self, texts: Vec<SweepText>) {
        let first_seed = self.writing.map_or(0, |(_, seed)| seed);
        for text in texts {
            if let Some(waiting) = self.waiting.get_mut(text.cell) {
                waiting.push(WaitingText {
                    seed: first_seed.wrapping_add(text.seed as u64),
                    text: self.vocabulary.visible_text(&text.tokens),
                });
            }
        }
    }

    /// Ends the test, and hides the texts.
    pub(super) fn end(&mut self, status: RunStatus) {
        self.writing = None;
        self.shown.clear();
        self.status = status;
    }

    /// Notes that all texts have been written.
    pub(super) const fn end_writing(&mut self) {
        self.writing = None;
    }

    /// Shows the texts about which the least is known. Returns whether more must be written first.
    pub(super) fn draw(
        &mut self,
        strengths: &Strengths,
        (n_shown, same_coins): (usize, bool),
        n_votes: u64,
    ) -> bool {
        if !self.is_running() || !self.shown.is_empty() {
            return false;
        }
        loop {
            let is_same = |first: usize, second: usize| {
                let pair = (first.min(second), first.max(second));
                self.n_same.get(&pair).is_some_and(|n| *n >= MAX_SAME)
            };
            let Some(contestants) = next_shown(strengths, n_shown, is_same) else {
                self.status = RunStatus::Complete;
                return false;
            };
            let Some(mut texts) = self.take(&contestants, same_coins) else {
                return self.writing.is_none();
            };
            if let Some(pair) = same_pair(&texts) {
                *self.n_same.entry(pair).or_default() += 1;
                continue;
            }
            shuffle(&mut texts, n_votes);
            self.shown = texts;
            return false;
        }
    }

    /// Takes one text of each of these contestants, with the same seed or with different ones.
    /// Returns `None` if any of them has none.
    fn take(&mut self, contestants: &[usize], same_coins: bool) -> Option<Vec<ShownText>> {
        let mut seeds: Vec<u64> = Vec::new();
        if same_coins {
            let first = self.waiting.get(*contestants.first()?)?;
            let has = |seed: u64, contestant: &usize| {
                let waiting = self.waiting.get(*contestant);
                waiting.is_some_and(|texts| texts.iter().any(|text| text.seed == seed))
            };
            let mut all = first.iter().map(|text| text.seed);
            let seed = all.find(|seed| contestants.iter().all(|other| has(*seed, other)))?;
            seeds = vec![seed; contestants.len()];
        } else {
            for contestant in contestants {
                let mut waiting = self.waiting.get(*contestant)?.iter();
                let free = waiting.find(|text| !seeds.contains(&text.seed))?;
                seeds.push(free.seed);
            }
        }
        let texts = contestants.iter().zip(seeds);
        let texts = texts.filter_map(|(contestant, seed)| {
            let waiting = self.waiting.get_mut(*contestant)?;
            let place = waiting.iter().position(|text| text.seed == seed)?;
            let WaitingText { seed, text } = waiting.remove(place);
            Some(ShownText {
                contestant: *contestant,
                seed,
                text,
            })
        });
        Some(texts.collect())
    }

    /// Takes the texts off the screen and returns the vote on them, or `None` if there are none or
    /// `picked` is out of range.
    pub(super) fn vote(&mut self, picked: Option<usize>) -> Option<BlindVote> {
        let n = self.shown.len();
        if n == 0 || picked.is_some_and(|place| place >= n) {
            return None;
        }
        let settings = &self.settings;
        let shown = self.shown.drain(..).map(|text| BlindText {
            settings: settings.get(text.contestant).cloned().unwrap_or_default(),
            seed: text.seed,
        });
        let shown = shown.collect();
        Some(BlindVote {
            model: self.model.name.clone(),
            prompt: self.prompt.text.clone(),
            n_tokens: self.limits.max_new_tokens,
            shown,
            picked,
        })
    }
}

/// Returns two contestants with the same text, if there are any: there is nothing to choose
/// between.
fn same_pair(texts: &[ShownText]) -> Option<(usize, usize)> {
    let pairs = texts.iter().enumerate().flat_map(|(place, first)| {
        let later = texts.iter().skip(place + 1);
        later.map(move |second| (first, second))
    });
    let mut same = pairs.filter(|(first, second)| first.text == second.text);
    let (first, second) = same.next()?;
    let (a, b) = (first.contestant, second.contestant);
    Some((a.min(b), a.max(b)))
}

/// Shuffles the texts with separate coins, so that their order says nothing about their settings.
fn shuffle(texts: &mut [ShownText], n_votes: u64) {
    let seed = texts
        .iter()
        .map(|text| text.seed)
        .fold(0, u64::wrapping_add);
    let coins = Coins {
        seed,
        position: n_votes,
    };
    for place in (1..texts.len()).rev() {
        let coin = coins.stage(place as u32);
        let other = place_of(coin, place + 1);
        texts.swap(place, other);
    }
}
