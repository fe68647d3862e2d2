//! Stability: how far a text of a pane stays the same under other settings.

mod rewriting;
mod run;

use serde::{Deserialize, Serialize};

pub use self::run::StabilityRun;
use self::run::{MapSource, Shown};
use super::kept::{KeptMaps, KeptStability};
use crate::analysis::sweep::{Axis, Parameter};
use crate::decoding::FilterKind;
use crate::generation::{Generation, GenerationId};
use crate::lab::open_pane::{NewPane, open_pane_with, open_prompt_with};
use crate::lab::{Experiment, Group, LabTab, MadeBy, NoSettings, ResultFacts};
use crate::state::{AppState, Effect, JobRun, Pane, PaneId, PaneStatus};
use crate::worker::Request;

/// The stability map, and what it shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StabilityTab {
    /// What the map varies.
    pub axes: StabilityAxes,
    /// The pane whose text it shows, or `None` for the usual one.
    pub pane: Option<PaneId>,
    pub scope: StabilityScope,
    /// The map of the current text, or one from the history.
    pub run: Option<StabilityRun>,
    /// The maps that the history keeps.
    kept: KeptMaps,
    /// The user's choices, while those of a map from the history stand in their place.
    own: Option<MapChoices>,
}

/// Which map is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapChoices {
    axes: StabilityAxes,
    pane: Option<PaneId>,
    scope: StabilityScope,
}

/// What the user can do with the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StabilityCommand {
    /// Write on with the settings of a cell in a new pane.
    Open { cell: usize },
}

/// The map needs no job: it is computed from the record while its tab is shown. Only the text of a map
/// from the history is written again.
impl Experiment for StabilityTab {
    const NAME: &'static str = "Stability";
    const GROUP: Group = Group::ExplainOne;
    const JOB_FINDS_RESULTS: bool = false;
    type Command = StabilityCommand;
    type Settings = NoSettings;
    type Result = KeptStability;

    fn result(&self) -> Option<(ResultFacts, KeptStability)> {
        self.run.as_ref()?.kept()
    }

    fn show(&mut self, result: KeptStability) -> Result<(), String> {
        let run = StabilityRun::of_kept(result)?;
        self.own.get_or_insert(MapChoices {
            axes: self.axes,
            pane: self.pane,
            scope: self.scope,
        });
        self.axes = run.axes;
        let step = run.held_step();
        self.scope = step.map_or(StabilityScope::Text, StabilityScope::Token);
        self.pane = None;
        self.run = Some(run);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy::one(&run.text.model))
    }

    fn again_refusal(state: &AppState) -> Option<String> {
        state.lab.stability.run.as_ref()?.again_refusal()
    }

    /// Writes the text again, because only its tokens were kept.
    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let model = state.models.main.ready().cloned();
        let (Some(run), Some(model)) = (&mut state.lab.stability.run, model) else {
            return Vec::new();
        };
        state.last_id += 1;
        let id = GenerationId(state.last_id);
        let n_max_bytes = state.memory.detail_bytes_of_one(run.text.steps.len());
        let plan = run.begin_again(id, model, n_max_bytes);
        vec![Effect::Send(Request::run_job(id, plan))]
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn has_new_result(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| !run.is_kept && run.is_complete())
    }

    fn note_kept(&mut self, now: u64) -> u64 {
        let Some(run) = &mut self.run else {
            return now;
        };
        run.is_kept = true;
        let key = run.key();
        key.map_or(now, |key| self.kept.note(key, now))
    }

    fn close(&mut self) {
        self.run = None;
        if let Some(MapChoices { axes, pane, scope }) = self.own.take() {
            (self.axes, self.pane, self.scope) = (axes, pane, scope);
        }
    }

    fn apply(state: &mut AppState, command: StabilityCommand) -> Vec<Effect> {
        match command {
            StabilityCommand::Open { cell } => open_stable_cell(state, cell),
        }
    }

    fn advance(state: &mut AppState, has_time: &mut dyn FnMut() -> bool) -> bool {
        advance_stability(state, has_time)
    }

    fn settings(&self) -> NoSettings {
        NoSettings::default()
    }

    fn restored(_settings: NoSettings) -> Self {
        Self::default()
    }
}

/// The two numbers that a stability map varies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StabilityAxes {
    #[default]
    TopP,
    MinP,
    TopK,
}

