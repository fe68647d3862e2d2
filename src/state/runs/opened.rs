//! A run that is shown as it was generated, in place of what was on screen.

use crate::analysis::contradictions::Contradiction;
use crate::decoding::Detail;
use crate::export::json::{Branch, RunFile, RunHeader};
use crate::generation::{FinishReason, Generation, Limits, PaneSettings, Step};
use crate::state::branches::{KeptText, KeptTexts};
use crate::state::panes::undo::Undo;
use crate::state::{
    AppState, BranchTree, Effect, FuturesRun, MAX_PANES, Notice, Pace, Page, Pane, PaneId,
    PaneStatus, Pin, PromptMode, Settings, unix_time_secs,
};

/// An opened run, and what it hides.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedRun {
    /// Its title, or the name of its file.
    pub name: String,
    pub header: RunHeader,
    /// How exact what-if is, and why.
    pub what_if_words: String,
    /// The first place at which its file contradicts itself.
    pub contradiction: Option<Contradiction>,
    hidden: HiddenSession,
}

/// What was on screen before something else took its place.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct HiddenSession {
    prompt: String,
    prompt_mode: PromptMode,
    system: String,
    sends_empty_system: bool,
    limits: Limits,
    seed: u64,
    panes: Vec<Pane>,
    pin: Option<Pin>,
    undo: Undo,
    kept_texts: KeptTexts,
    removed_text: Option<KeptText>,
    futures: Vec<FuturesRun>,
    /// Whether it was being written, so that its run has not been kept.
    was_running: bool,
}

impl OpenedRun {
    /// Returns what the run hides.
    pub(in crate::state) const fn hidden(&self) -> &HiddenSession {
        &self.hidden
    }
}

impl HiddenSession {
    /// Returns the hidden panes and kept texts.
    pub(in crate::state) fn texts(&self) -> (&[Pane], &KeptTexts) {
        (&self.panes, &self.kept_texts)
    }

    /// Replaces the settings on screen with the hidden ones.
    pub(in crate::state) fn restore_settings(&self, settings: &mut Settings) {
        settings.prompt.clone_from(&self.prompt);
        settings.prompt_mode = self.prompt_mode;
        settings.system.clone_from(&self.system);
        settings.sends_empty_system = self.sends_empty_system;
        settings.limits = self.limits.clone();
        settings.seed = self.seed;
        let panes = self.panes.iter();
        settings.panes = panes.map(|pane| pane.settings.clone()).collect();
    }
}

impl AppState {
    /// Returns the header that a file has for the run on screen.
    pub fn run_header(&self) -> RunHeader {
        let opened = self.opened.as_ref().map(|opened| opened.header.clone());
        opened.unwrap_or_else(|| RunHeader {
            title: None,
            finished_at: Some(unix_time_secs()),
        })
    }

    /// Shows a run, or why it can't be read.
    pub(super) fn show_run(
        &mut self,
        name: &str,
        run: Result<Box<RunFile>, String>,
    ) -> Vec<Effect> {
        let verifies = std::mem::take(&mut self.history.verifies);
        let run = match run {
            Ok(run) if run.panes.is_empty() => Err("it has no texts".to_owned()),
            run => run,
        };
        let run = match run {
            Ok(run) => *run,
            Err(error) => {
                let title = format!("{name} can’t be opened");
                return self.notify(Notice::error(title, error));
            }
        };
        let n_panes = run.panes.len();
        if n_panes > MAX_PANES {
            let words = format!("Showing the first {MAX_PANES} of {n_panes} texts");
            self.notify(Notice::hint(words));
        }
        let mut effects = self.end_verification();
        effects.extend(self.leave_lesson());
        let hidden = match self.opened.take() {
            Some(opened) => {
                effects.extend(self.stop_texts());
                self.futures.take_runs();
                opened.hidden
            }
            None => self.set_aside(&mut effects),
        };
        let title = run.header.title.clone();
        let what_if_words = what_if_words(&run.panes);
        self.opened = Some(OpenedRun {
            name: title.unwrap_or_else(|| name.to_owned()),
            header: run.header,
            what_if_words,
            contradiction: run.contradiction,
            hidden,
        });
        self.fill_from(run.panes, run.branches);
        self.page = Page::Write;
        if verifies {
            effects.extend(self.verify());
        }
        effects
    }

    /// Stops everything that is being written.
    fn stop_texts(&mut self) -> Vec<Effect> {
        let mut effects = self.stop_all();
        effects.extend(self.stop_futures());
        for pane in &mut self.panes {
            pane.status.finish(FinishReason::Cancelled);
        }
        effects
    }

