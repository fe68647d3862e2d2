//! The comparison of two models on screen: what was asked, and what both have read so far.

mod kept;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::formatting::grouped;
use crate::generation::hosts::MODEL_COMPARISON;
use crate::generation::{ByteSize, Generation, GenerationConfig, Vocabulary, chain_words};
use crate::lab::models::{ComparedModels, ComparisonPlan, ComparisonText, ComparisonUpdate};
use crate::lab::{Experiment, Group, LabTab, MadeBy, NoCommand, NoSettings, ResultFacts};
use crate::state::{AppState, Effect, JobRun, Models, Pane, PaneId, ReadyModel, RunStatus};
use crate::worker::{
    AnyPlan, CacheType, GenerationId, InputBits, JobReport, ModelSource, OtherModel, OtherWay,
    Request,
};

pub use self::kept::KeptComparison;

/// The comparison of two models, and the form of the next one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelsTab {
    /// What the next comparison is about.
    pub form: ModelsForm,
    /// The comparison on screen.
    pub run: Option<ModelsRun>,
}

impl Experiment for ModelsTab {
    const NAME: &'static str = "Two models";
    const GROUP: Group = Group::HowItWorks;
    const FILE_TITLE: &'static str = "Choose a model to compare with";
    type Command = NoCommand;
    type Settings = NoSettings;
    type Result = KeptComparison;

    fn result(&self) -> Option<(ResultFacts, KeptComparison)> {
        self.run.as_ref()?.kept()
    }

    fn show(&mut self, result: KeptComparison) -> Result<(), String> {
        self.run = Some(ModelsRun::of_kept(result)?);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy::one(&run.model.info))
    }

    fn again_refusal(state: &AppState) -> Option<String> {
        let run = state.lab.models.run.as_ref()?;
        run.other_source(&state.models).err()
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let Some(run) = &state.lab.models.run else {
            return Vec::new();
        };
        let Ok(source) = run.other_source(&state.models) else {
            return Vec::new();
        };
        let asked = AskedComparison {
            source: Some(source),
            ..run.asked.clone()
        };
        let text = run.text.clone();
        begin(state, asked, text)
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        compare_models(state)
    }

    fn close(&mut self) {
        self.run = None;
    }

    fn apply(_state: &mut AppState, command: NoCommand) -> Vec<Effect> {
        match command {}
    }

    /// Chooses a model file to compare with.
    fn use_path(&mut self, path: PathBuf) {
        self.form.source = Some(ModelSource::Path(path));
    }

    fn settings(&self) -> NoSettings {
        NoSettings::default()
    }

    fn restored(_settings: NoSettings) -> Self {
        Self::default()
    }
}

/// What the next comparison is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelsForm {
    /// The other model, or `None` for the one that is loaded.
    pub source: Option<ModelSource>,
    /// How the other model computes.
    pub way: OtherWay,
    /// The pane whose text is read, or `None` for the first that has one.
    pub pane: Option<PaneId>,
    /// Whether the typed text is read instead.
    pub is_typed: bool,
    pub typed: String,
}

impl ModelsForm {
    /// The ways in which the other model can compute, with their names.
    pub const WAYS: [(OtherWay, &'static str); 8] = [
        (OtherWay::Same, "as the loaded model"),
        (OtherWay::F32, "in f32"),
        (
            OtherWay::Inputs(InputBits::TwentyFour),
            "with 24-bit inputs",
        ),
        (OtherWay::Inputs(InputBits::Sixteen), "with 16-bit inputs"),
        (OtherWay::Inputs(InputBits::Eight), "with 8-bit inputs"),
        (OtherWay::Cache(CacheType::F32), "with an f32 cache"),
        (OtherWay::Cache(CacheType::F16), "with an f16 cache"),
        (OtherWay::Cache(CacheType::Q8), "with a q8 cache"),
    ];

    /// Returns the name of a way to compute.
    pub(in crate::lab::models) fn name_of_way(way: OtherWay) -> &'static str {
        let mut ways = Self::WAYS.into_iter();
        let named = ways.find(|(other, _)| *other == way);
        named.map_or("", |(_, name)| name)
    }

    /// Returns the way to compute with this name.
    fn way_named(name: &str) -> Option<OtherWay> {
        let mut ways = Self::WAYS.into_iter();
        let named = ways.find(|(_, other)| *other == name);
        named.map(|(way, _)| way)
    }
}

impl Default for ModelsForm {
    /// The loaded model, with its inputs rounded as llama.cpp does.
    fn default() -> Self {
        Self {
            source: None,
            way: OtherWay::Inputs(InputBits::Eight),
            pane: None,
            is_typed: false,
            typed: String::new(),
        }
    }
}

