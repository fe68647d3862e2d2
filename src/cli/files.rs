//! The files that a command writes. Errors are messages with the path on the last line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::console;
use super::export_style::ExportStyleArguments;
use crate::export::json::{self, Form, RunHeader};
use crate::export::{
    FileFacts, check_writable, is_archive_name, write_archive, write_by_name, write_folder,
};
use crate::generation::formatting::{counted, io_words};
use crate::generation::{Generation, listed};
use crate::state::MAX_PANES;
use crate::ui::run_folder::{self, RenderedRun};

/// Writes the run in every format, with its plots, to a folder or to an archive whose name ends in
/// `.zip`: all files or none. Creates the folder if it is missing.
pub(crate) fn export_run(
    path: &Path,
    generations: &[&Generation],
    finished_at: u64,
    style: ExportStyleArguments,
) -> Result<(), String> {
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    let mut run = rendered_run(generations, finished_at);
    run.facts.csv_reader = style.csv_reader();
    let files = run_folder::files(&panes, run, style.pictures.style())?;
    if !is_archive_name(path) {
        return export_folder(path, "the run", &files);
    }
    write_archive(path, &files)
        .map_err(|error| failure_words("could not export the run", &error, path))
}

/// Writes these files, by name, to a folder: all or none. Creates the folder if it is missing, and
/// says what it already had. `what` is exported: "the sweep".
pub(crate) fn export_folder(
    folder: &Path,
    what: &str,
    files: &[(String, Vec<u8>)],
) -> Result<(), String> {
    create_folder(folder)?;
    let note = present_words(folder, files);
    write_folder(folder, files)
        .map_err(|error| failure_words(&format!("could not export {what}"), &error, folder))?;
    if let Some(note) = note {
        console::note(&note);
    }
    Ok(())
}

/// Says which files of a folder are replaced by these, and which stay. Returns `None` if the folder
/// has no files.
fn present_words(folder: &Path, files: &[(String, Vec<u8>)]) -> Option<String> {
    const N_NAMED: usize = 5;
    // If the folder can't be read, writing will say why.
    let entries = fs::read_dir(folder).ok()?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_written = |name: &String| files.iter().any(|(written, _)| written == name);
    let (replaced, mut others): (Vec<String>, Vec<String>) = names.partition(is_written);
    others.sort();
    let n_more = others.len().saturating_sub(N_NAMED);
    others.truncate(N_NAMED);
    if n_more > 0 {
        others.push(format!("{n_more} more"));
    }
    let replaced =
        (!replaced.is_empty()).then(|| format!("replaced {}", counted(replaced.len(), "file")));
    let others = (!others.is_empty())
        .then(|| format!("left what this export does not write: {}", listed(&others)));
    let parts: Vec<String> = replaced.into_iter().chain(others).collect();
    (!parts.is_empty()).then(|| format!("note: {}\n{}", parts.join("; "), folder.display()))
}

/// Renders the run as a run file that says when it finished, in seconds since 1970.
pub(crate) fn run_file(generations: &[&Generation], finished_at: u64) -> Vec<u8> {
    rendered_run(generations, finished_at).bytes
}

fn rendered_run(generations: &[&Generation], finished_at: u64) -> RenderedRun {
    let header = RunHeader {
        finished_at: Some(finished_at),
        ..RunHeader::default()
    };
    RenderedRun {
        bytes: json::write(&header, generations, Form::default()),
        facts: FileFacts {
            finished_at: header.finished_at,
            ..FileFacts::default()
        },
    }
}

/// Returns the file that `--json` names, or `None` if the JSON goes to standard output.
pub(crate) fn json_file(json: Option<&Path>) -> Option<&Path> {
    json.filter(|path| *path != Path::new("-"))
}

/// Creates the folder if it is missing.
pub(crate) fn create_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| failure_words("could not create the folder", &error, folder))
}

/// Creates the folder if it is missing, and returns it in that case.
pub(crate) fn new_folder(folder: &Path) -> Result<Option<NewFolder>, String> {
    let new = (!folder.exists()).then(|| NewFolder(folder.to_owned()));
    create_folder(folder)?;
    Ok(new)
}

/// A folder that was created for an export. It is removed again if nothing was written to it.
#[derive(Debug)]
pub(crate) struct NewFolder(PathBuf);

impl Drop for NewFolder {
    fn drop(&mut self) {
        // Fails if the folder has files, as it should.
        fs::remove_dir(&self.0).ok();
    }
}

/// Fails if a run of this many panes could not be exported to this folder or archive. Creates the
/// folder if it is missing, and writes nothing else.
pub(crate) fn prepare_export(path: &Path, n_panes: usize) -> Result<Option<NewFolder>, String> {
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
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_by_name(path, bytes).map_err(|error| write_error(path, &error))
}

/// Fails if [`write_file`] is bound to fail, so that a long run is not lost to a wrong path. Writes
/// nothing.
pub(crate) fn check_file(path: &Path) -> Result<(), String> {
    check_writable(path).map_err(|error| write_error(path, &error))
}

fn write_error(path: &Path, error: &io::Error) -> String {
    failure_words("could not write the file", error, path)
}

fn failure_words(failure: &str, error: &io::Error, path: &Path) -> String {
    format!("{failure}: {}\n{}", io_words(error), path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::present_words;

    #[test]
    fn an_export_says_what_the_folder_already_had() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("run.json".to_owned(), Vec::new()),
            ("run.md".to_owned(), Vec::new()),
        ];
        let words = || {
            let words = present_words(folder.path(), &files);
            words.map(|words| words.lines().next().unwrap_or_default().to_owned())
        };
        assert_eq!(words(), None);
        fs::write(folder.path().join("run.json"), "").unwrap();
        assert_eq!(words().unwrap(), "note: replaced 1 file");
        fs::write(folder.path().join("fit.csv"), "").unwrap();
        let expected = "note: replaced 1 file; left what this export does not write: fit.csv";
        assert_eq!(words().unwrap(), expected);
        fs::remove_file(folder.path().join("run.json")).unwrap();
        for n in 0..7 {
            fs::write(folder.path().join(format!("{n}.txt")), "").unwrap();
        }
        let expected = "note: left what this export does not write: \
                        0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more";
        assert_eq!(words().unwrap(), expected);
    }
}
