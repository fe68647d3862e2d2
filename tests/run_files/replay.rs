//! Runs that are saved, opened and replayed produce the same tokens.

use std::process::{Command, Output};

use quartet::analysis::contradictions::RunPlace;
use quartet::analysis::replay::{Comparison, TextReplay, replay_of};
use quartet::export::json::{self, Form};
use quartet::generation::{GenerationConfig, GenerationId};
use quartet::worker::{PaneRequest, Request};
use serde_json::{Value, json};

use crate::run_files::texts::{Engine, random_runs};

#[test]
fn a_hundred_random_runs_repeat_alone_and_batched() {
    let written = super::write(&random_runs(100, 10, 0), Form::default());
    let then = json::parse(&written).unwrap();
    for text in &then {
        let continuation = replay_of(text);
        assert_eq!(continuation.repeated, [], "only the prompt is given");
    }
    let mut engine = Engine::start();
    for n_together in [then.len(), 1] {
        // One at a time takes longer, so fewer runs are tried.
        let some = if n_together == 1 { &then[..20] } else { &then };
        let mut now = Vec::new();
        for group in some.chunks(n_together) {
            let request = |(id, text): (u64, &quartet::generation::Generation)| Request::Continue {
                prompt: text.prompt.clone(),
                panes: vec![PaneRequest {
                    id: GenerationId(id),
                    config: text.config.clone(),
                    model: None,
                    continuation: replay_of(text),
                }],
            };
            let requests = (0..).zip(group).map(request).collect();
            let configs: Vec<GenerationConfig> =
                group.iter().map(|text| text.config.clone()).collect();
            now.extend(engine.run(requests, configs));
        }
        let pairs = some.iter().zip(&now);
        let replays: Vec<TextReplay> = pairs.map(|(then, now)| TextReplay::of(then, now)).collect();
        let places = (0..replays.len()).map(RunPlace::Pane);
        assert_eq!(
            Comparison::of(&replays, places),
            Comparison::Identical,
            "{n_together}"
        );
        for replay in replays {
            assert_eq!(replay.n_hashed, replay.gaps.len(), "every step has a hash");
            assert_eq!(replay.contradiction, None);
        }
    }
}

