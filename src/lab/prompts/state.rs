//! A list of prompts, each continued in all panes: the texts become the rows of a table.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::analysis::sweep::TextFigures;
use crate::decoding::ChainConfig;
use crate::export::TextRow;
use crate::generation::formatting::{grouped, pane_letter};
use crate::generation::{
    FinishReason, GenerationId, Limits, PaneSettings, PromptText, SweepPlan, SweepText,
    SweepUpdate, Vocabulary,
};
use crate::lab::open_pane::open_prompt_with;
use crate::lab::{Experiment, LabTab};
use crate::state::JobRun;
use crate::state::{AppState, Effect, ReadyModel, RunStatus};
use crate::worker::{JobReport, Request};

/// The list of prompts, and the texts that continue it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptsTab {
    /// The prompts to continue in all panes, one per line.
    pub typed: String,
    /// The prompts that were continued.
    pub run: Option<BatchRun>,
}

/// What the user can do with the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptsCommand {
    /// Regenerate a text of the list in a new pane.
    Open {
        /// The index of its prompt.
        prompt: usize,
        /// The index of its pane.
        pane: usize,
    },
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptsSettings {
    #[serde(rename = "batch_prompts")]
    typed: String,
}

impl Experiment for PromptsTab {
    const NAME: &'static str = "Prompts";
    type Command = PromptsCommand;
    type Settings = PromptsSettings;

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        run_batch(state)
    }

    fn apply(state: &mut AppState, command: PromptsCommand) -> Vec<Effect> {
        match command {
            PromptsCommand::Open { prompt, pane } => open_batch_text(state, prompt, pane),
        }
    }

    fn settings(&self) -> PromptsSettings {
        let typed = self.typed.clone();
        PromptsSettings { typed }
    }

    fn restored(settings: PromptsSettings) -> Self {
        Self {
            typed: settings.typed,
            run: None,
        }
    }
}

/// A pane as it was when the prompts were run.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchPane {
    pub letter: String,
    pub name: String,
    pub chain: ChainConfig,
    pub seed: u64,
}

/// A complete text.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchText {
    pub text: String,
    pub figures: TextFigures,
    pub finish: FinishReason,
}

impl BatchText {
    /// Says why it ended, and that it is unfinished if it stopped inside the grammar of its
    /// settings.
    pub fn finish_words(&self, chain: &ChainConfig) -> String {
        let rule = chain.grammar.as_deref();
        let is_unfinished = self.figures.grammar_complete == Some(false);
        self.finish.words(rule.filter(|_| is_unfinished))
    }
}

/// A list of prompts and the texts that continue them.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRun {
    pub prompts: Vec<PromptText>,
    pub panes: Vec<BatchPane>,
    /// The groups of panes with the same seed, each of which the engine runs together.
    groups: Vec<Group>,
    /// Ordered by prompt, then by pane.
    texts: Vec<Option<BatchText>>,
    vocabulary: Arc<Vocabulary>,
    pub status: RunStatus,
    /// The selected prompt and pane.
    pub selected: Option<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Group {
    id: GenerationId,
    /// The indices of its panes.
    panes: Vec<usize>,
    has_ended: bool,
}

impl BatchRun {
    fn new(prompts: Vec<PromptText>, panes: Vec<BatchPane>, model: &ReadyModel) -> Self {
        Self {
            texts: vec![None; prompts.len() * panes.len()],
            prompts,
            panes,
            groups: Vec::new(),
            vocabulary: Arc::clone(&model.vocabulary),
            status: RunStatus::Waiting,
            selected: None,
        }
    }

