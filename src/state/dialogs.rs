//! The dialogs: which are open, and what was entered so far.

use std::path::PathBuf;

use super::{Palette, PaneId, PaneSetting, Paste, PathPurpose, ScoreDialog, WatermarkDialog};

/// The dialogs that are open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogs {
    pub palette: Option<Palette>,
    /// The tab of the settings.
    pub settings: Option<SettingsTab>,
    /// The tab of the help.
    pub help: Option<HelpTab>,
    /// The dialog for pasting settings.
    pub paste: Option<Paste>,
    /// The dialog for a text to be scored.
    pub score: Option<ScoreDialog>,
    /// The dialog that tests a text for a watermark.
    pub watermark: Option<WatermarkDialog>,
    /// The pane whose chain editor opens in the next frame.
    pub chain_to_edit: Option<ChainToEdit>,
    /// The shared setting whose editor opens in the next frame.
    pub run_setting_to_edit: Option<RunSetting>,
    /// The pane whose name gets the focus in the next frame.
    pub pane_to_rename: Option<PaneId>,
    /// The path field that replaces a missing file dialog: its purpose and the text typed so far.
    pub path_field: Option<(PathPurpose, String)>,
    /// The folder of the last path, where the next path field starts.
    pub(super) last_folder: Option<PathBuf>,
}

impl Dialogs {
    pub(super) fn open_path_field(&mut self, purpose: PathPurpose) {
        let suggestion = purpose.suggested_name().unwrap_or_default();
        let suggestion = match &self.last_folder {
            Some(folder) => folder.join(suggestion).display().to_string(),
            None => format!("~/{suggestion}"),
        };
        self.path_field = Some((purpose, suggestion));
    }
}

/// The pane whose chain editor opens, and the setting that it opens at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainToEdit {
    pub pane: PaneId,
    pub setting: Option<PaneSetting>,
}

/// A limit or seed that all panes share. Its editor opens beside the Generate button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunSetting {
    TokenLimit,
    Seed,
    Stops,
}

impl RunSetting {
    /// All of them, from left to right.
    pub const ALL: [Self; 3] = [Self::TokenLimit, Self::Seed, Self::Stops];

    /// Returns its name in the palette.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenLimit => "Token limit of all panes…",
            Self::Seed => "Seed of all panes…",
            Self::Stops => "Stop sequences and end of text…",
        }
    }
}

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
