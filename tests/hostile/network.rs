//! Nothing but a Hub command opens a network socket.

use std::path::Path;
use std::process::Command;

/// Runs the program under strace. Returns the system calls that open a network socket.
fn network_sockets(arguments: &[&str], folder: &Path) -> Vec<String> {
    let log = folder.join("strace.log");
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=socket", "-o"])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .env("HF_HOME", folder)
        // Nothing answers here.
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
        .output();
    assert!(
        traced.is_ok(),
        "`.ci/setup --test` installs strace: {traced:?}"
    );
    let log = std::fs::read_to_string(&log).unwrap();
    let calls = log.lines().filter(|call| call.contains("AF_INET"));
    calls.map(str::to_owned).collect()
}

#[test]
fn only_a_hub_command_opens_a_network_socket() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    let searched = network_sockets(&["search", "fox"], folder.path());
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
        let sockets = network_sockets(arguments, folder.path());
        assert_eq!(sockets, Vec::<String>::new(), "{arguments:?}");
    }
}
