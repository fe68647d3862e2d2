//! A file with the results of an experiment: a line about them, and then the results as JSON, which
//! only the experiment can read.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::json::ParseError;
use super::run_path::{RunFileError, read_text, write_by_name};

/// The version of the first line and of all results. No other version is read.
const VERSION: u32 = 1;

/// The bytes that every such file begins with, unlike any run file.
const BEGINNING: &[u8] = br#"{"result_version":"#;

/// What a list shows of the results of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultSummary {
    /// The key of the experiment: `sweep`.
    pub experiment: String,
    /// The name that the user gave them.
    pub title: Option<String>,
    /// What they are: "Sweep, 48 cells".
    pub words: String,
    /// The name of the model.
    pub model: String,
    /// The prompt, or the first of several.
    pub prompt: String,
    /// In seconds since 1970.
    pub finished_at: u64,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head<S> {
    result_version: u32,
    #[serde(flatten)]
    summary: S,
}

/// Writes the results of an experiment atomically, compressed if the name ends in `.gz`.
pub fn write_result(path: &Path, summary: &ResultSummary, results: &[u8]) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(&Head {
        result_version: VERSION,
        summary,
    })?;
    bytes.push(b'\n');
    bytes.extend(results);
    write_by_name(path, &bytes)
}

/// Reads the results of an experiment. Returns `None` if the file holds something else, such as a
/// run.
pub fn read_result(path: &Path) -> Result<Option<(ResultSummary, Vec<u8>)>, RunFileError> {
    let mut bytes = read_text(path)?;
    if !bytes.starts_with(BEGINNING) {
        return Ok(None);
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let results = bytes.split_off(end.unwrap_or(bytes.len()));
    let head: Head<ResultSummary> = serde_json::from_slice(&bytes).map_err(ParseError::from)?;
    if head.result_version != VERSION {
        let reason = "another version of Quartet saved it".to_owned();
        return Err(ParseError::Damaged { reason }.into());
    }
    Ok(Some((head.summary, results)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ResultSummary, read_result, write_result};

    #[test]
    fn results_are_read_as_they_were_written_and_other_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let summary = ResultSummary {
            experiment: "sweep".to_owned(),
            title: None,
            words: "Sweep, 48 cells".to_owned(),
            model: "Test".to_owned(),
            prompt: "Once\nthere was".to_owned(),
            finished_at: 7,
        };
        for name in ["a.quartet-lab.json", "a.quartet-lab.json.gz"] {
            let path = folder.path().join(name);
            write_result(&path, &summary, b"[1, 2]").unwrap();
            let (found, results) = read_result(&path).unwrap().unwrap();
            assert_eq!(found, summary);
            assert_eq!(results.trim_ascii(), b"[1, 2]");
        }
        let path = folder.path().join("b.json");
        fs::write(&path, "{}").unwrap();
        assert_eq!(read_result(&path).unwrap(), None);
        fs::write(&path, "{\"result_version\":9,\"experiment\":\"\"}\n").unwrap();
        assert!(read_result(&path).is_err());
    }
}
