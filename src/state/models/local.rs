//! The models that programs keep on this computer, and the groups of the list.

use super::{ModelRow, Models};
use crate::worker::{LocalModel, LocalModels, ModelProgram, ModelSource};

/// The models of one program, or of one of its folders.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelGroup {
    pub title: &'static str,
    /// The folder where they are; empty if they are in several places.
    pub folder: String,
    pub rows: Vec<ModelRow>,
}

impl Models {
    /// Returns the rows of the models on this computer, by the program that keeps them.
    pub fn groups(&self) -> Vec<ModelGroup> {
        let mut groups: Vec<ModelGroup> = Vec::new();
        for row in self.rows() {
            let (title, folder) = self.place_of(&row);
            let same = |group: &&mut ModelGroup| group.title == title && group.folder == folder;
            match groups.iter_mut().find(same) {
                Some(group) => group.rows.push(row),
                None => groups.push(ModelGroup {
                    title,
                    folder,
                    rows: vec![row],
                }),
            }
        }
        groups.sort_by_key(|group| {
            let names = PROGRAMS.map(ModelProgram::name);
            let program = names.iter().position(|name| *name == group.title);
            // The groups without a program come first, in the order of their rows.
            (program.map_or(0, |index| index + 1), group.folder.clone())
        });
        groups
    }

    /// Returns the title of a row's group and its folder.
    fn place_of(&self, row: &ModelRow) -> (&'static str, String) {
        let Some(path) = &row.path else {
            return ("Quartet", String::new());
        };
        if let Some(local) = self.local_models().find(|local| local.path == *path) {
            return (local.program.name(), local.folder_words.clone());
        }
        let mut cached = self.hub.cached.iter();
        if cached.any(|cached| cached.path == *path) {
            let mut locals = self.local_models();
            let of_cache = locals.find(|local| local.program == ModelProgram::HuggingFace);
            let folder = of_cache.map(|local| local.folder_words.clone());
            return (ModelProgram::HuggingFace.name(), folder.unwrap_or_default());
        }
        ("Opened before", String::new())
    }

    /// Notes which models programs keep on this computer.
    pub(in crate::state) fn on_found(&mut self, found: LocalModels) {
        self.local = Some(found);
    }

    pub(super) fn local_models(&self) -> impl Iterator<Item = &LocalModel> {
        self.local.iter().flat_map(|local| &local.models)
    }

    /// Returns a sentence about the search for models on this computer; empty if it is complete.
    pub fn search_words(&self) -> &'static str {
        match &self.local {
            None => "Looking for models of other programs",
            Some(local) if local.is_partial => {
                "Some folders were left out, because there are too many files"
            }
            Some(_) => "",
        }
    }

    /// Returns how many models are on this computer, the built-in one included.
    pub fn n_local(&self) -> usize {
        self.on_this_computer().len()
    }
}

/// The programs, in the order of the list.
const PROGRAMS: [ModelProgram; 4] = [
    ModelProgram::HuggingFace,
    ModelProgram::LmStudio,
    ModelProgram::Ollama,
    ModelProgram::LlamaCpp,
];

/// Returns what to call a model that was never opened.
pub(super) fn local_name(local: &LocalModel) -> String {
    let is_cached_file = local.program == ModelProgram::HuggingFace && local.model.file().is_some();
    if is_cached_file {
        ModelSource::Path(local.path.clone()).name()
    } else {
        local.name.clone()
    }
}

/// Returns the names of the other programs that have a model.
pub(super) fn also_in(local: &LocalModel) -> Vec<&'static str> {
    local.also_in.iter().map(|program| program.name()).collect()
}
