//! Fit: the settings under which the model would most likely write given texts.

use std::sync::Arc;

use super::form::AxisForm;
use crate::analysis::fit::{Fit, FitPoint, FitSetup};
use crate::analysis::sweep::Parameter;
use crate::decoding::FilterKind;
use crate::generation::formatting::grouped;
use crate::generation::{
    FitPlan, FitText, FitUpdate, GenerationId, ModelInfo, PromptForm, PromptText, Vocabulary,
};
use crate::state::jobs::{JobRun, NextJob};
use crate::state::{AppState, Effect, LabTab, Pane, PaneId, ReadyModel, RunStatus};
use crate::worker::{JobReport, Request};

/// A text to fit, as the user chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FitInput {
    /// The text of a pane.
    Pane(PaneId),
    /// A text that was pasted. It is edited in place.
    Pasted {
        text: String,
        /// Whether it continues the window's prompt. Otherwise it stands alone.
        continues_prompt: bool,
    },
}

/// What the next fit varies, and which texts it reads. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct FitForm {
    pub inputs: Vec<FitInput>,
    /// Whether the user has chosen the texts. Until then, the fit uses the text of the last pane.
    pub is_chosen: bool,
    pub rows: AxisForm,
    /// `None` for a curve over one number.
    pub columns: Option<AxisForm>,
    /// The pane that all other settings come from, or `None` for the first text's.
    pub base: Option<PaneId>,
}

impl Default for FitForm {
    fn default() -> Self {
        let axis = |kind, [from, to]: [f64; 2], n_steps| AxisForm {
            parameter: Parameter::Filter(kind, 0),
            from,
            to,
            n_steps,
        };
        Self {
            inputs: Vec::new(),
            is_chosen: false,
            rows: axis(FilterKind::Temperature, [0.1, 1.6], 31),
            columns: Some(axis(FilterKind::TopP, [0.5, 1.0], 51)),
            base: None,
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

impl AppState {
    /// Chooses the text of the last pane that has one, unless the user has chosen texts.
    pub fn suggest_fit_text(&mut self) {
        let last = self.panes.iter().rev().find(|pane| pane.has_text());
        let last = last.map(|pane| pane.id);
        let form = &mut self.lab.fit_form;
        if !form.is_chosen {
            form.inputs = last.map(FitInput::Pane).into_iter().collect();
        }
    }

    /// Returns the pane whose settings the fit uses for everything that it does not vary.
    pub fn fit_base(&self) -> Option<&Pane> {
        let form = &self.lab.fit_form;
        let chosen = form.base.and_then(|id| self.pane(id));
        let of_text = || {
            form.inputs.iter().find_map(|input| match input {
                FitInput::Pane(id) => self.pane(*id),
                FitInput::Pasted { .. } => None,
            })
        };
        chosen.or_else(of_text).or_else(|| self.panes.last())
    }

    /// Returns what the next fit varies, or why it can't run.
    pub fn fit_setup(&self) -> Result<FitSetup, String> {
        let form = &self.lab.fit_form;
        let Some(base) = self.fit_base() else {
            return Err("Add a pane first".to_owned());
        };
        let setup = FitSetup {
            base: base.settings.chain.clone(),
            rows: form.rows.axis()?,
            columns: form.columns.as_ref().map(AxisForm::axis).transpose()?,
        };
        setup.validate().map_err(|error| error.to_string())?;
        Ok(setup)
    }

    /// Returns the texts of the next fit, or why it can't run.
    fn fit_texts(&self, model: &ReadyModel) -> Result<Vec<FitText>, String> {
        let inputs = self.lab.fit_form.inputs.iter();
        let texts: Result<Vec<FitText>, String> =
            inputs.map(|input| self.fit_text(input, model)).collect();
        let texts = texts?;
        if texts.is_empty() {
            return Err("Choose a text first".to_owned());
        }
        Ok(texts)
    }

    fn fit_text(&self, input: &FitInput, model: &ReadyModel) -> Result<FitText, String> {
        match input {
            FitInput::Pane(id) => {
                let text = self.pane(*id).and_then(Pane::generation);
                let Some(text) = text.filter(|text| !text.steps.is_empty()) else {
                    return Err("A pane has no text to fit".to_owned());
                };
                if text.finish.is_none() {
                    return Err("A text is still being written".to_owned());
                }
                if *text.model == *model.info {
                    let written = text.steps.iter().map(|step| step.token);
                    let prompt = text.prompt.tokens.iter().copied();
                    return Ok(FitText::Recorded {
                        n_prompt: text.prompt.tokens.len(),
                        tokens: prompt.chain(written).collect(),
                        form: PromptForm::of(text.prompt.chat.as_ref()),
                    });
                }
                // Another model has written it, so its tokens mean nothing here.
                Ok(FitText::Typed {
                    prompt: Some(PromptText::raw(&text.prompt.text)),
                    text: text.text(),
                })
            }
            FitInput::Pasted {
                text,
                continues_prompt,
            } => {
                if text.trim().is_empty() {
                    return Err("Paste a text first".to_owned());
                }
                let prompt = self.prompt.to_text();
                let continues = *continues_prompt && !prompt.text.is_empty();
                Ok(FitText::Typed {
                    prompt: continues.then_some(prompt),
                    text: text.clone(),
                })
            }
        }
    }

    /// Returns why the fit can't run now, or `None` if it can.
    pub fn fit_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        let texts = self.models.main.ready().map(|model| self.fit_texts(model));
        let texts = texts.and_then(Result::err);
        texts.or_else(|| self.fit_setup().err())
    }

    pub(super) fn run_fit(&mut self) -> Vec<Effect> {
        if self.lab.is_running(LabTab::Fit) {
            return Vec::new();
        }
        let (Ok(setup), Some(model)) = (self.fit_setup(), self.models.main.ready()) else {
            return Vec::new();
        };
        let Ok(texts) = self.fit_texts(model) else {
            return Vec::new();
        };
        let id = GenerationId(self.last_id + 1);
        let mut run = FitRun::new(id, setup, texts, model);
        let request = run.next_request();
        self.last_id += 1;
        self.lab.fit = Some(run);
        request.map(Effect::Send).into_iter().collect()
    }

    /// Adds a pane with the best settings, or with those of a cell, and writes its text.
    pub(super) fn open_fit(&mut self, cell: Option<usize>) -> Vec<Effect> {
        let Some(run) = &self.lab.fit else {
            return Vec::new();
        };
        let best = || run.reading.best.as_ref().map(|best| best.values.clone());
        let values = cell.map(|cell| run.fit.setup.values_of(cell));
        let Some(values) = values.or_else(best) else {
            return Vec::new();
        };
        let chain = run.fit.setup.chain_at(&values);
        let seed = self.fit_base().map_or(self.seed, |base| self.seed_of(base));
        self.open_pane_with(chain, seed)
    }
}
