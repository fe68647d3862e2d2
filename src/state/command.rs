//! Commands (what the window asks of the state) and effects (what the state asks of the outside
//! world).

use std::path::PathBuf;

use super::{
    AsideRequest, BranchCommand, ConversationCommand, Document, DocumentKind, FolderCommand,
    FolderKind, FuturesCommand, HelpTab, HubCommand, LessonCommand, ListenCommand, ListenRequest,
    ModelsCommand, Pace, PaletteCommand, PaneId, PaneModelCommand, PasteCommand, Pin,
    PresetCommand, PromptMode, RunCommand, RunDocument, RunRequest, RunSetting, ScoreCommand,
    SecondModelCommand, ServerCommand, SettingsTab, ViewChange, WatermarkCommand,
};
use crate::decoding::ChainConfig;
use crate::export::ExportFormat;
use crate::generation::ServedModel;
use crate::interop::tools::Tool;
use crate::lab::{LabCommand, LabTab};
use crate::worker::{DownloadRequest, Request, ServerConfig, ServerRequest};

/// A user action, or the result of an effect.
///
/// Values that a widget is bound to (the prompt, limits, seeds, pane names, view choices, text that
/// is being typed) have no command: an immediate-mode widget needs `&mut` access to its value, so
/// the window edits those fields of [`AppState`](super::AppState) in place. Undo still sees every
/// such change, because [`AppState::apply`](super::AppState::apply) compares snapshots of the
/// settings instead of trusting each command to report what it changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Continue the prompt in all panes.
    GenerateAll,
    /// Continue the prompt in all panes with the next seed.
    AnotherSeed,
    /// Continue the prompt in one pane; its current generation is stopped first.
    Generate(PaneId),
    /// Stop all generations.
    StopAll,
    /// Stop the generation of one pane.
    Stop(PaneId),
    /// Change how fast texts are generated.
    SetPace(Pace),
    /// Continue, step or branch a text.
    Branch(BranchCommand),
    /// Draw futures, show another pane's next to them, or count words in them.
    Futures(FuturesCommand),
    /// Run an experiment over many texts.
    Lab(LabCommand),
    /// Take a lesson.
    Lesson(LessonCommand),
    /// The prompt, the system prompt or the prompt mode was edited; tokenize it again.
    PromptEdited,
    /// Continue the prompt as plain text, or answer it.
    SetPromptMode(PromptMode),
    /// Copy the prompt of the card, or what this pane reads next, as the model reads it, with its special
    /// tokens.
    CopyPrompt(Option<PaneId>),

    /// Replace a pane's sampler chain.
    SetChain(PaneId, ChainConfig),
    /// Solo the stage at this index, or end the solo if that stage is already soloed.
    Solo(PaneId, usize),
    /// Set a pane's seed; `None` for the shared seed.
    SetSeed(PaneId, Option<u64>),
    /// Reset a pane to the default settings for its position.
    ResetSettings(PaneId),
    /// Add a pane on the right, with settings that no other pane has.
    AddPane,
    /// Add a copy of a pane as the last one.
    Duplicate(PaneId),
    /// Open this many panes: add some on the right, or remove the last ones.
    SetPaneCount(usize),
    /// Open the editor of a pane's chain.
    EditChain(PaneId),
    /// Open the editor of a limit or seed that all panes share.
    EditRunSetting(RunSetting),
    /// Let the user edit a pane's name.
    Rename(PaneId),
    /// Remove a pane, unless it is the last one.
    Remove(PaneId),
    /// Undo the last change to the panes and their settings.
    Undo,
    /// Redo the last change that was undone.
    Redo,
    /// End the current undo step: the next change starts a new one.
    EndUndoStep,
    /// Copy a pane's text.
    CopyText(PaneId),
    /// Copy a pane's settings in a tool's format.
    CopySettings(PaneId, Tool),
    /// Import a pane's settings from a tool's format.
    Paste(PasteCommand),
    /// Save, edit or import presets.
    Preset(PresetCommand),
    /// Score a text.
    Score(ScoreCommand),
    /// A file was read as this pane's grammar, or reading it failed.
    GrammarRead {
        pane: PaneId,
        path: PathBuf,
        text: Result<String, String>,
    },
    /// Look for a watermark.
    Watermark(WatermarkCommand),

    /// Pin a token, or unpin it if it is already pinned.
    Pin(Pin),
    /// Clear the pin.
    Unpin,
    /// Move the pin to a neighboring token or pane.
    MovePin(PinMove),
    /// Move the pin as if it were in this pane.
    MovePinIn(PaneId, PinMove),

    /// Copy a picture as an image. The document is its SVG.
    CopyPicture(Document),
    /// A picture could not be copied, for this reason.
    CopyPictureFailed(String),
    /// Show the dialog that previews an export of everything, or close it.
    ShowExport(bool),

    /// Copy the explanation of the step that the dock shows.
    CopyWhy,
    /// Draw many times from the final distribution of the step that the dock shows.
    DrawStep,

    /// Draw this many tokens from the logits set by hand.
    DrawByHand(u32),

    /// Find and run an action by its name.
    Palette(PaletteCommand),
    /// Show the settings dialog, or close it.
    ShowSettings(Option<SettingsTab>),
    /// Show the help, or close it.
    ShowHelp(Option<HelpTab>),
    /// Change how the window shows things.
    ChangeView(ViewChange),

    /// Open, keep and list runs.
    Run(RunCommand),
    /// Let other programs ask.
    Listen(ListenCommand),
    /// Load the built-in model.
    LoadEmbeddedModel,
    /// Open, list and unload models.
    Models(ModelsCommand),
    /// Let a pane read along with another pane, or go back to writing its own texts.
    ReadAlong(PaneId, Option<PaneId>),
    /// Choose the model of a pane.
    PaneModel(PaneModelCommand),
    /// Add, contact and remove servers.
    Server(ServerCommand),
    /// Stop loading the second model, or unload it.
    SecondModel(SecondModelCommand),
    /// Search the Hugging Face Hub and download models.
    Hub(HubCommand),
    /// Ask the user for a path.
    AskPath(PathPurpose),
    /// The user chose a path.
    PathGiven(PathPurpose, PathBuf),
    /// No native file dialog is available; show a path field instead.
    DialogUnavailable(PathPurpose),
    /// Close the path field without choosing a path.
    ClosePathField,
    /// A file was written.
    Saved { document: Document, path: PathBuf },
    /// A file could not be written.
    SaveFailed {
        document: Document,
        path: PathBuf,
        error: String,
    },

    /// Show a file in the system's file manager.
    ShowInFolder(PathBuf),
    /// Open a folder in the system's file manager.
    OpenFolder(PathBuf),
    /// The file manager was asked to show a file or a folder. `error` says why it could not.
    FolderShown {
        path: PathBuf,
        error: Option<String>,
    },

    /// Change where runs and models are kept.
    Folder(FolderCommand),

    /// Restart the engine thread after it died.
    RestartEngine,
    /// Answer again, edit a message, or begin a new conversation.
    Conversation(ConversationCommand),
    /// Dismiss the notice at this place; the newest has place 0.
    CloseNotice(usize),
}

