//! A disk that fills up at any moment, a model that is replaced while it loads, and two programs
//! that export at the same time.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quartet::engine::{Compute, EngineError, open_path};
use serde_json::Value;

use crate::hostile::kills::{export, n_exported, seed_of};
use crate::hostile::mutations::fixtures;

const QUARTET: &str = env!("CARGO_BIN_EXE_quartet");

/// Runs a program that can write at most this many kilobytes to each file.
fn with_limit(n_kilobytes: u64, arguments: &[&str]) -> Output {
    Command::new("bash")
        // The signal is ignored, so that writing fails as it would on a full disk.
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"",
            &n_kilobytes.to_string(),
            QUARTET,
        ])
        .args(arguments)
        .output()
        .unwrap()
}

fn seed_in(run: &Path) -> u64 {
    let run: Value = serde_json::from_slice(&fs::read(run).unwrap()).unwrap();
    run["panes"][0]["settings"]["seed"].as_u64().unwrap()
}

#[test]
fn a_write_that_fails_anywhere_keeps_the_old_files_and_names_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let [folder, archive, json] =
        ["export", "run.zip", "run.json"].map(|name| home.path().join(name));
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let mut n_failed = 0;
    for (n_kilobytes, seed) in [
        (1 << 20, 100),
        (0, 1),
        (2, 2),
        (8, 3),
        (32, 4),
        (1 << 20, 5),
    ] {
        for (option, target) in [
            ("--export", &folder),
            ("--export", &archive),
            ("--json", &json),
        ] {
            let pane = format!("seed {seed}");
            let arguments = [
                "generate",
                "--prompt",
                "Once",
                "--max-tokens",
                "3",
                "--pane",
                &pane,
            ];
            let output = with_limit(
                n_kilobytes,
                &[&arguments[..], &[option, &path(target)]].concat(),
            );
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                continue;
            }
            n_failed += 1;
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(message.contains("error: could not"), "{message}");
            assert!(message.contains(&path(target)), "{message}");
            assert!(!message.contains(".quartet-"), "{message}");
            // The text was still printed.
            assert!(String::from_utf8_lossy(&output.stdout).contains("tokens]"));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), n_exported());
        let (of_folder, of_json) = (seed_in(&folder.join("run.json")), seed_in(&json));
        assert!(
            [100, seed].contains(&of_folder) || n_failed > 0,
            "{of_folder}"
        );
        assert!(of_json <= 100);
        assert!(
            fs::read(&archive).unwrap().ends_with(&[0, 0]),
            "the archive is whole"
        );
        let mut names: Vec<_> = fs::read_dir(home.path())
            .unwrap()
            .flatten()
            .map(|it| it.file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["export", "run.json", "run.zip"], "{n_kilobytes}");
    }
    assert!(n_failed >= 6, "only {n_failed} writes failed");
}

/// Opens a model, calls `fault` at the first progress report, and returns the model's hash.
fn open_with(path: &Path, fault: impl FnOnce()) -> Result<String, EngineError> {
    let mut fault = Some(fault);
    let mut progress = |_: f32| {
        if let Some(fault) = fault.take() {
            fault();
        }
        ControlFlow::Continue(())
    };
    let model = open_path(path, &Compute::on_cpu(), &mut progress)?;
    Ok(model.unwrap().info.sha256.clone())
}

/// Copies a small GGUF model and its tokenizer to a folder. Returns the model's path.
fn model_in(folder: &Path) -> PathBuf {
    let path = folder.join("model.gguf");
    fs::copy(fixtures().join("fixtures/llama/model.gguf"), &path).unwrap();
    fs::copy(
        fixtures().join("fixtures/tokenizer.json"),
        folder.join("tokenizer.json"),
    )
    .unwrap();
    path
}

#[test]
fn replacing_a_model_file_while_it_loads_still_loads_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = model_in(folder.path());
    let old = open_with(&path, || ()).unwrap();
    let new = folder.path().join("new.gguf");
    fs::copy(fixtures().join("fixtures/qwen2/model.gguf"), &new).unwrap();
    assert_eq!(
        open_with(&path, || fs::rename(&new, &path).unwrap()).unwrap(),
        old
    );
    assert_ne!(open_with(&path, || ()).unwrap(), old);
    let path = model_in(folder.path());
    assert_eq!(
        open_with(&path, || fs::remove_file(&path).unwrap()).unwrap(),
        old
    );
}

#[test]
fn a_model_file_that_changes_while_it_loads_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for n_kept in [0, 5_000, 30_000] {
        let path = model_in(folder.path());
        let cut = || {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_len(n_kept).unwrap();
        };
        let error = open_with(&path, cut).unwrap_err().to_string();
        assert!(error.contains("could not be read"), "{error}");
    }
    let path = model_in(folder.path());
    let append = || {
        let mut file = fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"more").unwrap();
    };
    let error = open_with(&path, append).unwrap_err().to_string();
    assert!(
        error.contains("it changed while the model was loaded"),
        "{error}"
    );
}

#[test]
fn two_programs_that_export_to_one_folder_leave_one_whole_export() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("export");
    for round in 0..4 {
        let seeds = [2 * round + 1, 2 * round + 2];
        let mut programs = seeds.map(|seed| export(&folder, seed));
        for program in &mut programs {
            assert!(program.wait().unwrap().success());
        }
        let found = seed_of(&folder);
        assert!(seeds.contains(&usize::try_from(found).unwrap()), "{found}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
