//! The Lab: experiments over many runs.

mod batch;
mod blind;
mod cache;
mod fit;
mod form;
mod models;
mod saved;
mod stability;
mod sweep;

pub use batch::{BatchPane, BatchRun, BatchText};
pub use blind::{BLIND_VOTES, BlindResults, BlindRun, BlindTest, ShownText};
pub use cache::{CacheProgress, CacheRun};
pub use fit::{FitForm, FitInput, FitReading, FitRun, FitStage};
pub use form::{AxisForm, SweepForm};
pub use models::{ModelsForm, ModelsRun};
pub use saved::LabSettings;
pub use stability::{StabilityAxes, StabilityRun, StabilityScope};
pub use sweep::SweepRun;

use self::cache::CACHE_TOKENS;
use crate::analysis::sweep::Metric;
use crate::decoding::ChainConfig;
use crate::generation::{PromptText, SweepPlan};
use crate::state::jobs::{JobRun, stop_jobs};
use crate::state::{AppState, Effect, MAX_PANES, Notice, Page, PaneId};
use crate::worker::{GenerationId, Request};

/// What the user can do on the Lab page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabCommand {
    /// Run the experiment of a tab as it is set up.
    Run(LabTab),
    /// Stop the experiment of a tab. What was found stays.
    Stop(LabTab),
    /// Measure how often the typed word appears.
    FindWord,
    /// Regenerate a text of a cell in a new pane.
    OpenAsPane {
        cell: usize,
        /// The index of the text in its cell.
        text: usize,
    },
    /// Write on with the settings of a cell of the stability map in a new pane.
    OpenStableCell(usize),
    /// Regenerate a text of the list in a new pane.
    OpenBatchText {
        /// The index of its prompt.
        prompt: usize,
        /// The index of its pane.
        pane: usize,
    },
    /// Generate with the best settings, or with those of a cell, in a new pane.
    OpenFit { cell: Option<usize> },
    /// Vote for the text at this place, counted from 0, or for none.
    Vote(Option<usize>),
    /// Forget the last vote.
    TakeBackVote,
    /// Forget all votes.
    ClearVotes,
}

/// A tab of the Lab page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LabTab {
    /// Many settings and seeds.
    #[default]
    Sweep,
    /// Many prompts.
    Prompts,
    /// How far a text stays the same under other settings.
    Stability,
    /// The settings under which a text is most likely.
    Fit,
    /// What the KV cache costs and saves.
    Cache,
    /// Two models that read the same text.
    Models,
    /// Votes between texts whose settings are hidden.
    Blind,
    /// The X-ray of logits that the user sets by hand.
    ByHand,
}

impl LabTab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 8] = [
        Self::Sweep,
        Self::Prompts,
        Self::Stability,
        Self::Fit,
        Self::Cache,
        Self::Models,
        Self::Blind,
        Self::ByHand,
    ];

    /// Returns the label of the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sweep => "Sweep",
            Self::Prompts => "Prompts",
            Self::Stability => "Stability",
            Self::Fit => "Fit",
            Self::Cache => "Cache",
            Self::Models => "Two models",
            Self::Blind => "Blind test",
            Self::ByHand => "By hand",
        }
    }
}

/// The Lab page.
#[derive(Debug, Clone, PartialEq)]
pub struct Lab {
    pub tab: LabTab,
    /// What the next sweep varies.
    pub form: SweepForm,
    /// The figure that a narrow window shows.
    pub metric: Metric,
    /// The word that is being typed, whose frequency is measured.
    pub word: String,
    /// Why the typed word is not a valid pattern.
    pub(super) word_error: Option<String>,
    /// The selected cell.
    pub selected: Option<usize>,
    pub(super) sweep: Option<SweepRun>,
    /// What the stability map varies.
    pub stability_axes: StabilityAxes,
    /// The pane whose text the stability map shows, or `None` for the usual one.
    pub stability_pane: Option<PaneId>,
    pub stability_scope: StabilityScope,
    /// The stability map of the current text.
    pub stability: Option<StabilityRun>,
    /// The prompts to continue in all panes, one per line.
    pub batch_prompts: String,
    /// The prompts that were continued.
    pub batch: Option<BatchRun>,
    /// What the next fit varies.
    pub fit_form: FitForm,
    /// The fit on screen.
    pub fit: Option<FitRun>,
    /// Whether the fit is shown as a table.
    pub is_fit_table: bool,
    /// How many tokens the next measurement of the KV cache generates.
    pub cache_tokens: usize,
    /// The measurement on screen.
    pub cache: Option<CacheRun>,
    /// Whether it is shown as a table.
    pub is_cache_table: bool,
    /// What the next comparison of models is about.
    pub models_form: ModelsForm,
    /// The comparison on screen.
    pub models: Option<ModelsRun>,
    pub blind: BlindTest,
}

