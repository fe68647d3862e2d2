//! Files that a command leaves behind; what goes wrong is a sentence with the path below it.

use std::path::Path;

use crate::export::{ExportFormat, render, write_whole};
use crate::generation::{Fork, Generation, first_fork};
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
    keep_pictures(folder, generations)
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

/// The step whose candidates are drawn: in the first pane, where the panes part; where they do not,
/// its newest.
fn telling_step(panes: &[Option<&Generation>]) -> Option<StepAt> {
    let newest = panes
        .first()
        .copied()
        .flatten()?
        .steps
        .len()
        .checked_sub(1)?;
    let step = match first_fork(panes) {
        Fork::Part { step, .. } => step.min(newest),
        _ => newest,
    };
    Some(StepAt { pane: 0, step })
}

/// Puts bytes into a file.
pub(super) fn keep_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_whole(path, bytes)
        .map_err(|error| format!("the file could not be written: {error}\n{}", path.display()))
}