impl Command {
    /// Asks where to save a document.
    pub fn save(document: impl DocumentKind) -> Self {
        Self::AskPath(PathPurpose::Save(Document::new(document)))
    }

    /// Copies a picture, whose document is its SVG, as an image.
    pub fn copy(svg: impl DocumentKind) -> Self {
        Self::CopyPicture(Document::new(svg))
    }
}

/// Work that must be done outside the state.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send a request to the engine thread.
    Send(Request),
    /// Replace the dead engine thread with a new one.
    RestartWorker,
    /// Copy this text to the clipboard.
    CopyText(String),
    /// Copy a picture as an image to the clipboard. The document is its SVG.
    CopyPicture(Document),
    /// Open a file dialog.
    OpenDialog(PathPurpose),
    /// Write a file.
    Save(Document, PathBuf),
    /// Show a file in the system's file manager.
    ShowInFolder(PathBuf),
    /// Open a folder in the system's file manager. It is created if it does not exist.
    OpenFolder(PathBuf),
    /// List or remove texts that could not be restored after a crash.
    Aside(AsideRequest),
    /// Check that runs or models can be kept in this folder.
    TryFolder(FolderKind, PathBuf),
    /// From now on, keep them in the folder that the state names.
    UseFolder(FolderKind),
    /// Read a preset file.
    ReadPresets(PathBuf),
    /// Read a text to be scored.
    ReadText(PathBuf),
    /// Read a grammar for this pane.
    ReadGrammar(PaneId, PathBuf),
    /// Read a lesson.
    ReadLesson(PathBuf),
    /// Read or change the saved runs.
    Runs(RunRequest),
    /// Open, change or close the endpoint.
    Listen(ListenRequest),
    /// Start the threads of a server. They contact it once they get a request.
    StartServer(ServedModel, Box<ServerConfig>),
    /// Send a request to the threads of a server.
    Server(ServedModel, ServerRequest),
    /// End the threads of a server, and close its connections.
    EndServer(ServedModel),
    /// Send a request to the download threads.
    Hub(DownloadRequest),
    /// Look for the models that programs keep on this computer.
    FindModels,
    /// Check whether these models still exist and how large they are.
    CheckModelFiles(Vec<PathBuf>),
    /// Check whether a dropped file or folder is a model.
    CheckDroppedPath(PathBuf),
}

