//! Stability: how far a text of a pane stays the same under other settings.

use crate::analysis::ChangedTo;
use crate::analysis::sweep::{Axis, Parameter, label};
use crate::decoding::{FilterKind, WhatIf};
use crate::generation::formatting::quoted;
use crate::generation::{Generation, PieceKind};
use crate::lab::open_pane::open_pane_with;
use crate::lab::stability::figures::{HeldToken, IntervalSearch, Stability, StabilityMap};
use crate::lab::{Experiment, Group, NoResult, NoSettings};
use crate::state::{AppState, Effect, Pane, PaneId, PaneStatus};

/// How many of the tokens that stay the same are quoted.
const N_QUOTED: usize = 9;

/// The stability map, and what it shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StabilityTab {
    /// What the map varies.
    pub axes: StabilityAxes,
    /// The pane whose text it shows, or `None` for the usual one.
    pub pane: Option<PaneId>,
    pub scope: StabilityScope,
    /// The map of the current text.
    pub run: Option<StabilityRun>,
}

/// What the user can do with the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StabilityCommand {
    /// Write on with the settings of a cell in a new pane.
    Open { cell: usize },
}

/// The map needs no run: it is computed from the record while its tab is shown.
impl Experiment for StabilityTab {
    const NAME: &'static str = "Stability";
    const GROUP: Group = Group::ExplainOne;
    type Command = StabilityCommand;
    type Settings = NoSettings;
    type Result = NoResult;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    pub(super) fn axes(self) -> Option<[Axis; 2]> {
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

/// The map and the intervals of one text, as far as they have been computed.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityRun {
    /// The pane that shows the text.
    pub pane: PaneId,
    pub text: Generation,
    pub axes: StabilityAxes,
    pub map: StabilityMap,
    pub intervals: IntervalSearch,
    /// The selected cell.
    pub selected: Option<usize>,
}

impl StabilityRun {
    fn new(
        pane: PaneId,
        text: &Generation,
        axes: StabilityAxes,
        held: Option<usize>,
    ) -> Option<Self> {
        let [rows, columns] = axes.axes()?;
        let (map, intervals) = match held.and_then(|step| HeldToken::new(text, step)) {
            Some(held) => {
                let intervals = IntervalSearch::of_token(text, held.step);
                (StabilityMap::of_token(text, held, rows, columns), intervals)
            }
            None => (
                StabilityMap::new(text, rows, columns),
                IntervalSearch::new(text),
            ),
        };
        Some(Self {
            pane,
            map,
            intervals,
            text: text.clone(),
            axes,
            selected: None,
        })
    }

    /// Returns the index of the token whose choice is mapped, or `None` for the whole text.
    pub fn held_step(&self) -> Option<usize> {
        self.map.held().map(|held| held.step)
    }

    /// Returns the number of tokens that can stay the same.
    pub fn n_mapped(&self) -> usize {
        match self.map.held() {
            Some(_) => 1,
            None => self.text.steps.len(),
        }
    }

    /// Returns a token of the text in quotes.
    pub fn token_words(&self, step: usize) -> String {
        let step = self.text.steps.get(step);
        step.map_or_else(String::new, |step| quoted(&step.piece))
    }

    /// Says what the held token becomes in a cell: "Token 31 stays ‘named’.", "Token 31 would be
    /// ‘whose’ instead of ‘named’."
    fn choice_sentence(&self, held: &HeldToken, cell: usize) -> String {
        let number = held.step + 1;
        let own = self.token_words(held.step);
        let own_token = self.text.steps.get(held.step).map(|step| step.token);
        let piece = |token| quoted(&self.text.vocabulary.piece(token));
        match held.choice(&self.text, &self.map.chain_of(cell)) {
            Some(WhatIf::Exact(token)) if Some(token) == own_token => {
                format!("Token {number} stays {own}.")
            }
            Some(WhatIf::Exact(token)) => {
                format!("Token {number} would be {} instead of {own}.", piece(token))
            }
            Some(WhatIf::Unrecorded) => {
                format!("Token {number} would not be {own} but one that was not recorded.")
            }
            Some(WhatIf::Bounded(_)) if held.changes(&self.text, &self.map.chain_of(cell)) => {
                format!(
                    "Token {number} would not be {own}; the record does not show which it would be."
                )
            }
            Some(WhatIf::Bounded(_)) => {
                format!("The record does not show whether token {number} stays {own}.")
            }
            None => format!("The record does not show what token {number} would be."),
        }
    }

    /// Returns the cell to describe: the selected one, or else the text's own.
    pub fn shown_cell(&self) -> usize {
        self.selected.or_else(|| self.map.own_cell()).unwrap_or(0)
    }

    /// Moves the selection by this many rows and columns, within the grid.
    pub fn move_selection(&mut self, rows: isize, columns: isize) {
        let n_columns = self.map.columns.values().len();
        let n_rows = self.map.rows.values().len();
        let cell = self.shown_cell();
        let moved = |place: usize, by: isize, n: usize| {
            place.saturating_add_signed(by).min(n.saturating_sub(1))
        };
        let row = moved(cell / n_columns, rows, n_rows);
        let column = moved(cell % n_columns, columns, n_columns);
        self.selected = Some(row * n_columns + column);
    }

    /// "T 0.65 · top-p 0.9".
    pub fn cell_words(&self, cell: usize) -> String {
        let axes = [&self.map.rows, &self.map.columns];
        let values = self.map.values_of(cell).unwrap_or_default();
        let words = axes.into_iter().zip(values).map(|(axis, value)| {
            let chip = axis.parameter.chip();
            format!("{chip} {}", label(value))
        });
        words.collect::<Vec<_>>().join(" · ")
    }

