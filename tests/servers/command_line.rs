//! Tests `quartet generate --server` and `quartet server`.

use std::process::{Command, Output};

use serde_json::Value;

use crate::servers::bench::PROMPT;
use crate::servers::stand_in::{Fault, KINDS, Kind, StandIn};

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command
        .args(arguments)
        .env("TEST_SERVER_KEY", "sk-very-secret")
        .env("TEST_EMPTY_KEY", " ");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_run_over_a_server_is_printed_recorded_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let export = folder.path().join("run");
    for kind in KINDS {
        let server = StandIn::start(kind);
        let (json, export) = (json.to_str().unwrap(), export.join(format!("{kind:?}")));
        std::fs::create_dir_all(export.parent().unwrap()).unwrap();
        let mut words = vec!["generate", "--server", &server.address, "--prompt", PROMPT];
        words.extend(["--pane", "greedy", "--pane", "top-k 3", "--max-tokens", "5"]);
        words.extend(["--server-key-env", "TEST_SERVER_KEY", "--json", json]);
        words.extend(["--export", export.to_str().unwrap()]);
        let output = quartet(&words);
        assert!(
            output.status.success(),
            "{kind:?}: {}",
            text(&output.stderr)
        );
        let printed = text(&output.stdout);
        assert!(printed.contains("[Token limit, 5 tokens]"), "{printed}");
        let record = std::fs::read_to_string(json).unwrap();
        let run: Value = serde_json::from_str(&record).unwrap();
        assert_eq!(run["model"]["name"], "toy");
        assert_eq!(run["model"]["implementation"], "server");
        let steps = run["panes"][1]["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 5);
        let mut all = vec![record, text(&output.stderr), printed];
        for file in std::fs::read_dir(&export).unwrap() {
            let path = file.unwrap().path();
            all.extend(std::fs::read_to_string(&path).ok());
        }
        assert!(all.len() > 5, "several formats are exported");
        for text in all {
            assert!(!text.contains("sk-very-secret"));
            assert!(!text.contains("127.0.0.1"), "the address is not recorded");
        }
        // The other commands can read the run.
        let why = quartet(&["why", json, "--pane", "B", "--token", "2"]);
        assert!(why.status.success(), "{}", text(&why.stderr));
        let replayed = text(&quartet(&["replay", json]).stderr);
        assert!(replayed.contains("was generated on a server"), "{replayed}");
    }
}

#[test]
fn panes_can_run_on_two_servers_and_on_this_computer_at_once() {
    let (llama, vllm) = (StandIn::start(Kind::Llama), StandIn::start(Kind::Vllm));
    let [b, c] =
        [("B", &llama), ("C", &vllm)].map(|(pane, server)| format!("{pane}={}", server.address));
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let mut words = vec!["generate", "--prompt", PROMPT, "--max-tokens", "4"];
    words.extend(["--pane", "greedy"].repeat(4));
    words.extend([
        "--pane-server",
        &b,
        "--pane-server",
        &c,
        "--pane-model",
        "D=built-in",
    ]);
    words.extend(["--json", json.to_str().unwrap()]);
    let output = quartet(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The panes are printed in their order, whichever ends first.
    let printed = text(&output.stdout);
    let letters: Vec<&str> = printed
        .lines()
        .filter(|line| line.contains(" · Greedy"))
        .map(|line| &line[..1])
        .collect();
    assert_eq!(letters, ["A", "B", "C", "D"], "{printed}");
    let run: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let panes = run["panes"].as_array().unwrap();
    let model = |pane: &Value| pane.get("model").unwrap_or(&run["model"])["implementation"].clone();
    let models: Vec<Value> = panes.iter().map(model).collect();
    // Quartet itself is not named.
    let server = Value::from("server");
    let expected = [Value::Null, server.clone(), server, Value::Null];
    assert_eq!(models, expected);
    for pane in panes {
        assert_eq!(pane["steps"].as_array().unwrap().len(), 4);
    }
    // Both servers have the same toy model.
    assert_eq!(panes[1]["text"], panes[2]["text"]);
    assert_ne!(panes[0]["text"], panes[1]["text"]);
}

#[test]
fn a_server_that_fails_leaves_the_other_panes_alone() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 2, Fault::Refused(500, "", ""));
    let b = format!("B={}", server.address);
    let mut words = vec!["generate", "--prompt", PROMPT, "--max-tokens", "5"];
    words.extend(["--pane", "greedy", "--pane", "greedy", "--pane-server", &b]);
    let output = quartet(&words);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(printed.contains("[Token limit, 5 tokens]"), "{printed}");
    assert!(printed.contains("2 tokens]"), "{printed}");
    assert!(text(&output.stderr).contains("returned a server error (500)"));
}

