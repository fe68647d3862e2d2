//! A program killed while it saves leaves either the old file or the new one, intact.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quartet::export::read_run;
use quartet::ui::run_folder::possible_contents;
use serde_json::Value;

use crate::display::{Display, Started, files_in};
use crate::random::Random;
use crate::rounds::rounds;

pub(crate) fn export(folder: &Path, seed: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args([
            "generate",
            "--prompt",
            "Once",
            "--max-tokens",
            "2",
            "--pane",
        ])
        .arg(format!("seed {seed}"))
        .arg("--export")
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Counts the files that have been written to a temporary folder beside the export.
fn n_staged(home: &Path) -> usize {
    let entries = fs::read_dir(home).unwrap().flatten();
    let staging = entries.filter(|entry| entry.file_name() != "export");
    let count = |folder: fs::DirEntry| fs::read_dir(folder.path()).map_or(0, Iterator::count);
    staging.map(count).max().unwrap_or(0)
}

/// Returns the number of files of an export. The only pane leaves no watermark to plot, answers no
/// message, and has none beside it to compare.
pub(crate) fn n_exported() -> usize {
    let names = possible_contents().into_iter();
    names
        .filter(|(name, _)| !name.starts_with("watermark.") && !name.starts_with("compare."))
        .filter(|(name, _)| name != "run.messages.jsonl")
        .count()
}

/// Checks that an export is whole and that all of its files belong together. Returns its seed.
pub(crate) fn seed_of(folder: &Path) -> u64 {
    assert_eq!(fs::read_dir(folder).unwrap().count(), n_exported());
    let run: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    let seed = run["panes"][0]["settings"]["seed"].as_u64().unwrap();
    let table = fs::read_to_string(folder.join("run.csv")).unwrap();
    assert!(
        table
            .lines()
            .nth(1)
            .unwrap()
            .contains(&format!(",{seed},1,")),
        "{table}"
    );
    assert!(table.ends_with("\r\n"));
    seed
}

#[test]
fn an_export_killed_at_any_file_leaves_the_old_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("export");
    assert!(export(&folder, 100).wait().unwrap().success());
    let mut seed = seed_of(&folder);
    assert_eq!(seed, 100);
    for n_files in 0..=n_exported() {
        let mut child = export(&folder, n_files);
        while child.try_wait().unwrap().is_none() && n_staged(home.path()) < n_files {
            thread::sleep(Duration::from_micros(200));
        }
        child.kill().ok();
        child.wait().unwrap();
        let found = seed_of(&folder);
        assert!(found == seed || found == n_files as u64, "{found}");
        seed = found;
        // What a killed export left beside the folder is removed an hour later.
        for entry in fs::read_dir(home.path()).unwrap().flatten() {
            if entry.file_name() != "export" {
                assert!(entry.file_name().to_string_lossy().starts_with(".quartet-"));
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }
}

#[test]
fn an_export_killed_at_random_moments_leaves_the_old_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("export");
    let started = Instant::now();
    assert!(export(&folder, 1000).wait().unwrap().success());
    let duration = started.elapsed();
    let mut seed = seed_of(&folder);
    let mut random = Random(7);
    for number in 0..12 * rounds() {
        let mut child = export(&folder, usize::try_from(number).unwrap());
        let percent = u32::try_from(random.below(110)).unwrap();
        thread::sleep(duration * percent / 100);
        child.kill().ok();
        child.wait().unwrap();
        let found = seed_of(&folder);
        assert!(found == seed || found == number, "{found}");
        seed = found;
    }
}

/// Checks that a killed window left nothing but whole files, and temporary ones that are removed an
/// hour later. Returns the kinds of files found.
fn kinds_of_files_left(home: &Path) -> BTreeSet<&'static str> {
    let kind_of = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let ends = |ending: &str| name.ends_with(ending);
        if name.starts_with(".quartet-") {
            "temporary"
        } else if ends(".quartet.json.gz") {
            read_run(&path).unwrap();
            "run"
        } else if ends(".session") || ends(".unread") {
            read_run(&path).unwrap();
            "session"
        } else if name == "settings.json" {
            let settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            assert!(settings["prompt"].is_string(), "{settings}");
            "settings"
        } else if name == "app.ron" {
            // eframe's file with the window's position, which it ignores if it is damaged.
            "position"
        } else {
            assert!(ends(".lock") || ends(".restoring"), "{}", path.display());
            assert_eq!(fs::metadata(&path).unwrap().len(), 0);
            "marker"
        }
    };
    files_in(home).into_iter().map(kind_of).collect()
}

#[test]
fn a_window_killed_at_random_moments_leaves_whole_files() {
    let display = Display::start();
    let mut random = Random(13);
    let mut kinds = BTreeSet::new();
    let open = || {
        let app = Started::new(&mut display.command(env!("CARGO_BIN_EXE_quartet")));
        let window = display.wait_for("the window", |display| display.window_titled("Quartet"));
        display.wait_for("the keyboard", |display| display.focus(window));
        (app, window)
    };
    let mut kill = |app: Started| {
        drop(app);
        kinds.extend(kinds_of_files_left(display.home()));
    };
    // However slow the machine is, one window is killed only after it has saved everything. The
    // settings are also saved when a window closes.
    let (app, window) = open();
    display.ready();
    display.press_ctrl_enter();
    display.wait_for_file(".quartet.json.gz");
    display.wait_for_file(".session");
    display.close(window);
    display.wait_for_file("settings.json");
    kill(app);
    for number in 0..6 * rounds() {
        let (app, window) = open();
        display.press_ctrl_enter();
        let mut sleep = |n_milliseconds| {
            thread::sleep(Duration::from_millis(random.below(n_milliseconds) as u64));
        };
        sleep(4000);
        if number % 2 == 1 {
            display.close(window);
            sleep(200);
        }
        kill(app);
    }
    assert!(
        kinds.is_superset(&["marker", "run", "session", "settings"].into()),
        "{kinds:?}"
    );
}