/// Why the user is asked for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPurpose {
    /// To open a model file.
    ModelFile,
    /// To open a model folder.
    ModelFolder,
    /// To open the file of the model that drafts or guides.
    SecondModel,
    /// The same, to verify the opened run with it.
    SecondModelToVerify,
    /// To open the file of this pane's model.
    PaneModel(PaneId),
    /// To open the folder of this pane's model.
    PaneModelFolder(PaneId),
    /// To choose a file for the experiment of this tab.
    Lab(LabTab),
    /// To import a preset file.
    Presets,
    /// To open a run file.
    Run,
    /// To open a text to be scored.
    Text,
    /// To open a grammar for this pane.
    Grammar(PaneId),
    /// To open a lesson.
    Lesson,
    /// To copy the selected run of the history to a file.
    ExportRun,
    /// To choose where runs or models are kept.
    Folder(FolderKind),
    /// To write a file.
    Save(Document),
}

impl PathPurpose {
    /// Returns the title of the dialog.
    pub fn title(&self) -> String {
        match self {
            Self::ModelFile => "Open a model file".to_owned(),
            Self::ModelFolder => "Open a model folder".to_owned(),
            Self::SecondModel | Self::SecondModelToVerify => "Open a second model".to_owned(),
            Self::PaneModel(_) => "Open a model for this pane".to_owned(),
            Self::PaneModelFolder(_) => "Open a model folder for this pane".to_owned(),
            Self::Lab(tab) => tab.file_title().to_owned(),
            Self::Presets => "Import presets".to_owned(),
            Self::Run => "Open a run".to_owned(),
            Self::Text => "Open a text".to_owned(),
            Self::Grammar(_) => "Open a grammar".to_owned(),
            Self::Lesson => "Open a lesson".to_owned(),
            Self::ExportRun => "Export the run".to_owned(),
            Self::Folder(FolderKind::Runs) => "Keep runs in a folder".to_owned(),
            Self::Folder(FolderKind::Models) => "Keep models in a folder".to_owned(),
            Self::Save(document) => format!("Save {}", document.name()),
        }
    }
}

impl PathPurpose {
    /// Returns the file name to suggest, or `None` if an existing file is opened.
    pub fn suggested_name(&self) -> Option<String> {
        match self {
            Self::ModelFile
            | Self::ModelFolder
            | Self::SecondModel
            | Self::SecondModelToVerify
            | Self::Lab(_)
            | Self::PaneModel(_)
            | Self::PaneModelFolder(_)
            | Self::Presets
            | Self::Run
            | Self::Text
            | Self::Folder(_)
            | Self::Grammar(_)
            | Self::Lesson => None,
            Self::ExportRun => Some(RunDocument(ExportFormat::Json).file_name()),
            Self::Save(document) => Some(document.file_name()),
        }
    }
}

/// Where the pin moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinMove {
    /// To the previous token.
    Earlier,
    /// To the next token.
    Later,
    /// To the same step in the previous pane that has text.
    PreviousPane,
    /// To the same step in the next pane that has text.
    NextPane,
}
