//! Fit: the settings under which the model would most likely write given texts.

mod form;
mod kept;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::generation::formatting::grouped;
use crate::generation::{FitPlan, FitText, FitUpdate, GenerationId, ModelInfo, Vocabulary};
use crate::lab::fit::{Fit, FitPoint, FitSetup};
use crate::lab::open_pane::{NewPane, open_pane_with};
use crate::lab::{Experiment, Group, LabTab, MadeBy, ResultFacts, SavedAxis};
use crate::state::{AppState, Effect, JobRun, NextJob, ReadyModel, RunStatus};
use crate::worker::{JobReport, Request};

pub use form::{FitForm, FitInput, fit_base};
pub(super) use form::{fit_blocking_reason, fit_setup, suggest_fit_text};
pub use kept::KeptFit;

use self::form::fit_texts;

/// The fit, and the form of the next one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FitTab {
    /// What the next fit varies.
    pub form: FitForm,
    /// The fit on screen.
    pub run: Option<FitRun>,
    /// Whether it is shown as a table.
    pub is_table: bool,
}

/// What the user can do with a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitCommand {
    /// Generate with the best settings, or with those of a cell, in a new pane.
    Open { cell: Option<usize> },
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FitSettings {
    #[serde(rename = "fit_rows")]
    rows: SavedAxis,
    #[serde(rename = "fit_columns")]
    columns: Option<SavedAxis>,
}

impl Default for FitSettings {
    fn default() -> Self {
        FitTab::default().settings()
    }
}

impl Experiment for FitTab {
    const NAME: &'static str = "Fit";
    const GROUP: Group = Group::ExplainOne;
    type Command = FitCommand;
    type Settings = FitSettings;
    type Result = KeptFit;

    fn result(&self) -> Option<(ResultFacts, KeptFit)> {
        self.run.as_ref()?.kept()
    }

    fn show(&mut self, result: KeptFit) -> Result<(), String> {
        self.run = Some(FitRun::of_kept(result)?);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy {
            model: &run.model,
            second: run.second_model.as_deref(),
        })
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let run = state.lab.fit.run.as_ref();
        let asked = run.map(|run| (run.fit.setup.clone(), run.texts.clone()));
        asked.map_or_else(Vec::new, |(setup, texts)| begin(state, setup, texts))
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        run_fit(state)
    }

    fn close(&mut self) {
        self.run = None;
    }

    fn apply(state: &mut AppState, command: FitCommand) -> Vec<Effect> {
        match command {
            FitCommand::Open { cell } => open_fit(state, cell),
        }
    }

    fn settings(&self) -> FitSettings {
        FitSettings {
            rows: (&self.form.rows).into(),
            columns: self.form.columns.as_ref().map(SavedAxis::from),
        }
    }

    fn restored(settings: FitSettings) -> Self {
        let usual = FitForm::default();
        let form = FitForm {
            rows: settings.rows.form().unwrap_or(usual.rows),
            columns: SavedAxis::optional_form(settings.columns, usual.columns),
            ..FitForm::default()
        };
        Self {
            form,
            ..Self::default()
        }
    }
}

/// What a running fit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStage {
    /// The model is reading the texts.
    Reading { n_read: usize, n_tokens: usize },
    /// The chains run over what the model has read.
    Computing,
}

/// A fit, as far as it has been computed.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRun {
    id: GenerationId,
    texts: Vec<FitText>,
    pub fit: Fit,
    pub model: Arc<ModelInfo>,
    /// The model that guides, if the settings use guidance.
    second_model: Option<Arc<ModelInfo>>,
    pub vocabulary: Arc<Vocabulary>,
    pub status: RunStatus,
    pub stage: FitStage,
    /// The selected cell.
    pub selected: Option<usize>,
    /// What the fit shows, in sentences.
    pub reading: FitReading,
}

/// What a fit shows, in sentences. Computed when something changes, not in every frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FitReading {
    pub best: Option<FitPoint>,
    pub sentences: Vec<String>,
    /// Where the texts become impossible: the row of a map, and what can't be generated there.
    pub limits: Vec<(String, String)>,
    pub notes: Vec<String>,
}

