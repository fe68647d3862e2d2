//! Ctrl+C, SIGTERM and SIGHUP during a run: the text and the files are kept.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::hostile::kills::n_exported;

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_signal_ends_a_run_but_keeps_its_text_and_files() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("run.json");
        let export = folder.path().join("export");
        let mut child = Command::new(env!("CARGO_BIN_EXE_quartet"))
            .args(["generate", "--prompt", "Once upon a time", "--ignore-eos"])
            .args(["--pane", "greedy", "--max-tokens", "100000"])
            .args(["--json", json.to_str().unwrap()])
            .args(["--export", export.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        stdout.read_line(&mut text).unwrap();
        assert_eq!(text, "Greedy (greedy)\n");
        // The first token is printed while the run goes on.
        let mut first = [0];
        stdout.read_exact(&mut first).unwrap();
        assert!(child.try_wait().unwrap().is_none());
        send(signal, &child);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(rest.contains("\n[Stopped by you, "), "{rest}");

        let run: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let pane = &run["panes"][0];
        assert_eq!(pane["finish_reason"], "cancelled");
        let written = pane["text"].as_str().unwrap();
        let printed = [&String::from_utf8_lossy(&first), rest.as_str()].concat();
        let printed = printed.split("\n[Stopped by you").next().unwrap();
        assert_eq!(written, printed);
        let n_files = std::fs::read_dir(&export).unwrap().count();
        assert_eq!(n_files, n_exported());
    }
}

#[test]
fn a_signal_ends_the_program_while_the_model_loads() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("run.json");
        let mut child = Command::new(env!("CARGO_BIN_EXE_quartet"))
            .args(["generate", "--prompt", "Once", "--max-tokens", "100000"])
            .args(["--json", json.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, "Loading the model\n");
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}
