//! A whole sweep: its setup, and its cells as they fill up.

use serde::{Deserialize, Serialize};

use super::axis::{Axis, label};
use super::cell::{Cell, CellText};
use super::metric::{Metric, Unit};
use super::text::TextFigures;
use crate::analysis::futures::WordPattern;
use crate::decoding::{ChainConfig, SettingError};
use crate::generation::{Limits, PromptText, SweepPlan, SweepText, Vocabulary};

/// The maximum number of cells in a sweep.
const MAX_CELLS: usize = 1024;

/// What a sweep varies, and what it holds fixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepSetup {
    /// The settings that are not varied.
    pub base: ChainConfig,
    /// What varies from row to row.
    pub rows: Axis,
    /// What varies from column to column, or `None` for a sweep over one number.
    pub columns: Option<Axis>,
    /// The first seed.
    pub seed: u64,
    pub n_seeds: usize,
    pub limits: Limits,
}

/// Why a sweep can't run with this setup. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    #[error("{0}")]
    Setting(#[from] SettingError),
    #[error("Choose two different numbers to vary: both are {name}")]
    SameParameter { name: String },
    #[error("A sweep has at most {MAX_CELLS} cells, but this one has {n}")]
    TooManyCells { n: usize },
    #[error("{name} can only be varied in settings with guidance, such as guide 1.5 against model")]
    NoGuidance { name: String },
    #[error("Each cell needs at least one seed")]
    NoSeed,
    #[error("Each text needs at least one token")]
    NoTokens,
}

impl SweepSetup {
    /// Returns the number of columns, 1 for a sweep over one number.
    pub fn n_columns(&self) -> usize {
        self.columns.as_ref().map_or(1, |axis| axis.values().len())
    }

    /// Returns the number of cells, which are numbered row by row.
    pub fn n_cells(&self) -> usize {
        self.rows.values().len() * self.n_columns()
    }

    /// Returns the varied values of a cell: its row's, then its column's.
    pub fn values_of(&self, cell: usize) -> Vec<(&Axis, f64)> {
        let n_columns = self.n_columns();
        let row = (Some(&self.rows), cell / n_columns);
        let column = (self.columns.as_ref(), cell % n_columns);
        let value = |(axis, place): (Option<&'_ Axis>, usize)| axis?.values().get(place).copied();
        let axes = [row, column].into_iter();
        axes.filter_map(|(axis, place)| Some((axis?, value((axis, place))?)))
            .collect()
    }

    /// Returns the settings of a cell.
    pub fn chain_of(&self, cell: usize) -> ChainConfig {
        let mut chain = self.base.clone();
        for (axis, value) in self.values_of(cell) {
            axis.parameter.set(&mut chain, value);
        }
        chain
    }

    /// Names a cell by its values: "T 0.8 · top-p 0.9".
    pub fn cell_words(&self, cell: usize) -> String {
        let values = self.values_of(cell).into_iter();
        let words = values.map(|(axis, value)| {
            let chip = axis.parameter.chip();
            format!("{chip} {}", label(value))
        });
        words.collect::<Vec<_>>().join(" · ")
    }

    /// Returns whether no cell uses a coin, so that all seeds produce the same text.
    pub fn is_greedy(&self) -> bool {
        (0..self.n_cells()).all(|cell| self.chain_of(cell).is_greedy())
    }

    /// Checks everything but the prompts.
    pub fn validate(&self) -> Result<(), SetupError> {
        if let Some(columns) = &self.columns
            && columns.parameter == self.rows.parameter
        {
            let name = columns.parameter.name();
            return Err(SetupError::SameParameter { name });
        }
        let n = self.n_cells();
        if n > MAX_CELLS {
            return Err(SetupError::TooManyCells { n });
        }
        if self.n_seeds == 0 {
            return Err(SetupError::NoSeed);
        }
        if self.limits.max_new_tokens == 0 {
            return Err(SetupError::NoTokens);
        }
        let mut parameters = std::iter::once(&self.rows).chain(&self.columns);
        let guided = parameters.find(|axis| axis.parameter.is_guidance());
        if let Some(axis) = guided.filter(|_| self.base.guidance.is_none()) {
            let name = axis.parameter.name();
            return Err(SetupError::NoGuidance { name });
        }
        (0..n).try_for_each(|cell| Ok(self.chain_of(cell).validate()?))
    }

    /// Returns the plan that the engine runs over these prompts, with this many texts at a time.
    pub fn plan(&self, prompts: Vec<PromptText>, width: usize) -> SweepPlan {
        SweepPlan {
            prompts,
            cells: (0..self.n_cells())
                .map(|cell| self.chain_of(cell))
                .collect(),
            limits: self.limits.clone(),
            seed: self.seed,
            n_seeds: self.n_seeds,
            width,
        }
    }
}

/// What is kept of each text. It bounds the memory of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// The figures of each text: about 200 bytes.
    Figures,
    /// Also the texts: about 10 bytes more for each token.
    #[default]
    Texts,
    /// Also the surprise and the entropy of each token: about 20 bytes more for each token.
    Tokens,
}

