//! Where programs keep their models, on each system, as their documentation and sources say:
//! LM Studio (`findLMStudioHome` of lmstudio-js, `modelsFolder` of lms), Ollama (its FAQ and
//! `envconfig`) and llama.cpp (`fs_get_cache_directory`; since 2026, `hf-cache.cpp`, which shares the
//! cache of the Hub unless `LLAMA_CACHE` is set).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ModelProgram, read_small};
use crate::hub::environment::Variables;

/// The operating systems that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    MacOs,
    Windows,
}

impl System {
    /// Returns the system that runs this program.
    pub(super) const fn present() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// What tells where models are.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub variables: Variables<'a>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    pub system: System,
}

impl Surroundings<'_> {
    /// Returns the folders where these programs may keep models, each once.
    pub(super) fn folders(self) -> Vec<(ModelProgram, PathBuf)> {
        let lm_studio = self.lm_studio().into_iter();
        let lm_studio = lm_studio.map(|folder| (ModelProgram::LmStudio, folder));
        let ollama = self.ollama().into_iter();
        let ollama = ollama.map(|folder| (ModelProgram::Ollama, folder));
        let llama_cpp = self.llama_cpp().into_iter();
        let llama_cpp = llama_cpp.map(|folder| (ModelProgram::LlamaCpp, folder));
        let mut folders: Vec<(ModelProgram, PathBuf)> = Vec::new();
        for (program, folder) in lm_studio.chain(ollama).chain(llama_cpp) {
            // One may be a link to another.
            let present = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let place = present(&folder);
            if !folders.iter().any(|(_, other)| present(other) == place) {
                folders.push((program, folder));
            }
        }
        folders
    }

    /// Returns a variable that is set and not empty.
    fn variable(self, name: &str) -> Option<OsString> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    fn in_home(self, path: &str) -> Option<PathBuf> {
        Some(self.home?.join(path))
    }

    /// LM Studio’s own folder is named by a file in the home folder; without it, it is the older of
    /// the two usual ones that exists. Its settings can name another folder for models.
    fn lm_studio(self) -> Vec<PathBuf> {
        let pointer = self.in_home(".lmstudio-home-pointer");
        let pointed = pointer.and_then(|file| read_small(&file)).map(|text| {
            let path = String::from_utf8_lossy(&text);
            PathBuf::from(path.trim())
        });
        let pointed = pointed.filter(|path| path.is_absolute());
        let usual = [".lmstudio", ".cache/lm-studio"].map(|path| self.in_home(path));
        let homes = pointed.into_iter().chain(usual.into_iter().flatten());
        homes.map(|home| lm_studio_models(&home)).collect()
    }

    fn ollama(self) -> Vec<PathBuf> {
        let named = self.variable("OLLAMA_MODELS").and_then(|value| {
            // Ollama removes quotes and spaces.
            let value = value.into_string().ok()?;
            let path = value.trim().trim_matches(['"', '\'']).trim();
            (!path.is_empty()).then(|| PathBuf::from(path))
        });
        let own = named.or_else(|| self.in_home(".ollama/models"));
        // Where the service that its installer sets up on Linux keeps them.
        let shared = PathBuf::from("/usr/share/ollama/.ollama/models");
        let shared = (self.system == System::Linux).then_some(shared);
        own.into_iter().chain(shared).collect()
    }

    fn llama_cpp(self) -> Option<PathBuf> {
        if let Some(named) = self.variable("LLAMA_CACHE") {
            return Some(PathBuf::from(named));
        }
        let caches = match self.system {
            System::Linux => self.variable("XDG_CACHE_HOME").map(PathBuf::from),
            System::MacOs => self.in_home("Library/Caches"),
            System::Windows => self.variable("LOCALAPPDATA").map(PathBuf::from),
        };
        let caches = match self.system {
            System::Linux => caches.or_else(|| self.in_home(".cache")),
            System::MacOs | System::Windows => caches,
        };
        Some(caches?.join("llama.cpp"))
    }
}

