//! Files that a command leaves behind; what goes wrong is a sentence with the path below it.

use std::fs;
use std::io;
use std::path::Path;

use crate::analysis::{Divergence, first_divergence};
use crate::export::{ExportFormat, check_writable, render, write_whole};
use crate::generation::Generation;
use crate::state::{PictureFormat, Plot, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{self, View};

/// The pictures of a run, by the names of their files.
const PICTURES: [(&str, Plot, ScoreMeasure); 4] = [
    ("surprise", Plot::Score, ScoreMeasure::Surprise),
    ("probability", Plot::Score, ScoreMeasure::Probability),
    ("next-token", Plot::NextToken, ScoreMeasure::Surprise),
    ("speed", Plot::Speed, ScoreMeasure::Surprise),
];

/// Puts the run into a folder, in every format, with its pictures. The folder is made where it is
/// missing.
pub(super) fn keep_folder(folder: &Path, generations: &[&Generation]) -> Result<(), String> {
    make_folder(folder)?;
    for format in ExportFormat::ALL {
        let path = folder.join("run").with_extension(format.extension());
        keep_file(&path, &render(format, generations))?;
    }
    keep_pictures(folder, generations)
}

/// The file that `--json` names; nothing where what it holds goes to standard output.
pub(super) fn json_file(json: Option<&Path>) -> Option<&Path> {
    json.filter(|path| *path != Path::new("-"))
}

/// Makes the folder where it is missing.
pub(super) fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| {
        format!(
            "the folder could not be made: {error}\n{}",
            folder.display()
        )
    })
}

fn keep_pictures(folder: &Path, generations: &[&Generation]) -> Result<(), String> {
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    for (name, plot, measure) in PICTURES {
        let view = View {
            plot,
            measure,
            step: telling_step(&panes),
            dark: false,
        };
        let drawing = picture::drawing(&panes, view);
        for format in PictureFormat::ALL {
            let path = folder.join(name).with_extension(format.extension());
            let bytes = picture::encode(&drawing, format).map_err(|error| error.to_string())?;
            keep_file(&path, &bytes)?;
        }
    }
    Ok(())
}

/// The step whose candidates are drawn: where the panes part, in the first that could have written
/// something else; where they do not part, or none could, the newest of the first pane, or that at
/// which the others part from it.
fn telling_step(panes: &[Option<&Generation>]) -> Option<StepAt> {
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

/// Fails where the files of a run are known not to fit into this folder, and writes nothing.
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

/// Puts bytes into a file.
pub(super) fn keep_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_whole(path, bytes).map_err(|error| unwritten(path, &error))
}

/// Fails where [`keep_file`] is known to fail, and writes nothing: a long run must not be lost to a
/// wrong path.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    check_writable(path).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("the file could not be written: {error}\n{}", path.display())
}
