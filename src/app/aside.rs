//! The texts that could not be restored after a crash: lists and removes them on a background thread.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::UNIX_EPOCH;

use eframe::egui;

use super::autosave::{ASIDE, newest_first};
use super::background;
use crate::state::{AsideRequest, AsideTexts, Command, FolderCommand};

/// Carries out a request about the folder of sessions, and sends the list of what is left.
pub(super) fn answer(
    ctx: egui::Context,
    folder: PathBuf,
    request: AsideRequest,
    answers: SyncSender<Command>,
) {
    background::run(ctx, "texts set aside", answers, move || {
        let mut texts = listed(&folder);
        if let AsideRequest::Remove(path) = request
            && texts.iter().any(|texts| texts.path == path)
        {
            // If it stays, the list shows it again.
            fs::remove_file(path).ok();
            texts = listed(&folder);
        }
        Command::Folder(FolderCommand::AsideListed(texts))
    });
}

fn listed(folder: &Path) -> Vec<AsideTexts> {
    let files = newest_first(folder, ASIDE).into_iter();
    let texts = files.filter_map(|path| {
        let metadata = fs::metadata(&path).ok()?;
        let written_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(AsideTexts {
            path,
            written_at: written_at.as_secs(),
            n_bytes: metadata.len(),
        })
    });
    texts.collect()
}

/// Returns the folder of the sessions within the data folder.
pub(super) fn sessions_in(data: &Path) -> PathBuf {
    data.join("sessions")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::sync_channel;

    use eframe::egui;

    use super::answer;
    use crate::state::{AsideRequest, Command, FolderCommand};

    #[test]
    fn only_texts_that_were_set_aside_are_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.unread", "b.session"] {
            fs::write(path(name), "texts").unwrap();
        }
        let ask = |request| {
            let (sender, answers) = sync_channel(1);
            let ctx = egui::Context::default();
            answer(ctx, folder.path().to_owned(), request, sender);
            match answers.recv().unwrap() {
                Command::Folder(FolderCommand::AsideListed(texts)) => texts,
                other => panic!("{other:?}"),
            }
        };
        let listed = ask(AsideRequest::List);
        assert_eq!(listed.len(), 1);
        assert_eq!((&listed[0].path, listed[0].n_bytes), (&path("a.unread"), 5));
        assert_eq!(ask(AsideRequest::Remove(path("b.session"))).len(), 1);
        assert!(path("b.session").exists());
        assert_eq!(ask(AsideRequest::Remove(path("a.unread"))), []);
    }
}