impl Keep {
    /// All choices, in menu order.
    pub const ALL: [Self; 3] = [Self::Figures, Self::Texts, Self::Tokens];

    /// The label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Figures => "Figures only",
            Self::Texts => "Figures and texts",
            Self::Tokens => "Figures of every token too",
        }
    }

    /// The name on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::Texts => "texts",
            Self::Tokens => "tokens",
        }
    }

    /// Estimates how many bytes a sweep with this many texts and tokens keeps.
    pub const fn n_bytes(self, n_texts: usize, n_tokens: usize) -> usize {
        let per_token = match self {
            Self::Figures => 0,
            Self::Texts => 10,
            Self::Tokens => 20,
        };
        n_texts
            .saturating_mul(200)
            .saturating_add(n_tokens.saturating_mul(per_token))
    }
}

/// The cells of a sweep as they fill up.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepResults {
    pub setup: SweepSetup,
    /// The number of prompts.
    pub n_prompts: usize,
    keep: Keep,
    word: Option<(String, WordPattern)>,
    cells: Vec<Cell>,
    n_texts: usize,
}

impl SweepResults {
    /// Creates the results of a sweep that has no texts yet.
    pub fn new(setup: SweepSetup, n_prompts: usize, keep: Keep) -> Self {
        let cells = vec![Cell::default(); setup.n_cells()];
        Self {
            setup,
            n_prompts,
            keep,
            word: None,
            cells,
            n_texts: 0,
        }
    }

    /// Creates results from cells that were kept elsewhere. Fails, with the reason, if they don't fit
    /// the setup.
    pub fn of_cells(
        setup: SweepSetup,
        n_prompts: usize,
        keep: Keep,
        cells: Vec<Cell>,
    ) -> Result<Self, String> {
        if setup.n_cells() != cells.len() {
            return Err("its cells do not fit its settings".to_owned());
        }
        let mut texts = cells.iter().flat_map(Cell::texts);
        if texts.any(|text| text.prompt >= n_prompts || text.seed >= setup.n_seeds) {
            return Err("a text has no prompt or no seed".to_owned());
        }
        Ok(Self {
            n_texts: cells.iter().map(|cell| cell.texts.len()).sum(),
            cells,
            ..Self::new(setup, n_prompts, keep)
        })
    }

    /// Returns the cells, row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns what is kept of each text.
    pub const fn keep(&self) -> Keep {
        self.keep
    }

    /// Returns the word whose frequency is measured.
    pub fn word(&self) -> Option<&str> {
        self.word.as_ref().map(|(word, _)| word.as_str())
    }

    /// Returns the number of complete texts.
    pub const fn n_texts(&self) -> usize {
        self.n_texts
    }

    /// Returns the number of texts of each cell.
    pub const fn n_texts_per_cell(&self) -> usize {
        self.setup.n_seeds * self.n_prompts
    }

    /// Returns the number of cells whose texts are all complete.
    pub fn n_complete_cells(&self) -> usize {
        let n = self.n_texts_per_cell();
        self.cells
            .iter()
            .filter(|cell| cell.texts.len() >= n)
            .count()
    }

    /// Adds a complete text.
    pub fn add(&mut self, text: SweepText, vocabulary: &Vocabulary) {
        let Some(cell) = self.cells.get_mut(text.cell) else {
            return;
        };
        let visible = vocabulary.visible_text(&text.tokens);
        let word = self.word.as_ref();
        let mut kept = CellText {
            prompt: text.prompt,
            seed: text.seed,
            figures: TextFigures::of(&text),
            finish: text.finish,
            has_word: word.map(|(_, pattern)| pattern.is_in(&visible)),
            tokens: text.tokens,
            text: String::new(),
            measures: Vec::new(),
        };
        if self.keep != Keep::Figures {
            kept.text = visible;
        }
        if self.keep == Keep::Tokens {
            kept.measures = text.measures;
        }
        let (cell_prompt, n_seeds) = (kept.prompt, self.setup.n_seeds);
        cell.add(kept, n_seeds);
        self.n_texts += 1;
        if self.keep == Keep::Figures {
            drop_complete(cell, cell_prompt, n_seeds);
        }
    }

    /// Ends a sweep that was stopped: figures of incomplete cells are computed from the texts that
    /// exist.
    pub fn end(&mut self) {
        for cell in &mut self.cells {
            cell.compare_incomplete();
            if self.keep == Keep::Figures {
                cell.texts.iter_mut().for_each(|text| text.tokens.clear());
            }
        }
    }

