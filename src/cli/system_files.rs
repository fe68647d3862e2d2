//! `quartet system-files`: the files that a package installs beside the program, generated from the
//! command-line definition, the icon and the list of licenses.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;

use super::failure::Failure;
use crate::generation::formatting::io_words;
use crate::ui::{app_icon, third_party_licenses};

/// The arguments of `quartet system-files`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder to write to; it is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The sizes of the PNG icons that desktops look for, in pixels.
const ICON_SIZES: [u32; 8] = [16, 24, 32, 48, 64, 128, 256, 512];

/// The PNG icons that a Windows icon contains, in pixels.
const ICO_SIZES: [u32; 6] = [16, 24, 32, 48, 64, 256];

/// Writes man pages to `man1`, completions to `completions`, icons to `icons`, and the licenses.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    man_pages(&subfolder(folder, "man1")?)?;
    completions(&subfolder(folder, "completions")?)?;
    icons(&subfolder(folder, "icons")?)?;
    write(
        &folder.join("licenses.txt"),
        third_party_licenses().as_bytes(),
    )
}

fn man_pages(folder: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(super::Arguments::command(), folder)
        .map_err(|error| unwritten(folder, &error))
}

fn completions(folder: &Path) -> Result<(), Failure> {
    let mut command = super::Arguments::command();
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut command, "quartet", folder)
            .map_err(|error| unwritten(folder, &error))?;
    }
    Ok(())
}

fn icons(folder: &Path) -> Result<(), Failure> {
    for size in ICON_SIZES {
        write(&folder.join(format!("quartet-{size}.png")), &png(size)?)?;
    }
    write(&folder.join("quartet.ico"), &windows_icon()?)?;
    write(&folder.join("quartet.svg"), app_icon::svg().as_bytes())
}

fn png(size: u32) -> Result<Vec<u8>, Failure> {
    app_icon::png(size).map_err(|error| Failure::run(error.to_string()))
}

/// Returns the icon of the Windows program: a directory of PNG images, and the images.
fn windows_icon() -> Result<Vec<u8>, Failure> {
    let images = ICO_SIZES
        .map(png)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let mut ico = vec![0, 0, 1, 0, images.len() as u8, 0];
    let mut offset = (ico.len() + 16 * images.len()) as u32;
    for (size, image) in ICO_SIZES.into_iter().zip(&images) {
        // A size of 0 stands for 256.
        let side = (size % 256) as u8;
        // No palette; one plane of 32 bits per pixel.
        ico.extend([side, side, 0, 0, 1, 0, 32, 0]);
        ico.extend((image.len() as u32).to_le_bytes());
        ico.extend(offset.to_le_bytes());
        offset += image.len() as u32;
    }
    ico.extend(images.into_iter().flatten());
    Ok(ico)
}

fn subfolder(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    fs::create_dir_all(&path).map_err(|error| unwritten(&path, &error))?;
    Ok(path)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::run(format!(
        "could not write: {}\nPath: {}",
        io_words(error),
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, ICON_SIZES, run, windows_icon};

    #[test]
    fn every_command_has_a_man_page_and_every_shell_a_completion() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let arguments = Arguments { folder };
        run(&arguments).unwrap();
        let names = |name: &str| {
            let entries = std::fs::read_dir(arguments.folder.join(name)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect::<Vec<_>>()
        };
        let pages = names("man1");
        for command in ["quartet.1", "quartet-generate.1", "quartet-bench.1"] {
            assert!(pages.iter().any(|page| page == command), "{pages:?}");
        }
        assert!(
            !pages.iter().any(|page| page.contains("system-files")),
            "{pages:?}"
        );
        let completions = names("completions");
        for shell in ["quartet.bash", "quartet.fish", "_quartet"] {
            assert!(
                completions.iter().any(|name| name == shell),
                "{completions:?}"
            );
        }
        assert_eq!(names("icons").len(), ICON_SIZES.len() + 2);
        let licenses = std::fs::read_to_string(arguments.folder.join("licenses.txt")).unwrap();
        assert!(licenses.contains("egui"));
    }

    #[test]
    fn the_windows_icon_in_the_repository_is_current() {
        let committed = include_bytes!("../../assets/windows/quartet.ico");
        let current = windows_icon().unwrap();
        assert!(
            committed.as_slice() == current,
            "copy icons/quartet.ico of `quartet system-files` to assets/windows"
        );
    }
}
