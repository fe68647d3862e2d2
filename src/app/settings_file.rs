//! The settings file: written atomically, and shared by all windows.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::export;
use crate::generation::ByteSize;
use crate::generation::formatting::io_words;
use crate::state::Settings;

const NAME: &str = "settings.json";

/// A backup of a settings file that could not be fully read.
const BACKUP_NAME: &str = "settings-unread.json";

/// The largest settings file to read. Settings take kilobytes, besides a prompt.
const MAX_BYTES: u64 = 64_000_000;

/// The settings file of one window.
pub(super) struct SettingsFile {
    folder: PathBuf,
    /// The settings as this window last loaded or saved them. Whatever differs from them was
    /// changed in this window.
    saved: Settings,
}

/// The result of loading the settings.
#[derive(Default)]
pub(super) struct LoadedSettings {
    pub settings: Settings,
    /// The parts that could not be read.
    pub lost: Vec<String>,
    /// The file to save to, or `None` if saving would overwrite settings that could not be read.
    pub file: Option<SettingsFile>,
    /// Why the file could not be read, or its backup could not be written.
    pub error: Option<String>,
}

/// Loads the settings from this folder.
pub(super) fn load(folder: PathBuf) -> LoadedSettings {
    export::remove_stale_temporaries(&folder);
    let path = folder.join(NAME);
    let json = match read(&path) {
        Ok(json) => Some(json),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            return LoadedSettings {
                error: Some(format!("{}\n{}", io_words(&error), path.display())),
                ..LoadedSettings::default()
            };
        }
    };
    let restored = json.as_deref().map(Settings::from_json).unwrap_or_default();
    let backed_up = match json {
        Some(json) if !restored.lost.is_empty() => write(&folder, BACKUP_NAME, &json),
        _ => Ok(()),
    };
    if let Err(error) = backed_up {
        // Without the backup, saving would lose the parts that could not be read.
        return LoadedSettings {
            settings: restored.settings,
            error: Some(format!(
                "{}\n{}",
                io_words(&error),
                folder.join(BACKUP_NAME).display()
            )),
            ..LoadedSettings::default()
        };
    }
    LoadedSettings {
        lost: restored.lost,
        error: None,
        file: Some(SettingsFile {
            folder,
            saved: restored.settings.clone(),
        }),
        settings: restored.settings,
    }
}

impl SettingsFile {
    /// Saves what this window has changed, merged with what other windows have saved since.
    pub(super) fn save(&mut self, settings: Settings) -> io::Result<()> {
        let theirs = match read(&self.folder.join(NAME)) {
            Ok(json) => Some(json),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if theirs.is_some() && settings == self.saved {
            return Ok(());
        }
        let merged = match theirs {
            Some(json) => {
                let theirs = Settings::from_json(&json);
                // A different version of Quartet wrote the file, or it is damaged.
                if !theirs.lost.is_empty() {
                    write(&self.folder, BACKUP_NAME, &json)?;
                }
                settings.merged(&self.saved, &theirs.settings)
            }
            None => settings.clone(),
        };
        write(&self.folder, NAME, &merged.to_json()?)?;
        self.saved = settings;
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<String> {
    let bytes = export::read_at_most(File::open(path)?, MAX_BYTES)?.ok_or_else(|| {
        let words = format!("it has more than {}", ByteSize(MAX_BYTES));
        io::Error::new(io::ErrorKind::FileTooLarge, words)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    export::write_atomically(&folder.join(name), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{BACKUP_NAME, MAX_BYTES, NAME, load};
    use crate::decoding::ChainConfig;
    use crate::interop::presets::OwnPreset;

    fn preset(name: &str) -> OwnPreset {
        OwnPreset {
            name: name.to_owned(),
            chain: ChainConfig::greedy(),
        }
    }

    #[test]
    fn two_windows_save_what_each_has_changed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("quartet");
        let mut first = load(folder.clone());
        first.settings.presets.push(preset("Old"));
        let mut file = first.file.unwrap();
        file.save(first.settings.clone()).unwrap();

        let [mut one, mut other] = [(), ()].map(|()| load(folder.clone()));
        assert_eq!(one.settings, first.settings);
        one.settings.presets.push(preset("Poems"));
        one.settings.prompt = "Of one".to_owned();
        one.file.unwrap().save(one.settings).unwrap();
        other.settings.presets = vec![preset("Letters")];
        other.settings.seed = 7;
        let mut file = other.file.unwrap();
        file.save(other.settings.clone()).unwrap();
        // Saving again without a change keeps what the first window saved.
        file.save(other.settings).unwrap();

        let found = load(folder).settings;
        assert_eq!((found.prompt.as_str(), found.seed), ("Of one", 7));
        assert_eq!(found.presets, [preset("Letters"), preset("Poems")]);
    }

    #[test]
    fn a_file_with_unreadable_parts_is_backed_up() {
        let home = tempfile::tempdir().unwrap();
        let json = r#"{"seed": "many", "prompt": "Kept"}"#;
        fs::write(home.path().join(NAME), json).unwrap();
        let loaded = load(home.path().to_owned());
        assert_eq!(loaded.lost, ["seed"]);
        assert_eq!(loaded.settings.prompt, "Kept");
        let unread = fs::read_to_string(home.path().join(BACKUP_NAME)).unwrap();
        assert_eq!(unread, json);
        loaded.file.unwrap().save(loaded.settings).unwrap();
    }

    #[test]
    fn a_file_from_a_newer_version_is_backed_up_before_it_is_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let mut loaded = load(home.path().to_owned());
        let mut file = loaded.file.unwrap();
        file.save(loaded.settings.clone()).unwrap();
        let json = r#"{"presets": [{"name": "From tomorrow", "chain": "?"}], "seed": 3}"#;
        fs::write(home.path().join(NAME), json).unwrap();
        loaded.settings.prompt = "Of this one".to_owned();
        file.save(loaded.settings).unwrap();
        let unread = fs::read_to_string(home.path().join(BACKUP_NAME)).unwrap();
        assert_eq!(unread, json);
        let found = load(home.path().to_owned()).settings;
        assert_eq!((found.prompt.as_str(), found.seed), ("Of this one", 3));
    }

    #[test]
    fn a_file_that_cannot_be_backed_up_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(NAME), r#"{"seed": "many"}"#).unwrap();
        fs::create_dir(home.path().join(BACKUP_NAME)).unwrap();
        let loaded = load(home.path().to_owned());
        assert!(loaded.file.is_none());
        assert!(loaded.error.unwrap().contains(BACKUP_NAME));
    }

    #[test]
    fn a_file_that_became_unreadable_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let mut loaded = load(home.path().to_owned());
        fs::create_dir(home.path().join(NAME)).unwrap();
        loaded.settings.seed = 9;
        assert!(loaded.file.unwrap().save(loaded.settings).is_err());
    }

    #[test]
    fn a_file_that_is_too_large_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let file = fs::File::create(home.path().join(NAME)).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        let loaded = load(home.path().to_owned());
        assert!(loaded.file.is_none());
        assert!(
            loaded
                .error
                .unwrap()
                .starts_with("it has more than 64 MB\n")
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(NAME)).unwrap();
        let loaded = load(home.path().to_owned());
        assert!(loaded.file.is_none());
        assert!(loaded.error.unwrap().contains(NAME));
    }
}
