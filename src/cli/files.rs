//! The files that a command writes. Errors are messages with the path on the last line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::export::{
    ExportFormat, check_writable, is_archive_name, render, write_archive, write_by_name,
    write_folder,
};
use crate::generation::Generation;
use crate::state::{MAX_PANES, PictureStyle};
use crate::ui::run_folder;

/// Writes the run in every format, with its plots, to a folder or to an archive whose name ends in
/// `.zip`: all files or none. Creates the folder if it is missing.
pub(super) fn export_run(path: &Path, generations: &[&Generation]) -> Result<(), String> {
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    let run = render(ExportFormat::Json, generations);
    let files = run_folder::files(&panes, run, PictureStyle::default())?;
    let written = if is_archive_name(path) {
        write_archive(path, &files)
    } else {
        create_folder(path)?;
        write_folder(path, &files)
    };
    written.map_err(|error| format!("could not export the run: {error}\n{}", path.display()))
}

/// Returns the file that `--json` names, or `None` if the JSON goes to standard output.
pub(super) fn json_file(json: Option<&Path>) -> Option<&Path> {
    json.filter(|path| *path != Path::new("-"))
}

/// Creates the folder if it is missing.
pub(super) fn create_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("could not create the folder: {error}\n{}", folder.display()))
}

/// Creates the folder if it is missing, and returns it in that case.
pub(super) fn new_folder(folder: &Path) -> Result<Option<NewFolder>, String> {
    let new = (!folder.exists()).then(|| NewFolder(folder.to_owned()));
    create_folder(folder)?;
    Ok(new)
}

/// A folder that was created for an export. It is removed again if nothing was written to it.
#[derive(Debug)]
pub(super) struct NewFolder(PathBuf);

impl Drop for NewFolder {
    fn drop(&mut self) {
        // Fails if the folder has files, as it should.
        fs::remove_dir(&self.0).ok();
    }
}

/// Fails if a run of this many panes could not be exported to this folder or archive. Creates the
/// folder if it is missing, and writes nothing else.
pub(super) fn prepare_export(path: &Path, n_panes: usize) -> Result<Option<NewFolder>, String> {
    if n_panes > MAX_PANES {
        return Err(format!(
            "plots can show at most {MAX_PANES} panes, but {n_panes} were given"
        ));
    }
    if is_archive_name(path) {
        return check_file(path).map(|()| None);
    }
    let new = new_folder(path)?;
    let mut contents = run_folder::possible_contents().into_iter();
    contents.try_for_each(|(name, _)| check_file(&path.join(name)))?;
    Ok(new)
}

/// Writes a file atomically, compressed if its name ends in `.gz`.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_by_name(path, bytes).map_err(|error| write_error(path, &error))
}

/// Fails if [`write_file`] is bound to fail, so that a long run is not lost to a wrong path. Writes
/// nothing.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    check_writable(path).map_err(|error| write_error(path, &error))
}

fn write_error(path: &Path, error: &io::Error) -> String {
    format!("could not write the file: {error}\n{}", path.display())
}
