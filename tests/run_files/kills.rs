//! A program killed while it saves a run leaves the old file or the new one, whole.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use quartet::export::json::{Form, RunHeader, parse};
use quartet::export::{read_run, write_run};
use quartet::generation::Generation;

/// Names the file that the child process saves again and again.
const VARIABLE: &str = "QUARTET_TEST_SAVES_TO";

fn save(path: &Path, number: u64) {
    let panes = parse(&super::file("tests/golden/run-1.json")).unwrap();
    let header = RunHeader {
        title: Some(number.to_string()),
        finished_at: Some(number),
    };
    let panes: Vec<&Generation> = panes.iter().collect();
    write_run(path, &header, &panes, Form::default()).unwrap();
}

#[test]
fn a_save_killed_at_any_moment_leaves_a_whole_file() {
    if let Some(path) = std::env::var_os(VARIABLE) {
        (2..u64::MAX).for_each(|number| save(Path::new(&path), number));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    save(&path, 1);
    let mut numbers = Vec::new();
    for attempt in 0..200 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "kills::a_save_killed_at_any_moment_leaves_a_whole_file",
            ])
            .env(VARIABLE, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_micros(5_000 + attempt * 53));
        child.kill().unwrap();
        child.wait().unwrap();
        let read = read_run(&path).unwrap();
        assert_eq!(read.panes.len(), 2);
        assert_eq!(
            read.header.title,
            read.header.finished_at.map(|n| n.to_string())
        );
        numbers.extend(read.header.finished_at);
    }
    numbers.dedup();
    assert!(
        numbers.len() > 20,
        "most saves were killed before they began"
    );
}
