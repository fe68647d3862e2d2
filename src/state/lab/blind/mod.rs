//! The blind test: texts without names, the votes between them, and how strong their settings are.

mod run;

pub use run::{BlindRun, ShownText};

use crate::analysis::blind::{Choice, PRIOR_SPREAD, Strength, Strengths};
use crate::decoding::ChainConfig;
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{BlindText, BlindVote, GenerationId, PaneSettings, SweepUpdate};
use crate::state::jobs::{JobRun, NextJob};
use crate::state::{AppState, Effect, RunStatus};
use crate::worker::{JobReport, Request};

/// How many votes it takes until the settings are named. Naming them earlier would unblind the
/// test.
pub const BLIND_VOTES: usize = 10;

/// The maximum number of votes that are kept, even from a damaged file.
pub(super) const MAX_VOTES: usize = 10_000;

/// The blind test on the Lab page.
#[derive(Debug, Clone, PartialEq)]
pub struct BlindTest {
    /// How many texts are shown at once: two or four.
    pub n_shown: usize,
    /// Whether texts that are shown together were written with the same coins.
    pub same_coins: bool,
    /// The maximum number of tokens in a text.
    pub n_tokens: usize,
    pub(super) votes: Vec<BlindVote>,
    /// The seed of the next texts.
    pub(super) next_seed: u64,
    pub(super) run: Option<BlindRun>,
    /// What the votes say, computed when one is added.
    pub(super) results: BlindResults,
}

/// What the votes say about all settings that were compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlindResults {
    /// The settings, in the grammar of `--pane`.
    pub settings: Vec<String>,
    /// One for each of `settings`.
    pub strengths: Vec<Strength>,
    pub n_votes: usize,
}

impl BlindResults {
    /// Estimates strengths from these votes. The settings in `first` come first, even if no vote is
    /// about them.
    pub fn of(first: &[String], votes: &[BlindVote]) -> Self {
        let (settings, choices) = choices(first, votes);
        Self {
            strengths: Strengths::of(settings.len(), &choices, PRIOR_SPREAD).all(),
            n_votes: votes.len(),
            settings,
        }
    }

    /// Returns whether there are enough votes to name the settings.
    pub const fn are_named(&self) -> bool {
        self.n_votes >= BLIND_VOTES
    }
}

/// Returns the given settings, followed by all others in these votes, and the votes as indices into
/// this list.
fn choices(first: &[String], votes: &[BlindVote]) -> (Vec<String>, Vec<Choice>) {
    let mut settings = first.to_vec();
    let mut place = |text: &BlindText| {
        let known = settings.iter().position(|other| *other == text.settings);
        known.unwrap_or_else(|| {
            settings.push(text.settings.clone());
            settings.len() - 1
        })
    };
    let choices: Vec<Choice> = votes
        .iter()
        .map(|vote| {
            let shown: Vec<usize> = vote.shown.iter().map(&mut place).collect();
            let picked = vote.picked.and_then(|picked| shown.get(picked).copied());
            Choice { shown, picked }
        })
        .collect();
    (settings, choices)
}

impl Default for BlindTest {
    fn default() -> Self {
        Self {
            n_shown: 2,
            same_coins: true,
            n_tokens: 80,
            votes: Vec::new(),
            next_seed: 1,
            run: None,
            results: BlindResults::default(),
        }
    }
}

impl BlindTest {
    /// Restores a test with these votes.
    pub(super) fn with_votes(mut self, mut votes: Vec<BlindVote>) -> Self {
        let is_whole = |vote: &BlindVote| {
            vote.shown.len() >= 2 && vote.picked.is_none_or(|picked| picked < vote.shown.len())
        };
        votes.retain(is_whole);
        votes.truncate(MAX_VOTES);
        self.votes = votes;
        self.update_results();
        self
    }

    /// Returns all votes, oldest first.
    pub fn votes(&self) -> &[BlindVote] {
        &self.votes
    }

    /// Returns the test that is running, or else the last one.
    pub const fn run(&self) -> Option<&BlindRun> {
        self.run.as_ref()
    }

    /// Returns what the votes say.
    pub const fn results(&self) -> &BlindResults {
        &self.results
    }

    /// Returns whether texts are shown or being written.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(BlindRun::is_running)
    }

    fn update_results(&mut self) {
        let run = self.run.as_ref();
        let first = run.map(BlindRun::settings).unwrap_or_default();
        self.results = BlindResults::of(first, &self.votes);
    }

    /// Shows the next texts if there are any, or returns the seed from which to write more.
    fn draw(&mut self) -> Option<u64> {
        let run = self.run.as_mut()?;
        let (_, choices) = choices(run.settings(), &self.votes);
        let n = run.settings().len();
        // Votes on settings that are not in this test say nothing about those that are.
        let is_current = |choice: &Choice| choice.shown.iter().all(|shown| *shown < n);
        let choices: Vec<Choice> = choices.into_iter().filter(is_current).collect();
        let strengths = Strengths::of(n, &choices, PRIOR_SPREAD);
        let form = (self.n_shown, self.same_coins);
        let wants_more = run.draw(&strengths, form, self.votes.len() as u64);
        wants_more.then_some(self.next_seed)
    }

    /// Shows the next texts, or requests more.
    fn draw_or_write(&mut self, next: &mut NextJob<'_>) -> Option<Request> {
        let seed = self.draw()?;
        let run = self.run.as_mut()?;
        // Texts of another model must not be compared with those of the first.
        if next.model.is_none_or(|model| !run.is_of(&model.info)) {
            run.fail("the model has changed; start the test again");
            return None;
        }
        let id = next.new_id();
        let plan = run.write(id, seed);
        self.next_seed = seed.wrapping_add(plan.n_seeds as u64);
        Some(Request::run_job(id, plan))
    }

    fn wants_texts(&self) -> bool {
        self.run.as_ref().is_some_and(BlindRun::wants_texts)
    }
}

