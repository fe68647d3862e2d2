//! Files that a command leaves behind; what goes wrong is a sentence with the path below it.

use std::path::Path;

use crate::export::{ExportFormat, render, write_whole};
use crate::generation::Generation;

/// Puts the run into a folder, in every format. The folder is made where it is missing.
pub(super) fn keep_folder(folder: &Path, generations: &[&Generation]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| {
        format!(
            "the folder could not be made: {error}\n{}",
            folder.display()
        )
    })?;
    for format in ExportFormat::ALL {
        let path = folder.join("run").with_extension(format.extension());
        keep_file(&path, &render(format, generations))?;
    }
    Ok(())
}

/// Puts bytes into a file.
pub(super) fn keep_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_whole(path, bytes)
        .map_err(|error| format!("the file could not be written: {error}\n{}", path.display()))
}