impl Default for Lab {
    fn default() -> Self {
        Self {
            tab: LabTab::default(),
            form: SweepForm::default(),
            metric: Metric::default(),
            word: String::new(),
            word_error: None,
            selected: None,
            sweep: None,
            stability_axes: StabilityAxes::default(),
            stability_pane: None,
            stability_scope: StabilityScope::default(),
            stability: None,
            batch_prompts: String::new(),
            batch: None,
            fit_form: FitForm::default(),
            fit: None,
            is_fit_table: false,
            cache_tokens: CACHE_TOKENS,
            cache: None,
            is_cache_table: false,
            models_form: ModelsForm::default(),
            models: None,
            blind: BlindTest::default(),
        }
    }
}

impl Lab {
    /// Returns the sweep on screen.
    pub const fn sweep(&self) -> Option<&SweepRun> {
        self.sweep.as_ref()
    }

    /// Returns whether the experiment of a tab is running.
    pub fn is_running(&self, tab: LabTab) -> bool {
        self.run_of(tab)
            .is_some_and(|run| run.status().is_running())
    }

    /// Returns the run of a tab, if the engine works on one.
    fn run_of(&self, tab: LabTab) -> Option<&dyn JobRun> {
        match tab {
            LabTab::Sweep => self.sweep.as_ref().map(|run| run as _),
            LabTab::Prompts => self.batch.as_ref().map(|run| run as _),
            LabTab::Fit => self.fit.as_ref().map(|run| run as _),
            LabTab::Cache => self.cache.as_ref().map(|run| run as _),
            LabTab::Models => self.models.as_ref().map(|run| run as _),
            LabTab::Blind => Some(&self.blind),
            LabTab::Stability | LabTab::ByHand => None,
        }
    }

    /// Returns all runs that the engine works on.
    pub(super) fn runs_mut(&mut self) -> impl Iterator<Item = &mut dyn JobRun> {
        let runs: [Option<&mut dyn JobRun>; 6] = [
            self.sweep.as_mut().map(|run| run as _),
            self.batch.as_mut().map(|run| run as _),
            self.fit.as_mut().map(|run| run as _),
            self.cache.as_mut().map(|run| run as _),
            self.models.as_mut().map(|run| run as _),
            Some(&mut self.blind),
        ];
        runs.into_iter().flatten()
    }

    /// Returns why the typed word can't be searched for.
    pub fn word_error(&self) -> Option<&str> {
        self.word_error.as_deref()
    }

    /// Returns the cell whose texts are shown: the selected one, or else the first with texts.
    pub fn shown_cell(&self) -> Option<usize> {
        let cells = self.sweep.as_ref()?.results.cells();
        let selected = self.selected.filter(|cell| *cell < cells.len());
        selected.or_else(|| cells.iter().position(|cell| !cell.texts().is_empty()))
    }

