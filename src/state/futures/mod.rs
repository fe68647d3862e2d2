//! Futures: what could follow a token under a pane's settings, optionally next to what could follow
//! it under another pane's.

mod run;

pub use run::{FuturesRun, WordRow};

use crate::decoding::SelectorState;
use crate::generation::{FuturesPlan, PromptForm};
use crate::state::jobs::{JobRun, stop_jobs};
use crate::state::{AppState, BranchesView, DockTab, Effect, Pane, PaneId, RunStatus};
use crate::worker::{GenerationId, Request};

/// The numbers of futures that the menu offers.
pub const FUTURE_COUNTS: [usize; 5] = [16, 64, 128, 256, 512];

/// The lengths of futures that the menu offers, in tokens.
pub const FUTURE_LENGTHS: [usize; 4] = [6, 12, 18, 24];

/// The maximum number of words to count.
const MAX_WORDS: usize = 8;

/// What the user can do with futures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FuturesCommand {
    /// Draw what could follow the pinned token, or the prompt if none is pinned, and show it.
    Draw,
    /// Stop drawing. The complete futures stay.
    Stop,
    /// Draw another pane's futures next to these, or stop drawing them.
    ShowBeside(Option<PaneId>),
    /// Count how often a word appears.
    AddWord(String),
    /// Stop counting a word.
    RemoveWord(String),
}

/// The futures on screen, and what to draw next.
#[derive(Debug, Clone, PartialEq)]
pub struct Futures {
    /// How many to draw.
    pub n_futures: usize,
    /// The length of each, in tokens.
    pub n_tokens: usize,
    /// The word that is being typed.
    pub typed: String,
    /// The pane whose futures are drawn next to these.
    pub(super) beside: Option<PaneId>,
    pub(super) words: Vec<String>,
    /// One, or two side by side.
    pub(super) runs: Vec<FuturesRun>,
}