    /// Sets the word whose frequency is measured, or `None` to measure none. If a pattern is
    /// invalid, the error says why.
    pub fn set_word(&mut self, word: Option<&str>) -> Result<(), String> {
        self.word = match word {
            Some(word) => Some((word.to_owned(), WordPattern::parse(word)?)),
            None => None,
        };
        let pattern = self.word.as_ref().map(|(_, pattern)| pattern);
        for cell in &mut self.cells {
            cell.find_word(pattern);
        }
        Ok(())
    }

    /// Returns the ends of a metric's scale: 0 and 1 for a share, otherwise the smallest and the
    /// largest mean so far. Returns `None` if no cell has a value.
    pub fn scale(&self, metric: Metric) -> Option<[f64; 2]> {
        let means: Vec<f64> = self
            .cells
            .iter()
            .filter_map(|cell| cell.summary(metric))
            .map(|summary| summary.mean)
            .collect();
        let least = means.iter().copied().reduce(f64::min)?;
        let most = means.iter().copied().reduce(f64::max)?;
        Some(match metric.unit() {
            Unit::Share | Unit::Percent => [0.0, 1.0],
            Unit::Bits | Unit::Number | Unit::Tokens => [least, most],
        })
    }

    /// Returns the metrics that have a value in any cell, in menu order.
    pub fn metrics(&self) -> Vec<Metric> {
        let has_value = |metric: &Metric| {
            let mut cells = self.cells.iter();
            cells.any(|cell| cell.summary(*metric).is_some())
        };
        Metric::ALL.into_iter().filter(has_value).collect()
    }

    /// Returns the title of a metric's map: the metric's name, or the word in quotes.
    pub fn title(&self, metric: Metric) -> String {
        match (metric, self.word()) {
            (Metric::Word, Some(word)) => format!("‘{word}’"),
            _ => metric.name().to_owned(),
        }
    }

    /// Describes a cell in a sentence: "Temperature 0.8, top-p 0.9: surprise 1.1 bits, 8 texts".
    pub fn sentence(&self, cell: usize, metric: Metric) -> String {
        let values = self.setup.values_of(cell).into_iter();
        let mut words: Vec<String> = values
            .map(|(axis, value)| {
                let name = axis.parameter.name();
                format!("{name} {}", label(value))
            })
            .collect();
        for later in words.iter_mut().skip(1) {
            *later = crate::generation::in_sentence(later);
        }
        let values = words.join(", ");
        let found = self.cells.get(cell);
        match found.and_then(|found| found.summary(metric)) {
            Some(summary) => {
                let title = match metric {
                    Metric::Word => self.title(metric),
                    _ => crate::generation::in_sentence(metric.name()),
                };
                let n = found.map_or(0, |found| found.texts.len());
                let texts = if n == 1 { "text" } else { "texts" };
                format!(
                    "{values}: {title} {}, {n} {texts}",
                    metric.phrase(summary.mean)
                )
            }
            None => format!("{values}: no texts yet"),
        }
    }
}

impl SweepResults {
    /// Says in sentences where the main figures are lowest and highest.
    pub fn reading(&self) -> Vec<String> {
        let metrics = [Metric::Surprise, Metric::Distinct2, Metric::Similarity];
        metrics
            .into_iter()
            .filter_map(|metric| self.range_words(metric))
            .collect()
    }

    /// Says where a metric is lowest and highest: "Surprise runs from 0.3 bits at T 0.2 · top-p 0.5
    /// to 8.7 bits at T 1.6 · top-p 1."
    fn range_words(&self, metric: Metric) -> Option<String> {
        let mut means: Vec<(usize, f64)> = self
            .cells
            .iter()
            .enumerate()
            .filter_map(|(cell, found)| Some((cell, found.summary(metric)?.mean)))
            .collect();
        means.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let ((least_at, least), (most_at, most)) = (means.first()?, means.last()?);
        let (low, high) = (metric.phrase(*least), metric.phrase(*most));
        if low == high {
            return Some(format!("{} is {low} everywhere.", metric.name()));
        }
        Some(format!(
            "{} runs from {low} at {} to {high} at {}.",
            metric.name(),
            self.setup.cell_words(*least_at),
            self.setup.cell_words(*most_at)
        ))
    }
}

/// Drops the tokens of a prompt's texts once they have been compared.
fn drop_complete(cell: &mut Cell, prompt: usize, n_seeds: usize) {
    let is_of_prompt = |text: &&mut CellText| text.prompt == prompt;
    let n = cell.texts.iter_mut().filter(is_of_prompt).count();
    if n >= n_seeds {
        let texts = cell.texts.iter_mut().filter(is_of_prompt);
        texts.for_each(|text| text.tokens = Vec::new());
    }
}
