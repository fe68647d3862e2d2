//! What may be asked of the state, and what the state asks of the world outside.

use std::path::PathBuf;

use super::{
    HubCommand, ModelsCommand, PaneId, PasteCommand, PictureFormat, Pin, Plot, PresetCommand,
};
use crate::decoding::ChainConfig;
use crate::export::ExportFormat;
use crate::interop::tools::Tool;
use crate::worker::{DownloadRequest, Request};

/// What the user asks for, and what came of it outside. Plain settings are edited in place instead.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Continue the prompt in all panes.
    GenerateAll,
    /// Continue the prompt in one pane.
    Generate(PaneId),
    /// End all writing.
    StopAll,
    /// End the writing of one pane.
    Stop(PaneId),
    /// The prompt was edited, or what the model is to make of it.
    PromptEdited,
    /// Put the prompt on the clipboard as the model reads it.
    CopyPrompt,

    /// Choose in another way.
    SetChain(PaneId, ChainConfig),
    /// Leave the stage of this index alone, or bring back those that were on before.
    Solo(PaneId, usize),
    /// Draw with another seed; nothing for the one that is shared.
    SetSeed(PaneId, Option<u64>),
    /// Go back to how the pane of this place chooses in a new window.
    ResetSettings(PaneId),
    /// One more pane like this one, beside it.
    Duplicate(PaneId),
    /// Take a pane away.
    Remove(PaneId),
    /// Take back the last change of the panes and their settings.
    Undo,
    /// Make the change again that was taken back.
    Redo,
    /// What is changed from now on is undone apart from what was changed before.
    SettleEdits,
    /// Put a pane's text on the clipboard.
    CopyText(PaneId),
    /// Put a pane's settings on the clipboard in the words of a tool.
    CopySettings(PaneId, Tool),
    /// Take a pane's settings from the words of a tool.
    Paste(PasteCommand),
    /// Keep, change or bring in presets.
    Preset(PresetCommand),

    /// Hold on to a token; the one that is held already is let go.
    Pin(Pin),
    /// Let go of it.
    Unpin,
    /// Hold on to a neighbour of it.
    MovePin(PinMove),

    /// Draw so many times from the scores that are set by hand.
    DrawByHand(u32),

    /// Load the model inside the program.
    LoadEmbeddedModel,
    /// Open, list and let go of models.
    Models(ModelsCommand),
    /// Find and bring models of the Hugging Face Hub.
    Hub(HubCommand),
    /// A path is needed; ask for it.
    AskPath(PathPurpose),
    /// The path was given.
    PathGiven(PathPurpose, PathBuf),
    /// There is no native dialog to ask in.
    NoDialog(PathPurpose),
    /// The path field is not needed any more.
    ClosePathField,
    /// A file was written.
    Saved {
        /// What was written.
        document: Document,
        /// Where.
        path: PathBuf,
    },
    /// A file could not be written.
    SaveFailed {
        /// What it should have held.
        document: Document,
        /// Where it should have been.
        path: PathBuf,
        /// Why it was not written.
        error: String,
    },

    /// Start the engine's thread anew after it died.
    RestartEngine,
    /// The newest notice was read.
    CloseNotice,
}

/// What must be done outside the state.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the engine's thread.
    Send(Request),
    /// Replace a dead engine's thread by a new one.
    RestartWorker,
    /// Put this on the clipboard.
    CopyText(String),
    /// Ask the user for a path.
    OpenDialog(PathPurpose),
    /// Write a file.
    Save(Document, PathBuf),
    /// Read a file of presets.
    ReadPresets(PathBuf),
    /// Ask the threads that speak with the Hub.
    Hub(DownloadRequest),
    /// See how large these models are, and whether they are there.
    LookAt(Vec<PathBuf>),
    /// See whether this is a model.
    LookAtDropped(PathBuf),
}

/// What a path is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathPurpose {
    /// To read a model's file.
    ModelFile,
    /// To read a model's folder.
    ModelFolder,
    /// To read a file of presets.
    Presets,
    /// To write a file.
    Save(Document),
}

impl PathPurpose {
    /// What the user is asked.
    pub fn title(self) -> String {
        match self {
            Self::ModelFile => "Open a model file".to_owned(),
            Self::ModelFolder => "Open a model folder".to_owned(),
            Self::Presets => "Import presets".to_owned(),
            Self::Save(document) => format!("Save {}", document.name()),
        }
    }
}

/// What a file can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// All that was generated.
    Run(ExportFormat),
    /// One plot.
    Picture(Plot, PictureFormat),
    /// The user's own presets.
    Presets,
}

impl Document {
    /// What it is called in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run(_) => "the run",
            Self::Picture(..) => "the picture",
            Self::Presets => "the presets",
        }
    }

    /// The file's name until the user gives another.
    pub fn file_name(self) -> String {
        match self {
            Self::Run(format) => format!("quartet.{}", format.extension()),
            Self::Picture(plot, format) => {
                let plot = plot.name().to_lowercase().replace(' ', "-");
                format!("quartet-{plot}.{}", format.extension())
            }
            Self::Presets => "quartet-presets.json".to_owned(),
        }
    }
}

/// Where the pin goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinMove {
    /// One token back.
    Earlier,
    /// One token on.
    Later,
    /// The same step in the pane before.
    PreviousPane,
    /// The same step in the pane after.
    NextPane,
}