impl StabilityAxes {
    /// All choices, in menu order.
    pub const ALL: [Self; 3] = [Self::TopP, Self::MinP, Self::TopK];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TopP => "T × top-p",
            Self::MinP => "T × min-p",
            Self::TopK => "T × top-k",
        }
    }

    /// Returns the values of the rows, from top to bottom, and of the columns, from left to right.
    pub(in crate::lab::stability) fn axes(self) -> Option<[Axis; 2]> {
        let (kind, ends) = match self {
            Self::TopP => (FilterKind::TopP, [0.025, 1.0]),
            Self::MinP => (FilterKind::MinP, [0.005, 0.2]),
            Self::TopK => (FilterKind::TopK, [1.0, 40.0]),
        };
        let axis = |kind, ends| Axis::range(Parameter::Filter(kind, 0), ends, 40).ok();
        Some([
            axis(FilterKind::Temperature, [2.0, 0.05])?,
            axis(kind, ends)?,
        ])
    }
}

/// Which part of a text is mapped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StabilityScope {
    /// How many of its tokens stay the same.
    #[default]
    Text,
    /// Whether the pinned token stays the same. Without one, the whole text is mapped.
    Pinned,
    /// Whether the token at this index stays the same.
    Token(usize),
}

/// Returns the pane whose text the stability map shows: the chosen one, the one with the pinned
/// token, or else the last one with a text. A greedy text is the last choice, because no
/// temperature changes it. If there is no such pane, returns why.
pub(in crate::lab::stability) fn stability_source(
    state: &AppState,
) -> Result<(&Pane, &Generation), &'static str> {
    let pinned = state.pin.and_then(|pin| state.pane(pin.pane));
    let with_text = |pane: &&Pane| pane.has_text();
    let is_sampled = |pane: &&Pane| {
        let text = pane.generation();
        text.is_some_and(|text| !text.steps.is_empty() && !text.config.chain.is_greedy())
    };
    let mut panes = pinned.into_iter().chain(state.panes.iter().rev());
    let sampled = panes.find(is_sampled);
    let any = || state.panes.iter().rev().find(with_text);
    let chosen = state.lab.stability.pane.and_then(|id| state.pane(id));
    let chosen = chosen.filter(with_text);
    let Some(pane) = chosen.or(sampled).or_else(any) else {
        return Err("Generate a text first.");
    };
    let Some(text) = pane.generation() else {
        return Err("Generate a text first.");
    };
    if matches!(pane.status, PaneStatus::Waiting { .. }) || text.finish.is_none() {
        return Err("This text is still being written.");
    }
    if text.is_scored() {
        return Err("This text was given, so no setting chose its tokens.");
    }
    if text.config.chain.selector.is_adaptive() {
        return Err("This selector adapts to earlier tokens, so its choices can’t be replayed.");
    }
    Ok((pane, text))
}

/// Computes the map of the current text while `has_time` returns true. Returns whether it is
/// complete.
pub(in crate::lab::stability) fn advance_stability(
    state: &mut AppState,
    mut has_time: impl FnMut() -> bool,
) -> bool {
    let tab = &state.lab.stability;
    let text = stability_source(state).ok();
    let held = match (text, tab.scope) {
        (Some((pane, text)), scope) => stability_step(state, pane.id, text, scope),
        (None, StabilityScope::Token(step)) => Some(step),
        (None, StabilityScope::Text | StabilityScope::Pinned) => None,
    };
    let shown = Shown {
        text,
        axes: tab.axes,
        held,
        is_chosen: tab.pane.is_some() || tab.scope == StabilityScope::Pinned,
    };
    let run = tab.run.as_ref();
    if !run.is_some_and(|run| run.is_current(shown)) {
        let run = text.and_then(|(pane, text)| StabilityRun::new(pane, text, shown.axes, held));
        state.lab.stability.run = run;
        state.lab.stability.own = None;
        state.lab.forget_kept(LabTab::Stability);
    }
    let run = state.lab.stability.run.as_mut();
    run.is_none_or(|run| run.advance(&mut has_time))
}

/// Returns the index of the token whose choice is mapped, or `None` for the whole text.
fn stability_step(
    state: &AppState,
    pane: PaneId,
    text: &Generation,
    scope: StabilityScope,
) -> Option<usize> {
    let last = text.steps.len().checked_sub(1)?;
    match scope {
        StabilityScope::Text => None,
        StabilityScope::Pinned => {
            let pin = state.pin.filter(|pin| pin.pane == pane);
            pin.map(|pin| pin.step.min(last))
        }
        StabilityScope::Token(step) => Some(step.min(last)),
    }
}

/// Adds a pane with the settings of a cell of the map and the seed of its text.
fn open_stable_cell(state: &mut AppState, cell: usize) -> Vec<Effect> {
    let Some(run) = &state.lab.stability.run else {
        return Vec::new();
    };
    let (chain, seed) = (run.map.chain_of(cell), run.text.config.seed);
    if run.pane().is_some() {
        return open_pane_with(state, NewPane::new(chain, seed));
    }
    let prompt = run.text.prompt();
    open_prompt_with(state, prompt, NewPane::new(chain, seed))
}
