//! The files that a command writes. Errors are messages with the path on the last line.

use std::fs;
use std::io;
use std::path::Path;

use crate::analysis::{Divergence, first_divergence};
use crate::export::{ExportFormat, check_writable, render, write_atomically, write_folder};
use crate::generation::Generation;
use crate::state::{PictureFormat, Plot, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{self, View};

/// The plots of an exported run, by file name.
const PICTURES: [(&str, Plot, ScoreMeasure); 4] = [
    ("surprise", Plot::Score, ScoreMeasure::Surprise),
    ("probability", Plot::Score, ScoreMeasure::Probability),
    ("next-token", Plot::NextToken, ScoreMeasure::Surprise),
    ("speed", Plot::Speed, ScoreMeasure::Surprise),
];

/// Writes the run to a folder in every format, with its plots: all files or none. Creates the folder if
/// it is missing.
pub(super) fn export_run(folder: &Path, generations: &[&Generation]) -> Result<(), String> {
    create_folder(folder)?;
    let file = |format: ExportFormat| {
        let name = format!("run.{}", format.extension());
        (name, render(format, generations))
    };
    let mut files: Vec<_> = ExportFormat::ALL.map(file).into();
    files.extend(plots(generations)?);
    write_folder(folder, &files)
        .map_err(|error| format!("could not export the run: {error}\n{}", folder.display()))
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

/// Draws the plots. Returns the files by name.
fn plots(generations: &[&Generation]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut files = Vec::new();
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    for (name, plot, measure) in PICTURES {
        let view = View {
            plot,
            measure,
            step: step_to_plot(&panes),
            ..View::default()
        };
        let drawing = picture::drawing(&panes, view);
        for format in PictureFormat::ALL {
            let bytes = picture::encode(&drawing, format).map_err(|error| error.to_string())?;
            files.push((format!("{name}.{}", format.extension()), bytes));
        }
    }
    Ok(files)
}

/// Returns the step whose candidates are plotted: the step where the panes diverge, in the first
/// pane that had a choice there. If they do not diverge, it is the last step of the first pane; if
/// no pane had a choice, it is the first pane's step at the divergence.
fn step_to_plot(panes: &[Option<&Generation>]) -> Option<StepAt> {
    let newest = panes
        .first()
        .copied()
        .flatten()?
        .steps
        .len()
        .checked_sub(1)?;
    let Divergence::At { step, .. } = first_divergence(panes) else {
        return Some(StepAt {
            pane: 0,
            step: newest,
        });
    };
    let could_differ = |text: Option<&Generation>| {
        let step = text.and_then(|text| text.steps.get(step));
        step.is_some_and(|step| step.trace.draw.n_kept > 1)
    };
    Some(match panes.iter().copied().position(could_differ) {
        Some(pane) => StepAt { pane, step },
        None => StepAt {
            pane: 0,
            step: step.min(newest),
        },
    })
}

/// Fails if the files of a run could not be written to this folder. Writes nothing.
pub(super) fn check_folder(folder: &Path) -> Result<(), String> {
    for format in ExportFormat::ALL {
        check_file(&folder.join("run").with_extension(format.extension()))?;
    }
    for (name, ..) in PICTURES {
        for format in PictureFormat::ALL {
            check_file(&folder.join(name).with_extension(format.extension()))?;
        }
    }
    Ok(())
}

/// Writes a file atomically.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_atomically(path, bytes).map_err(|error| write_error(path, &error))
}

/// Fails if [`write_file`] is bound to fail, so that a long run is not lost to a wrong path. Writes
/// nothing.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    check_writable(path).map_err(|error| write_error(path, &error))
}

fn write_error(path: &Path, error: &io::Error) -> String {
    format!("could not write the file: {error}\n{}", path.display())
}
