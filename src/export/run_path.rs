//! Run files on disk, plain or compressed with gzip.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::json::{self, Form, ParseError, RunFile};
use super::{SessionFile, read_at_most, write_atomically};
use crate::analysis::contradictions::{Contradiction, RunPlace};
use crate::generation::formatting::io_words;
use crate::generation::{ByteSize, Generation};

/// The largest run file to open. Four texts of 2,000 tokens with all their evidence take 20 MB.
const MAX_BYTES: u64 = 400_000_000;

/// The first bytes of a file compressed with gzip.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// JSON files that belong to a model.
const MODEL_FILES: [&str; 4] = [
    "config.json",
    "generation_config.json",
    "model.safetensors.index.json",
    "tokenizer.json",
];

/// Why a run file can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    #[error("could not read the run: {}", io_words(.0))]
    Unreadable(#[from] io::Error),

    #[error(
        "a run file has at most {}, but this file is larger",
        ByteSize(MAX_BYTES)
    )]
    TooLarge,

    #[error("this run file is incomplete: its compressed data ends in the middle")]
    Truncated,

    #[error(transparent)]
    Invalid(#[from] ParseError),
}

/// Reads a run file, compressed or not, or the texts of a saved session. Texts that contradict
/// themselves are marked.
pub fn read_run(path: &Path) -> Result<RunFile, RunFileError> {
    read_marked(&read_text(path)?)
}

/// Reads the text of a run file or of a saved session, and marks what contradicts itself.
pub fn read_marked(text: &[u8]) -> Result<RunFile, RunFileError> {
    let is_session = SessionFile::is_one(text);
    let mut run = if is_session {
        SessionFile::parse(text)?.run
    } else {
        json::read(text)?
    };
    let bytes: &[u8] = if is_session { &[] } else { text };
    let all = json::contradictions_of(bytes, &run);
    run.contradiction = all.first().cloned();
    let turns = placed_turns(&run);
    for found in &all {
        mark(&mut run, &turns, found);
    }
    Ok(run)
}

/// Returns the turns of a run, each with its place.
fn placed_turns(run: &RunFile) -> Vec<(RunPlace, Arc<Generation>)> {
    let placed = run.turns().into_iter().map(|(place, turn)| {
        let place = place.with_panes(|pane| run.place(pane));
        (place, Arc::clone(turn.answer))
    });
    placed.collect()
}

/// Marks the texts that a contradiction is about, unless they are marked already: those at its place,
/// and those that follow the turn there.
fn mark(run: &mut RunFile, turns: &[(RunPlace, Arc<Generation>)], found: &Contradiction) {
    let words: Arc<str> = found.to_string().into();
    let turn = turns.iter().find(|(place, _)| *place == found.place);
    let follows = |text: &Generation| {
        let mut before = text.turns_back().skip(1);
        turn.is_some_and(|(_, turn)| before.any(|other| ptr::eq(other, Arc::as_ptr(turn))))
    };
    let places: Vec<usize> = (0..run.panes.len()).map(|index| run.place(index)).collect();
    let panes = places.into_iter().zip(&mut run.panes);
    let panes = panes.map(|(place, text)| (RunPlace::Pane(place), text));
    let branches = run.branches.iter_mut().enumerate();
    let branches = branches.map(|(index, branch)| (RunPlace::Branch(index), &mut branch.text));
    for (place, text) in panes.chain(branches) {
        if found.place == place || found.place == RunPlace::File || follows(text) {
            text.contradiction.get_or_insert_with(|| Arc::clone(&words));
        }
    }
}

/// Reads the text of a run file, uncompressed.
pub fn read_text(path: &Path) -> Result<Vec<u8>, RunFileError> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let bytes = read_limited(file)?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    match read_limited(GzDecoder::new(bytes.as_slice())) {
        Err(RunFileError::Unreadable(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(RunFileError::Truncated)
        }
        read => read,
    }
}

