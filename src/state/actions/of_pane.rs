//! What the user can do with one pane: the palette lists everything, the pane’s menu what is usual.

use super::Shortcut;
use super::conditions::only_if;
use crate::interop::tools::Tool;
use crate::state::{
    AppState, BranchCommand, Command, ConversationCommand, MAX_PANES, Pane, PaneId,
    PaneModelCommand, PasteCommand, ScoreCommand, WatermarkCommand,
};

/// What the user can do with a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneAction {
    /// Open the chain editor.
    EditChain,
    ChooseModel,
    ReadAlong,
    RunAlone,
    Stop,
    Continue,
    /// Leave it out when a message goes to all panes, or include it again.
    LeaveOut,
    ShowEarlier,
    CopyText,
    Score,
    TestWatermark,
    CopySettings(Tool),
    PasteSettings,
    Rename,
    ResetSettings,
    Duplicate,
    Remove,
}

/// An entry of a pane's menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneMenuEntry {
    Action(PaneAction),
    Submenu {
        label: &'static str,
        actions: Vec<PaneAction>,
    },
}

impl PaneMenuEntry {
    /// Returns the entries in groups, which lines separate.
    pub fn groups(state: &AppState) -> [Vec<Self>; 3] {
        use PaneAction::{
            ChooseModel, CopyText, Duplicate, LeaveOut, PasteSettings, Remove, Rename,
            ResetSettings, RunAlone, Score,
        };
        let first = if state.is_replying() {
            [RunAlone, LeaveOut, ChooseModel]
        } else {
            [RunAlone, ChooseModel, Score]
        };
        let copies = Self::Submenu {
            label: "Copy settings as",
            actions: Tool::ALL.map(PaneAction::CopySettings).to_vec(),
        };
        [
            first.map(Self::Action).to_vec(),
            vec![Self::Action(CopyText), copies, Self::Action(PasteSettings)],
            [Rename, Duplicate, ResetSettings, Remove]
                .map(Self::Action)
                .to_vec(),
        ]
    }
}

impl PaneAction {
    /// Returns all actions of a pane, in the order of the palette.
    pub fn all() -> Vec<Self> {
        let first = [
            Self::EditChain,
            Self::ChooseModel,
            Self::ReadAlong,
            Self::RunAlone,
            Self::Stop,
            Self::Continue,
            Self::LeaveOut,
            Self::ShowEarlier,
            Self::CopyText,
            Self::Score,
            Self::TestWatermark,
        ];
        let copies = Tool::ALL.map(Self::CopySettings);
        let last = [
            Self::PasteSettings,
            Self::Rename,
            Self::ResetSettings,
            Self::Duplicate,
            Self::Remove,
        ];
        first.into_iter().chain(copies).chain(last).collect()
    }

    /// Returns the label in a pane's menu.
    pub fn label(self, id: PaneId, state: &AppState) -> String {
        let label = match self {
            Self::EditChain => "Change the settings…",
            Self::ChooseModel => "Model…",
            Self::ReadAlong => "Read along with another pane…",
            Self::RunAlone => {
                let answers = state.is_replying() && state.pane(id).is_some_and(Pane::has_text);
                match (answers, state.prompt.text.is_empty()) {
                    (true, true) => "Answer again",
                    (true, false) => "Reply only in this pane",
                    (false, _) => "Run only this pane",
                }
            }
            Self::Stop => "Stop",
            Self::Continue => "Continue",
            Self::LeaveOut if state.pane(id).is_some_and(|pane| pane.is_left_out) => {
                "Include in replies"
            }
            Self::LeaveOut => "Leave out of replies",
            Self::ShowEarlier => "Show the earlier text",
            Self::CopyText => "Copy text",
            Self::Score => "A text of your own…",
            Self::TestWatermark => "Test for a watermark…",
            Self::CopySettings(tool) => tool.name(),
            Self::PasteSettings => "Paste settings…",
            Self::Rename => "Rename",
            Self::ResetSettings => "Reset settings",
            Self::Duplicate if state.panes.has_room() => {
                return format!("Duplicate as pane {}", state.panes.next_letter());
            }
            Self::Duplicate => "Duplicate",
            Self::Remove => "Remove",
        };
        label.to_owned()
    }

    /// Returns the key that runs it on the focused pane, if there is one.
    pub const fn shortcut(self) -> Option<Shortcut> {
        match self {
            Self::Rename => Some(Shortcut::key("F2")),
            _ => None,
        }
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
            Self::LeaveOut => format!("Leave {letter} out of replies, or include it again"),
            Self::ShowEarlier => format!("Show the earlier text of {letter}"),
            Self::CopyText => format!("Copy the text of {letter}"),
            Self::Score => format!("Score a text with the settings of {letter}…"),
            Self::TestWatermark => format!("Test the text of {letter} for a watermark…"),
            Self::CopySettings(tool) => {
                format!("Copy the settings of {letter} as {}", tool.name())
            }
            Self::PasteSettings => format!("Paste settings into {letter}…"),
            Self::Rename => format!("Rename {letter}"),
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
            | Self::LeaveOut
            | Self::ShowEarlier
            | Self::CopyText
            | Self::Score
            | Self::TestWatermark
            | Self::Rename
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
                if !state.can_answer_again(pane) {
                    state.blocking_reason_of(pane).map_or(Ok(()), Err)?;
                }
                Command::Generate(id)
            }
            Self::Stop => {
                only_if(is_running, "The pane is not running")?;
                Command::Stop(id)
            }
            Self::LeaveOut => {
                only_if(state.is_replying(), "Generate an answer in Chat first")?;
                let leave_out = ConversationCommand::LeaveOut(id, !pane.is_left_out);
                Command::Conversation(leave_out)
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
            Self::Rename => Command::Rename(id),
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
