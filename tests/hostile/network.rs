//! Only Hub commands open a network socket.

use std::path::Path;
use std::process::Command;

use crate::display::{Display, Started};

const QUARTET: &str = env!("CARGO_BIN_EXE_quartet");

/// Runs the program under strace. Returns the system calls that open a network socket.
fn network_sockets(arguments: &[&str], folder: &Path) -> Vec<String> {
    let log = folder.join("strace.log");
    let traced = trace(&mut Command::new("strace"), &log, folder)
        .args(arguments)
        .output();
    assert!(
        traced.is_ok(),
        "`.ci/setup --test` installs strace: {traced:?}"
    );
    sockets_in(&log)
}

/// Makes `strace` record the sockets that Quartet opens.
fn trace<'a>(strace: &'a mut Command, log: &Path, folder: &Path) -> &'a mut Command {
    strace
        .args(["-f", "-qq", "-e", "trace=socket", "-o"])
        .arg(log)
        .arg(QUARTET)
        .env("HF_HOME", folder)
        // Nothing listens on this port.
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
}

fn sockets_in(log: &Path) -> Vec<String> {
    let log = std::fs::read_to_string(log).unwrap();
    let calls = log.lines().filter(|call| call.contains("AF_INET"));
    calls.map(str::to_owned).collect()
}

#[test]
fn only_a_hub_command_opens_a_network_socket() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    let searched = network_sockets(&["search", "fox"], folder.path());
    assert!(!searched.is_empty(), "the test can detect a socket");
    for arguments in [
        &[
            "generate",
            "--prompt",
            "Once",
            "--max-tokens",
            "3",
            "--export",
            export.to_str().unwrap(),
        ][..],
        &["inspect", "assets/model/quartet-stories-q8_0.gguf"],
        &["sample", "--logits", "1,2,3"],
        &["settings", "--pane", "greedy", "--to", "ollama"],
        &["models"],
        &["--help"],
    ] {
        let sockets = network_sockets(arguments, folder.path());
        assert_eq!(sockets, Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn a_window_that_generates_opens_no_network_socket() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("strace.log");
    let display = Display::start();
    let mut app = Started::new(trace(&mut display.command("strace"), &log, folder.path()));
    let (window, before) = display.ready();
    display.press_ctrl_enter();
    display.wait_for_text(&before);
    display.close(window);
    assert!(app.end().success());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.contains("AF_UNIX"),
        "the display is a local socket: {text}"
    );
    assert_eq!(sockets_in(&log), Vec::<String>::new());
}
