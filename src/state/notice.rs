//! Notices: messages about events whose cause is not visible in the window.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use super::{Command, Document, Effect, PathPurpose, Unsaved};

/// Whether a notice reports success or failure, or gives a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    Done,
    /// Something the user may not know yet.
    Hint,
    Error,
}

/// A button on a notice.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeAction {
    pub label: &'static str,
    pub command: Command,
}

/// A message in the corner of the window. It disappears by itself unless it has an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub kind: NoticeKind,
    /// What happened.
    pub title: String,
    /// Why it happened and what is safe; empty if the title says it all.
    pub body: String,
    pub actions: Vec<NoticeAction>,
}

impl Notice {
    /// Creates a notice of success.
    pub fn done(title: impl Into<String>) -> Self {
        Self::titled(NoticeKind::Done, title.into())
    }

    /// Creates a hint.
    pub fn hint(title: impl Into<String>) -> Self {
        Self::titled(NoticeKind::Hint, title.into())
    }

    const fn titled(kind: NoticeKind, title: String) -> Self {
        Self {
            kind,
            title,
            body: String::new(),
            actions: Vec::new(),
        }
    }

    /// Creates a notice of failure. The body is capitalized.
    pub fn error(title: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            kind: NoticeKind::Error,
            title: title.into(),
            body: capitalize(&body.into()),
            actions: Vec::new(),
        }
    }

    /// Adds an action.
    #[must_use]
    pub fn with_action(mut self, label: &'static str, command: Command) -> Self {
        self.actions.push(NoticeAction { label, command });
        self
    }
}

/// The notices, newest first; only the first is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notices(Vec<Notice>);

impl Deref for Notices {
    type Target = Vec<Notice>;

    fn deref(&self) -> &Vec<Notice> {
        &self.0
    }
}

impl DerefMut for Notices {
    fn deref_mut(&mut self) -> &mut Vec<Notice> {
        &mut self.0
    }
}

impl Notices {
    /// Shows a notice in front of the others, but no hint in front of an error. An identical notice
    /// is replaced, not repeated. Returns no effects.
    pub(super) fn notify(&mut self, notice: Notice) -> Vec<Effect> {
        self.retain(|other| *other != notice);
        let is_error = |other: &Notice| other.kind == NoticeKind::Error;
        let n_before = match notice.kind {
            NoticeKind::Hint => self.iter().rposition(is_error).map_or(0, |n| n + 1),
            NoticeKind::Done | NoticeKind::Error => 0,
        };
        self.insert(n_before, notice);
        Vec::new()
    }

    /// Reports that a document was saved, and dismisses earlier notices that saving it failed.
    pub(super) fn on_saved(&mut self, document: Document, path: &Path) {
        self.dismiss_offers(&Command::AskPath(PathPurpose::Save(document)));
        let show = Command::ShowInFolder(path.to_owned());
        let notice = Notice::done(format!("Saved {}", path.display()));
        self.notify(notice.with_action("Show in folder", show));
    }

    pub(super) fn on_save_failed(&mut self, document: Document, path: PathBuf, error: &str) {
        let Unsaved { title, kept } = document.unsaved();
        let purpose = PathPurpose::Save(document);
        let body = format!("{error}. {kept}.\n{}", path.display());
        let notice = Notice::error(title, body)
            .with_action("Save elsewhere…", Command::AskPath(purpose.clone()))
            .with_action("Try again", Command::PathGiven(purpose, path));
        self.notify(notice);
    }

    /// Reports that the system could not show a file or a folder.
    pub(super) fn on_folder_shown(&mut self, path: &Path, error: Option<String>) {
        if let Some(error) = error {
            let body = format!("{error}. Nothing is lost.\n{}", path.display());
            self.notify(Notice::error("No file manager could be opened", body));
        }
    }

    /// Dismisses the notices that offer this command.
    pub(super) fn dismiss_offers(&mut self, command: &Command) {
        let offers = |action: &NoticeAction| action.command == *command;
        self.retain(|notice| !notice.actions.iter().any(offers));
    }
}

/// Capitalizes the first letter of an error message, so that it can stand alone on screen.
pub fn capitalize(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
