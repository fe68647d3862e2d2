//! The blind test: texts without names, the votes between them, and how strong their settings are.

mod run;

pub use run::{BlindRun, ShownText};

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{GenerationId, PaneSettings, ServedModel, SweepUpdate};
use crate::lab::blind::{BlindText, BlindVote, Choice, PRIOR_SPREAD, Strength, Strengths};
use crate::lab::{Experiment, Group, NoResult};
use crate::state::{AppState, Effect, JobRun, NextJob, RunStatus};
use crate::worker::{JobReport, Request};

/// How many votes it takes until the settings are named. Naming them earlier would unblind the
/// test.
pub const BLIND_VOTES: usize = 10;

/// The maximum number of votes that are kept, even from a damaged file.
const MAX_VOTES: usize = 10_000;

/// The blind test on the Lab page.
#[derive(Debug, Clone, PartialEq)]
pub struct BlindTest {
    /// How many texts are shown at once: two or four.
    pub n_shown: usize,
    /// Whether texts that are shown together were written with the same coins.
    pub same_coins: bool,
    /// The maximum number of tokens in a text.
    pub n_tokens: usize,
    votes: Vec<BlindVote>,
    /// The seed of the next texts.
    next_seed: u64,
    run: Option<BlindRun>,
    /// What the votes say, computed when one is added.
    results: BlindResults,
}

/// What the user can do in a blind test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlindCommand {
    /// Vote for the text at this place, counted from 0, or for none.
    Vote(Option<usize>),
    /// Forget the last vote.
    TakeBackVote,
    /// Forget all votes.
    ClearVotes,
}

/// What a blind test keeps across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlindSettings {
    #[serde(rename = "blind_shown")]
    n_shown: usize,
    #[serde(rename = "blind_same_coins")]
    same_coins: bool,
    #[serde(rename = "blind_tokens")]
    n_tokens: usize,
    /// The seed of the next texts.
    #[serde(rename = "blind_seed")]
    next_seed: u64,
    votes: Vec<BlindVote>,
}

impl Default for BlindSettings {
    fn default() -> Self {
        BlindTest::default().settings()
    }
}

impl Experiment for BlindTest {
    const NAME: &'static str = "Blind test";
    const GROUP: Group = Group::WriteMany;
    type Command = BlindCommand;
    type Settings = BlindSettings;
    type Result = NoResult;

    fn run(&self) -> Option<&dyn JobRun> {
        Some(self)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        Some(self)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        start_blind(state)
    }

    /// Stops writing texts, and hides those that are shown.
    fn stop(&mut self) -> Vec<Effect> {
        let writing = self.run.as_mut().and_then(BlindRun::stop);
        let stop = |id| Effect::Send(Request::StopJob(id));
        writing.map(stop).into_iter().collect()
    }

    fn apply(state: &mut AppState, command: BlindCommand) -> Vec<Effect> {
        match command {
            BlindCommand::Vote(picked) => return vote(state, picked),
            BlindCommand::TakeBackVote => {
                state.lab.blind.votes.pop();
            }
            BlindCommand::ClearVotes => state.lab.blind.votes.clear(),
        }
        state.lab.blind.update_results();
        Vec::new()
    }

    fn settings(&self) -> BlindSettings {
        BlindSettings {
            n_shown: self.n_shown,
            same_coins: self.same_coins,
            n_tokens: self.n_tokens,
            next_seed: self.next_seed,
            votes: self.votes.clone(),
        }
    }

    fn restored(settings: BlindSettings) -> Self {
        let blind = Self {
            n_shown: if settings.n_shown == 4 { 4 } else { 2 },
            same_coins: settings.same_coins,
            n_tokens: settings.n_tokens.max(1),
            next_seed: settings.next_seed,
            ..Self::default()
        };
        blind.with_votes(settings.votes)
    }
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

    /// Returns the indices of the settings, strongest first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.settings.len()).collect();
        let chance = |index: &usize| self.strengths.get(*index).map_or(0.0, |s| s.chance);
        order.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
        order
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
    fn with_votes(mut self, mut votes: Vec<BlindVote>) -> Self {
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
    fn fail(&mut self, host: Option<&ServedModel>, error: &str) {
        if host.is_none()
            && let Some(run) = &mut self.run
        {
            run.fail(error);
        }
    }
}

/// Returns the distinct settings of the panes that can take part in a blind test.
pub(super) fn blind_contestants(state: &AppState) -> Vec<ChainConfig> {
    let mut chains: Vec<ChainConfig> = Vec::new();
    for pane in &state.panes {
        let chain = &pane.settings.chain;
        if MANY_TEXTS.runs(chain) && chain.validate().is_ok() && !chains.contains(chain) {
            chains.push(chain.clone());
        }
    }
    chains
}

/// Returns why a blind test can't begin now, or `None` if it can.
pub(super) fn blind_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    if state.prompt.text.is_empty() {
        return Some("Type a prompt on the Write page first".to_owned());
    }
    if blind_contestants(state).len() < 2 {
        return Some("A blind test needs two panes with different settings".to_owned());
    }
    let refusal = state.prompt.refusal(&state.models.main);
    refusal.or_else(|| state.several_models_reason(&state.panes))
}

fn start_blind(state: &mut AppState) -> Vec<Effect> {
    if blind_blocking_reason(state).is_some() {
        return Vec::new();
    }
    let contestants = blind_contestants(state);
    let prompt = state.prompt.to_text();
    let mut limits = state.limits.clone();
    limits.max_new_tokens = state.lab.blind.n_tokens.max(1);
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    let run = BlindRun::new(contestants, (prompt, limits), model);
    let mut effects = state.lab.blind.stop();
    state.lab.blind.run = Some(run);
    state.lab.blind.update_results();
    effects.extend(draw_blind(state));
    effects
}

/// Counts a vote for the text at this place, or for none, and shows the next texts.
fn vote(state: &mut AppState, picked: Option<usize>) -> Vec<Effect> {
    let blind = &mut state.lab.blind;
    let Some(vote) = blind.run.as_mut().and_then(|run| run.vote(picked)) else {
        return Vec::new();
    };
    blind.votes.push(vote);
    if blind.votes.len() > MAX_VOTES {
        blind.votes.remove(0);
    }
    blind.update_results();
    draw_blind(state)
}

fn draw_blind(state: &mut AppState) -> Vec<Effect> {
    let AppState {
        lab,
        models,
        last_id,
        ..
    } = state;
    let next = &mut NextJob::new(last_id, &models.main);
    let request = lab.blind.draw_or_write(next);
    request.map(Effect::Send).into_iter().collect()
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
