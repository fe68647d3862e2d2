//! Everything the window shows, without a window: commands in, effects out.
//!
//! This module knows nothing of widgets, threads or files. Work to be done outside is an `Effect`;
//! its result comes back as a `Command` or as an engine event.
//!
//! State changes in two ways. User actions are `Command`s, applied by `AppState::apply`.
//! Values that a widget is bound to (settings, view choices, text being typed) are edited in place,
//! because an immediate-mode widget needs `&mut` access to its value; a command for each of them
//! would only copy the value back and forth. Either way, a single mechanism notices a changed
//! setting: `AppState::observe_settings` compares a snapshot of the settings with the previous one
//! and records the difference as an undo step. It runs before and after every command.

mod actions;
mod app_state;
mod appearance;
mod apply;
mod blocking;
mod branches;
mod by_hand;
mod command;
mod conversation;
mod dialogs;
mod document;
mod events;
mod export_choice;
mod folders;
mod futures;
mod generate;
mod jobs;
mod lessons;
mod listening;
mod loading;
mod models;
mod notice;
mod pace;
mod pane_models;
mod panes;
mod picture;
mod prompt;
mod read_along;
mod recording;
mod runs;
mod score;
mod second_model;
mod servers;
mod session;
mod settings;
mod starters;
#[cfg(test)]
pub(crate) mod tests;
mod text_mark;
mod typed_text;
mod view;
mod watermark;
mod words;

pub use actions::{
    Action, KeyHelp, KindAction, Palette, PaletteCommand, PaletteRow, PaletteRun, PaneAction,
    PaneMenuEntry, PaneSetting, Shortcut, key_help, kind_name, no_token_words,
};
pub use app_state::AppState;
pub use appearance::{ReadingFont, TextSize, ViewChange};
pub use branches::{
    BranchChange, BranchCommand, BranchDialog, BranchRow, BranchTarget, BranchTree, Branches,
    InPlaceEdit, RunTexts,
};
pub use by_hand::{ByHand, HAND_SCORES, HAND_TOKENS, HandDraws, HandPreset, HandToken, HeldToken};
pub use command::{Command, Effect, PathPurpose, PinMove};
pub use conversation::{
    ConversationCommand, EditScope, FullConversation, MessageEdit, NextTokens, TurnAt,
};
pub use dialogs::{ChainToEdit, Dialogs, HelpTab, RunSetting, SettingsTab};
pub use document::{
    AnswersDocument, Document, DocumentKind, EverythingDocument, LessonDocument, PictureDocument,
    PresetsDocument, ResultFormat, RunDocument, Unsaved,
};
pub use export_choice::{ExportChoice, RunFileStyle};
pub use folders::{
    AsideRequest, AsideTexts, ChosenFolders, FolderCommand, FolderKind, Folders, SystemFolders,
};
pub use futures::{FUTURE_COUNTS, FUTURE_LENGTHS, Futures, FuturesCommand, FuturesRun, WordRow};
pub(crate) use jobs::stop_jobs;
pub use jobs::{JobRun, NextJob, RunStatus};
pub use lessons::{
    Again, Answer, Guess, LessonCommand, LessonPhase, LessonProgress, LessonRun, Lessons,
    StepTexts, answers_csv,
};
pub use listening::{
    AnswerAgain, AskedAgain, ListenCommand, ListenRequest, ListenSettings, ListenStatus, Listening,
    RefusedRequest,
};
pub(crate) use models::unix_time_secs;
pub use models::{
    DeviceRow, HubCommand, HubRow, HubRowStatus, HubState, MAX_RECENT, ModelGroup, ModelRow,
    ModelRowStatus, ModelStatus, Models, ModelsCommand, ModelsTab, ReadyModel, RecentModel,
    Reopening, ThreadChoice, recorded_formats,
};
pub use notice::{Notice, NoticeAction, NoticeKind, Notices, capitalize};
pub use pace::Pace;
pub use pane_models::{
    Authorship, PaneModelCommand, PaneModelRow, PaneModelStatus, PaneModels, Writer,
};
pub use panes::{
    ComparedPair, KindCount, N_STEP_DRAWS, Pane, PaneId, PaneKinds, PaneStatus, Panes, Paste,
    PasteCommand, PresetCommand, Repetition, Undo, WhatIfSummary, WhatIfToken, WhatIfs,
};
pub use picture::{PictureFormat, PictureTarget, PictureTheme, PictureWidth, Plot, RightPlot};
pub use prompt::{Prompt, PromptLength, PromptMode, PromptReading};
pub use recording::MemoryLimits;
pub use runs::{
    FormatTrial, History, HistoryLimits, KeptRun, OpenedRun, OtherFormats, Page, RequestView,
    RunCommand, RunOrigin, RunRequest, Runs, Verification,
};
pub use score::{ScoreCommand, ScoreDialog, ScoreReadiness};
pub use second_model::{SecondModel, SecondModelCommand};
pub use servers::{
    AddedServer, ReadyServer, ServerCommand, ServerForm, ServerKind, ServerRow, ServerStatus,
    ServerUse, Servers,
};
pub use session::{Session, SessionKey};
pub use settings::{MAX_PANES, Restored, Settings};
pub use starters::Starter;
pub use text_mark::TextMark;
pub use typed_text::{cut_to_limit, cut_words};
pub use view::{
    BranchesView, CompareChoices, DockTab, PictureStyle, Pin, ScoreCap, ScoreLayout, ScoreMeasure,
    ThemeChoice, Tint, TurnsPlotted, ViewChoices,
};
pub use watermark::{WATERMARKS, WatermarkCommand, WatermarkDialog};
pub use words::{
    DivergenceSummary, describe, divergence_reasons, divergence_reasons_of, divergence_summary,
};
