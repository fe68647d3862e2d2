//! The sweep on screen, and what the user can do with it.

mod form;
mod run;

pub use form::{SweepForm, SweepSettings};
pub(super) use form::{sweep_base, sweep_cost, sweep_setup};
use run::AskedSweep;
pub use run::{KeptSweep, SweepRun};

use crate::analysis::sweep::Metric;
use crate::generation::{PromptText, SweepPlan};
use crate::lab::open_pane::{NewPane, open_pane_with, open_prompt_with};
use crate::lab::{Experiment, Group, LabTab, MadeBy, ResultFacts};
use crate::state::{AppState, Effect, JobRun};
use crate::worker::{GenerationId, Request};

/// The sweep, and the form of the next one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepTab {
    /// What the next sweep varies.
    pub form: SweepForm,
    /// The figure that a narrow window shows.
    pub metric: Metric,
    /// The word that is being typed, whose frequency is measured.
    pub word: String,
    /// Why the typed word is not a valid pattern.
    word_error: Option<String>,
    /// The selected cell.
    pub selected: Option<usize>,
    /// The sweep on screen.
    pub run: Option<SweepRun>,
}

/// What the user can do with a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepCommand {
    /// Measure how often the typed word appears.
    FindWord,
    /// Regenerate a text of a cell in a new pane.
    OpenAsPane {
        cell: usize,
        /// The index of the text in its cell.
        text: usize,
    },
}

impl Experiment for SweepTab {
    const NAME: &'static str = "Sweep";
    const GROUP: Group = Group::WriteMany;
    type Command = SweepCommand;
    type Settings = SweepSettings;
    type Result = KeptSweep;

    fn result(&self) -> Option<(ResultFacts, KeptSweep)> {
        let run = self.run.as_ref().filter(|run| run.results.n_texts() > 0)?;
        Some((run.facts(), run.kept()))
    }

    fn show(&mut self, result: KeptSweep) -> Result<(), String> {
        let mut run = SweepRun::of_kept(result)?;
        let word = self.word.trim();
        // A word that can't be searched for is reported when it is typed.
        run.results
            .set_word(Some(word).filter(|word| !word.is_empty()))
            .ok();
        (self.run, self.selected) = (Some(run), None);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy {
            model: &run.model,
            second: run.second_model.as_deref(),
        })
    }

    fn again_refusal(state: &AppState) -> Option<String> {
        let SweepTab { form, run, .. } = &state.lab.sweep;
        let SweepRun {
            results, prompts, ..
        } = run.as_ref()?;
        form.size_refusal(&results.setup, prompts.len(), results.keep())
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let asked = state.lab.sweep.run.as_ref().map(SweepRun::asked);
        asked.map_or_else(Vec::new, |asked| begin(state, asked))
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        run_sweep(state)
    }

    fn close(&mut self) {
        self.run = None;
        self.selected = None;
    }

    fn apply(state: &mut AppState, command: SweepCommand) -> Vec<Effect> {
        match command {
            SweepCommand::FindWord => {
                find_word(state);
                Vec::new()
            }
            SweepCommand::OpenAsPane { cell, text } => open_as_pane(state, cell, text),
        }
    }

    fn settings(&self) -> SweepSettings {
        self.form.settings(self.word.clone())
    }

    fn restored(settings: SweepSettings) -> Self {
        Self {
            word: settings.word.clone(),
            form: SweepForm::restored(settings),
            ..Self::default()
        }
    }
}

impl SweepTab {
    /// Returns why the typed word can't be searched for.
    pub fn word_error(&self) -> Option<&str> {
        self.word_error.as_deref()
    }

    /// Returns the cell whose texts are shown: the selected one, or else the first with texts.
    pub fn shown_cell(&self) -> Option<usize> {
        let cells = self.run.as_ref()?.results.cells();
        let selected = self.selected.filter(|cell| *cell < cells.len());
        selected.or_else(|| cells.iter().position(|cell| !cell.texts().is_empty()))
    }

