//! The map of one text, and what it says.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::StabilityAxes;
use super::rewriting::Rewriting;
use crate::analysis::ChangedTo;
use crate::analysis::sweep::label;
use crate::decoding::TokenId;
use crate::generation::Generation;
use crate::generation::formatting::quoted;
use crate::lab::stability::figures::{Choice, IntervalSearch, MappedText, Stability, StabilityMap};
use crate::state::{Pane, PaneId};

/// The map and the intervals of one text, as far as they have been computed.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityRun {
    /// `None` for a map from the history.
    source: Option<MapSource>,
    pub text: MappedText,
    pub axes: StabilityAxes,
    pub map: StabilityMap,
    pub intervals: IntervalSearch,
    /// The selected cell.
    pub selected: Option<usize>,
    /// Whether it is in the history.
    pub(super) is_kept: bool,
    /// The text of a map from the history, while it is written again.
    pub(super) rewriting: Option<Rewriting>,
}

/// The text that a map is computed from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MapSource {
    /// The pane that shows it, or `None` if it was written again for a map from the history.
    pub pane: Option<PaneId>,
    pub text: Generation,
}

impl StabilityRun {
    /// Creates the map of a pane's text.
    pub(super) fn new(
        pane: &Pane,
        text: &Generation,
        axes: StabilityAxes,
        held: Option<usize>,
    ) -> Option<Self> {
        let source = MapSource {
            pane: Some(pane.id),
            text: text.clone(),
        };
        Self::of(source, pane.place, axes, held)
    }

    /// Creates the map of a text of the pane with this letter.
    pub(super) fn of(
        source: MapSource,
        place: usize,
        axes: StabilityAxes,
        held: Option<usize>,
    ) -> Option<Self> {
        let [rows, columns] = axes.axes()?;
        let text = &source.text;
        let (map, intervals) = match held {
            Some(step) => (
                StabilityMap::of_token(text, step, rows, columns),
                IntervalSearch::of_token(text, step),
            ),
            None => (
                StabilityMap::new(text, rows, columns),
                IntervalSearch::new(text),
            ),
        };
        Some(Self {
            text: MappedText::of(text, place),
            source: Some(source),
            map,
            intervals,
            axes,
            selected: None,
            is_kept: false,
            rewriting: None,
        })
    }

    /// Creates a complete map that is computed from no text on screen.
    pub(in crate::lab::stability) const fn ended(
        text: MappedText,
        axes: StabilityAxes,
        map: StabilityMap,
        intervals: IntervalSearch,
    ) -> Self {
        Self {
            source: None,
            text,
            axes,
            map,
            intervals,
            selected: None,
            is_kept: true,
            rewriting: None,
        }
    }

    /// Returns the pane that shows the text, or `None` if the map is from the history.
    pub fn pane(&self) -> Option<PaneId> {
        self.source.as_ref()?.pane
    }

    /// Returns whether the map and the intervals are known.
    pub(in crate::lab::stability) fn is_complete(&self) -> bool {
        self.map.n_done() == self.map.n_cells() && self.intervals.is_complete()
    }

    /// Computes the rest while `has_time` returns true. Returns whether it is complete.
    pub(super) fn advance(&mut self, mut has_time: impl FnMut() -> bool) -> bool {
        let Some(MapSource { text, .. }) = &self.source else {
            return true;
        };
        self.map.advance(text, &mut has_time) && self.intervals.advance(text, &mut has_time)
    }

    /// Returns whether it is the map of this text, or one from the history that the choices on the
    /// page stand for.
    pub(super) fn is_current(&self, shown: Shown<'_>) -> bool {
        let is_same_map = self.axes == shown.axes && self.held_step() == shown.held;
        let MapSource { pane, text: mapped } = match &self.source {
            Some(source) if source.pane.is_some() => source,
            _ => return is_same_map && !shown.is_chosen,
        };
        is_same_map
            && shown
                .text
                .is_some_and(|(own, text)| *pane == Some(own.id) && mapped == text)
    }

    /// Identifies the map in the history: a map of another token of the same text takes the place of
    /// the one before. `None` if it is from the history.
    pub(super) fn key(&self) -> Option<u64> {
        let source = self.source.as_ref()?;
        let mut hasher = DefaultHasher::new();
        let steps = source.text.steps.iter();
        let tokens: Vec<TokenId> = steps.map(|step| step.token).collect();
        let settings = format!("{} {}", self.text.config.chain, self.text.config.seed);
        let prompt = &source.text.prompt.tokens;
        (self.text.place, settings, prompt, tokens).hash(&mut hasher);
        (self.axes, self.held_step().is_some()).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns the index of the token whose choice is mapped, or `None` for the whole text.
    pub const fn held_step(&self) -> Option<usize> {
        self.map.held()
    }

    /// Returns the number of tokens that can stay the same.
    pub fn n_mapped(&self) -> usize {
        self.held_step().map_or(self.text.steps.len(), |_| 1)
    }

    /// Returns a token of the text in quotes.
    pub fn token_words(&self, step: usize) -> String {
        self.text.token_words(step)
    }

    /// Says what the held token becomes in a cell: "Token 31 stays ‘named’.", "Token 31 would be
    /// ‘whose’ instead of ‘named’."
    fn choice_sentence(&self, step: usize, cell: usize) -> String {
        let (number, own) = (step + 1, self.token_words(step));
        match self.map.shown_choice(cell) {
            Some(Choice::Same) => format!("Token {number} stays {own}."),
            Some(Choice::Other(token)) => {
                let other = quoted(&self.text.vocabulary.piece(token));
                format!("Token {number} would be {other} instead of {own}.")
            }
            Some(Choice::Unrecorded) => {
                format!("Token {number} would not be {own} but one that was not recorded.")
            }
            Some(Choice::Changed) => format!(
                "Token {number} would not be {own}; the record does not show which it would be."
            ),
            Some(Choice::Open) => {
                format!("The record does not show whether token {number} stays {own}.")
            }
            Some(Choice::Unknown) => {
                format!("The record does not show what token {number} would be.")
            }
            None => "Not computed yet.".to_owned(),
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
        if let Some(step) = self.held_step() {
            return self.choice_sentence(step, cell);
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
                self.text.quoted(1)
            ),
            n_same => {
                let least = if exact {
                    "The first"
                } else {
                    "At least the first"
                };
                let quoted = self.text.quoted(n_same);
                format!("{least} {n_same} tokens stay the same: ‘{quoted}’. {end}")
            }
        }
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
            for flip in interval.flips() {
                let chip = interval.parameter.chip();
                let old = self.token_words(flip.step);
                let new = match flip.token {
                    ChangedTo::Token(token) => quoted(&self.text.vocabulary.piece(token)),
                    ChangedTo::Unrecorded | ChangedTo::Unknown => "another token".to_owned(),
                };
                let token = flip.step + 1;
                changes.push((
                    format!("{chip} {}", flip.words),
                    format!("token {token}: {new} for {old}"),
                ));
            }
        }
        changes
    }
}

/// What the choices on the page stand for.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    /// The pane and its text, if a text can be mapped.
    pub text: Option<(&'a Pane, &'a Generation)>,
    pub axes: StabilityAxes,
    pub held: Option<usize>,
    /// Whether the pane or the pinned token was chosen, which only a text on screen has.
    pub is_chosen: bool,
}