fn quartet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_run_is_replayed_with_inputs_as_precise_as_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let prompt = ["--prompt", "Once upon a time", "--max-tokens", "24"];
    let output = quartet(&[&["generate", "--json", file, "--inputs", "8"], &prompt[..]].concat());
    assert!(output.status.success());
    let output = quartet(&["replay", file]);
    assert_eq!(output.status.code(), Some(0));
    let output = quartet(&["replay", file, "--inputs", "16"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let cause = "Then the inputs were 8-bit, now they are 16-bit.";
    assert!(said.contains(cause), "{said}");
}

#[test]
fn the_exit_status_says_whether_a_run_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let prompt = ["--prompt", "Once upon a time", "--max-tokens", "24"];
    let output = quartet(&[&["generate", "--json", file], &prompt[..]].concat());
    assert!(output.status.success());

    let replay = |arguments: &[&str]| {
        let output = quartet(&[&["replay"], arguments].concat());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = replay(&[file, "--threads", "1"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with(
            "Same tokens, bit-identical numbers. All 96 tokens were chosen by these settings from these \
             coins.\n"
        ),
        "{said}"
    );
    assert!(
        said.contains("largest difference 0, over all logits"),
        "{said}"
    );
    assert!(said.contains("A Greedy, 24 tokens: identical\n"), "{said}");

    let (code, said) = replay(&[file, "--cache", "q8"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("Different tokens: "), "{said}");
    assert!(
        said.contains("Then the cache was f32, now it is q8."),
        "{said}"
    );
    assert!(said.contains("first different at token "), "{said}");

    let bytes = std::fs::read(&path).unwrap();
    let mut run: Value = serde_json::from_slice(&bytes).unwrap();
    let hash = run["model"]["sha256"].clone();
    run["model"]["sha256"] = "0".repeat(64).into();
    std::fs::write(&path, run.to_string()).unwrap();
    let (code, said) = replay(&[file]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.starts_with("Not the model of this file. Same tokens"),
        "{said}"
    );
    let (code, said) = replay(&[file, "--other-model"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("With another model, as asked. Same tokens"),
        "{said}"
    );

    run["model"]["sha256"] = hash;
    run["model"]["file"] = "large.gguf".into();
    std::fs::write(&path, run.to_string()).unwrap();
    let (code, said) = replay(&[file]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("pass its path with --model\nFile: large.gguf"),
        "{said}"
    );
    let (code, said) = replay(&["missing.json"]);
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn the_verdict_as_json_has_every_count_and_what_was_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let panes = ["--pane", "greedy", "--pane", "temp 0.9, seed 7"];
    let prompt = ["--prompt", "Once upon a time", "--max-tokens", "12"];
    let output = quartet(&[&["generate", "--json", file], &panes[..], &prompt].concat());
    assert!(output.status.success());
    let replay = |arguments: &[&str]| -> Value {
        let output = quartet(&[&["replay", file, "--json"], arguments].concat());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let status = said["exit_status"].as_i64().unwrap();
        assert_eq!(output.status.code(), Some(status as i32), "{said}");
        said
    };
    let said = replay(&[]);
    assert_eq!(said["result"], "identical");
    assert_eq!(
        (&said["n_tokens"], &said["n_chosen"]),
        (&24.into(), &24.into())
    );
    let none_given = json!({ "by_hand": 0, "scored": 0, "by_server": 0 });
    assert_eq!(said["n_given"], none_given);
    let same = json!({ "model": true, "second_model": null, "tokenizer": true, "template": true });
    assert_eq!(said["same"], same);
    assert_eq!(said["contradiction"], Value::Null);
    let pane = json!({
        "pane": "A", "name": "Greedy", "n_tokens": 12, "n_chosen": 12, "n_given": none_given,
        "words": "equal", "same_tokens": true, "identical": true, "computed_alike": true,
        "different_tokens": [], "largest_difference": 0.0, "difference_of": "logit",
        "n_whole_rows": 12,
    });
    assert_eq!(said["panes"][0], pane);
    assert_eq!(said["not_covered"], json!(["times", "names", "notes"]));

    let said = replay(&["--cache", "q8"]);
    let pane = &said["panes"][0];
    assert_eq!(
        (&pane["identical"], &pane["computed_alike"]),
        (&false.into(), &false.into())
    );
    assert!(pane["largest_difference"].as_f64().unwrap() > 0.0, "{said}");
    assert_eq!(
        (&pane["different_tokens"][0], &pane["n_whole_rows"]),
        (&1.into(), &0.into())
    );

    let bytes = std::fs::read(&path).unwrap();
    let mut run: Value = serde_json::from_slice(&bytes).unwrap();
    run["model"]["sha256"] = "0".repeat(64).into();
    std::fs::write(&path, run.to_string()).unwrap();
    let said = replay(&[]);
    assert_eq!(
        (&said["exit_status"], &said["result"]),
        (&1.into(), &"identical".into())
    );
    assert_eq!(
        (&said["same"]["model"], &said["same"]["template"]),
        (&false.into(), &true.into())
    );

    run["panes"][1]["steps"][3]["coin"] = 0.5.into();
    std::fs::write(&path, run.to_string()).unwrap();
    let said = replay(&[]);
    assert_eq!(
        (&said["exit_status"], &said["result"]),
        (&3.into(), &"contradiction".into())
    );
    let found = &said["contradiction"];
    assert_eq!(
        (&found["pane"], &found["branch"], &found["token"]),
        (&"B".into(), &Value::Null, &4.into())
    );
    assert_eq!(found["about"], "choice");
    let statement = found["statement"].as_str().unwrap();
    assert!(
        statement.starts_with("its coin is 0.5, seed 7 tosses "),
        "{statement}"
    );
    // No model was loaded.
    assert_eq!(
        (&said["same"]["model"], &said["panes"][1]["identical"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(said["panes"][1]["n_chosen"], 12);
}

/// What is forged, and how.
type Forged<'a> = (&'a str, &'a dyn Fn(&mut Value));

#[test]
fn a_forged_run_is_never_called_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let arguments = [
        "generate",
        "--json",
        file,
        "--prompt",
        "Once upon a time",
        "--max-tokens",
        "12",
        "--pane",
        "temp 0.9, seed 7",
    ];
    assert!(quartet(&arguments).status.success());
    let bytes = std::fs::read(&path).unwrap();
    let run: Value = serde_json::from_slice(&bytes).unwrap();
    let forged: [Forged<'_>; 7] = [
        ("the prompt", &|run| {
            run["prompt"]["text"] = "Our director said".into();
        }),
        ("a word", &|run| {
            let token = run["panes"][0]["steps"][2]["token"].clone();
            let entries = run["vocabulary"].as_array_mut().unwrap();
            let entry = entries.iter_mut().find(|entry| entry["id"] == token);
            entry.unwrap()["piece"] = " thief".into();
        }),
        ("the seed", &|run| {
            run["panes"][0]["settings"]["seed"] = 8.into();
        }),
        ("a coin", &|run| {
            run["panes"][0]["steps"][3]["coin"] = 0.5.into();
        }),
        ("a token", &|run| {
            let other = run["panes"][0]["steps"][1]["token"].clone();
            run["panes"][0]["steps"][4]["token"] = other;
        }),
        ("a rank", &|run| {
            run["panes"][0]["steps"][4]["rank"] = 47.into();
        }),
        ("a hash", &|run| {
            run["panes"][0]["steps"][4]["logits_hash"] = "0".repeat(32).into();
        }),
    ];
    for (name, forge) in forged {
        let mut run = run.clone();
        forge(&mut run);
        std::fs::write(&path, run.to_string()).unwrap();
        let output = quartet(&["replay", file, "--json"]);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = if name == "a hash" { 1 } else { 3 };
        assert_eq!(output.status.code(), Some(expected), "{name}: {said}");
        assert_eq!(said["exit_status"], expected, "{name}");
        let sentence = said.to_string();
        assert!(
            !sentence.contains("bug") && !sentence.contains("hardware"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_run_with_a_second_model_is_replayed_with_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let second = manifest.join("assets/model/quartet-stories-q8_0.gguf");
    let second = second.to_str().unwrap();
    let settings = [
        "--pane",
        "guide 1.5 cutoff 0.1 against model",
        "--pane",
        "greedy",
    ];
    let prompt = ["--prompt", "Once upon a time", "--max-tokens", "8"];
    let generate = ["generate", "--json", file, "--draft-model", second];
    let output = quartet(&[&generate[..], &settings, &prompt].concat());
    assert!(output.status.success(), "{output:?}");
    let bytes = std::fs::read(&path).unwrap();
    let mut run: Value = serde_json::from_slice(&bytes).unwrap();
    let recorded = run["panes"][0]["second_model"].clone();
    assert_eq!(recorded["file"], "quartet-stories-q8_0.gguf");
    assert_eq!(recorded["sha256"].as_str().unwrap().len(), 64);
    assert!(run["panes"][1].get("second_model").is_none());

    let replay = |arguments: &[&str]| {
        let output = quartet(&[&["replay", file], arguments].concat());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = replay(&[]);
    let missing = "pass its path with --draft-model\nFile: quartet-stories-q8_0.gguf\nSHA-256: ";
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(missing), "{said}");
    let (code, said) = replay(&["--draft-model", second]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("Same tokens, bit-identical numbers. All 16 tokens were chosen"),
        "{said}"
    );
    assert!(
        said.contains("largest difference 0, over all logits"),
        "{said}"
    );
    let (code, said) = replay(&["--draft-model", "missing.gguf"]);
    assert_eq!(code, Some(2), "{said}");

    // A file with the same name but other weights.
    run["panes"][0]["second_model"]["sha256"] = "00c0ffee".repeat(8).into();
    std::fs::write(&path, run.to_string()).unwrap();
    let (_, said) = replay(&["--draft-model", second]);
    assert!(said.contains(" 00c0ffee then, "), "{said}");

    // A text that a second model guided names it.
    run["panes"][0]
        .as_object_mut()
        .unwrap()
        .remove("second_model");
    std::fs::write(&path, run.to_string()).unwrap();
    let (code, said) = replay(&["--draft-model", second]);
    assert_eq!(code, Some(3), "{said}");
    let words = "its settings used a second model, and it names none";
    assert!(said.contains(words), "{said}");
}

#[test]
fn a_run_with_a_model_per_pane_is_replayed_with_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = manifest.join("assets/model/quartet-stories-q8_0.gguf");
    let pane_model = format!("b={}", model.display());
    let panes = ["--pane", "greedy", "--pane", "temp 0.7", "--pane", "greedy"];
    let prompt = ["--prompt", "Once upon a time", "--max-tokens", "8"];
    let generate = ["generate", "--json", file, "--pane-model", &pane_model];
    let output = quartet(&[&generate[..], &panes, &prompt].concat());
    assert!(output.status.success(), "{output:?}");
    let run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(run["model"]["file"], "embedded");
    assert_eq!(
        run["panes"][1]["model"]["file"],
        "quartet-stories-q8_0.gguf"
    );
    assert!(run["panes"][2].get("model").is_none(), "the run's model");
    let read = quartet::export::json::parse(run.to_string().as_bytes()).unwrap();
    let files: Vec<&str> = read.iter().map(|text| text.model.file.as_str()).collect();
    assert_eq!(files, ["embedded", "quartet-stories-q8_0.gguf", "embedded"]);
    let output = quartet(&["replay", file]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    // Both models have the same weights, so the built-in model reproduces all texts.
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.starts_with("Same tokens, bit-identical numbers. All 24 tokens were chosen"),
        "{said}"
    );

    // A pane's own model that is not built in must be named.
    let mut run = run;
    run["panes"][1]["model"]["sha256"] = "00c0ffee".repeat(8).into();
    std::fs::write(&path, run.to_string()).unwrap();
    let output = quartet(&["replay", file]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(
            "pass its path with --model\nFile: quartet-stories-q8_0.gguf\nSHA-256: 00c0ffee"
        ),
        "{said}"
    );
    let output = quartet(&["replay", file, "--model", model.to_str().unwrap()]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("Not the model of this file. "), "{said}");
    assert!(said.contains("Model file"), "{said}");

    let wrong = ["generate", "--prompt", "Once", "--pane", "greedy"];
    let output = quartet(&[&wrong[..], &["--pane-model", &pane_model]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("names pane B"), "{said}");
}
