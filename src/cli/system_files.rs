//! `quartet system-files`: the files that a package installs beside the program, made from the
//! command line's own definition and from the icon.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;

use super::failure::Failure;
use crate::ui::app_icon;

/// The arguments of `quartet system-files`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder to write to; it is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The sizes of the PNG icons that desktops look for, in pixels.
const ICON_SIZES: [u32; 8] = [16, 24, 32, 48, 64, 128, 256, 512];

/// Writes man pages to `man1`, completions to `completions` and icons to `icons`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    man_pages(&subfolder(folder, "man1")?)?;
    completions(&subfolder(folder, "completions")?)?;
    icons(&subfolder(folder, "icons")?)
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
        let png = app_icon::png(size).map_err(|error| Failure::run(error.to_string()))?;
        write(&folder.join(format!("quartet-{size}.png")), &png)?;
    }
    write(&folder.join("quartet.svg"), app_icon::svg().as_bytes())
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
        "could not write: {error}\nPath: {}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, ICON_SIZES, run};

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
        assert_eq!(names("icons").len(), ICON_SIZES.len() + 1);
    }
}
