//! Tests of the models on this computer: several programs, some with the same files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::places::{Surroundings, System};
use super::{LocalModels, ModelProgram, found_in, models_in_folder, shortened};
use crate::hub::walk::WalkBudget;

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn find(home: &Path, budget: &mut WalkBudget) -> LocalModels {
    let surroundings = Surroundings {
        variables: &|_| None::<OsString>,
        home: Some(home),
        system: System::Windows,
    };
    let hub = home.join(".cache/huggingface/hub");
    let llama = home.join("llama.cpp");
    let with_llama = Surroundings {
        variables: &|name| (name == "LLAMA_CACHE").then(|| llama.clone().into_os_string()),
        ..surroundings
    };
    found_in(Some(hub), with_llama, budget)
}

/// Returns the program, the name and the other programs of each model.
fn rows(found: &LocalModels) -> Vec<String> {
    let models = found.models.iter();
    let row = models.map(|model| {
        let also: Vec<&str> = model.also_in.iter().map(|it| it.name()).collect();
        format!("{}: {} {also:?}", model.program.name(), model.name)
    });
    row.collect()
}

/// Returns a checksum, and the path of Ollama’s content with it.
fn blob(home: &Path) -> (String, PathBuf) {
    let checksum = "a".repeat(64);
    let path = home.join(format!(".ollama/models/blobs/sha256-{checksum}"));
    (checksum, path)
}

/// Writes models of all programs; some files belong to two.
fn write_all(home: &Path) {
    let (checksum, ollama) = blob(home);
    write(&ollama, "GGUF one");
    let manifest = serde_json::json!({ "layers": [{
        "mediaType": "application/vnd.ollama.image.model",
        "digest": format!("sha256:{checksum}"),
    }] });
    let manifests = ".ollama/models/manifests/registry.ollama.ai/library";
    write(
        &home.join(manifests).join("llama3.2/1b"),
        &manifest.to_string(),
    );
    let lm_studio = home.join(".lmstudio/models");
    write(&lm_studio.join("fox/den-GGUF/den-Q8_0.gguf"), "GGUF two");
    write(&lm_studio.join("fox/den-GGUF/mmproj-den.gguf"), "GGUF");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        write(&lm_studio.join("fox/whole").join(file), "{}");
    }
    write(
        &home.join("llama.cpp/fox_hole_hole-Q4_0.gguf"),
        "GGUF three",
    );
    write(&home.join("llama.cpp/fox_hole_hole-Q4_0.gguf.etag"), "x");
    let newer = "llama.cpp/models--fox--nest-GGUF/snapshots/0";
    write(&home.join(newer).join("nest-Q4_0.gguf"), "GGUF four");
    let hub = home.join(".cache/huggingface/hub/models--fox--tree-GGUF/snapshots/0");
    write(&hub.join("tree-Q8_0.gguf"), "GGUF five");
}

#[test]
fn the_models_of_all_programs_are_found() {
    let home = tempfile::tempdir().unwrap();
    let nothing = find(home.path(), &mut WalkBudget::default());
    assert_eq!(nothing, LocalModels::default());
    write_all(home.path());
    let found = find(home.path(), &mut WalkBudget::default());
    assert_eq!(
        rows(&found),
        [
            "Hugging Face cache: fox/tree-GGUF []",
            "LM Studio: den-Q8_0 []",
            "LM Studio: fox/whole []",
            "Ollama: llama3.2:1b []",
            "llama.cpp: fox/nest-GGUF []",
            "llama.cpp: fox_hole_hole-Q4_0 []",
        ]
    );
    assert!(!found.is_partial);
    assert_eq!(found.models[1].folder_words, "~/.lmstudio/models");
    assert_eq!(found.models[1].model.kind(), "Q8_0");
    for model in &found.models {
        assert!(model.path.exists(), "{model:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_two_programs_have_is_one_model() {
    use std::os::unix::fs::symlink;

    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_all(home);
    let (checksum, ollama) = blob(home);
    let lm_studio = home.join(".lmstudio/models/fox");
    fs::create_dir_all(lm_studio.join("linked")).unwrap();
    symlink(&ollama, lm_studio.join("linked/linked.gguf")).unwrap();
    let llama = home.join("llama.cpp/fox_hole_hole-Q4_0.gguf");
    fs::create_dir_all(lm_studio.join("hard")).unwrap();
    fs::hard_link(&llama, lm_studio.join("hard/hard.gguf")).unwrap();
    // A copy with the same checksum, as the cache of the Hub names it.
    let repository = home.join(".cache/huggingface/hub/models--fox--copy");
    write(&repository.join("blobs").join(&checksum), "GGUF one");
    let link = repository.join("snapshots/0/copy.gguf");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(format!("../../blobs/{checksum}"), link).unwrap();
    let found = find(home, &mut WalkBudget::default());
    assert_eq!(
        rows(&found),
        [
            "Hugging Face cache: fox/copy [\"Ollama\", \"LM Studio\"]",
            "Hugging Face cache: fox/tree-GGUF []",
            "LM Studio: den-Q8_0 []",
            "LM Studio: fox/whole []",
            "llama.cpp: fox/nest-GGUF []",
            "llama.cpp: fox_hole_hole-Q4_0 [\"LM Studio\"]",
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_left_out_unless_it_is_the_only_one() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    write_all(home.path());
    let locked = home.path().join(".lmstudio/models");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read everything.
    if fs::read_dir(&locked).is_err() {
        let found = find(home.path(), &mut WalkBudget::default());
        assert!(
            !found
                .models
                .iter()
                .any(|model| model.program == ModelProgram::LmStudio)
        );
        assert!(models_in_folder(&locked).is_err());
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(models_in_folder(&home.path().join("missing")).is_err());
    let named = models_in_folder(&locked).unwrap();
    assert_eq!(
        rows(&named),
        ["Folder: den-Q8_0 []", "Folder: fox/whole []"]
    );
    let ollama = models_in_folder(&home.path().join(".ollama/models")).unwrap();
    assert_eq!(rows(&ollama), ["Folder: llama3.2:1b []"]);
}

#[test]
fn a_search_that_takes_too_long_ends_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    write_all(home.path());
    let found = find(home.path(), &mut WalkBudget::new(100, Duration::ZERO));
    assert!(found.is_partial && found.models.is_empty());
    let found = find(
        home.path(),
        &mut WalkBudget::new(12, Duration::from_secs(10)),
    );
    assert!(found.is_partial && !found.models.is_empty());
}

#[test]
fn a_path_below_the_home_folder_is_short() {
    let home = Some(Path::new("/home/fox"));
    for (path, expected) in [
        ("/home/fox/.ollama/models", "~/.ollama/models"),
        ("/home/foxes", "/home/foxes"),
        ("/home/fox", "/home/fox"),
    ] {
        assert_eq!(shortened(Path::new(path), home), expected);
    }
}