impl FitRun {
    fn new(id: GenerationId, setup: FitSetup, texts: Vec<FitText>, model: &ReadyModel) -> Self {
        Self {
            id,
            texts,
            fit: Fit::new(setup),
            model: Arc::clone(&model.info),
            second_model: None,
            vocabulary: Arc::clone(&model.vocabulary),
            status: RunStatus::Waiting,
            stage: FitStage::Reading {
                n_read: 0,
                n_tokens: 0,
            },
            selected: None,
            reading: FitReading::default(),
        }
    }

    /// Returns whether more results will arrive.
    pub const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    fn next_request(&mut self) -> Option<Request> {
        let plan = FitPlan {
            chains: self.fit.next_batch()?,
            texts: self.texts.clone(),
            n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
        };
        Some(Request::run_job(self.id, plan))
    }

    /// Recomputes the sentences.
    fn read(&mut self) {
        let fit = &self.fit;
        let vocabulary = &self.vocabulary;
        let mut sentences: Vec<String> = fit.best_sentence(vocabulary).into_iter().collect();
        sentences.extend(fit.interval_sentences());
        sentences.extend(fit.base_sentence(vocabulary));
        let limits = fit.limits();
        let limits = limits
            .iter()
            .map(|limit| fit.limit_words(limit, vocabulary));
        let mut notes = fit.left_out_sentences();
        if fit.best().is_some() {
            notes.push(fit.interval_note());
        }
        notes.push(fit.scope_sentence().to_owned());
        self.reading = FitReading {
            best: fit.best(),
            sentences,
            limits: limits.collect(),
            notes,
        };
    }

    /// Returns the cell to describe: the selected one, or else the one nearest to the best.
    pub fn shown_cell(&self) -> Option<usize> {
        let n_cells = self.fit.setup.n_cells();
        let selected = self.selected.filter(|cell| *cell < n_cells);
        selected.or_else(|| self.best_cell())
    }

    /// Returns the cell nearest to the best settings.
    pub fn best_cell(&self) -> Option<usize> {
        let best = self.reading.best.as_ref()?;
        let setup = &self.fit.setup;
        let nearest = |axis: &crate::analysis::sweep::Axis, at: f64| {
            let values = axis.values().iter().enumerate();
            let nearest =
                values.min_by(|(_, a), (_, b)| (*a - at).abs().total_cmp(&(*b - at).abs()));
            nearest.map(|(place, _)| place)
        };
        let mut places = setup.axes().into_iter().zip(&best.values);
        let (axis, at) = places.next()?;
        let row = nearest(axis, *at)?;
        let column = match places.next() {
            Some((axis, at)) => nearest(axis, *at)?,
            None => 0,
        };
        Some(row * setup.n_columns() + column)
    }

    /// Moves the selection by this many rows and columns, within the grid. A curve moves along its
    /// only axis.
    pub fn move_selection(&mut self, rows: isize, columns: isize) {
        let setup = &self.fit.setup;
        let (n_columns, n_rows) = (setup.n_columns(), setup.rows.values().len());
        let cell = self.shown_cell().unwrap_or(0);
        let moved = |place: usize, by: isize, n: usize| {
            place.saturating_add_signed(by).min(n.saturating_sub(1))
        };
        // Rows are drawn with the largest value at the top, and a curve from left to right.
        let is_rising = setup.rows.values().first() < setup.rows.values().last();
        let by = match (&setup.columns, is_rising) {
            (None, true) => columns,
            (None, false) => -columns,
            (Some(_), true) => -rows,
            (Some(_), false) => rows,
        };
        let row = moved(cell / n_columns, by, n_rows);
        let column = match setup.columns {
            Some(_) => moved(cell % n_columns, columns, n_columns),
            None => 0,
        };
        self.selected = Some(row * n_columns + column);
    }

    /// Returns a cell with its likelihood, if it is known.
    pub fn cell_point(&self, cell: usize) -> Option<FitPoint> {
        Some(FitPoint {
            values: self.fit.setup.values_of(cell),
            likelihood: self.fit.cell(cell)?,
        })
    }

