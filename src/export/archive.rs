//! Writing several files as one zip archive.

use std::io::{self, Cursor, Write as _};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::write_atomically;

/// The folder inside the archive, so that extracting it creates a single folder.
const FOLDER: &str = "quartet-run";

/// Pictures in this format are compressed already.
const COMPRESSED: &str = ".png";

/// Writes these files, by name, as an archive: the whole archive or nothing.
pub fn write_archive(path: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    write_atomically(path, &archive(files)?)
}

/// Returns whether a path names an archive.
pub fn is_archive_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// Packs files into an archive. The result depends only on the files, not on the time.
fn archive(files: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let method = if name.ends_with(COMPRESSED) {
            CompressionMethod::Stored
        } else {
            CompressionMethod::Deflated
        };
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(format!("{FOLDER}/{name}"), options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Cursor, Read as _};
    use std::path::Path;

    use zip::ZipArchive;

    use super::{is_archive_name, write_archive};

    fn files() -> Vec<(String, Vec<u8>)> {
        let text = "the fox ".repeat(1000).into_bytes();
        let picture = vec![137; 500];
        vec![("run.txt".to_owned(), text), ("a.png".to_owned(), picture)]
    }

    #[test]
    fn an_archive_holds_its_files_in_one_folder_and_compresses_texts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.zip");
        fs::write(&path, "an older file").unwrap();
        write_archive(&path, &files()).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() < 2000, "{} bytes", bytes.len());
        let mut archive = ZipArchive::new(Cursor::new(&bytes)).unwrap();
        for (name, expected) in files() {
            let mut file = archive.by_name(&format!("quartet-run/{name}")).unwrap();
            let mut found = Vec::new();
            file.read_to_end(&mut found).unwrap();
            assert_eq!(found, expected);
        }
        write_archive(&path, &files()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes, "the time does not matter");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_archive_is_recognized_by_its_name() {
        assert!(is_archive_name(Path::new("a/run.ZIP")));
        assert!(!is_archive_name(Path::new("zip")));
    }
}
