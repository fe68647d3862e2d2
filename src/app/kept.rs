//! The file in which settings outlive the program: whole at any time, and shared by all windows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::export;
use crate::state::Settings;

const NAME: &str = "settings.json";

/// Settings that were not understood as a whole are kept here as they were.
const UNREAD_NAME: &str = "settings-unread.json";

/// Where settings are kept.
pub(super) struct SettingsFile {
    folder: PathBuf,
    /// What this window began with or last kept: what differs from it, the window has changed.
    before: Settings,
}

/// Settings as a window begins with them.
#[derive(Default)]
pub(super) struct Begun {
    pub settings: Settings,
    /// The parts that were not understood.
    pub lost: Vec<String>,
    /// Where they are kept from now on; nowhere where the file is there and can't be read.
    pub file: Option<SettingsFile>,
    /// Why the file, or a copy of what was not understood, could not be used.
    pub error: Option<String>,
}

/// Reads the settings in this folder. `older` are those that an earlier version kept elsewhere.
pub(super) fn begin(folder: PathBuf, older: Option<String>) -> Begun {
    let path = folder.join(NAME);
    let json = match fs::read(&path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => older,
        Err(error) => {
            return Begun {
                error: Some(format!("{error}\n{}", path.display())),
                ..Begun::default()
            };
        }
    };
    let restored = json.as_deref().map(Settings::from_json).unwrap_or_default();
    let kept = match json {
        Some(json) if !restored.lost.is_empty() => write(&folder, UNREAD_NAME, &json),
        _ => Ok(()),
    };
    if let Err(error) = kept {
        // Without the copy what was not understood would be lost once settings are kept.
        return Begun {
            settings: restored.settings,
            error: Some(format!("{error}\n{}", folder.join(UNREAD_NAME).display())),
            ..Begun::default()
        };
    }
    Begun {
        lost: restored.lost,
        error: None,
        file: Some(SettingsFile {
            folder,
            before: restored.settings.clone(),
        }),
        settings: restored.settings,
    }
}

impl SettingsFile {
    /// Keeps what this window has changed since it last did, beside what other windows have kept.
    pub(super) fn keep(&mut self, settings: Settings) -> io::Result<()> {
        let theirs = match fs::read(self.folder.join(NAME)) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if theirs.is_some() && settings == self.before {
            return Ok(());
        }
        let merged = match theirs {
            Some(json) => {
                let theirs = Settings::from_json(&json);
                // Another version wrote it meanwhile, or it is damaged.
                if !theirs.lost.is_empty() {
                    write(&self.folder, UNREAD_NAME, &json)?;
                }
                settings.merged(&self.before, &theirs.settings)
            }
            None => settings.clone(),
        };
        write(&self.folder, NAME, &merged.to_json()?)?;
        self.before = settings;
        Ok(())
    }
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    export::write_whole(&folder.join(name), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{NAME, UNREAD_NAME, begin};
    use crate::decoding::ChainConfig;
    use crate::interop::presets::OwnPreset;
    use crate::state::Settings;

    fn preset(name: &str) -> OwnPreset {
        OwnPreset {
            name: name.to_owned(),
            chain: ChainConfig::greedy(),
        }
    }

    #[test]
    fn two_windows_keep_what_each_has_changed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("quartet");
        let mut first = begin(folder.clone(), None);
        first.settings.presets.push(preset("Old"));
        let mut file = first.file.unwrap();
        file.keep(first.settings.clone()).unwrap();

        let [mut one, mut other] = [(), ()].map(|()| begin(folder.clone(), None));
        assert_eq!(one.settings, first.settings);
        one.settings.presets.push(preset("Poems"));
        one.settings.prompt = "Of one".to_owned();
        one.file.unwrap().keep(one.settings).unwrap();
        other.settings.presets = vec![preset("Letters")];
        other.settings.seed = 7;
        let mut file = other.file.unwrap();
        file.keep(other.settings.clone()).unwrap();
        // Once more without a change: what the first has kept stays.
        file.keep(other.settings).unwrap();

        let found = begin(folder, None).settings;
        assert_eq!((found.prompt.as_str(), found.seed), ("Of one", 7));
        assert_eq!(found.presets, [preset("Letters"), preset("Poems")]);
    }

    #[test]
    fn what_was_not_understood_stays_as_it_was_beside_the_others() {
        let home = tempfile::tempdir().unwrap();
        let json = r#"{"seed": "many", "prompt": "Kept"}"#;
        fs::write(home.path().join(NAME), json).unwrap();
        let begun = begin(home.path().to_owned(), Some("older".to_owned()));
        assert_eq!(begun.lost, ["seed"]);
        assert_eq!(begun.settings.prompt, "Kept");
        let unread = fs::read_to_string(home.path().join(UNREAD_NAME)).unwrap();
        assert_eq!(unread, json);
        begun.file.unwrap().keep(begun.settings).unwrap();
    }

    #[test]
    fn what_a_newer_window_kept_is_copied_before_it_is_written_over() {
        let home = tempfile::tempdir().unwrap();
        let mut begun = begin(home.path().to_owned(), None);
        let mut file = begun.file.unwrap();
        file.keep(begun.settings.clone()).unwrap();
        let json = r#"{"presets": [{"name": "From tomorrow", "chain": "?"}], "seed": 3}"#;
        fs::write(home.path().join(NAME), json).unwrap();
        begun.settings.prompt = "Of this one".to_owned();
        file.keep(begun.settings).unwrap();
        let unread = fs::read_to_string(home.path().join(UNREAD_NAME)).unwrap();
        assert_eq!(unread, json);
        let found = begin(home.path().to_owned(), None).settings;
        assert_eq!((found.prompt.as_str(), found.seed), ("Of this one", 3));
    }

    #[test]
    fn without_the_copy_the_file_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(NAME), r#"{"seed": "many"}"#).unwrap();
        fs::create_dir(home.path().join(UNREAD_NAME)).unwrap();
        let begun = begin(home.path().to_owned(), None);
        assert!(begun.file.is_none());
        assert!(begun.error.unwrap().contains(UNREAD_NAME));
    }

    #[test]
    fn a_file_that_became_unreadable_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        let mut begun = begin(home.path().to_owned(), None);
        fs::create_dir(home.path().join(NAME)).unwrap();
        begun.settings.seed = 9;
        assert!(begun.file.unwrap().keep(begun.settings).is_err());
    }

    #[test]
    fn those_of_an_earlier_version_are_taken_over() {
        let home = tempfile::tempdir().unwrap();
        let older = Settings {
            seed: 5,
            ..Settings::default()
        };
        let begun = begin(home.path().to_owned(), Some(older.to_json().unwrap()));
        assert_eq!(begun.settings, older);
        begun.file.unwrap().keep(older.clone()).unwrap();
        assert_eq!(begin(home.path().to_owned(), None).settings, older);
    }

    #[test]
    fn a_file_that_can_not_be_read_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(NAME)).unwrap();
        let begun = begin(home.path().to_owned(), None);
        assert!(begun.file.is_none());
        assert!(begun.error.unwrap().contains(NAME));
    }
}
