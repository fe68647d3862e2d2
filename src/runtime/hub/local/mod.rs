//! The models that programs keep on this computer: the cache of the Hub, LM Studio, Ollama and
//! llama.cpp. They are read in place, and never changed.

mod ollama;
mod places;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use self::places::{Surroundings, System};
use super::cache::cached_in;
use super::environment::cache_folder;
use super::model_files::{ModelFiles, ModelFormat};
use super::walk::WalkBudget;

/// The largest manifest or settings file that is read.
const MAX_SMALL_BYTES: u64 = 1 << 20;

/// A program that keeps models on this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelProgram {
    /// The cache that the tools of Hugging Face share, Quartet among them.
    HuggingFace,
    LmStudio,
    Ollama,
    LlamaCpp,
    /// No program: a folder that the user named.
    Folder,
}

impl ModelProgram {
    /// Returns the name that users see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "Hugging Face cache",
            Self::LmStudio => "LM Studio",
            Self::Ollama => "Ollama",
            Self::LlamaCpp => "llama.cpp",
            Self::Folder => "Folder",
        }
    }

    /// Returns the rank of the programs under which a file is listed that several of them have.
    /// LM Studio can import the files of others as links.
    const fn owner_rank(self) -> u8 {
        match self {
            Self::HuggingFace => 0,
            Self::Ollama => 1,
            Self::LlamaCpp => 2,
            Self::LmStudio => 3,
            Self::Folder => 4,
        }
    }
}

/// A model that a program keeps on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    pub program: ModelProgram,
    /// The program's folder.
    pub folder: PathBuf,
    /// The same in short, with `~` for the home folder.
    pub folder_words: String,
    /// What the program calls it: "owner/name", "llama3.2:1b", or the name of the file.
    pub name: String,
    /// The path to open: a GGUF file (the first part if it is split), or a folder.
    pub path: PathBuf,
    pub model: ModelFiles,
    /// The number of parameters, if the program says it.
    pub n_params: Option<u64>,
    /// The other programs that have the same file.
    pub also_in: Vec<ModelProgram>,
}

/// The models on this computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalModels {
    /// By program, then by name.
    pub models: Vec<LocalModel>,
    /// Whether folders were left out because there are too many files, or reading took too long.
    pub is_partial: bool,
}

/// A model before it is known whether another program has it too.
#[derive(Debug, Clone)]
struct FoundModel {
    name: String,
    path: PathBuf,
    model: ModelFiles,
    n_params: Option<u64>,
    /// The SHA-256 of its file, if the program says it.
    sha256: Option<String>,
}

/// Finds the models that programs keep on this computer. `hub_folder` replaces the usual cache of the
/// Hub. Folders that can't be read are left out. Does not use the network.
pub fn local_models(hub_folder: Option<PathBuf>) -> LocalModels {
    let home = env::home_dir();
    let surroundings = Surroundings {
        variables: &|name| env::var_os(name),
        home: home.as_deref(),
        system: System::present(),
    };
    let hub_folder = hub_folder.or_else(|| cache_folder(surroundings.variables));
    found_in(hub_folder, surroundings, &mut WalkBudget::default())
}

/// Lists the models in a folder, whichever program keeps it. Fails if it can't be read.
pub fn models_in_folder(folder: &Path) -> io::Result<LocalModels> {
    let mut budget = WalkBudget::default();
    let home = env::home_dir();
    let found = if ollama::is_ollama(folder) {
        ollama::models_in(folder, &mut budget)?
    } else {
        files_in(folder, &mut budget)?
    };
    let place = Place {
        program: ModelProgram::Folder,
        folder: folder.to_owned(),
        words: shortened(folder, home.as_deref()),
    };
    Ok(LocalModels {
        models: listed(vec![(place, found)]),
        is_partial: budget.was_exceeded(),
    })
}

/// A folder of a program.
struct Place {
    program: ModelProgram,
    folder: PathBuf,
    words: String,
}

fn found_in(
    hub_folder: Option<PathBuf>,
    surroundings: Surroundings<'_>,
    budget: &mut WalkBudget,
) -> LocalModels {
    let hub_folder = hub_folder.map(|folder| (ModelProgram::HuggingFace, folder));
    let mut found = Vec::new();
    for (program, folder) in hub_folder.into_iter().chain(surroundings.folders()) {
        let models = match program {
            ModelProgram::Ollama => ollama::models_in(&folder, budget),
            ModelProgram::HuggingFace => cached_models(&folder, budget),
            ModelProgram::LmStudio | ModelProgram::LlamaCpp | ModelProgram::Folder => {
                files_in(&folder, budget)
            }
        };
        let place = Place {
            program,
            words: shortened(&folder, surroundings.home),
            folder,
        };
        // A folder that can't be read is most often missing: the program is not installed.
        found.extend(models.ok().map(|models| (place, models)));
    }
    LocalModels {
        models: listed(found),
        is_partial: budget.was_exceeded(),
    }
}