    /// Returns the requests that write all texts. Panes with the same seed share their forward
    /// passes.
    fn requests(&mut self, limits: &Limits, last_id: &mut u64) -> Vec<Request> {
        let mut seeds: Vec<u64> = self.panes.iter().map(|pane| pane.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let requests = seeds.into_iter().map(|seed| {
            *last_id += 1;
            let id = GenerationId(*last_id);
            let panes = self.panes.iter().enumerate();
            let (indices, cells): (Vec<usize>, Vec<ChainConfig>) = panes
                .filter(|(_, pane)| pane.seed == seed)
                .map(|(index, pane)| (index, pane.chain.clone()))
                .unzip();
            self.groups.push(Group {
                id,
                panes: indices,
                has_ended: false,
            });
            let plan = SweepPlan {
                prompts: self.prompts.clone(),
                cells,
                limits: limits.clone(),
                seed,
                n_seeds: 1,
                width: SweepPlan::DEFAULT_WIDTH,
            };
            Request::run_job(id, plan)
        });
        requests.collect()
    }

    /// Returns whether more texts will arrive.
    pub const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    fn add(&mut self, id: GenerationId, text: SweepText) {
        let group = self.groups.iter().find(|group| group.id == id);
        let pane = group.and_then(|group| group.panes.get(text.cell));
        let place = pane.map(|pane| text.prompt * self.panes.len() + pane);
        let visible = self.vocabulary.visible_text(&text.tokens);
        if let Some(place) = place.and_then(|place| self.texts.get_mut(place)) {
            *place = Some(BatchText {
                text: visible,
                figures: TextFigures::of(&text),
                finish: text.finish,
            });
        }
    }

    /// Returns a text, if it is complete.
    pub fn text(&self, prompt: usize, pane: usize) -> Option<&BatchText> {
        let place = prompt * self.panes.len() + pane;
        self.texts.get(place)?.as_ref()
    }

    /// Returns the number of complete texts, and of all texts.
    pub fn n_done(&self) -> (usize, usize) {
        (self.texts.iter().flatten().count(), self.texts.len())
    }

    /// "12 of 40 texts".
    pub fn summary(&self) -> String {
        let (done, all) = self.n_done();
        let (done, all) = (grouped(done as f64), grouped(all as f64));
        let words = match self.status {
            RunStatus::Complete => format!("{all} texts"),
            RunStatus::Waiting | RunStatus::Running => format!("{done} of {all} texts"),
            RunStatus::Stopped => format!("Stopped after {done} of {all} texts"),
            RunStatus::Failed { .. } => format!("Failed after {done} of {all} texts"),
        };
        let complete = self.texts.iter().flatten();
        let complete = complete.filter_map(|text| text.figures.grammar_complete);
        let complete: Vec<bool> = complete.collect();
        if complete.is_empty() {
            return words;
        }
        let n_complete = complete.iter().filter(|complete| **complete).count();
        format!(
            "{words}, {} of {} complete under the grammar",
            grouped(n_complete as f64),
            grouped(complete.len() as f64)
        )
    }

    /// Returns the complete texts as the rows of a table.
    pub fn rows(&self) -> Vec<TextRow> {
        let places = (0..self.prompts.len())
            .flat_map(|prompt| (0..self.panes.len()).map(move |pane| (prompt, pane)));
        let rows = places.filter_map(|(prompt, index)| {
            let (text, pane) = (self.text(prompt, index)?, self.panes.get(index)?);
            Some(TextRow {
                prompt_number: prompt + 1,
                prompt: self.prompts.get(prompt)?.text.clone(),
                pane: pane.letter.clone(),
                name: pane.name.clone(),
                settings: PaneSettings::from(pane.chain.clone()).to_string(),
                seed: pane.seed,
                n_tokens: text.figures.n_tokens,
                finish: text.finish_words(&pane.chain),
                grammar_complete: text.figures.grammar_complete,
                surprise_bits: text.figures.surprise_bits,
                text: text.text.clone(),
            })
        });
        rows.collect()
    }

    /// Moves the selection by this many prompts and panes, within the table.
    pub fn move_selection(&mut self, prompts: isize, panes: isize) {
        let (prompt, pane) = self.selected.unwrap_or_default();
        let moved = |place: usize, by: isize, n: usize| {
            place.saturating_add_signed(by).min(n.saturating_sub(1))
        };
        let prompt = moved(prompt, prompts, self.prompts.len());
        self.selected = Some((prompt, moved(pane, panes, self.panes.len())));
    }
}

impl JobRun for BatchRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let running = self.groups.iter().filter(|group| !group.has_ended);
        running.map(|group| group.id).collect()
    }

    fn on_report(&mut self, id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(SweepUpdate::Advanced { complete, .. }) = report.take() {
            for text in complete {
                self.add(id, text);
            }
        }
    }

    /// Ends a group. Once the run is stopped or failed, it stays so, whatever happens to the other
    /// groups.
    fn end(&mut self, id: GenerationId, status: RunStatus) {
        for group in self.groups.iter_mut().filter(|group| group.id == id) {
            group.has_ended = true;
        }
        let has_ended = self.groups.iter().all(|group| group.has_ended);
        if status != RunStatus::Complete || (has_ended && self.is_running()) {
            self.status = status;
        }
    }
}

/// Returns the prompts of the list.
pub(super) fn batch_prompts(state: &AppState) -> Vec<PromptText> {
    let current = state.prompt.to_text();
    let lines = state.lab.prompts.typed.lines();
    let lines = lines.filter(|line| !line.trim().is_empty());
    let prompt = |line: &str| PromptText {
        text: line.to_owned(),
        ..current.clone()
    };
    lines.map(prompt).collect()
}

/// Returns why the prompts can't be run now, or `None` if they can.
pub(super) fn batch_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    if state.panes.is_empty() {
        return Some("Add a pane first".to_owned());
    }
    if batch_prompts(state).is_empty() {
        return Some("Type or paste prompts, one per line".to_owned());
    }
    let chains = state.panes.iter().map(|pane| &pane.settings.chain);
    let mut errors = chains.filter_map(|chain| chain.validate().err());
    let error = errors.next().map(|error| error.to_string());
    error.or_else(|| state.several_models_reason(&state.panes))
}

fn run_batch(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Prompts) || batch_blocking_reason(state).is_some() {
        return Vec::new();
    }
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    let panes = state.panes.iter().enumerate();
    let panes = panes.map(|(place, pane)| BatchPane {
        letter: pane_letter(place),
        name: pane.settings.name.clone(),
        chain: pane.settings.chain.clone(),
        seed: state.seed_of(pane),
    });
    let mut run = BatchRun::new(batch_prompts(state), panes.collect(), model);
    let requests = run.requests(&state.limits, &mut state.last_id);
    state.lab.prompts.run = Some(run);
    requests.into_iter().map(Effect::Send).collect()
}

/// Opens the selected text as a pane: with its prompt, its settings and its seed.
fn open_batch_text(state: &mut AppState, prompt: usize, pane: usize) -> Vec<Effect> {
    let run = state.lab.prompts.run.as_ref();
    let found = run.and_then(|run| {
        let pane = run.panes.get(pane)?;
        Some((
            run.prompts.get(prompt)?.clone(),
            pane.chain.clone(),
            pane.seed,
        ))
    });
    match found {
        Some((prompt, chain, seed)) => open_prompt_with(state, prompt, chain, seed),
        None => Vec::new(),
    }
}
