//! The report of a command and the files beside it: `--json FILE --csv FILE`. With `-`, the output
//! replaces the report.

use std::path::Path;

use super::console;
use super::failure::Failure;
use super::files::{check_file, json_file, write_file};

/// A file that a command can write, if its option is given.
pub(crate) struct OutputFile<'a> {
    /// The file, or `-` for standard output.
    pub path: Option<&'a Path>,
    /// Returns the content of the file.
    pub render: &'a dyn Fn() -> Vec<u8>,
}

/// Fails early if the files can't be written, before the work begins.
pub(crate) fn check_outputs(outputs: [(&str, Option<&Path>); 2]) -> Result<(), Failure> {
    let [(first, _), (second, _)] = outputs;
    if outputs.map(|(_, path)| path) == [Some(Path::new("-")); 2] {
        return Err(Failure::usage(format!(
            "{first} and {second} can’t both write to standard output"
        )));
    }
    for (_, path) in outputs {
        if let Some(file) = json_file(path) {
            check_file(file).map_err(Failure::run)?;
        }
    }
    Ok(())
}

/// Writes the files and prints the report, or the output that replaces it. Then runs `export`, if
/// given. A failure of one does not prevent the others.
pub(crate) fn write_outputs(
    outputs: &[OutputFile<'_>],
    report: impl FnOnce() -> String,
    export: Option<&dyn Fn() -> Result<(), String>>,
) -> Result<(), Failure> {
    let mut succeeded = true;
    let mut printed = None;
    for output in outputs {
        let Some(path) = output.path else { continue };
        match json_file(Some(path)) {
            Some(file) => succeeded &= report_error(&write_file(file, &(output.render)())),
            None => printed = Some(console::print(&(output.render)())),
        }
    }
    let printed = printed.unwrap_or_else(|| console::print(report().as_bytes()));
    if let Some(export) = export {
        succeeded &= report_error(&export());
    }
    printed.and(if succeeded {
        Ok(())
    } else {
        Err(Failure::Reported)
    })
}

/// Prints the error, if there is one. Returns whether the operation succeeded.
pub(crate) fn report_error(outcome: &Result<(), String>) -> bool {
    if let Err(message) = outcome {
        console::error(message);
    }
    outcome.is_ok()
}
