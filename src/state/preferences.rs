//! The settings dialog and the help: which of their tabs is open, and the number of panes.

use super::{AppState, Effect, MAX_PANES, PaneId};

/// A tab of the settings dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SettingsTab {
    /// Theme, text and motion.
    #[default]
    Appearance,
    /// Panes and prices.
    Panes,
    /// Device and threads.
    Computing,
    /// Limits and folders.
    Storage,
}

impl SettingsTab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 4] = [
        Self::Appearance,
        Self::Panes,
        Self::Computing,
        Self::Storage,
    ];

    /// Returns the label of the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Appearance => "Appearance",
            Self::Panes => "Panes and prices",
            Self::Computing => "Computing",
            Self::Storage => "Memory and folders",
        }
    }
}

/// A tab of the help.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HelpTab {
    #[default]
    Keys,
    /// The glossary.
    Words,
    /// What to do about a text, and a page for each filter and each way to draw.
    Filters,
    /// What leaves the computer, and where files are kept.
    Privacy,
    /// What does not work yet.
    Limits,
    /// The licenses of the code, the fonts, the model and the crates.
    Licenses,
}

impl HelpTab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 6] = [
        Self::Keys,
        Self::Words,
        Self::Filters,
        Self::Privacy,
        Self::Limits,
        Self::Licenses,
    ];

    /// Returns the label of the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keys => "Keys",
            Self::Words => "Words",
            Self::Filters => "Filters",
            Self::Privacy => "Privacy and files",
            Self::Limits => "Known limits",
            Self::Licenses => "Licenses",
        }
    }
}

impl AppState {
    pub(super) fn show_settings(&mut self, tab: Option<SettingsTab>) -> Vec<Effect> {
        self.settings_tab = tab;
        Vec::new()
    }

    pub(super) fn show_help(&mut self, tab: Option<HelpTab>) -> Vec<Effect> {
        self.help_tab = tab;
        Vec::new()
    }

    /// Lets the window open the editor of a pane's chain in the next frame.
    pub(super) fn edit_chain(&mut self, pane: PaneId) -> Vec<Effect> {
        self.chain_to_edit = Some(pane);
        Vec::new()
    }

    /// Adds or removes panes on the right until this many are open.
    pub(super) fn set_pane_count(&mut self, n_panes: usize) -> Vec<Effect> {
        let n_panes = n_panes.clamp(1, MAX_PANES);
        let mut effects = Vec::new();
        while self.panes.len() < n_panes {
            effects.extend(self.add_pane());
        }
        while self.panes.len() > n_panes {
            let last = self.panes.last().map(|pane| pane.id);
            effects.extend(last.map_or_else(Vec::new, |id| self.remove_pane(id)));
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use crate::state::tests::ready;
    use crate::state::{Command, MAX_PANES};

    #[test]
    fn panes_are_added_and_removed_on_the_right_and_come_back_with_undo() {
        let mut state = ready();
        let first: Vec<_> = state.panes.iter().map(|pane| pane.id).collect();
        for (asked, n_panes) in [(7, 7), (2, 2), (0, 1), (99, MAX_PANES)] {
            state.apply(Command::SetPaneCount(asked));
            assert_eq!(state.panes.len(), n_panes);
            assert_eq!(state.panes[0].id, first[0]);
        }
        state.apply(Command::SetPaneCount(3));
        state.apply(Command::Undo);
        assert_eq!(state.panes.len(), MAX_PANES);
    }
}
