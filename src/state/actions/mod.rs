//! Everything the user can do: one list that the keys, the menus, the command palette and the help
//! share.
//!
//! An [`Action`] has a name, a place and keys. Whether it is possible now, and which command it
//! runs, depend on the state.

mod commands;
mod key_help;
mod of_pane;
mod palette;
mod shortcut;

pub use key_help::{KeyHelp, key_help};
pub use of_pane::PaneAction;
pub use palette::{Palette, PaletteCommand, PaletteRow};
pub use shortcut::Shortcut;

use super::{
    AppState, BranchesView, DockTab, HelpTab, LabTab, Pace, Page, PaneId, PictureFormat, Plot,
    SettingsTab, ThemeChoice, Tint,
};
use crate::export::ExportFormat;
use crate::generation::formatting::pane_letter;

/// Something the user can do, wherever it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Generate,
    AnotherSeed,
    Stop,
    SetPace(Pace),
    Step,
    StepBack,
    Continue,
    DrawFutures,
    StopFutures,
    Unpin,
    CopyWhy,
    Score,
    /// Test a text for a watermark.
    TestWatermark,
    AddPane,
    OfPane(PaneId, PaneAction),
    Undo,
    Redo,
    ShowPage(Page),
    ShowTab(DockTab),
    ShowBranches(BranchesView),
    ShowLab(LabTab),
    SetTint(Tint),
    ShowMarks,
    SetTheme(ThemeChoice),
    EnlargeText,
    ReduceText,
    ResetTextSize,
    OpenRun,
    VerifyRun,
    UseSettingsOfRun,
    CloseRun,
    /// Start or resume the lesson with this index.
    TakeLesson(usize),
    LeaveLesson,
    OpenLesson,
    SaveNewLesson,
    SaveLessonAnswers,
    Export(ExportFormat),
    ExportEverything,
    CopyPicture(Plot),
    SavePicture(Plot, PictureFormat),
    ShowModels,
    ShowServers,
    OpenModelFile,
    OpenModelFolder,
    UseEmbeddedModel,
    ShowPalette,
    ShowSettings(SettingsTab),
    ShowHelp(HelpTab),
}

impl Action {
    /// Returns the keys that trigger it, the usual ones first. Some work only while no field has
    /// focus.
    pub fn shortcuts(self) -> Vec<Shortcut> {
        let key = Shortcut::key;
        let numbered = |number: usize| key(DIGITS.get(number).copied().unwrap_or_default());
        let page = |page| Page::ALL.iter().position(|other| *other == page);
        let tab = |tab| DockTab::ALL.iter().position(|other| *other == tab);
        match self {
            Self::Generate => vec![key("Enter").command()],
            Self::Stop | Self::StopFutures | Self::Unpin | Self::CloseRun | Self::LeaveLesson => {
                vec![key("Escape")]
            }
            Self::Step => vec![key("Space")],
            Self::StepBack => vec![key("Backspace")],
            Self::Continue => vec![key("C")],
            Self::DrawFutures => vec![key("F")],
            Self::Score => vec![key("V").command().shift()],
            Self::Undo => vec![key("Z").command()],
            Self::Redo => vec![key("Z").command().shift(), key("Y").command()],
            Self::ShowPage(shown) => vec![numbered(page(shown).unwrap_or_default()).command()],
            Self::ShowTab(shown) => vec![numbered(tab(shown).unwrap_or_default()).alt()],
            Self::EnlargeText => vec![key("Plus").command(), key("Equals").command()],
            Self::ReduceText => vec![key("Minus").command()],
            Self::ResetTextSize => vec![key("0").command()],
            Self::OpenRun => vec![key("O").command()],
            Self::VerifyRun => vec![key("V")],
            Self::ShowPalette => vec![key("K").command()],
            Self::ShowSettings(SettingsTab::Appearance) => vec![key("Comma").command()],
            Self::ShowHelp(HelpTab::Keys) => vec![key("F1")],
            _ => Vec::new(),
        }
    }

