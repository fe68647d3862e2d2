//! The command palette: finds an action by a few letters of its name, and runs it.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::Action;
use crate::state::AppState;

/// The open palette.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    /// The text typed so far.
    pub query: String,
    /// The index of the selected row.
    pub selected: usize,
}

/// A user action in the palette. The query and the selection have no command: they are edited in
/// place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteCommand {
    Open,
    Close,
    /// Close the palette and run this action.
    Run(Action),
}

/// An action that the palette found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaletteRow {
    pub action: Action,
    pub name: String,
    /// Why it is not possible now.
    pub blocked: Option<String>,
}

impl PaletteRow {
    /// Returns the actions whose name or place contains the letters of the query, the best match
    /// first. Those that are not possible now come last.
    pub fn found(query: &str, state: &AppState) -> Vec<Self> {
        let mut matcher = Matcher::new(Config::DEFAULT);
        let pattern = Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart);
        let mut buffer = Vec::new();
        let mut found: Vec<(u32, Self)> = Vec::new();
        for action in Action::all(state) {
            let name = action.name(state);
            let words = format!("{name} {}", action.place());
            let score = pattern.score(Utf32Str::new(&words, &mut buffer), &mut matcher);
            if let Some(score) = score {
                let blocked = action.command(state).err();
                let row = Self {
                    action,
                    name,
                    blocked,
                };
                found.push((score, row));
            }
        }
        found.sort_by_key(|(score, row)| (row.blocked.is_some(), Reverse(*score)));
        found.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{PaletteCommand, PaletteRow};
    use crate::state::tests::{ready, written};
    use crate::state::{Action, Command, DockTab, Page, RunCommand};

    #[test]
    fn a_few_letters_find_an_action() {
        let state = written();
        for (query, name) in [
            ("gen", "Generate"),
            ("xray", "X-ray"),
            ("thdark", "Theme: Dark"),
            ("tint rank", "Tint: Rank"),
            ("dup c", "Duplicate C"),
            ("HIST", "History"),
            ("json run", "Export the run as JSON…"),
        ] {
            let rows = PaletteRow::found(query, &state);
            let first = rows.first().map(|row| row.name.as_str());
            assert_eq!(first, Some(name), "{query}");
        }
        assert!(PaletteRow::found("zzzz", &state).is_empty());
        assert_eq!(
            PaletteRow::found("", &state).len(),
            Action::all(&state).len()
        );
    }

    #[test]
    fn what_is_not_possible_comes_last_and_says_why() {
        let state = ready();
        let rows = PaletteRow::found("", &state);
        let first_blocked = rows.iter().position(|row| row.blocked.is_some()).unwrap();
        let (possible, blocked) = rows.split_at(first_blocked);
        assert!(possible.iter().all(|row| row.blocked.is_none()));
        assert!(blocked.iter().all(|row| row.blocked.is_some()));
        let stop = rows.iter().find(|row| row.action == Action::Stop).unwrap();
        assert_eq!(stop.blocked.as_deref(), Some("Nothing is running"));
    }

    #[test]
    fn an_action_runs_on_its_page() {
        let mut state = written();
        state.apply(Command::Run(RunCommand::ShowPage(Page::History)));
        state.apply(Command::Palette(PaletteCommand::Open));
        let run = PaletteCommand::Run(Action::ShowTab(DockTab::Loop));
        state.apply(Command::Palette(run));
        assert!(state.dialogs.palette.is_none());
        assert_eq!(
            (state.page, state.view.dock_tab),
            (Page::Write, DockTab::Loop)
        );
    }

    #[test]
    fn every_possible_action_can_be_run() {
        let actions = Action::all(&written());
        for action in actions {
            let mut state = written();
            state.apply(Command::Palette(PaletteCommand::Run(action)));
            assert!(state.dialogs.palette.is_none(), "{action:?}");
        }
    }
}
