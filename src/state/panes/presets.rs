//! The user's own presets: saving, renaming, deleting and importing them.

use std::path::{Path, PathBuf};

use crate::interop::presets::{OwnPreset, free_name, save};
use crate::state::{AppState, Command, Effect, Notice, PaneId, PathPurpose};

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

impl AppState {
    pub(in crate::state) fn apply_to_presets(&mut self, command: PresetCommand) -> Vec<Effect> {
        match command {
            PresetCommand::Save(id, name) => self.save_preset(id, &name),
            PresetCommand::Rename { from, to } => self.rename_preset(&from, to.trim()),
            PresetCommand::Delete(name) => self.delete_preset(&name),
            PresetCommand::Undelete { preset, place } => {
                let name = free_name(&self.presets, &preset.name);
                let place = place.min(self.presets.len());
                self.presets.insert(place, OwnPreset { name, ..preset });
                Vec::new()
            }
            PresetCommand::Restore(preset) => {
                save(&mut self.presets, preset);
                Vec::new()
            }
            PresetCommand::Import { path, presets } => self.import_presets(&path, presets),
        }
    }

    fn save_preset(&mut self, id: PaneId, name: &str) -> Vec<Effect> {
        let name = name.trim();
        let Some(chain) = self.pane(id).map(|pane| pane.settings.chain.clone()) else {
            return Vec::new();
        };
        if name.is_empty() {
            return Vec::new();
        }
        let preset = OwnPreset {
            name: name.to_owned(),
            chain,
        };
        match save(&mut self.presets, preset.clone()) {
            Some(before) if before != preset => {
                let notice = Notice::done(format!("Replaced the preset ‘{name}’"));
                let undo = Command::Preset(PresetCommand::Restore(before));
                self.notify(notice.with_action("Undo", undo))
            }
            _ => Vec::new(),
        }
    }

    fn rename_preset(&mut self, from: &str, to: &str) -> Vec<Effect> {
        let is_free = !to.is_empty() && !self.presets.iter().any(|preset| preset.name == to);
        let preset = self.presets.iter_mut().find(|preset| preset.name == from);
        if let Some(preset) = preset.filter(|_| is_free) {
            to.clone_into(&mut preset.name);
        }
        Vec::new()
    }

    fn delete_preset(&mut self, name: &str) -> Vec<Effect> {
        let place = self.presets.iter().position(|preset| preset.name == name);
        let Some(place) = place else {
            return Vec::new();
        };
        let preset = self.presets.remove(place);
        let notice = Notice::done(format!("Deleted the preset ‘{name}’"));
        let undo = Command::Preset(PresetCommand::Undelete { preset, place });
        self.notify(notice.with_action("Undo", undo))
    }

    /// Adds the presets of a file. Existing presets stay: a name that is taken gets a number.
    fn import_presets(
        &mut self,
        path: &Path,
        presets: Result<Vec<OwnPreset>, String>,
    ) -> Vec<Effect> {
        let file = path.display();
        let presets = match presets {
            Ok(presets) => presets,
            Err(error) => {
                let body = format!("{error}\n{file}");
                let notice = Notice::error("The presets were not imported", body);
                let again = Command::AskPath(PathPurpose::Presets);
                return self.notify(notice.with_action("Choose another…", again));
            }
        };
        let mut renamed = Vec::new();
        let n_presets = presets.len();
        for preset in presets {
            let name = free_name(&self.presets, &preset.name);
            if name != preset.name {
                renamed.push(format!("‘{}’ was imported as ‘{name}’", preset.name));
            }
            self.presets.push(OwnPreset { name, ..preset });
        }
        let mut notice = Notice::done(match n_presets {
            0 => "This file contains no presets".to_owned(),
            1 => "Imported 1 preset".to_owned(),
            n => format!("Imported {n} presets"),
        });
        notice.body = renamed.join("\n");
        self.notify(notice)
    }
}