#[test]
fn a_servers_own_sampler_can_choose_the_tokens() {
    let server = StandIn::start(Kind::OpenAi);
    let output = quartet(&[
        "generate",
        "--server",
        &server.address,
        "--server-sampler",
        "--prompt",
        PROMPT,
        "--pane",
        "top-k 3, temp 0.5",
        "--max-tokens",
        "4",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("4 tokens]"));
    let notes = text(&output.stderr);
    assert!(
        notes.contains("top-k 3"),
        "what it ignores is reported: {notes}"
    );
    let bodies = server.bodies("/v1/completions");
    assert_eq!(
        (bodies.len(), &bodies[0]["temperature"]),
        (1, &Value::from(0.5))
    );
}

#[test]
fn what_a_servers_sampler_does_otherwise_stands_in_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let (json, export) = (folder.path().join("run.json"), folder.path().join("run"));
    let server = StandIn::start(Kind::OpenAi);
    let mut words = vec!["generate", "--server", &server.address, "--server-sampler"];
    words.extend(["--prompt", PROMPT, "--pane", "top-p 0.9, temp 3"]);
    words.extend(["--max-tokens", "3", "--json", json.to_str().unwrap()]);
    words.extend(["--export", export.to_str().unwrap()]);
    let output = quartet(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let expected = ["temperature 3 (used: 2)", "temperature after top-p"];
    assert_eq!(run["panes"][0]["not_applied"], serde_json::json!(expected));
    let words = format!("not applied: {}", expected.join(", "));
    let printed = text(&output.stdout);
    assert!(printed.contains(&words), "{printed}");
    for extension in ["md", "html"] {
        let files = std::fs::read_dir(&export).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let mut of_format = paths.filter(|path| path.extension().is_some_and(|it| it == extension));
        let written = std::fs::read_to_string(of_format.next().unwrap()).unwrap();
        assert!(written.contains(&words), "{extension}: {written}");
    }
}

#[test]
fn a_lost_connection_keeps_the_text() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 3, Fault::Refused(500, "", ""));
    let output = quartet(&[
        "generate",
        "--server",
        &server.address,
        "--prompt",
        PROMPT,
        "--pane",
        "greedy",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let host = server.address.trim_start_matches("http://");
    let error = text(&output.stderr);
    assert!(
        error.contains(&format!("error: {host} returned a server error (500)")),
        "{error}"
    );
    assert!(
        text(&output.stdout).contains("3 tokens]"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    for (words, sentence) in [
        (
            &["--server", "a", "--model", "b"][..],
            "cannot be used with",
        ),
        (
            &["--server-sampler"],
            "--server-sampler needs --server ADDRESS or --pane-server PANE=ADDRESS",
        ),
        (
            &["--server-sampler", "--model", "b"],
            "--server-sampler needs --server ADDRESS",
        ),
        (&["--pane-server", "B"], "such as B=http://127.0.0.1:8080"),
        (
            &["--pane-server", "J=http://127.0.0.1:1"],
            "--pane-server names pane J, but the panes of this run are A to D",
        ),
        (
            &["--pane-server", "b=http://a", "--pane-server", "B=http://b"],
            "--pane-server names pane B twice",
        ),
        (
            &["--pane-server", "B=http://a", "--pane-model", "B=built-in"],
            "pane B has a model and a server",
        ),
        (
            &["--server-kind", "vllm"],
            "--server-kind needs --server ADDRESS",
        ),
        (
            &["--server-timeout", "9"],
            "--server-timeout needs --server ADDRESS",
        ),
        (
            &["--server", "a", "--server-kind", "tgi"],
            "is not a kind of server",
        ),
        (
            &["--server", "a", "--server-key-env", "TEST_EMPTY_KEY"],
            "holds no key",
        ),
    ] {
        let words = [&["generate", "--prompt", "Once"], words].concat();
        let output = quartet(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let error = text(&output.stderr);
        assert!(error.contains(sentence), "{error}");
    }
    let output = quartet(&["server", "http://user:sk-very-secret@127.0.0.1"]);
    let error = text(&output.stderr);
    assert!(
        error.contains("leave the key out of the address"),
        "{error}"
    );
    assert!(!error.contains("secret"));
}

#[test]
fn a_server_is_described() {
    let server = StandIn::start(Kind::Llama);
    let output = quartet(&["server", &server.address]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let host = server.address.trim_start_matches("http://");
    let expected = format!(
        "Server       llama-server b1 at {host}\n\
         Model        toy F32\n\
         Vocabulary   30 tokens\n\
         Context      64 tokens\n\
         Per token    30 log-probabilities, with token ids\n\
         Texts        4 at the same time\n\
         Chat         renders messages; as ChatML if the model has no template\n"
    );
    let printed = text(&output.stdout);
    assert!(printed.starts_with(&expected), "{printed}");
}