/// Returns the folder for models of an LM Studio whose own folder this is.
fn lm_studio_models(home: &Path) -> PathBuf {
    let settings = read_small(&home.join("settings.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_slice(&settings).unwrap_or_default();
    let folder = settings.get("downloadsFolder").and_then(|it| it.as_str());
    let folder = folder.map(PathBuf::from).filter(|path| path.is_absolute());
    folder.unwrap_or_else(|| home.join("models"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{ModelProgram, Surroundings, System};

    /// Returns the folders of a program.
    fn folders(
        set: &[(&str, &str)],
        home: &Path,
        system: System,
        program: ModelProgram,
    ) -> Vec<PathBuf> {
        let set: BTreeMap<&str, &str> = set.iter().copied().collect();
        let surroundings = Surroundings {
            variables: &|name| set.get(name).map(OsString::from),
            home: Some(home),
            system,
        };
        let all = surroundings.folders().into_iter();
        let of_program = all.filter(|(other, _)| *other == program);
        of_program.map(|(_, folder)| folder).collect()
    }

    #[test]
    fn ollama_keeps_models_where_its_variable_says() {
        let home = Path::new("/home/fox");
        let shared = PathBuf::from("/usr/share/ollama/.ollama/models");
        let ollama = |set: &[_], system| folders(set, home, system, ModelProgram::Ollama);
        let own = home.join(".ollama/models");
        assert_eq!(ollama(&[], System::Linux), [own.clone(), shared.clone()]);
        for system in [System::MacOs, System::Windows] {
            assert_eq!(ollama(&[], system), vec![own.clone()]);
        }
        let set = [("OLLAMA_MODELS", " \"/big/models\" ")];
        assert_eq!(
            ollama(&set, System::Linux),
            [PathBuf::from("/big/models"), shared]
        );
        assert_eq!(ollama(&[("OLLAMA_MODELS", "")], System::MacOs), [own]);
    }

    #[test]
    fn the_cache_of_llama_cpp_depends_on_the_system() {
        let home = Path::new("/home/fox");
        let cache = |set: &[_], system| {
            let found = folders(set, home, system, ModelProgram::LlamaCpp);
            found.first().map(|path| path.display().to_string())
        };
        for (set, system, expected) in [
            (&[][..], System::Linux, Some("/home/fox/.cache/llama.cpp")),
            (
                &[("XDG_CACHE_HOME", "/c")],
                System::Linux,
                Some("/c/llama.cpp"),
            ),
            (
                &[],
                System::MacOs,
                Some("/home/fox/Library/Caches/llama.cpp"),
            ),
            (
                &[("LOCALAPPDATA", "/l")],
                System::Windows,
                Some("/l/llama.cpp"),
            ),
            (&[], System::Windows, None),
            (&[("LLAMA_CACHE", "/x")], System::MacOs, Some("/x")),
        ] {
            assert_eq!(
                cache(set, system).as_deref(),
                expected,
                "{set:?} {system:?}"
            );
        }
    }

    #[test]
    fn lm_studio_says_itself_where_its_models_are() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let lm_studio = || folders(&[], home, System::Linux, ModelProgram::LmStudio);
        let usual = [
            home.join(".lmstudio/models"),
            home.join(".cache/lm-studio/models"),
        ];
        assert_eq!(lm_studio(), usual);
        let moved = home.join("moved");
        fs::create_dir(&moved).unwrap();
        let pointer = home.join(".lmstudio-home-pointer");
        fs::write(&pointer, format!("{}\n", moved.display())).unwrap();
        assert_eq!(lm_studio()[0], moved.join("models"));
        let elsewhere = home.join("elsewhere");
        let settings = serde_json::json!({ "downloadsFolder": elsewhere });
        fs::write(moved.join("settings.json"), settings.to_string()).unwrap();
        assert_eq!(lm_studio()[0], elsewhere);
        for broken in [
            "{",
            "[]",
            "{\"downloadsFolder\": 7}",
            "{\"downloadsFolder\": \"x\"}",
        ] {
            fs::write(moved.join("settings.json"), broken).unwrap();
            assert_eq!(lm_studio()[0], moved.join("models"), "{broken}");
        }
        fs::write(&pointer, "").unwrap();
        assert_eq!(lm_studio(), usual);
    }
}
