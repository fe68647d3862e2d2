//! What to measure next, and the measurement on screen.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::figures::InfluenceResults;
use super::kept::KeptInfluence;
use super::plan::{InfluencePlan, InfluenceText, InfluenceUpdate, LeftOut};
use crate::generation::formatting::{counted, grouped, pane_letter, quoted};
use crate::generation::{Generation, ModelInfo};
use crate::lab::{Experiment, Group, LabTab, MadeBy, NoCommand, ResultFacts};
use crate::state::{AppState, Effect, JobRun, Pane, PaneId, ReadyModel, RunStatus};
use crate::worker::{GenerationId, JobReport, Request};

/// The measurement, and the form of the next one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InfluenceTab {
    /// What the next measurement is about.
    pub form: InfluenceForm,
    /// The measurement on screen.
    pub run: Option<InfluenceRun>,
}

/// What the next measurement is about. The fields are edited in place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InfluenceForm {
    pub target: InfluenceTarget,
    pub unit: LeftOut,
    /// Whether parts of the text after the prompt are left out, too.
    pub also_written: bool,
}

/// Whose choice is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InfluenceTarget {
    /// The next token after the prompt.
    #[default]
    Next,
    /// The pinned token. Without one, the next token after the prompt.
    Pinned,
    /// All tokens of a pane's text.
    Text(PaneId),
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InfluenceSettings {
    #[serde(rename = "influence_unit")]
    unit: String,
    #[serde(rename = "influence_also_written")]
    also_written: bool,
}

impl Default for InfluenceSettings {
    fn default() -> Self {
        InfluenceTab::default().settings()
    }
}

impl Experiment for InfluenceTab {
    const NAME: &'static str = "Influence";
    const GROUP: Group = Group::ExplainOne;
    type Command = NoCommand;
    type Settings = InfluenceSettings;
    type Result = KeptInfluence;

    fn result(&self) -> Option<(ResultFacts, KeptInfluence)> {
        self.run.as_ref()?.kept()
    }

    fn show(&mut self, result: KeptInfluence) -> Result<(), String> {
        self.run = Some(InfluenceRun::of_kept(result)?);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy::one(&run.model.info))
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let run = state.lab.influence.run.as_ref();
        let asked = run.map(|run| (run.plan.clone(), run.target.clone()));
        asked.map_or_else(Vec::new, |(plan, target)| begin(state, plan, target))
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        measure(state)
    }

    fn close(&mut self) {
        self.run = None;
    }

    fn apply(_state: &mut AppState, command: NoCommand) -> Vec<Effect> {
        match command {}
    }

    fn settings(&self) -> InfluenceSettings {
        InfluenceSettings {
            unit: self.form.unit.name().to_owned(),
            also_written: self.form.also_written,
        }
    }

    fn restored(settings: InfluenceSettings) -> Self {
        let mut units = LeftOut::ALL.into_iter();
        let unit = units.find(|unit| unit.name() == settings.unit);
        let form = InfluenceForm {
            unit: unit.unwrap_or_default(),
            also_written: settings.also_written,
            target: InfluenceTarget::default(),
        };
        Self { form, run: None }
    }
}

/// A measurement, with its results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluenceRun {
    id: GenerationId,
    pub(super) plan: InfluencePlan,
    /// `None` until the engine has tokenized the text.
    pub results: Option<InfluenceResults>,
    pub model: ReadyModel,
    /// What is looked at: "the next token", "token 4 of D".
    pub target: String,
    pub status: RunStatus,
    /// How many tokens have been read.
    n_rows: usize,
    /// The selected part.
    pub selected: Option<usize>,
}

impl InfluenceRun {
    /// Creates a measurement for which nothing was found yet.
    pub(super) const fn new(
        id: GenerationId,
        plan: InfluencePlan,
        target: String,
        model: ReadyModel,
    ) -> Self {
        Self {
            id,
            plan,
            results: None,
            model,
            target,
            status: RunStatus::Waiting,
            n_rows: 0,
            selected: None,
        }
    }

    /// Returns the part to describe: the selected one, or else the one that matters most.
    pub fn shown_part(&self) -> Option<usize> {
        let results = self.results.as_ref()?;
        let n_parts = results.facts.parts.len();
        let selected = self.selected.filter(|part| *part < n_parts);
        selected.or_else(|| results.strongest())
    }

    /// Moves the selection by this many parts.
    pub fn move_selection(&mut self, by: isize) {
        let n = self
            .results
            .as_ref()
            .map_or(0, |results| results.facts.parts.len());
        let from = self.shown_part().unwrap_or(0);
        let last = n.saturating_sub(1);
        self.selected = (n > 0).then(|| from.saturating_add_signed(by).min(last));
    }