/// What a comparison is asked to do.
#[derive(Debug, Clone, PartialEq)]
struct AskedComparison {
    plan: ComparisonPlan,
    /// How the other model computes.
    way: OtherWay,
    /// Where the other model is, or `None` for a comparison from the history, which names it.
    source: Option<ModelSource>,
}

/// A comparison of two models, with the results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelsRun {
    id: GenerationId,
    asked: AskedComparison,
    /// `None` until the other model is loaded.
    pub compared: Option<ComparedModels>,
    /// The text that both read.
    pub text: String,
    /// It waits until the other model is loaded.
    pub status: RunStatus,
    /// How much of the other model is loaded, from 0 to 1.
    pub loaded: f32,
    /// The selected token.
    pub selected: Option<usize>,
    pub model: ReadyModel,
}

impl ModelsRun {
    /// Creates a comparison for which nothing was read yet.
    const fn new(
        id: GenerationId,
        asked: AskedComparison,
        text: String,
        model: ReadyModel,
    ) -> Self {
        Self {
            id,
            asked,
            compared: None,
            text,
            status: RunStatus::Waiting,
            loaded: 0.0,
            selected: None,
            model,
        }
    }

    /// Returns where its other model is, or that it is needed.
    fn other_source(&self, models: &Models) -> Result<ModelSource, String> {
        if let Some(source) = &self.asked.source {
            return Ok(source.clone());
        }
        let compared = self.compared.as_ref();
        let Some([_, other]) = compared.map(|compared| &compared.models) else {
            return Err("Needs its other model".to_owned());
        };
        let main = models.main.ready();
        if main.is_some_and(|main| main.info.has_weights_of(other)) {
            return Ok(models.source.clone());
        }
        let source = models.source_of(other);
        source.ok_or_else(|| format!("Needs {}; open it once, so that it is found", other.name))
    }

    /// Returns the vocabulary of the loaded model.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.model.vocabulary
    }

    /// "Loading the other model, 40 %", "12 of 120 tokens", "120 tokens".
    pub fn summary(&self) -> String {
        let compared = self.compared.as_ref();
        let n = compared.map_or(0, ComparedModels::n_predicted);
        let n_all = compared.map_or(0, ComparedModels::n_to_predict);
        let (n, n_all) = (grouped(n as f64), grouped(n_all as f64));
        match &self.status {
            RunStatus::Waiting => format!("Loading the other model, {:.0} %", 100.0 * self.loaded),
            RunStatus::Running => format!("{n} of {n_all} tokens"),
            RunStatus::Complete => format!("{n} tokens"),
            RunStatus::Stopped if n == n_all => "stopped".to_owned(),
            RunStatus::Stopped => format!("stopped after {n} of {n_all} tokens"),
            RunStatus::Failed { .. } => "The comparison failed".to_owned(),
        }
    }

    /// Moves the selection by this many tokens.
    pub fn move_selection(&mut self, by: isize) {
        let n = self
            .compared
            .as_ref()
            .map_or(0, |compared| compared.gaps.len());
        let from = self.selected.unwrap_or(0);
        let last = n.saturating_sub(1);
        self.selected = (n > 0).then(|| from.saturating_add_signed(by).min(last));
    }
}

impl JobRun for ModelsRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let running = self.status.is_running().then_some(self.id);
        running.into_iter().collect()
    }

    fn on_loading(&mut self, fraction: f32) {
        self.loaded = fraction;
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        match report.take() {
            Some(ComparisonUpdate::Started { facts, model }) => {
                let models = [Arc::clone(&self.model.info), model];
                let settings = settings_words(&self.asked.plan.settings);
                self.compared = Some(ComparedModels::new(models, settings, facts));
            }
            Some(ComparisonUpdate::Read(tokens)) => {
                if let Some(compared) = &mut self.compared {
                    for token in tokens {
                        compared.add(token);
                    }
                }
            }
            None => {}
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
    }
}

/// Returns the pane whose text is compared: the chosen one, or else the first with a text.
pub(super) fn compared_pane(state: &AppState) -> Option<&Pane> {
    let has_text = |pane: &&Pane| pane.has_text();
    let chosen = state.lab.models.form.pane.and_then(|id| state.pane(id));
    let chosen = chosen.filter(has_text);
    chosen.or_else(|| state.panes.iter().find(has_text))
}

