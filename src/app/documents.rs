//! Every kind of document that can be saved, and how a rendered one is written.

use std::fs;
use std::io;
use std::path::Path;

use crate::export;
use crate::lab::blind::VotesDocument;
use crate::lab::cache::CacheDocument;
use crate::lab::fit::FitDocument;
use crate::lab::influence::InfluenceDocument;
use crate::lab::models::ModelsDocument;
use crate::lab::prompts::PromptsDocument;
use crate::lab::stability::StabilityDocument;
use crate::lab::sweep::SweepDocument;
use crate::state::{
    AnswersDocument, AppState, Document, EverythingDocument, LessonDocument, PictureDocument,
    PresetsDocument, RunDocument,
};
use crate::ui::documents::{Content, Render, RenderedDocument};
use crate::ui::futures::FuturesDocument;
use crate::ui::pictures::Look;

/// Every kind, each of which recognizes its own documents.
const KINDS: [Gather; 15] = [
    gather_as::<RunDocument>,
    gather_as::<EverythingDocument>,
    gather_as::<PictureDocument>,
    gather_as::<FuturesDocument>,
    gather_as::<SweepDocument>,
    gather_as::<StabilityDocument>,
    gather_as::<PromptsDocument>,
    gather_as::<FitDocument>,
    gather_as::<CacheDocument>,
    gather_as::<InfluenceDocument>,
    gather_as::<ModelsDocument>,
    gather_as::<VotesDocument>,
    gather_as::<PresetsDocument>,
    gather_as::<LessonDocument>,
    gather_as::<AnswersDocument>,
];

type Gather = fn(&Document, &AppState, Look) -> Option<Result<Render, String>>;

fn gather_as<T: RenderedDocument>(
    document: &Document,
    state: &AppState,
    look: Look,
) -> Option<Result<Render, String>> {
    let document = document.get::<T>()?;
    Some(document.gather(state, look))
}

/// Copies what a document needs from the state. Fails if the state doesn't have it.
pub(super) fn gather(state: &AppState, document: &Document, look: Look) -> Result<Render, String> {
    let gathered = KINDS.iter().find_map(|kind| kind(document, state, look));
    gathered.unwrap_or_else(|| Err(format!("Quartet can’t write {}", document.name())))
}

/// Writes all of a document or nothing.
pub(super) fn write(content: Content, path: &Path) -> io::Result<()> {
    match content {
        Content::File(bytes) => export::write_atomically(path, &bytes),
        Content::RunFile(bytes) => export::write_by_name(path, &bytes),
        Content::Folder(files) => write_folder(path, &files),
        Content::Archive(files) => export::write_archive(path, &files),
    }
}

/// Writes all files to the folder, which is created if it is missing.
fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let is_new = !path.exists();
    let written = fs::create_dir_all(path).and_then(|()| export::write_folder(path, files));
    if written.is_err() && is_new {
        // It is empty, unless another program has put something into it.
        fs::remove_dir(path).ok();
    }
    written
}