    /// Says what stays the same in a cell: "The first 9 tokens stay the same: ‘lived in …’. Token
    /// 10 would differ."
    pub fn sentence(&self, cell: usize) -> String {
        if let Some(held) = self.map.held() {
            return self.choice_sentence(held, cell);
        }
        let Some(Stability { n_same, exact }) = self.map.shown(cell) else {
            return "Not computed yet.".to_owned();
        };
        let n = self.text.steps.len();
        if n_same >= n {
            return format!("All {n} tokens stay the same.");
        }
        let next = n_same + 1;
        let end = if exact {
            format!("Token {next} would differ.")
        } else {
            format!("The record does not show whether token {next} would differ.")
        };
        match n_same {
            0 if exact => "The first token would differ.".to_owned(),
            0 => "The record does not show whether the first token would differ.".to_owned(),
            1 => format!(
                "The first token stays the same: ‘{}’. {end}",
                self.quoted(1)
            ),
            n_same => {
                let least = if exact {
                    "The first"
                } else {
                    "At least the first"
                };
                let quoted = self.quoted(n_same);
                format!("{least} {n_same} tokens stay the same: ‘{quoted}’. {end}")
            }
        }
    }

    /// Returns the last of the tokens that stay the same.
    fn quoted(&self, n_same: usize) -> String {
        let start = n_same.saturating_sub(N_QUOTED);
        let steps = self.text.steps.range(start..n_same);
        let visible = steps.filter(|step| step.piece.kind == PieceKind::Text);
        let bytes: Vec<u8> = visible.flat_map(|step| step.piece.bytes.clone()).collect();
        let words = String::from_utf8_lossy(&bytes);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let ellipsis = if start > 0 { "… " } else { "" };
        format!("{ellipsis}{words}")
    }

    /// "Not one token of this text changes while temperature stays between 0.698 and 0.709, or
    /// top-p between 0.896 and 0.908."
    pub fn interval_sentence(&self) -> String {
        if !self.intervals.is_complete() {
            let percent = self.intervals.progress() * 100.0;
            return format!("Searching for the values that change a token, {percent:.0} %");
        }
        let parts: Vec<String> = self
            .intervals
            .intervals()
            .iter()
            .enumerate()
            .map(|(place, interval)| {
                let name = crate::generation::in_sentence(&interval.parameter.name());
                let stays = if place == 0 { "stays " } else { "" };
                let words = |value| interval.value_words(&self.text.config.chain, value);
                let (low, high) = (words(interval.low), words(interval.high));
                let unknown = interval.unknown_words();
                let unknown = unknown.map_or_else(String::new, |words| format!(" ({words})"));
                if low == high {
                    format!("{name} {stays}at {low}{unknown}")
                } else {
                    format!("{name} {stays}between {low} and {high}{unknown}")
                }
            })
            .collect();
        if parts.is_empty() {
            return "These settings have no number to vary.".to_owned();
        }
        let parts = parts.join(", or ");
        match self.held_step() {
            Some(step) => {
                let (number, token) = (step + 1, self.token_words(step));
                format!("Token {number} stays {token} while {parts}.")
            }
            None => format!("Not one token of this text changes while {parts}."),
        }
    }

    /// What changes just outside the intervals: "T 0.697", "token 31: ‘whose’ for ‘named’".
    pub fn first_changes(&self) -> Vec<(String, String)> {
        let mut changes = Vec::new();
        for interval in self.intervals.intervals() {
            for flip in [&interval.below, &interval.above].into_iter().flatten() {
                let chip = interval.parameter.chip();
                let old = self
                    .text
                    .steps
                    .get(flip.step)
                    .map(|step| quoted(&step.piece));
                let new = match flip.token {
                    ChangedTo::Token(token) => quoted(&self.text.vocabulary.piece(token)),
                    ChangedTo::Unrecorded | ChangedTo::Unknown => "another token".to_owned(),
                };
                let token = flip.step + 1;
                let old = old.unwrap_or_default();
                changes.push((
                    format!("{chip} {}", flip.words),
                    format!("token {token}: {new} for {old}"),
                ));
            }
        }
        changes
    }
}

/// Returns the pane whose text the stability map shows: the chosen one, the one with the pinned
/// token, or else the last one with a text. A greedy text is the last choice, because no
/// temperature changes it. If there is no such pane, returns why.
pub(super) fn stability_source(state: &AppState) -> Result<(&Pane, &Generation), &'static str> {
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
pub(super) fn advance_stability(state: &mut AppState, mut has_time: impl FnMut() -> bool) -> bool {
    let Ok((pane, text)) = stability_source(state) else {
        state.lab.stability.run = None;
        return true;
    };
    let axes = state.lab.stability.axes;
    let held = stability_step(state, pane.id, text);
    let is_current = state.lab.stability.run.as_ref().is_some_and(|run| {
        let is_same_map = run.axes == axes && run.held_step() == held;
        run.pane == pane.id && is_same_map && run.text == *text
    });
    if !is_current {
        state.lab.stability.run = StabilityRun::new(pane.id, text, axes, held);
    }
    let Some(StabilityRun {
        map,
        text,
        intervals,
        ..
    }) = &mut state.lab.stability.run
    else {
        return true;
    };
    map.advance(text, &mut has_time) && intervals.advance(text, &mut has_time)
}

/// Returns the index of the token whose choice is mapped, or `None` for the whole text.
fn stability_step(state: &AppState, pane: PaneId, text: &Generation) -> Option<usize> {
    let last = text.steps.len().checked_sub(1)?;
    match state.lab.stability.scope {
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
    open_pane_with(state, chain, seed)
}
