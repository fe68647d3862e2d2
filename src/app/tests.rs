//! If a window is killed while it saves its settings or its history, each file is either the old
//! version or the new one.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::runs::{RunFolder, TextsToKeep, ToKeep};
use super::settings_file;
use crate::generation::testing::generation;
use crate::state::{Command, HistoryLimits, RunCommand, RunRequest, RunTexts, Settings};

/// Names the folder in which the child process saves.
const VARIABLE: &str = "QUARTET_TEST_SAVES_IN";

const NAME: &str = "app::tests::settings_and_history_stay_whole";

/// What the child process prints once it has saved.
const SAVED: &str = "saved";

/// The history keeps this many runs, few enough that old ones are constantly deleted.
const N_RUNS: u32 = 3;

fn save(folder: &Path, number: u64) {
    let mut file = settings_file::load(folder.to_owned()).file.unwrap();
    let settings = Settings {
        prompt: format!("Prompt {number}").repeat(200),
        seed: number,
        ..Settings::default()
    };
    file.save(settings).unwrap();
    let kept = TextsToKeep {
        texts: RunTexts::shown(vec![generation(&[(" the", 0.5), (" fox", 0.25)])]),
        file: format!("run-{number}.quartet.json.gz"),
    };
    let limits = HistoryLimits {
        n_runs: N_RUNS,
        ..HistoryLimits::default()
    };
    let request = RunRequest::Keep {
        number,
        finished_at: number,
        limits,
    };
    RunFolder::open(folder.join("runs")).answer(request, Some(ToKeep::Texts(kept)));
}

#[test]
fn settings_and_history_stay_whole() {
    if let Some(folder) = env::var_os(VARIABLE) {
        for number in 1.. {
            save(Path::new(&folder), number);
            if number == 1 {
                println!("{SAVED}");
            }
        }
    }
    let rounds = env::var("QUARTET_HOSTILE_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    for attempt in 0..12 * rounds {
        let mut child = Process::new(env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(VARIABLE, home.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with(SAVED)));
        sleep(Duration::from_micros(attempt * 1_733 % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();

        let loaded = settings_file::load(home.path().to_owned());
        assert!(loaded.lost.is_empty() && loaded.error.is_none());
        let (seed, prompt) = (loaded.settings.seed, loaded.settings.prompt);
        assert_eq!(prompt, format!("Prompt {seed}").repeat(200));

        let runs = home.path().join("runs");
        let listed = RunFolder::open(runs.clone()).answer(RunRequest::List, None);
        let Command::Run(RunCommand::Listed(Ok(listed))) = listed else {
            panic!("{listed:?}");
        };
        assert!((1..=N_RUNS as usize + 1).contains(&listed.len()));
        assert!(listed.iter().all(|run| run.summary.is_ok()), "{listed:?}");
        let names = [home.path(), &runs].into_iter().flat_map(|folder| {
            let entries = fs::read_dir(folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
        });
        for name in names {
            // Temporary files that the kill left behind are removed later.
            let known = ["settings.json", "runs"].contains(&name.as_str());
            let is_run = name.ends_with(".quartet.json.gz");
            assert!(known || is_run || name.starts_with(".quartet-"), "{name}");
        }
    }
}
