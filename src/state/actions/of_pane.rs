//! What the user can do with one pane: the items of its menu, which the palette lists too.

use super::conditions::only_if;
use crate::interop::tools::Tool;
use crate::state::{
    AppState, BranchCommand, Command, MAX_PANES, PaneId, PaneModelCommand, PasteCommand,
    ScoreCommand, WatermarkCommand,
};

/// An item of a pane's menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneAction {
    /// Open the chain editor.
    EditChain,
    ChooseModel,
    ReadAlong,
    RunAlone,
    Stop,
    Continue,
    ShowEarlier,
    CopyText,
    Score,
    TestWatermark,
    CopySettings(Tool),
    PasteSettings,
    ResetSettings,
    Duplicate,
    Remove,
}

impl PaneAction {
    /// Returns all actions of a pane, in menu order.
    pub fn all() -> Vec<Self> {
        Self::GROUPS.into_iter().flat_map(|group| group()).collect()
    }

    /// The groups of the menu, separated by lines.
    pub const GROUPS: [fn() -> Vec<Self>; 3] = [Self::on_text, Self::on_exchange, Self::on_pane];

    fn on_text() -> Vec<Self> {
        vec![
            Self::EditChain,
            Self::ChooseModel,
            Self::ReadAlong,
            Self::RunAlone,
            Self::Stop,
            Self::Continue,
            Self::ShowEarlier,
            Self::CopyText,
            Self::Score,
            Self::TestWatermark,
        ]
    }

    fn on_exchange() -> Vec<Self> {
        let copies = Tool::ALL.into_iter().map(Self::CopySettings);
        copies.chain([Self::PasteSettings]).collect()
    }

    fn on_pane() -> Vec<Self> {
        vec![Self::ResetSettings, Self::Duplicate, Self::Remove]
    }

    /// Returns the label in the pane's menu.
    pub fn label(self) -> String {
        let label = match self {
            Self::EditChain => "Change the settings…",
            Self::ChooseModel => "Choose a model…",
            Self::ReadAlong => "Read along with another pane…",
            Self::RunAlone => "Run only this pane",
            Self::Stop => "Stop",
            Self::Continue => "Continue",
            Self::ShowEarlier => "Show the earlier text",
            Self::CopyText => "Copy text",
            Self::Score => "Score a text…",
            Self::TestWatermark => "Test for a watermark…",
            Self::CopySettings(tool) => return format!("Copy as {}", tool.name()),
            Self::PasteSettings => "Paste settings…",
            Self::ResetSettings => "Reset settings",
            Self::Duplicate => "Duplicate",
            Self::Remove => "Remove",
        };
        label.to_owned()
    }

    /// Returns the name in the palette, which includes the pane's letter.
    pub(super) fn name(self, letter: &str) -> String {
        match self {
            Self::EditChain => format!("Change the settings of {letter}…"),
            Self::ChooseModel => format!("Choose a model for {letter}…"),
            Self::ReadAlong => format!("Let {letter} read along with another pane…"),
            Self::RunAlone => format!("Run only {letter}"),
            Self::Stop => format!("Stop {letter}"),
            Self::Continue => format!("Continue {letter}"),
            Self::ShowEarlier => format!("Show the earlier text of {letter}"),
            Self::CopyText => format!("Copy the text of {letter}"),
            Self::Score => format!("Score a text with the settings of {letter}…"),
            Self::TestWatermark => format!("Test the text of {letter} for a watermark…"),
            Self::CopySettings(tool) => {
                format!("Copy the settings of {letter} as {}", tool.name())
            }
            Self::PasteSettings => format!("Paste settings into {letter}…"),
            Self::ResetSettings => format!("Reset the settings of {letter}"),
            Self::Duplicate => format!("Duplicate {letter}"),
            Self::Remove => format!("Remove {letter}"),
        }
    }

    /// Returns where the action belongs, as shown after its name in the palette.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::CopySettings(_) | Self::PasteSettings => "Other tools",
            Self::EditChain
            | Self::ChooseModel
            | Self::ReadAlong
            | Self::RunAlone
            | Self::Stop
            | Self::Continue
            | Self::ShowEarlier
            | Self::CopyText
            | Self::Score
            | Self::TestWatermark
            | Self::ResetSettings
            | Self::Duplicate
            | Self::Remove => "Pane",
        }
    }

    /// Returns the command that it runs on a pane, or why it is not possible now.
    pub fn command(self, id: PaneId, state: &AppState) -> Result<Command, String> {
        let Some(pane) = state.pane(id) else {
            return Err("This pane was removed".to_owned());
        };
        let is_running = pane.status.running().is_some();
        let has_room = || {
            let reason = format!("{MAX_PANES} panes are already open");
            only_if(state.panes.has_room(), &reason)
        };
        Ok(match self {
            Self::EditChain => Command::EditChain(id),
            Self::ChooseModel => Command::PaneModel(PaneModelCommand::OpenMenu(id)),
            Self::ReadAlong => {
                let reason = "No other pane’s model has the same vocabulary";
                only_if(state.panes.can_read_along(id, &state.models), reason)?;
                Command::PaneModel(PaneModelCommand::OpenMenu(id))
            }
            Self::RunAlone => {
                state.blocking_reason_of(pane).map_or(Ok(()), Err)?;
                Command::Generate(id)
            }
            Self::Stop => {
                only_if(is_running, "The pane is not running")?;
                Command::Stop(id)
            }
            Self::Continue => {
                only_if(state.can_continue(pane), "The text has ended")?;
                Command::Branch(BranchCommand::Continue(id))
            }
            Self::ShowEarlier => {
                let has_earlier = state.branches.n_earlier(id) > 0 && !is_running;
                only_if(has_earlier, "The pane has no earlier text")?;
                Command::Branch(BranchCommand::ShowEarlier(id))
            }
            Self::CopyText => {
                only_if(pane.generation().is_some(), "Generate a text first")?;
                Command::CopyText(id)
            }
            Self::Score => {
                only_if(state.models.main.ready().is_some(), "No model is loaded")?;
                Command::Score(ScoreCommand::Open(id))
            }
            Self::TestWatermark => {
                only_if(pane.generation().is_some(), "Generate a text first")?;
                Command::Watermark(WatermarkCommand::Open(Some(id)))
            }
            Self::CopySettings(tool) => Command::CopySettings(id, tool),
            Self::PasteSettings => Command::Paste(PasteCommand::Open(id)),
            Self::ResetSettings => Command::ResetSettings(id),
            Self::Duplicate => {
                has_room()?;
                Command::Duplicate(id)
            }
            Self::Remove => {
                only_if(state.panes.len() > 1, "The last pane can’t be removed")?;
                Command::Remove(id)
            }
        })
    }
}