    /// Returns where the action belongs, as shown after its name; may be empty.
    pub fn place(self) -> &'static str {
        match self {
            Self::SetPace(_) => "Pace",
            Self::OfPane(_, action) => action.place(),
            Self::ShowPage(_) => "Page",
            Self::ShowTab(_) | Self::ShowBranches(_) => "Tab",
            Self::ShowLab(_) => "Lab",
            Self::Export(_) | Self::ExportEverything => "Export",
            Self::CopyPicture(_) | Self::SavePicture(..) => "Pictures",
            Self::OpenModelFile | Self::OpenModelFolder | Self::UseEmbeddedModel => "Models",
            Self::VerifyRun | Self::UseSettingsOfRun | Self::CloseRun => "Opened run",
            Self::TakeLesson(_)
            | Self::LeaveLesson
            | Self::OpenLesson
            | Self::SaveNewLesson
            | Self::SaveLessonAnswers => "Lessons",
            Self::ShowSettings(_) => "Settings",
            Self::ShowHelp(_) => "Help",
            _ => "",
        }
    }
}

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl AppState {
    /// Returns all actions, in the order of the palette: those of a run first.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = vec![
            Action::Generate,
            Action::Stop,
            Action::AnotherSeed,
            Action::Step,
            Action::StepBack,
            Action::Continue,
            Action::DrawFutures,
            Action::StopFutures,
            Action::Unpin,
            Action::CopyWhy,
            Action::Score,
            Action::TestWatermark,
            Action::AddPane,
            Action::Undo,
            Action::Redo,
        ];
        actions.extend(Page::ALL.map(Action::ShowPage));
        actions.extend(DockTab::ALL.map(Action::ShowTab));
        actions.extend(BranchesView::ALL.map(Action::ShowBranches));
        actions.extend(LabTab::ALL.map(Action::ShowLab));
        for pane in &self.panes {
            let of_pane = |action| Action::OfPane(pane.id, action);
            actions.extend(PaneAction::all().into_iter().map(of_pane));
        }
        actions.extend(Pace::ALL.map(Action::SetPace));
        actions.extend(Tint::ALL.map(Action::SetTint));
        actions.push(Action::ShowMarks);
        actions.extend([
            Action::ShowModels,
            Action::ShowServers,
            Action::OpenModelFile,
            Action::OpenModelFolder,
            Action::UseEmbeddedModel,
            Action::OpenRun,
            Action::VerifyRun,
            Action::UseSettingsOfRun,
            Action::CloseRun,
            Action::LeaveLesson,
            Action::OpenLesson,
            Action::SaveNewLesson,
            Action::SaveLessonAnswers,
        ]);
        actions.extend((0..self.lessons.list.len()).map(Action::TakeLesson));
        actions.extend(ExportFormat::ALL.map(Action::Export));
        actions.push(Action::ExportEverything);
        for plot in Plot::all() {
            actions.push(Action::CopyPicture(plot));
            let save = |format| Action::SavePicture(plot, format);
            actions.extend(PictureFormat::ALL.map(save));
        }
        actions.extend(ThemeChoice::ALL.map(Action::SetTheme));
        actions.extend([
            Action::EnlargeText,
            Action::ReduceText,
            Action::ResetTextSize,
        ]);
        actions.extend(SettingsTab::ALL.map(Action::ShowSettings));
        actions.extend(HelpTab::ALL.map(Action::ShowHelp));
        actions
    }

    /// Returns the name of an action: an imperative.
    pub fn action_name(&self, action: Action) -> String {
        let name = match action {
            Action::Generate if self.is_step_mode() => "Keep running",
            Action::Generate => "Generate",
            Action::AnotherSeed => "Generate with another seed",
            Action::Stop => "Stop all panes",
            Action::SetPace(pace) => pace.name(),
            Action::Step => "Step one token",
            Action::StepBack => "Undo the last step",
            Action::Continue => "Continue differently from the pinned token…",
            Action::DrawFutures => "Draw futures of the pinned token, or of the prompt",
            Action::StopFutures => "Stop drawing futures",
            Action::Unpin => "Unpin the token",
            Action::CopyWhy => "Copy why the token was chosen",
            Action::Score => "Score a text…",
            Action::TestWatermark => "Test a text for a watermark…",
            Action::AddPane => "Add a pane",
            Action::OfPane(id, action) => {
                let letter = self.place_of(id).map(pane_letter).unwrap_or_default();
                return action.name(&letter);
            }
            Action::Undo => "Undo the last settings change",
            Action::Redo => "Redo the settings change",
            Action::ShowPage(page) => page.name(),
            Action::ShowTab(tab) => tab.name(),
            Action::ShowLab(tab) => tab.name(),
            Action::ShowBranches(view) => match view {
                BranchesView::Written => "Branches: what was written",
                BranchesView::Futures => "Branches: futures",
            },
            Action::SetTint(tint) => return format!("Tint: {}", tint.name()),
            Action::ShowMarks if self.view.show_marks => "Hide spaces and line breaks",
            Action::ShowMarks => "Show spaces and line breaks",
            Action::SetTheme(theme) => return format!("Theme: {}", theme.name()),
            Action::EnlargeText => "Larger text",
            Action::ReduceText => "Smaller text",
            Action::ResetTextSize => "Normal text size",
            Action::OpenRun => "Open a run…",
            Action::VerifyRun => "Verify the opened run",
            Action::UseSettingsOfRun => "Use the settings of the opened run",
            Action::CloseRun => "Close the opened run",
            Action::TakeLesson(index) => {
                let lesson = self.lessons.list.get(index);
                let title = lesson.map_or("", |lesson| lesson.title.as_str());
                return format!("Lesson: {title}");
            }
            Action::LeaveLesson => "Leave the lesson",
            Action::OpenLesson => "Open a lesson…",
            Action::SaveNewLesson => "New lesson from this window…",
            Action::SaveLessonAnswers => "Save the answers…",
            Action::Export(format) => return format!("Export the run as {}…", format.name()),
            Action::ExportEverything => "Export everything…",
            Action::CopyPicture(plot) => {
                return format!("Copy {} as an image", plot.name_in_sentence());
            }
            Action::SavePicture(plot, format) => {
                let format = format.extension().to_uppercase();
                return format!("Save {} as {format}…", plot.name_in_sentence());
            }
            Action::ShowModels => "Models…",
            Action::ShowServers => "Add a server…",
            Action::OpenModelFile => "Open a model file…",
            Action::OpenModelFolder => "Open a model folder…",
            Action::UseEmbeddedModel => "Use the built-in model",
            Action::ShowPalette => "Find an action",
            Action::ShowSettings(tab) => tab.name(),
            Action::ShowHelp(tab) => tab.name(),
        };
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Action, DockTab, Page};
    use crate::state::tests::{ready, written};

    #[test]
    fn action_names_are_unique_within_their_place() {
        let state = written();
        let mut names = BTreeMap::new();
        for action in state.actions() {
            let name = (state.action_name(action), action.place());
            assert!(!name.0.is_empty(), "{action:?}");
            let other = names.insert(name.clone(), action);
            assert!(other.is_none(), "{name:?}: {action:?} and {other:?}");
        }
    }

    #[test]
    fn no_key_has_two_meanings_at_once() {
        // Escape ends what is in progress, whatever that is.
        let mut meanings = BTreeMap::new();
        for action in ready().actions().into_iter().chain([Action::ShowPalette]) {
            for shortcut in action.shortcuts() {
                let keys = shortcut.words(false);
                if keys == "Esc" {
                    continue;
                }
                let other = meanings.insert(keys.clone(), action);
                assert!(other.is_none(), "{keys}: {action:?} and {other:?}");
            }
        }
    }

    #[test]
    fn every_page_and_tab_has_a_key() {
        for page in Page::ALL {
            assert_eq!(Action::ShowPage(page).shortcuts().len(), 1);
        }
        let last = Action::ShowTab(DockTab::ALL[DockTab::ALL.len() - 1]);
        let words = format!("Alt {}", DockTab::ALL.len());
        assert_eq!(last.shortcuts()[0].words(false), words);
    }
}