    /// "Temperature 0.7, top-p 0.9: 0.24 bits per token, 1.2 bits less likely in total".
    pub fn cell_sentence(&self, cell: usize) -> String {
        if let Some(point) = self.cell_point(cell) {
            return self.fit.point_sentence(&point, &self.vocabulary);
        }
        let words = self.fit.setup.words(&self.fit.setup.values_of(cell));
        format!("{words}: not computed yet")
    }

    /// "190 tokens, read once", or how far the fit has come.
    pub fn summary(&self) -> String {
        match &self.status {
            RunStatus::Waiting | RunStatus::Running => self.stage_words(),
            RunStatus::Complete => format!("{}, read once", self.fit.size_words()),
            RunStatus::Stopped => {
                let (done, all) = (self.fit.n_done(), self.fit.setup.n_cells());
                let (done, all) = (grouped(done as f64), grouped(all as f64));
                format!("Stopped after {done} of {all} settings")
            }
            RunStatus::Failed { .. } => "The fit failed".to_owned(),
        }
    }

    fn stage_words(&self) -> String {
        match self.stage {
            FitStage::Reading { n_read, n_tokens } => {
                let (read, all) = (grouped(n_read as f64), grouped(n_tokens as f64));
                format!("Reading the text, {read} of {all} tokens")
            }
            FitStage::Computing => {
                let (done, all) = (self.fit.n_done(), self.fit.setup.n_cells());
                if done < all {
                    let (done, all) = (grouped(done as f64), grouped(all as f64));
                    format!("{done} of {all} settings")
                } else {
                    "Narrowing down the best settings".to_owned()
                }
            }
        }
    }

    /// Returns the share that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.stage {
            FitStage::Reading { n_read, n_tokens } => 0.5 * n_read as f64 / n_tokens.max(1) as f64,
            FitStage::Computing => {
                0.5 + 0.5 * self.fit.n_done() as f64 / self.fit.setup.n_cells().max(1) as f64
            }
        }
    }
}

impl JobRun for FitRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.is_running().then_some(self.id).into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        match report.take() {
            Some(FitUpdate::Started { texts }) => self.fit.set_texts(texts),
            Some(FitUpdate::Reading { n_read, n_tokens }) => {
                self.stage = FitStage::Reading { n_read, n_tokens };
            }
            Some(FitUpdate::Computed { found }) => {
                self.stage = FitStage::Computing;
                for (index, likelihood) in found {
                    self.fit.add(index, likelihood);
                }
            }
            None => {}
        }
    }

    /// Ends a batch of settings. The next one has the same id.
    fn on_finished(&mut self, _id: GenerationId, _next: &mut NextJob<'_>) -> Option<Request> {
        let next = self.next_request();
        if next.is_none() {
            self.status = RunStatus::Complete;
        }
        self.read();
        next
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
        self.read();
    }
}

fn run_fit(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Fit) {
        return Vec::new();
    }
    let (Ok(setup), Some(model)) = (fit_setup(state), state.models.main.ready()) else {
        return Vec::new();
    };
    let Ok(texts) = fit_texts(state, model) else {
        return Vec::new();
    };
    begin(state, setup, texts)
}

/// Runs a fit with the loaded model.
fn begin(state: &mut AppState, setup: FitSetup, texts: Vec<FitText>) -> Vec<Effect> {
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    let id = GenerationId(state.last_id + 1);
    let mut run = FitRun {
        second_model: state.models.second.guiding(&setup.base),
        ..FitRun::new(id, setup, texts, model)
    };
    let request = run.next_request();
    state.last_id += 1;
    state.lab.fit.run = Some(run);
    request.map(Effect::Send).into_iter().collect()
}

/// Adds a pane with the best settings, or with those of a cell, and writes its text.
fn open_fit(state: &mut AppState, cell: Option<usize>) -> Vec<Effect> {
    let Some(run) = &state.lab.fit.run else {
        return Vec::new();
    };
    let best = || run.reading.best.as_ref().map(|best| best.values.clone());
    let values = cell.map(|cell| run.fit.setup.values_of(cell));
    let Some(values) = values.or_else(best) else {
        return Vec::new();
    };
    let chain = run.fit.setup.chain_at(&values);
    let seed = fit_base(state).map_or(state.seed, |base| state.seed_of(base));
    open_pane_with(state, NewPane::new(chain, seed))
}