impl Default for Futures {
    fn default() -> Self {
        Self {
            n_futures: 64,
            n_tokens: 24,
            typed: String::new(),
            beside: None,
            words: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl Futures {
    /// Returns the futures on screen, from left to right.
    pub fn runs(&self) -> &[FuturesRun] {
        &self.runs
    }

    /// Returns whether any are being drawn.
    pub fn is_drawing(&self) -> bool {
        self.runs.iter().any(FuturesRun::is_drawing)
    }

    /// Takes them off the screen. Those still being drawn are stopped, and their complete futures
    /// stay.
    pub(super) fn take_runs(&mut self) -> Vec<FuturesRun> {
        for run in self.runs.iter_mut().filter(|run| run.is_drawing()) {
            run.status = RunStatus::Stopped;
        }
        std::mem::take(&mut self.runs)
    }

    pub(super) fn runs_mut(&mut self) -> impl Iterator<Item = &mut dyn JobRun> {
        self.runs.iter_mut().map(|run| run as &mut dyn JobRun)
    }

    fn count_words(&mut self) {
        for run in &mut self.runs {
            run.count_words(&self.words);
        }
    }
}

impl AppState {
    pub(super) fn apply_to_futures(&mut self, command: FuturesCommand) -> Vec<Effect> {
        match command {
            FuturesCommand::Draw => return self.draw_futures(),
            FuturesCommand::Stop => return self.stop_futures(),
            FuturesCommand::ShowBeside(pane) => {
                self.futures.beside = pane;
                if !self.futures.runs.is_empty() {
                    return self.draw_futures();
                }
            }
            FuturesCommand::AddWord(word) => {
                let word = word.trim().to_owned();
                self.futures.typed.clear();
                let words = &mut self.futures.words;
                if !word.is_empty() && !words.contains(&word) {
                    words.insert(0, word);
                    words.truncate(MAX_WORDS);
                }
                self.futures.count_words();
            }
            FuturesCommand::RemoveWord(word) => {
                self.futures.words.retain(|other| *other != word);
                self.futures.count_words();
            }
        }
        Vec::new()
    }

    /// Returns the pane whose futures are drawn next: that of the pinned token, or else the last
    /// pane.
    pub fn futures_pane(&self) -> Option<&Pane> {
        let pinned = self.pin.and_then(|pin| self.pane(pin.pane));
        pinned.or_else(|| self.panes.last())
    }

    /// Returns the pane whose futures are drawn next to these, if it still exists.
    pub fn futures_beside(&self) -> Option<&Pane> {
        let first = self.futures_pane()?.id;
        let beside = self.futures.beside.filter(|beside| *beside != first)?;
        self.pane(beside)
    }

    /// Returns why no futures can be drawn now, or `None` if they can.
    pub fn futures_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        let invalid = |pane: &Pane| pane.settings.chain.validate().err();
        let mut panes = self.futures_pane().into_iter().chain(self.futures_beside());
        if let Some(error) = panes.find_map(invalid) {
            return Some(error.to_string());
        }
        match self.pinned() {
            Some((_, text, _)) => {
                let same = self
                    .models
                    .main
                    .ready()
                    .is_some_and(|model| model.info.is_equivalent_to(&text.model));
                (!same).then(|| "Another model wrote this text".to_owned())
            }
            None => self.prompt_reason().or_else(|| {
                let panes = self.futures_pane().into_iter().chain(self.futures_beside());
                self.several_models_reason(panes)
            }),
        }
    }

    fn prompt_reason(&self) -> Option<String> {
        if self.runs.opened.is_some() {
            return Some("Click a token of this run first".to_owned());
        }
        if self.prompt.text.is_empty() {
            return Some("Type a prompt first".to_owned());
        }
        let is_read = self
            .prompt
            .reading
            .as_ref()
            .is_some_and(|reading| reading.prompt == self.prompt.to_text());
        let reading = || "The prompt is being read".to_owned();
        self.prompt
            .refusal(&self.models.main)
            .or_else(|| (!is_read).then(reading))
    }

    /// Draws futures under the settings of the chosen pane and of the pane to show next to it. Both
    /// continue the same text.
    fn draw_futures(&mut self) -> Vec<Effect> {
        self.view.dock_tab = DockTab::Branches;
        self.view.branches = BranchesView::Futures;
        self.view.dock_open = Some(true);
        if self.futures_blocking_reason().is_some() {
            return Vec::new();
        }
        let mut effects = self.stop_futures();
        let panes = self.futures_pane().into_iter().chain(self.futures_beside());
        let panes: Vec<PaneId> = panes.map(|pane| pane.id).collect();
        let mut runs = Vec::new();
        for pane in panes {
            self.last_id += 1;
            let id = GenerationId(self.last_id);
            if let Some(mut run) = self.new_futures(id, pane) {
                run.count_words(&self.futures.words);
                let plan = run.plan().clone();
                effects.push(Effect::Send(Request::run_job(id, plan)));
                runs.push(run);
            }
        }
        self.futures.runs = runs;
        effects
    }

    fn new_futures(&self, id: GenerationId, pane: PaneId) -> Option<FuturesRun> {
        let pane = self.pane(pane)?;
        let model = self.models.main.ready()?;
        let mut plan = FuturesPlan {
            text: Vec::new(),
            n_prompt: 0,
            form: self.prompt.to_text().form,
            selector_state: SelectorState::NEW,
            config: self.config_of(pane),
            n_futures: self.futures.n_futures.max(1),
            n_tokens: self.futures.n_tokens.max(1),
            width: FuturesPlan::DEFAULT_WIDTH,
        };
        if let (Some(pin), Some((_, text, step))) = (self.pin, self.pinned()) {
            plan.text.clone_from(&text.prompt.tokens);
            plan.n_prompt = plan.text.len();
            plan.form = PromptForm::of(text.prompt.chat.as_ref());
            let kept = text.steps.iter().take(pin.step + 1);
            plan.text.extend(kept.map(|step| step.token));
            plan.selector_state = step.trace.selector_state;
        } else {
            let prompt = self.prompt.tokens()?;
            plan.text.extend(prompt.iter().map(|token| token.id));
            plan.n_prompt = plan.text.len();
        }
        Some(FuturesRun::new(id, pane, plan, model))
    }

    pub(super) fn stop_futures(&self) -> Vec<Effect> {
        stop_jobs(self.futures.runs.iter().map(|run| run as &dyn JobRun))
    }
}