    /// Stops what is being written and takes it off the screen, to be brought back later.
    pub(in crate::state) fn set_aside(&mut self, effects: &mut Vec<Effect>) -> HiddenSession {
        let was_running = self.is_running();
        effects.extend(self.stop_texts());
        let futures = self.futures.take_runs();
        HiddenSession {
            prompt: self.prompt.clone(),
            prompt_mode: self.prompt_mode,
            system: self.system.clone(),
            sends_empty_system: self.sends_empty_system,
            limits: self.limits.clone(),
            seed: self.seed,
            panes: std::mem::take(&mut self.panes),
            pin: self.pin.take(),
            undo: self.undo.clone(),
            kept_texts: std::mem::take(&mut self.kept_texts),
            removed_text: self.removed_text.take(),
            futures,
            was_running,
        }
    }

    /// Fills the window with these texts, their prompt and their settings.
    fn fill_from(&mut self, texts: Vec<Generation>, branches: Vec<Branch>) {
        if let Some(first) = texts.first() {
            self.prompt.clone_from(&first.prompt.text);
            let chat = first.prompt.chat.as_ref();
            self.prompt_mode = if chat.is_some() {
                PromptMode::Chat
            } else {
                PromptMode::Raw
            };
            let system = chat.and_then(|chat| chat.system.clone());
            self.sends_empty_system = system.as_ref().is_some_and(String::is_empty);
            self.system = system.unwrap_or_default();
            self.limits = first.config.limits.clone();
            self.seed = first.config.seed;
        }
        self.panes.clear();
        for text in texts.into_iter().take(MAX_PANES) {
            let id = self.next_pane_id();
            let settings = PaneSettings {
                name: text.name.clone(),
                chain: text.config.chain.clone(),
                seed: Some(text.config.seed).filter(|seed| *seed != self.seed),
                model: self.loaded_model_of(&text.model),
            };
            let mut pane = Pane::new(id, settings);
            pane.status = PaneStatus::Finished(text);
            self.panes.push(pane);
        }
        self.kept_texts = KeptTexts::default();
        self.removed_text = None;
        let panes: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        self.adopt_texts(&panes, branches);
        self.start_over();
    }

    /// Forgets what belonged to the texts that were on screen.
    pub(in crate::state) fn start_over(&mut self) {
        self.pin = None;
        self.repetition = None;
        self.texts_before = None;
        self.branch_dialog = None;
        self.prompt_reading = None;
        if self.is_step_mode() {
            self.pace = Pace::FullSpeed;
        }
        self.branch_tree = BranchTree::default();
        self.undo = Undo::new(self.snapshot());
    }

    pub(super) fn close_run(&mut self) -> Vec<Effect> {
        let Some(OpenedRun { hidden, .. }) = self.opened.take() else {
            return Vec::new();
        };
        let mut effects = self.bring_back(hidden);
        effects.extend(self.end_verification());
        effects
    }

    /// Shows again what was set aside.
    pub(in crate::state) fn bring_back(&mut self, hidden: HiddenSession) -> Vec<Effect> {
        self.prompt = hidden.prompt;
        self.prompt_mode = hidden.prompt_mode;
        self.system = hidden.system;
        self.sends_empty_system = hidden.sends_empty_system;
        self.limits = hidden.limits;
        self.seed = hidden.seed;
        self.panes = hidden.panes;
        self.start_over();
        self.pin = hidden.pin;
        self.undo = hidden.undo;
        self.kept_texts = hidden.kept_texts;
        self.removed_text = hidden.removed_text;
        let mut effects = self.stop_futures();
        self.futures.runs = hidden.futures;
        effects.extend(self.tokenize_prompt());
        if hidden.was_running {
            effects.extend(self.keep_run());
        }
        effects
    }

    pub(super) fn use_settings_of_run(&mut self) -> Vec<Effect> {
        if self.opened.take().is_none() {
            return Vec::new();
        }
        // What is generated next is a new run.
        self.run_number += 1;
        let mut effects = self.end_verification();
        effects.extend(self.tokenize_prompt());
        effects
    }
}

/// Says how exact what-if is for texts from a file, and why.
fn what_if_words(texts: &[Generation]) -> String {
    let steps = || texts.iter().flat_map(|text| &text.steps);
    let is_whole = |step: &Step| {
        let raw = &step.trace.raw;
        matches!(raw.detail, Detail::Whole(_)) || raw.head.len() >= raw.n_candidates as usize
    };
    if steps().all(is_whole) {
        return "What-if is exact: the file has all probabilities".to_owned();
    }
    if steps().all(|step| step.trace.raw.detail != Detail::HeadOnly) {
        return "What-if far from the run shows only bounds: the file summarizes unlikely tokens"
            .to_owned();
    }
    let n_head = steps().map(|step| step.trace.raw.head.len()).max();
    format!(
        "What-if shows only bounds: the file has the top {} tokens of each step",
        n_head.unwrap_or_default()
    )
}