/// Returns the models that can be compared with the loaded one, with their names.
pub(super) fn other_models(state: &AppState) -> Vec<(Option<ModelSource>, String)> {
    let mut all = vec![(None, "The loaded model".to_owned())];
    if state.models.source != ModelSource::Embedded {
        all.push((Some(ModelSource::Embedded), "Built-in model".to_owned()));
    }
    let chosen = match &state.lab.models.form.source {
        Some(ModelSource::Path(path)) => Some(path),
        _ => None,
    };
    let recent = state.models.recent.iter().map(|recent| &recent.path);
    let mut paths: Vec<&PathBuf> = recent.collect();
    paths.extend(chosen);
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in paths {
        let is_loaded = state.models.source == ModelSource::Path(path.clone());
        if !is_loaded && !seen.contains(&path) {
            seen.push(path);
            all.push((Some(ModelSource::Path(path.clone())), name_of(path)));
        }
    }
    all
}

/// Says how much memory the other model takes, if the size of its files is known.
pub(super) fn other_model_memory(state: &AppState) -> Option<String> {
    let form = &state.lab.models.form;
    let path = match form.source.as_ref().unwrap_or(&state.models.source) {
        ModelSource::Path(path) => path,
        ModelSource::Embedded => return None,
    };
    let n_bytes = *state.models.checked.get(path)?.as_ref().ok()?;
    // f32 takes four bytes per weight, whatever the file's format.
    let size = ByteSize(n_bytes);
    Some(if form.way == OtherWay::F32 {
        format!("Takes several times the file’s {size} of memory until the comparison ends.")
    } else {
        format!("Takes about {size} of memory until the comparison ends.")
    })
}

/// Returns why models can't be compared now, or `None` if they can.
pub(super) fn models_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    let form = &state.lab.models.form;
    if form.source.is_none() && form.way == OtherWay::Same {
        return Some("Choose another model, or another way to compute".to_owned());
    }
    if form.is_typed && form.typed.trim().is_empty() {
        return Some("Type a text to compare first".to_owned());
    }
    if !form.is_typed && compared_pane(state).is_none() {
        return Some("Generate a text first, or type one".to_owned());
    }
    None
}

/// Returns whether the choices of these settings can be compared.
fn is_comparable(config: &GenerationConfig) -> bool {
    MODEL_COMPARISON.runs(&config.chain) && config.chain.validate().is_ok()
}

/// Returns the settings of all panes whose choices can be compared.
fn compared_settings(state: &AppState) -> Vec<GenerationConfig> {
    let configs = state.panes.iter().map(|pane| state.config_of(pane));
    configs.filter(is_comparable).collect()
}

/// Describes settings: "greedy", "T 0.7, seed 42".
fn settings_words(settings: &[GenerationConfig]) -> Vec<String> {
    let words = |config: &GenerationConfig| chain_words(&config.chain, config.seed);
    settings.iter().map(words).collect()
}

fn compare_models(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Models) || models_blocking_reason(state).is_some() {
        return Vec::new();
    }
    let form = &state.lab.models.form;
    let text = compared_pane(state).and_then(Pane::generation);
    let (text, shown) = match text {
        Some(text) if !form.is_typed => (ComparisonText::Tokens(tokens_of(text)), text_of(text)),
        _ => (
            ComparisonText::Typed(form.typed.clone()),
            form.typed.clone(),
        ),
    };
    let asked = AskedComparison {
        plan: ComparisonPlan {
            text,
            settings: compared_settings(state),
        },
        way: form.way,
        source: form.source.clone().or(Some(state.models.source.clone())),
    };
    begin(state, asked, shown)
}

/// Runs a comparison of this text with the loaded model.
fn begin(state: &mut AppState, asked: AskedComparison, text: String) -> Vec<Effect> {
    let main = state.models.main.ready().cloned();
    let (Some(model), Some(source)) = (main, asked.source.clone()) else {
        return Vec::new();
    };
    let way = asked.way;
    let other = Some(OtherModel { source, way });
    state.last_id += 1;
    let id = GenerationId(state.last_id);
    let plan = AnyPlan::new(asked.plan.clone());
    state.lab.models.run = Some(ModelsRun::new(id, asked, text, model));
    vec![Effect::Send(Request::RunJob {
        id,
        plan,
        model: None,
        other,
    })]
}

/// Returns the name of a model file or folder.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn tokens_of(text: &Generation) -> Vec<TokenId> {
    let prompt = text.prompt.tokens.iter().copied();
    prompt
        .chain(text.steps.iter().map(|step| step.token))
        .collect()
}

/// Returns the prompt as the model read it, followed by what was generated.
fn text_of(text: &Generation) -> String {
    let prompt = match &text.prompt.chat {
        Some(chat) => &chat.rendered,
        None => &text.prompt.text,
    };
    let steps = text.steps.iter().map(|step| step.piece.to_string());
    std::iter::once(prompt.clone()).chain(steps).collect()
}
