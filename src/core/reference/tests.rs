//! Whether the pages in the documentation are those that the code writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{ADVICE, Page, Subject};
use crate::generation::PaneSettings;
use crate::interop::presets::built_in;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/docs/filters")
}

/// Returns the files of the documentation, by their names.
fn files() -> BTreeMap<String, String> {
    let pages = Page::all().into_iter();
    let mut files: BTreeMap<String, String> = pages
        .map(|page| (format!("{}.md", page.id()), page.markdown()))
        .collect();
    files.insert("README.md".to_owned(), Page::index_markdown());
    files
}

#[test]
fn the_documentation_has_the_same_pages() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    if update {
        std::fs::create_dir_all(folder()).unwrap();
    }
    let files = files();
    for (name, content) in &files {
        let path = folder().join(name);
        if update {
            std::fs::write(&path, content).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            &kept, content,
            "run `UPDATE_GOLDEN=1 cargo test -p quartet-core reference`: {name}"
        );
    }
    let kept = std::fs::read_dir(folder()).unwrap();
    for entry in kept {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(files.contains_key(&name), "{name} is no page");
    }
}

#[test]
fn every_page_is_complete_and_has_its_own_name() {
    let mut ids = BTreeSet::new();
    for page in Page::all() {
        let name = page.name();
        assert!(ids.insert(page.id()), "{name}");
        assert!(!page.formula().is_empty(), "{name}");
        assert!(!page.edges().is_empty(), "{name}");
        assert!(!page.source().is_empty(), "{name}");
    }
}

#[test]
fn every_picture_shows_an_effect_and_adds_up_to_one() {
    for page in Page::all() {
        let Some(picture) = page.picture() else {
            continue;
        };
        let sum: f64 = picture.bars.iter().filter_map(|bar| bar.after).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{}: {sum}", page.name());
        if matches!(page.subject, Subject::Filter(_)) {
            let moves = |bar: &super::Bar| {
                let after = bar.after.unwrap_or_default();
                (after - bar.before).abs() > 0.005
            };
            assert!(picture.bars.iter().any(moves), "{}", page.name());
        }
    }
}

#[test]
fn advice_names_settings_and_presets_that_exist() {
    let presets = built_in().into_iter().flat_map(|group| group.presets);
    let names: BTreeSet<&str> = presets.map(|preset| preset.name).collect();
    for remedy in ADVICE.iter().flat_map(|advice| advice.remedies) {
        assert!(remedy.words.ends_with('.'), "{}", remedy.words);
        if let Some(preset) = remedy.preset {
            assert!(names.contains(preset), "{preset}");
        }
        if !remedy.settings.is_empty() {
            let read = remedy.settings.parse::<PaneSettings>();
            assert!(read.is_ok(), "{}", remedy.settings);
        }
    }
}