fn read_limited(source: impl Read) -> Result<Vec<u8>, RunFileError> {
    read_at_most(source, MAX_BYTES)?.ok_or(RunFileError::TooLarge)
}

/// Writes a run file atomically, compressed if its name ends in `.gz`.
pub fn write_run(path: &Path, run: &RunFile, form: Form) -> io::Result<()> {
    write_by_name(path, &json::write_run(run, form))
}

/// Writes a file atomically, compressed if its name ends in `.gz`.
pub fn write_by_name(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_compressed = path
        .extension()
        .is_some_and(|found| found.eq_ignore_ascii_case("gz"));
    if is_compressed {
        write_atomically(path, &compressed(bytes)?)
    } else {
        write_atomically(path, bytes)
    }
}

/// Compresses bytes with gzip. The result depends only on the bytes, not on the time.
fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns whether a path has the name of a run file: `*.json` or `*.json.gz`, unless it is part
/// of a model.
pub fn is_run_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let is_part_of_model = MODEL_FILES.contains(&name.as_str());
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    !is_part_of_model
        && Path::new(plain)
            .extension()
            .is_some_and(|extension| extension == "json")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        Form, GZIP, MAX_BYTES, RunFileError, is_run_name, read_run, read_text, write_by_name,
        write_run,
    };
    use crate::export::json::{RunFile, RunHeader};
    use crate::generation::testing::generation;

    #[test]
    fn plain_and_compressed_files_hold_the_same_run() {
        let folder = tempfile::tempdir().unwrap();
        let run = generation(&[(" the", 0.5), (" fox", 0.25)]);
        let header = RunHeader {
            title: Some("A fox".to_owned()),
            finished_at: Some(1_700_000_000),
            ..RunHeader::default()
        };
        for name in ["run.quartet.json", "run.quartet.json.gz"] {
            let path = folder.path().join(name);
            let file = RunFile {
                header: header.clone(),
                panes: vec![run.clone()],
                ..RunFile::default()
            };
            write_run(&path, &file, Form::default()).unwrap();
            let read = read_run(&path).unwrap();
            assert_eq!(read.header, header);
            // The vocabulary of the file is only as large as needed.
            assert_eq!(read.panes[0].steps, run.steps);
            let before = std::fs::read(&path).unwrap();
            write_run(&path, &read, Form::default()).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), before, "{name}");
        }
    }

    #[test]
    fn a_name_that_ends_in_gz_means_compressed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, is_compressed) in [("a.json", false), ("A.JSON.GZ", true)] {
            let path = folder.path().join(name);
            write_by_name(&path, b"{}").unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes.starts_with(&GZIP), is_compressed, "{name}");
            assert_eq!(read_text(&path).unwrap(), b"{}");
        }
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFile {
            panes: vec![generation(&[(" the", 0.5)])],
            ..RunFile::default()
        };
        for name in ["run.json", "run.json.gz"] {
            let path = folder.path().join(name);
            write_run(&path, &run, Form::default()).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            for n_bytes in (0..bytes.len() - 2).step_by(7) {
                std::fs::write(&path, &bytes[..n_bytes]).unwrap();
                assert!(read_run(&path).is_err(), "{name}, {n_bytes}");
            }
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            let error = read_run(&path).unwrap_err().to_string();
            assert!(error.starts_with("this run file is incomplete"), "{error}");
        }
    }

    #[test]
    fn a_huge_file_is_refused_without_reading_it_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge.json");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        assert!(matches!(read_run(&path), Err(RunFileError::TooLarge)));
        assert!(matches!(
            read_run(folder.path()),
            Err(RunFileError::Unreadable(_))
        ));
    }

    #[test]
    fn run_files_are_recognized_by_name() {
        for (name, is_run) in [
            ("a.quartet.json", true),
            ("A.JSON.GZ", true),
            ("run.json", true),
            ("model.gguf", false),
            ("json", false),
            ("config.json", false),
            ("story.gz", false),
        ] {
            assert_eq!(is_run_name(Path::new(name)), is_run, "{name}");
        }
    }
}
