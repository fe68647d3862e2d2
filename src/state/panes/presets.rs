//! The user's own presets: saving, renaming, deleting and importing them.

use std::path::{Path, PathBuf};

use crate::decoding::ChainConfig;
use crate::interop::presets::{OwnPreset, free_name, save};
use crate::state::{Command, Notice, PaneId, Panes, PathPurpose};

/// A user action on presets, or the result of reading a preset file.
#[derive(Debug, Clone, PartialEq)]
pub enum PresetCommand {
    /// Save a pane's chain under this name, replacing any preset of that name.
    Save(PaneId, String),
    Rename {
        from: String,
        /// The new name; if another preset has it, nothing happens.
        to: String,
    },
    /// Delete the preset of this name.
    Delete(String),
    /// Undo a deletion.
    Undelete {
        preset: OwnPreset,
        /// Its index in the list.
        place: usize,
    },
    /// Undo a replacement: restore the preset that another of the same name replaced.
    Restore(OwnPreset),
    /// A preset file was read.
    Import {
        path: PathBuf,
        /// The presets in the file, or why it could not be read.
        presets: Result<Vec<OwnPreset>, String>,
    },
}

impl PresetCommand {
    /// Changes the user's own presets. Returns a notice about what was replaced, deleted or
    /// imported.
    pub(in crate::state) fn apply(self, own: &mut Vec<OwnPreset>, panes: &Panes) -> Option<Notice> {
        match self {
            Self::Save(id, name) => {
                let chain = panes.pane(id)?.settings.chain.clone();
                save_as(name.trim(), chain, own)
            }
            Self::Rename { from, to } => {
                rename(&from, to.trim(), own);
                None
            }
            Self::Delete(name) => delete(&name, own),
            Self::Undelete { preset, place } => {
                let name = free_name(own, &preset.name);
                let place = place.min(own.len());
                own.insert(place, OwnPreset { name, ..preset });
                None
            }
            Self::Restore(preset) => {
                save(own, preset);
                None
            }
            Self::Import { path, presets } => Some(import(&path, presets, own)),
        }
    }
}

fn save_as(name: &str, chain: ChainConfig, own: &mut Vec<OwnPreset>) -> Option<Notice> {
    if name.is_empty() {
        return None;
    }
    let preset = OwnPreset {
        name: name.to_owned(),
        chain,
    };
    let before = save(own, preset.clone()).filter(|before| *before != preset)?;
    let notice = Notice::done(format!("Replaced the preset ‘{name}’"));
    let undo = Command::Preset(PresetCommand::Restore(before));
    Some(notice.with_action("Undo", undo))
}

fn rename(from: &str, to: &str, own: &mut [OwnPreset]) {
    let is_free = !to.is_empty() && !own.iter().any(|preset| preset.name == to);
    let preset = own.iter_mut().find(|preset| preset.name == from);
    if let Some(preset) = preset.filter(|_| is_free) {
        to.clone_into(&mut preset.name);
    }
}

fn delete(name: &str, own: &mut Vec<OwnPreset>) -> Option<Notice> {
    let place = own.iter().position(|preset| preset.name == name)?;
    let preset = own.remove(place);
    let notice = Notice::done(format!("Deleted the preset ‘{name}’"));
    let undo = Command::Preset(PresetCommand::Undelete { preset, place });
    Some(notice.with_action("Undo", undo))
}

/// Adds the presets of a file. Existing presets stay: a name that is taken gets a number.
fn import(
    path: &Path,
    presets: Result<Vec<OwnPreset>, String>,
    own: &mut Vec<OwnPreset>,
) -> Notice {
    let file = path.display();
    let presets = match presets {
        Ok(presets) => presets,
        Err(error) => {
            let body = format!("{error}\n{file}");
            let notice = Notice::error("The presets were not imported", body);
            let again = Command::AskPath(PathPurpose::Presets);
            return notice.with_action("Choose another…", again);
        }
    };
    let mut renamed = Vec::new();
    let n_presets = presets.len();
    for preset in presets {
        let name = free_name(own, &preset.name);
        if name != preset.name {
            renamed.push(format!("‘{}’ was imported as ‘{name}’", preset.name));
        }
        own.push(OwnPreset { name, ..preset });
    }
    let mut notice = Notice::done(match n_presets {
        0 => "This file contains no presets".to_owned(),
        1 => "Imported 1 preset".to_owned(),
        n => format!("Imported {n} presets"),
    });
    notice.body = renamed.join("\n");
    notice
}
