//! A list of prompts, each continued in all panes: the texts become the rows of a table.

use std::sync::Arc;

use crate::analysis::sweep::TextFigures;
use crate::decoding::ChainConfig;
use crate::export::TextRow;
use crate::generation::formatting::{grouped, pane_letter};
use crate::generation::{
    FinishReason, GenerationId, Limits, PaneSettings, PromptText, SweepPlan, SweepText,
    SweepUpdate, Vocabulary,
};
use crate::state::jobs::JobRun;
use crate::state::{AppState, Effect, LabTab, ReadyModel, RunStatus};
use crate::worker::{JobReport, Request};

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

impl AppState {
    /// Returns the prompts of the list.
    pub fn batch_prompts(&self) -> Vec<PromptText> {
        let current = self.prompt.to_text();
        let lines = self.lab.batch_prompts.lines();
        let lines = lines.filter(|line| !line.trim().is_empty());
        let prompt = |line: &str| PromptText {
            text: line.to_owned(),
            ..current.clone()
        };
        lines.map(prompt).collect()
    }

    /// Returns why the prompts can't be run now, or `None` if they can.
    pub fn batch_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        if self.panes.is_empty() {
            return Some("Add a pane first".to_owned());
        }
        if self.batch_prompts().is_empty() {
            return Some("Type or paste prompts, one per line".to_owned());
        }
        let chains = self.panes.iter().map(|pane| &pane.settings.chain);
        let mut errors = chains.filter_map(|chain| chain.validate().err());
        let error = errors.next().map(|error| error.to_string());
        error.or_else(|| self.several_models_reason(&self.panes))
    }

    pub(super) fn run_batch(&mut self) -> Vec<Effect> {
        if self.lab.is_running(LabTab::Prompts) || self.batch_blocking_reason().is_some() {
            return Vec::new();
        }
        let Some(model) = self.models.main.ready() else {
            return Vec::new();
        };
        let panes = self.panes.iter().enumerate();
        let panes = panes.map(|(place, pane)| BatchPane {
            letter: pane_letter(place),
            name: pane.settings.name.clone(),
            chain: pane.settings.chain.clone(),
            seed: self.seed_of(pane),
        });
        let mut run = BatchRun::new(self.batch_prompts(), panes.collect(), model);
        let requests = run.requests(&self.limits, &mut self.last_id);
        self.lab.batch = Some(run);
        requests.into_iter().map(Effect::Send).collect()
    }

    /// Opens the selected text as a pane: with its prompt, its settings and its seed.
    pub(super) fn open_batch_text(&mut self, prompt: usize, pane: usize) -> Vec<Effect> {
        let run = self.lab.batch.as_ref();
        let found = run.and_then(|run| {
            let pane = run.panes.get(pane)?;
            Some((
                run.prompts.get(prompt)?.clone(),
                pane.chain.clone(),
                pane.seed,
            ))
        });
        match found {
            Some((prompt, chain, seed)) => self.open_prompt_with(prompt, chain, seed),
            None => Vec::new(),
        }
    }
}
