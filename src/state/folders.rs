//! The folders in which runs and models are kept: the system's defaults, or others that the user
//! chose.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Effect, History, HubState, Notice, Notices, RunRequest};
use crate::worker::DownloadRequest;

/// The name of the runs folder, which is created inside a folder that the user chose: the oldest
/// runs are deleted, and the chosen folder may contain other files.
const RUNS: &str = "quartet-runs";

/// Where files are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// Where the system keeps them.
    pub system: SystemFolders,
    /// Where the user chose to keep them instead.
    pub chosen: ChosenFolders,
    /// The texts that could not be restored after a crash, the newest first, as of the last time
    /// that they were listed.
    pub aside: Vec<AsideTexts>,
}

/// A file with the texts of a window that crashed, which were not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsideTexts {
    pub path: PathBuf,
    /// When the file was written, in seconds since 1970.
    pub written_at: u64,
    pub n_bytes: u64,
}

/// A request about the texts that could not be restored. Each is answered with the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AsideRequest {
    List,
    Remove(PathBuf),
}

/// The system's default folders, which may not exist yet. `None` if the system defines none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemFolders {
    /// Settings, presets, sessions and, unless the user chose another folder, kept runs.
    pub data: Option<PathBuf>,
    /// Downloaded models, shared with other tools, unless the user chose another folder.
    pub models: Option<PathBuf>,
}

/// The folders that the user chose, or `None` for the system's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChosenFolders {
    pub runs: Option<PathBuf>,
    pub models: Option<PathBuf>,
}

/// What a folder that the user can choose holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    Runs,
    Models,
}

impl FolderKind {
    /// Returns the word for a title: "Runs".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "Runs",
            Self::Models => "Models",
        }
    }
}

/// A change to where runs or models are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderCommand {
    /// A folder that the user chose was tried. `error` says why files can't be written to it.
    Tried {
        kind: FolderKind,
        folder: PathBuf,
        error: Option<String>,
    },
    /// Use the system's default folder again.
    UseDefault(FolderKind),
    /// The texts that could not be restored were listed.
    AsideListed(Vec<AsideTexts>),
    /// Remove one of them.
    RemoveAside(PathBuf),
}

impl Folders {
    /// Returns the folder in which runs or models are kept, or `None` if the system defines none
    /// and the user chose none.
    pub fn of(&self, kind: FolderKind) -> Option<PathBuf> {
        let Self { system, chosen, .. } = self;
        match kind {
            FolderKind::Runs => {
                let default = system.data.as_ref().map(|data| data.join("runs"));
                chosen.runs.clone().or(default)
            }
            FolderKind::Models => chosen.models.clone().or_else(|| system.models.clone()),
        }
    }

    /// Returns whether the user chose this folder.
    pub const fn is_chosen(&self, kind: FolderKind) -> bool {
        match kind {
            FolderKind::Runs => self.chosen.runs.is_some(),
            FolderKind::Models => self.chosen.models.is_some(),
        }
    }

    pub(super) fn apply(
        &mut self,
        command: FolderCommand,
        context: &mut FolderContext<'_>,
    ) -> Vec<Effect> {
        match command {
            FolderCommand::AsideListed(aside) => {
                self.aside = aside;
                Vec::new()
            }
            FolderCommand::RemoveAside(path) => vec![Effect::Aside(AsideRequest::Remove(path))],
            FolderCommand::Tried {
                kind,
                folder,
                error: Some(error),
            } => refuse(kind, &folder, &error, context.notices),
            FolderCommand::Tried { kind, folder, .. } => self.choose(kind, Some(folder), context),
            FolderCommand::UseDefault(kind) => self.choose(kind, None, context),
        }
    }

    fn choose(
        &mut self,
        kind: FolderKind,
        folder: Option<PathBuf>,
        context: &mut FolderContext<'_>,
    ) -> Vec<Effect> {
        if let Some(reason) = why_fixed(kind, context.hub) {
            let title = format!("{} stay where they are", kind.name());
            return context.notices.notify(Notice::error(title, reason));
        }
        let list = match kind {
            FolderKind::Runs => {
                self.chosen.runs = folder;
                *context.history = History {
                    search: std::mem::take(&mut context.history.search),
                    held: std::mem::take(&mut context.history.held),
                    ..History::default()
                };
                Effect::Runs(RunRequest::List)
            }
            FolderKind::Models => {
                self.chosen.models = folder;
                context.hub.forget_downloads();
                Effect::Hub(DownloadRequest::Cached)
            }
        };
        vec![Effect::UseFolder(kind), list]
    }
}

/// What another folder changes.
pub(super) struct FolderContext<'a> {
    pub history: &'a mut History,
    pub hub: &'a mut HubState,
    pub notices: &'a mut Notices,
}

