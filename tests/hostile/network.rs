//! Nothing but a Hub command opens a network socket.

use std::path::Path;
use std::process::Command;

/// Runs the program under strace. Returns the system calls that open a network socket, or `None` if
/// strace is missing or not allowed.
fn network_sockets(arguments: &[&str], folder: &Path) -> Option<Vec<String>> {
    let log = folder.join("strace.log");
    let traced = |program: &str, arguments: &[&str]| {
        Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=socket", "-o"])
            .arg(&log)
            .arg(program)
            .args(arguments)
            .env("HF_HOME", folder)
            // Nothing answers here.
            .env("HF_ENDPOINT", "http://127.0.0.1:9")
            .output()
    };
    if !traced("true", &[]).is_ok_and(|output| output.status.success()) {
        return None;
    }
    traced(env!("CARGO_BIN_EXE_quartet"), arguments).ok()?;
    let log = std::fs::read_to_string(&log).unwrap();
    let calls = log.lines().filter(|call| call.contains("AF_INET"));
    Some(calls.map(str::to_owned).collect())
}

#[test]
fn only_a_hub_command_opens_a_network_socket() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    let Some(searched) = network_sockets(&["search", "fox"], folder.path()) else {
        eprintln!("skipped, because strace is missing or not allowed here");
        return;
    };
    assert!(!searched.is_empty(), "the test would see a socket");
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
        let sockets = network_sockets(arguments, folder.path()).unwrap();
        assert_eq!(sockets, Vec::<String>::new(), "{arguments:?}");
    }
}