/// Lists the models in a folder with the layout of the Hub’s cache.
fn cached_models(folder: &Path, budget: &mut WalkBudget) -> io::Result<Vec<FoundModel>> {
    let cached = cached_in(folder, budget)?.into_iter();
    Ok(cached
        .map(|cached| FoundModel {
            name: cached.repository,
            path: cached.path,
            model: cached.model,
            n_params: None,
            sha256: None,
        })
        .collect())
}

/// Lists the model files in a folder and below, and what is there in the layout of the Hub’s cache.
fn files_in(folder: &Path, budget: &mut WalkBudget) -> io::Result<Vec<FoundModel>> {
    let mut models = cached_models(folder, budget)?;
    let mut files: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for file in budget.files(folder)? {
        if !file.path.starts_with("models--") {
            let (parent, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            let here = files.entry(parent.to_owned()).or_default();
            here.push((name.to_owned(), file.n_bytes));
        }
    }
    for (parent, files) in files {
        let files = files.iter();
        let here = folder.join(&parent);
        for model in ModelFiles::among(files.map(|(name, n)| (name.as_str(), Some(*n)))) {
            let path = model
                .file()
                .map_or_else(|| here.clone(), |file| here.join(file));
            models.push(FoundModel {
                name: name_of(&parent, &here, &model),
                path,
                model,
                n_params: None,
                sha256: None,
            });
        }
    }
    Ok(models)
}

/// Returns what to call a model in a folder `here`, which has the path `parent` below the first one.
fn name_of(parent: &str, here: &Path, model: &ModelFiles) -> String {
    match model.file() {
        Some(file) => file.strip_suffix(".gguf").unwrap_or(file).to_owned(),
        None if parent.is_empty() => {
            let name = here.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        }
        None => parent.to_owned(),
    }
}

/// Lists the models of all places, each file once.
fn listed(mut found: Vec<(Place, Vec<FoundModel>)>) -> Vec<LocalModel> {
    found.sort_by_key(|(place, _)| place.program.owner_rank());
    let mut models: Vec<LocalModel> = Vec::new();
    let mut known: BTreeMap<Identity, usize> = BTreeMap::new();
    for (place, of_place) in found {
        for found in of_place {
            let identities = identities(&found);
            let index = identities.iter().find_map(|it| known.get(it)).copied();
            for identity in identities {
                known
                    .entry(identity)
                    .or_insert(index.unwrap_or(models.len()));
            }
            if let Some(model) = index.and_then(|index| models.get_mut(index)) {
                let is_other = model.program != place.program;
                if is_other && !model.also_in.contains(&place.program) {
                    model.also_in.push(place.program);
                }
                continue;
            }
            models.push(LocalModel {
                program: place.program,
                folder: place.folder.clone(),
                folder_words: place.words.clone(),
                name: found.name,
                path: found.path,
                model: found.model,
                n_params: found.n_params,
                also_in: Vec::new(),
            });
        }
    }
    models.sort_by_key(|model| {
        let name = model.name.to_lowercase();
        (
            model.program,
            model.folder.clone(),
            name,
            model.model.n_bytes,
        )
    });
    models
}

/// What tells that two files are the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// The path without links.
    Path(PathBuf),
    /// The device and the number of the file, which hard links share.
    #[cfg(unix)]
    Inode(u64, u64),
    Sha256(String),
}

fn identities(found: &FoundModel) -> BTreeSet<Identity> {
    let weights = match (found.model.format, found.model.paths.last()) {
        (ModelFormat::Safetensors, Some(last)) => found.path.join(last),
        _ => found.path.clone(),
    };
    let mut identities = BTreeSet::new();
    identities.extend(found.sha256.clone().map(Identity::Sha256));
    if let Ok(path) = fs::canonicalize(&weights) {
        // The cache of the Hub names large contents by their SHA-256.
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_checksum = name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
        if is_checksum
            && path
                .parent()
                .is_some_and(|folder| folder.ends_with("blobs"))
        {
            identities.insert(Identity::Sha256(name.to_ascii_lowercase()));
        }
        identities.insert(Identity::Path(path));
    }
    #[cfg(unix)]
    if let Ok(metadata) = fs::metadata(&weights) {
        use std::os::unix::fs::MetadataExt as _;
        identities.insert(Identity::Inode(metadata.dev(), metadata.ino()));
    }
    identities
}

/// Writes a path with `~` for the home folder.
fn shortened(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    match below.filter(|below| !below.as_os_str().is_empty()) {
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    }
}

/// Reads a small file. Returns `None` if it can't be read or is too large.
fn read_small(file: &Path) -> Option<Vec<u8>> {
    // Opening a pipe would wait for its other end.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut reader = File::open(file).ok()?.take(MAX_SMALL_BYTES + 1);
    reader.read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_SMALL_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests;