    /// Moves the selection by this many rows and columns, within the grid.
    pub fn move_selection(&mut self, rows: isize, columns: isize) {
        let Some(sweep) = &self.sweep else { return };
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

impl AppState {
    pub(super) fn apply_to_lab(&mut self, command: LabCommand) -> Vec<Effect> {
        match command {
            LabCommand::Run(tab) => self.run_experiment(tab),
            LabCommand::Stop(LabTab::Blind) => self.stop_blind(),
            LabCommand::Stop(tab) => stop_jobs(self.lab.run_of(tab)),
            LabCommand::FindWord => {
                self.find_word();
                Vec::new()
            }
            LabCommand::OpenAsPane { cell, text } => self.open_as_pane(cell, text),
            LabCommand::OpenStableCell(cell) => self.open_stable_cell(cell),
            LabCommand::OpenBatchText { prompt, pane } => self.open_batch_text(prompt, pane),
            LabCommand::OpenFit { cell } => self.open_fit(cell),
            LabCommand::Vote(picked) => self.vote(picked),
            LabCommand::TakeBackVote => {
                self.take_back_vote();
                Vec::new()
            }
            LabCommand::ClearVotes => {
                self.clear_votes();
                Vec::new()
            }
        }
    }

    fn run_experiment(&mut self, tab: LabTab) -> Vec<Effect> {
        match tab {
            LabTab::Sweep => self.run_sweep(),
            LabTab::Prompts => self.run_batch(),
            LabTab::Fit => self.run_fit(),
            LabTab::Cache => self.measure_cache(),
            LabTab::Models => self.compare_models(),
            LabTab::Blind => self.start_blind(),
            // These show what the settings say at once.
            LabTab::Stability | LabTab::ByHand => Vec::new(),
        }
    }

    /// Returns the prompts of the next sweep.
    pub fn sweep_prompts(&self) -> Vec<PromptText> {
        if !self.lab.form.own_prompts {
            return vec![self.prompt.to_text()];
        }
        let current = self.prompt.to_text();
        let lines = self.lab.form.prompts.lines();
        let lines = lines.filter(|line| !line.trim().is_empty());
        lines
            .map(|line| PromptText {
                text: line.to_owned(),
                ..current.clone()
            })
            .collect()
    }

    /// Returns why the sweep can't run now, or `None` if it can.
    pub fn sweep_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        let prompts = self.sweep_prompts();
        if prompts.iter().all(|prompt| prompt.text.is_empty()) {
            return Some("Type a prompt first".to_owned());
        }
        if !self.lab.form.own_prompts
            && let Some(refusal) = self.prompt.refusal(&self.models.main)
        {
            return Some(refusal);
        }
        self.sweep_setup().err()
    }

    fn run_sweep(&mut self) -> Vec<Effect> {
        if self.lab.is_running(LabTab::Sweep) || self.sweep_blocking_reason().is_some() {
            return Vec::new();
        }
        let (Ok(setup), Some(model)) = (self.sweep_setup(), self.models.main.ready()) else {
            return Vec::new();
        };
        let prompts = self.sweep_prompts();
        self.last_id += 1;
        let id = GenerationId(self.last_id);
        let plan = setup.plan(prompts.clone(), SweepPlan::DEFAULT_WIDTH);
        let keep = self.lab.form.keep;
        let models = (model, self.models.second.guiding(&setup.base));
        self.lab.sweep = Some(SweepRun::new(id, (setup, keep), prompts, models));
        self.lab.selected = None;
        self.find_word();
        vec![Effect::Send(Request::run_job(id, plan))]
    }

    fn find_word(&mut self) {
        let word = self.lab.word.trim();
        let word = (!word.is_empty()).then_some(word);
        let found = match &mut self.lab.sweep {
            Some(sweep) => sweep.results.set_word(word),
            None => Ok(()),
        };
        self.lab.word_error = found.err();
    }

    /// Adds a pane with the settings of a cell and the seed of one of its texts, and shows it.
    fn open_as_pane(&mut self, cell: usize, text: usize) -> Vec<Effect> {
        let Some(sweep) = &self.lab.sweep else {
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
            Some(prompt) => self.open_prompt_with(prompt, chain, seed),
            None => self.open_pane_with(chain, seed),
        }
    }

    /// Adds a pane that continues this prompt, which becomes the window's, and shows it.
    fn open_prompt_with(
        &mut self,
        prompt: PromptText,
        chain: ChainConfig,
        seed: u64,
    ) -> Vec<Effect> {
        if prompt == self.prompt.to_text() || self.panes.len() >= MAX_PANES {
            return self.open_pane_with(chain, seed);
        }
        self.prompt.text = prompt.text;
        let mut effects = self.prompt.tokenize(&self.models.main);
        effects.extend(self.open_pane_with(chain, seed));
        effects
    }

    /// Adds a pane with these settings, writes its text, and shows it.
    fn open_pane_with(&mut self, chain: ChainConfig, seed: u64) -> Vec<Effect> {
        if self.panes.len() >= MAX_PANES {
            return self.notify(Notice::error(
                "No pane was added",
                format!("There are {MAX_PANES} panes already; remove one first"),
            ));
        }
        self.page = Page::Write;
        match self.push_pane(chain, seed) {
            Some(id) => self.generate_one(id),
            None => Vec::new(),
        }
    }
}