    /// Moves the selection by this many rows and columns, within the grid.
    pub fn move_selection(&mut self, rows: isize, columns: isize) {
        let Some(sweep) = &self.run else { return };
        let n_columns = sweep.results.setup.n_columns();
        let n_rows = sweep.results.setup.rows.values().len();
        let cell = self.shown_cell().unwrap_or(0);
        let moved = |place: usize, by: isize, n: usize| {
            place.saturating_add_signed(by).min(n.saturating_sub(1))
        };
        let row = moved(cell / n_columns, rows, n_rows);
        let column = moved(cell % n_columns, columns, n_columns);
        self.selected = Some(row * n_columns + column);
    }
}

/// Returns the prompts of the next sweep.
pub(super) fn sweep_prompts(state: &AppState) -> Vec<PromptText> {
    if !state.lab.sweep.form.own_prompts {
        return vec![state.prompt.to_text()];
    }
    let current = state.prompt.to_text();
    let lines = state.lab.sweep.form.prompts.lines();
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .map(|line| PromptText {
            text: line.to_owned(),
            ..current.clone()
        })
        .collect()
}

/// Returns why the sweep can't run now, or `None` if it can.
pub(super) fn sweep_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    let prompts = sweep_prompts(state);
    if prompts.iter().all(|prompt| prompt.text.is_empty()) {
        return Some("Type a prompt first".to_owned());
    }
    if !state.lab.sweep.form.own_prompts
        && let Some(refusal) = state.prompt.refusal(&state.models.main)
    {
        return Some(refusal);
    }
    sweep_setup(state).err()
}

fn run_sweep(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Sweep) || sweep_blocking_reason(state).is_some() {
        return Vec::new();
    }
    let Ok(setup) = sweep_setup(state) else {
        return Vec::new();
    };
    let asked = AskedSweep {
        setup,
        prompts: sweep_prompts(state),
        keep: state.lab.sweep.form.keep,
    };
    begin(state, asked)
}

/// Runs a sweep with the loaded model.
fn begin(state: &mut AppState, asked: AskedSweep) -> Vec<Effect> {
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    state.last_id += 1;
    let id = GenerationId(state.last_id);
    let AskedSweep { setup, prompts, .. } = &asked;
    let plan = setup.plan(prompts.clone(), SweepPlan::DEFAULT_WIDTH);
    let second_model = state.models.second.guiding(&setup.base);
    state.lab.sweep.run = Some(SweepRun::new(id, asked, model, second_model));
    state.lab.sweep.selected = None;
    find_word(state);
    vec![Effect::Send(Request::run_job(id, plan))]
}

fn find_word(state: &mut AppState) {
    let word = state.lab.sweep.word.trim();
    let word = (!word.is_empty()).then_some(word);
    let found = match &mut state.lab.sweep.run {
        Some(sweep) => sweep.results.set_word(word),
        None => Ok(()),
    };
    state.lab.sweep.word_error = found.err();
}

/// Adds a pane with the settings of a cell and the seed of one of its texts, and shows it.
fn open_as_pane(state: &mut AppState, cell: usize, text: usize) -> Vec<Effect> {
    let Some(sweep) = &state.lab.sweep.run else {
        return Vec::new();
    };
    let setup = &sweep.results.setup;
    let chain = setup.chain_of(cell);
    let cell = sweep.results.cells().get(cell);
    let text = cell.and_then(|cell| cell.texts().get(text));
    let seed = text.map_or(0, |text| text.seed);
    let seed = setup.seed.wrapping_add(seed as u64);
    let prompt = sweep
        .prompts
        .get(text.map_or(0, |text| text.prompt))
        .cloned();
    match prompt {
        Some(prompt) => open_prompt_with(state, prompt, NewPane::new(chain, seed)),
        None => open_pane_with(state, NewPane::new(chain, seed)),
    }
}