/// Returns why this folder can't be changed now, or `None` if it can.
pub(super) fn why_fixed(kind: FolderKind, hub: &HubState) -> Option<&'static str> {
    (kind == FolderKind::Models && hub.is_downloading())
        .then_some("A download is running; pause it or wait until it finishes")
}

/// Checks whether files can be written to a folder that the user chose.
pub(super) fn try_folder(kind: FolderKind, folder: PathBuf, notices: &mut Notices) -> Vec<Effect> {
    if folder.to_str().is_none() {
        // The settings are JSON, which can't represent the name.
        return refuse(kind, &folder, "Its name is not valid Unicode", notices);
    }
    let folder = match kind {
        FolderKind::Runs if !folder.ends_with(RUNS) => folder.join(RUNS),
        _ => folder,
    };
    vec![Effect::TryFolder(kind, folder)]
}

fn refuse(kind: FolderKind, folder: &Path, error: &str, notices: &mut Notices) -> Vec<Effect> {
    let title = format!("{} can’t be kept in this folder", kind.name());
    let body = format!("{error}. Nothing was changed.\n{}", folder.display());
    notices.notify(Notice::error(title, body))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{FolderCommand, FolderKind, SystemFolders};
    use crate::state::tests::ready;
    use crate::state::{AppState, Command, Effect, HubCommand, PathPurpose, RunRequest};
    use crate::worker::{DownloadRequest, DownloadTarget};

    fn state() -> AppState {
        let mut state = ready();
        state.folders.system = SystemFolders {
            data: Some("/data".into()),
            models: Some("/cache/hub".into()),
        };
        state
    }

    fn choose(
        state: &mut AppState,
        kind: FolderKind,
        folder: &str,
        error: Option<&str>,
    ) -> Vec<Effect> {
        let given = Command::PathGiven(PathPurpose::Folder(kind), folder.into());
        let effects = state.apply(given);
        let [Effect::TryFolder(tried, folder)] = &effects[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(*tried, kind);
        state.apply(Command::Folder(FolderCommand::Tried {
            kind,
            folder: folder.clone(),
            error: error.map(str::to_owned),
        }))
    }

    fn of(state: &AppState, kind: FolderKind) -> PathBuf {
        state.folders.of(kind).unwrap()
    }

    #[test]
    fn chosen_folders_are_used_at_once_and_survive_a_restart() {
        let mut state = state();
        assert_eq!(of(&state, FolderKind::Runs), Path::new("/data/runs"));
        let effects = choose(&mut state, FolderKind::Runs, "/mnt", None);
        let list = Effect::Runs(RunRequest::List);
        assert_eq!(effects, [Effect::UseFolder(FolderKind::Runs), list]);
        // Only a folder of our own may lose its oldest files.
        assert_eq!(of(&state, FolderKind::Runs), Path::new("/mnt/quartet-runs"));
        choose(&mut state, FolderKind::Runs, "/usb/quartet-runs", None);
        assert_eq!(of(&state, FolderKind::Runs), Path::new("/usb/quartet-runs"));

        let effects = choose(&mut state, FolderKind::Models, "/mnt/hub", None);
        let list = Effect::Hub(DownloadRequest::Cached);
        assert_eq!(effects, [Effect::UseFolder(FolderKind::Models), list]);
        let (restarted, _) = AppState::new(state.settings(), crate::worker::ModelSource::Embedded);
        assert_eq!(restarted.folders.chosen, state.folders.chosen);

        for kind in [FolderKind::Runs, FolderKind::Models] {
            state.apply(Command::Folder(FolderCommand::UseDefault(kind)));
            assert!(!state.folders.is_chosen(kind));
        }
        assert_eq!(of(&state, FolderKind::Models), Path::new("/cache/hub"));
    }

    #[test]
    fn an_unwritable_folder_changes_nothing_and_says_so() {
        let mut state = state();
        let effects = choose(
            &mut state,
            FolderKind::Models,
            "/mnt",
            Some("Read-only file system"),
        );
        assert_eq!(effects, []);
        assert_eq!(of(&state, FolderKind::Models), Path::new("/cache/hub"));
        let notice = &state.notices[0];
        assert_eq!(notice.title, "Models can’t be kept in this folder");
        assert!(notice.body.contains("Read-only") && notice.body.contains("/mnt"));
    }

    #[test]
    fn a_running_download_keeps_its_folder() {
        let mut state = state();
        let wanted = DownloadTarget {
            repository: "owner/name".to_owned(),
            file: None,
        };
        state.apply(Command::Hub(HubCommand::Download(wanted)));
        assert!(state.why_folder_is_fixed(FolderKind::Models).is_some());
        assert_eq!(state.why_folder_is_fixed(FolderKind::Runs), None);
        assert_eq!(choose(&mut state, FolderKind::Models, "/mnt", None), []);
        assert!(!state.folders.is_chosen(FolderKind::Models));
    }
}