    /// "3 of 10 words", "10 words", or why it ended early.
    pub fn summary(&self) -> String {
        let Some(results) = &self.results else {
            return match self.status {
                RunStatus::Failed { .. } => "The measurement failed".to_owned(),
                _ => "Waiting for the engine".to_owned(),
            };
        };
        let unit = self.plan.unit.name();
        let (done, all) = (results.known().count(), results.facts.parts.len());
        let words = format!("{} of {}", grouped(done as f64), counted(all, unit));
        match &self.status {
            RunStatus::Waiting | RunStatus::Running => words,
            RunStatus::Complete => counted(all, unit),
            RunStatus::Stopped => format!("Stopped after {words}"),
            RunStatus::Failed { .. } => format!("Failed after {words}"),
        }
    }

    /// Returns the share that is done, from 0 to 1, while it runs.
    pub fn fraction(&self) -> Option<f64> {
        let results = self.results.as_ref().filter(|_| self.status.is_running())?;
        let n_all = results.facts.n_rows().max(1);
        Some((self.n_rows as f64 / n_all as f64).min(1.0))
    }
}

impl JobRun for InfluenceRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let running = self.status.is_running().then_some(self.id);
        running.into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        match report.take() {
            Some(InfluenceUpdate::Started(facts)) => {
                let vocabulary = Arc::clone(&self.model.vocabulary);
                self.results = Some(InfluenceResults::new(facts, self.plan.unit, vocabulary));
            }
            Some(InfluenceUpdate::Advanced { n_rows }) => self.n_rows = n_rows,
            Some(update) => {
                if let Some(results) = &mut self.results {
                    results.add(update);
                }
            }
            None => {}
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
    }
}

/// Returns the pane with the pinned token, its text, and the index of the token.
pub(super) fn pinned(state: &AppState) -> Option<(&Pane, &Generation, usize)> {
    let pin = state.pin?;
    let pane = state.pane(pin.pane)?;
    let text = pane.generation()?;
    let last = text.steps.len().checked_sub(1)?;
    Some((pane, text, pin.step.min(last)))
}

/// Names the pinned token: "token 4, ‘nest’".
pub(super) fn pinned_words(text: &Generation, step: usize) -> String {
    let piece = text.steps.get(step).map(|step| quoted(&step.piece));
    format!("token {}, {}", step + 1, piece.unwrap_or_default())
}

/// Returns the text of the next measurement, and what is looked at in words, or why there is none.
fn chosen_text(state: &AppState) -> Result<(InfluenceText, String), String> {
    let model = state.models.main.ready().map(|model| &*model.info);
    let letter = |id| state.place_of(id).map(pane_letter).unwrap_or_default();
    let target = state.lab.influence.form.target;
    if target == InfluenceTarget::Pinned
        && let Some((pane, text, step)) = pinned(state)
    {
        let words = format!("{} of {}", pinned_words(text, step), letter(pane.id));
        return Ok((written(text, Some(step), model)?, words));
    }
    if let InfluenceTarget::Text(id) = target {
        let text = state.pane(id).and_then(Pane::generation);
        let Some(text) = text.filter(|text| !text.steps.is_empty()) else {
            return Err("This pane has no text".to_owned());
        };
        let words = format!("the text of {}", letter(id));
        return Ok((written(text, None, model)?, words));
    }
    if state.prompt.text.is_empty() {
        return Err("Type a prompt on the Write page first".to_owned());
    }
    if let Some(refusal) = state.prompt.refusal(&state.models.main) {
        return Err(refusal);
    }
    let prompt = state.prompt.to_text();
    Ok((InfluenceText::Prompt(prompt), "the next token".to_owned()))
}

/// Returns a text that the loaded model can read token by token.
fn written(
    text: &Generation,
    step: Option<usize>,
    model: Option<&ModelInfo>,
) -> Result<InfluenceText, String> {
    if text.finish.is_none() {
        return Err("A text is still being written".to_owned());
    }
    if model.is_none_or(|model| *model != *text.model) {
        return Err(
            "Another model has written this text, so its tokens mean nothing here".to_owned(),
        );
    }
    let written = text.steps.iter().map(|step| step.token);
    Ok(InfluenceText::Written {
        n_prompt: text.prompt.tokens.len(),
        tokens: text.prompt.tokens.iter().copied().chain(written).collect(),
        step,
    })
}

/// Returns why nothing can be measured now, or `None` if it can.
pub(super) fn blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    chosen_text(state).err()
}

fn measure(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Influence) || blocking_reason(state).is_some() {
        return Vec::new();
    }
    let Ok((text, target)) = chosen_text(state) else {
        return Vec::new();
    };
    let InfluenceForm {
        unit, also_written, ..
    } = state.lab.influence.form;
    let plan = InfluencePlan {
        text,
        unit,
        also_written,
    };
    begin(state, plan, target)
}

/// Runs a measurement with the loaded model.
fn begin(state: &mut AppState, plan: InfluencePlan, target: String) -> Vec<Effect> {
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    state.last_id += 1;
    let id = GenerationId(state.last_id);
    let run = InfluenceRun::new(id, plan.clone(), target, model.clone());
    state.lab.influence.run = Some(run);
    vec![Effect::Send(Request::run_job(id, plan))]
}
