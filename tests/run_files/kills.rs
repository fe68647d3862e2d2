//! A program killed while it saves a run leaves either the old file or the new one, intact.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use quartet::export::json::{Form, RunFile, RunHeader, parse};
use quartet::export::{read_run, write_run};

/// The environment variable that names the file that the child process saves again and again.
const VARIABLE: &str = "QUARTET_TEST_SAVES_TO";

const NAME: &str = "run_files::kills::a_save_killed_at_any_moment_leaves_a_whole_file";

/// What the child process prints before its first save.
const READY: &str = "saving";

fn save(path: &Path, number: u64) {
    let panes = parse(&super::file("tests/golden/export.json")).unwrap();
    let header = RunHeader {
        title: Some(number.to_string()),
        finished_at: Some(number),
        ..RunHeader::default()
    };
    let run = RunFile {
        header,
        panes,
        ..RunFile::default()
    };
    write_run(path, &run, Form::default()).unwrap();
}

#[test]
fn a_save_killed_at_any_moment_leaves_a_whole_file() {
    if let Some(path) = std::env::var_os(VARIABLE) {
        println!("{READY}");
        (2..u64::MAX).for_each(|number| save(Path::new(&path), number));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    save(&path, 1);
    let mut n_changed = 0;
    let mut last = Some(1);
    for attempt in 0..200 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(VARIABLE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with(READY)));
        sleep(Duration::from_micros(attempt * 37));
        child.kill().unwrap();
        child.wait().unwrap();
        let read = read_run(&path).unwrap();
        assert_eq!(read.panes.len(), 2);
        let number = read.header.finished_at;
        assert_eq!(read.header.title, number.map(|n| n.to_string()));
        n_changed += usize::from(number != last);
        last = number;
    }
    assert!(n_changed > 0, "every save was killed before it finished");
}