impl JobRun for BlindTest {
    fn status(&self) -> &RunStatus {
        let run = self.run.as_ref();
        run.map_or(&RunStatus::Stopped, |run| &run.status)
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let writing = self.run.as_ref().and_then(BlindRun::writing);
        writing.into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        if let Some(SweepUpdate::Advanced { complete, .. }) = report.take()
            && let Some(run) = &mut self.run
        {
            run.add(complete);
        }
        // While texts are being written, none are requested.
        if self.wants_texts() {
            self.draw();
        }
    }

    fn on_finished(&mut self, _id: GenerationId, next: &mut NextJob<'_>) -> Option<Request> {
        if let Some(run) = &mut self.run {
            run.end_writing();
        }
        if self.wants_texts() {
            self.draw_or_write(next)
        } else {
            None
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        let Some(run) = &mut self.run else { return };
        match status {
            RunStatus::Failed { error } => run.fail(&error),
            status => run.end(status),
        }
    }

    /// A vote needs no job, but the next texts do.
    fn fail(&mut self, error: &str) {
        if let Some(run) = &mut self.run {
            run.fail(error);
        }
    }
}

impl AppState {
    /// Returns the distinct settings of the panes that can take part in a blind test.
    pub fn blind_contestants(&self) -> Vec<ChainConfig> {
        let mut chains: Vec<ChainConfig> = Vec::new();
        for pane in &self.panes {
            let chain = &pane.settings.chain;
            if MANY_TEXTS.runs(chain) && chain.validate().is_ok() && !chains.contains(chain) {
                chains.push(chain.clone());
            }
        }
        chains
    }

    /// Returns why a blind test can't begin now, or `None` if it can.
    pub fn blind_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        if self.prompt.text.is_empty() {
            return Some("Type a prompt on the Write page first".to_owned());
        }
        if self.blind_contestants().len() < 2 {
            return Some("A blind test needs two panes with different settings".to_owned());
        }
        let refusal = self.prompt.refusal(&self.models.main);
        refusal.or_else(|| self.several_models_reason(&self.panes))
    }

    pub(super) fn start_blind(&mut self) -> Vec<Effect> {
        if self.blind_blocking_reason().is_some() {
            return Vec::new();
        }
        let contestants = self.blind_contestants();
        let prompt = self.prompt.to_text();
        let mut limits = self.limits.clone();
        limits.max_new_tokens = self.lab.blind.n_tokens.max(1);
        let Some(model) = self.models.main.ready() else {
            return Vec::new();
        };
        let run = BlindRun::new(contestants, (prompt, limits), model);
        let mut effects = self.stop_blind();
        self.lab.blind.run = Some(run);
        self.lab.blind.update_results();
        effects.extend(self.draw_blind());
        effects
    }

    /// Stops writing texts, and hides those that are shown.
    pub(super) fn stop_blind(&mut self) -> Vec<Effect> {
        let run = self.lab.blind.run.as_mut();
        let writing = run.and_then(BlindRun::stop);
        let stop = |id| Effect::Send(Request::StopJob(id));
        writing.map(stop).into_iter().collect()
    }

    /// Counts a vote for the text at this place, or for none, and shows the next texts.
    pub(super) fn vote(&mut self, picked: Option<usize>) -> Vec<Effect> {
        let blind = &mut self.lab.blind;
        let Some(vote) = blind.run.as_mut().and_then(|run| run.vote(picked)) else {
            return Vec::new();
        };
        blind.votes.push(vote);
        if blind.votes.len() > MAX_VOTES {
            blind.votes.remove(0);
        }
        blind.update_results();
        self.draw_blind()
    }

    pub(super) fn take_back_vote(&mut self) {
        self.lab.blind.votes.pop();
        self.lab.blind.update_results();
    }

    pub(super) fn clear_votes(&mut self) {
        self.lab.blind.votes.clear();
        self.lab.blind.update_results();
    }

    fn draw_blind(&mut self) -> Vec<Effect> {
        let Self {
            lab,
            models,
            last_id,
            ..
        } = self;
        let next = &mut NextJob::new(last_id, &models.main);
        let request = lab.blind.draw_or_write(next);
        request.map(Effect::Send).into_iter().collect()
    }
}

/// Describes settings the way the votes do.
fn settings_words(chain: &ChainConfig) -> String {
    PaneSettings::from(chain.clone()).to_string()
}

/// Returns the index below `n` that a coin in [0, 1) picks.
#[expect(clippy::cast_sign_loss, reason = "a coin is not negative")]
fn place_of(coin: f64, n: usize) -> usize {
    let place = (coin * n as f64).floor() as usize;
    place.min(n.saturating_sub(1))
}
