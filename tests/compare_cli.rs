//! Runs `quartet compare` and checks what it prints, writes and refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const TEXT: &str = "Once upon a time there was a little fox who lived in a wood with his mother. \
                    One day he heard a bird sing.\n";

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.arg("compare").args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn text_in(folder: &Path) -> String {
    let path = folder.join("text.txt");
    fs::write(&path, TEXT).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Copies a tiny checkpoint, whose tokenizer differs from the built-in model's, to a folder.
fn tiny(folder: &Path) -> String {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/architectures/fixtures");
    for (from, name) in [
        ("llama/config.json", "config.json"),
        ("llama/model.safetensors", "model.safetensors"),
        ("tokenizer.json", "tokenizer.json"),
    ] {
        fs::copy(fixtures.join(from), folder.join(name)).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_model_compared_with_itself_differs_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_in(folder.path());
    let models = ["built-in", "built-in", "--text", &text];
    let printed = stdout(&quartet(&models));
    for words in [
        "Both have the same distribution at all ",
        "Under greedy, both pick the same token at all ",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let json = stdout(&quartet(&[&models[..], &["--json", "-"]].concat()));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["kl_nats"]["largest"], 0.0);
    assert_eq!(json["n_flips"], 0);
    let tokens = json["tokens"].as_array().unwrap();
    assert_eq!(json["a"]["n_tokens"], tokens.len());
    for token in tokens {
        assert_eq!(token["kl"], 0.0);
        assert_eq!(token["a"], token["b"]);
        assert_eq!(token["choices"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn rounding_is_compared_with_f32_and_exported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_in(folder.path());
    let export = folder.path().join("out");
    let export = export.to_str().unwrap();
    let settings = ["--pane", "temp 0.7, top-p 0.9", "--export", export];
    let models = [
        "built-in",
        "built-in",
        "--text",
        &text,
        "--a-f32",
        "--b-inputs",
        "8",
    ];
    let printed = stdout(&quartet(&[&models[..], &settings].concat()));
    assert!(printed.contains("A Quartet Stories ("), "{printed}");
    assert!(printed.contains("f32 weights"), "{printed}");
    assert!(printed.contains("8-bit inputs"), "{printed}");
    assert!(
        printed.contains("The tokens with the largest divergence"),
        "{printed}"
    );
    let json = fs::read(Path::new(export).join("comparison.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let largest = json["kl_nats"]["largest"].as_f64().unwrap();
    assert!(largest > 1e-9 && largest < 0.1, "{largest}");
    let table = fs::read_to_string(Path::new(export).join("comparison.csv")).unwrap();
    let n_tokens = json["tokens"].as_array().unwrap().len();
    assert_eq!(table.trim_end().split("\r\n").count(), n_tokens + 1);
    assert!(
        table.contains("choice_b: T 0.7, top-p 0.9, seed "),
        "{table}"
    );
    let picture = fs::read_to_string(Path::new(export).join("comparison.svg")).unwrap();
    assert!(picture.contains(">KL divergence of B from A</text>"));
    assert!(
        fs::metadata(Path::new(export).join("comparison.png"))
            .unwrap()
            .len()
            > 1000
    );
}

#[test]
fn models_with_different_tokenizers_are_compared_by_characters() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_in(folder.path());
    let other = tempfile::tempdir().unwrap();
    let other = tiny(other.path());
    let arguments = [
        "built-in", &other, "--text", &text, "--first", "20", "--csv", "-",
    ];
    let table = stdout(&quartet(&arguments));
    let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
    assert_eq!(
        rows[0],
        "index,text,n_tokens_a,n_tokens_b,bits_a,bits_b,finished_at"
    );
    assert!(rows.len() > 3, "{table}");
    // Both models read the same part of the text.
    let parts = rows[1..].iter().map(|row| row.split(',').nth(1).unwrap());
    let read: String = parts.collect();
    assert!(TEXT.contains(&read.replace('"', "")), "{read}");
    let printed = stdout(&quartet(&arguments[..6]));
    assert!(
        printed.contains("so they are compared by characters"),
        "{printed}"
    );
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_in(folder.path());
    for (arguments, code, words) in [
        (&["built-in", "built-in"][..], 2, "--text"),
        (&["built-in", "none.gguf", "--text", &text], 1, "none.gguf"),
        (
            &["built-in", "built-in", "--text", "none.txt"],
            1,
            "none.txt",
        ),
        (
            &["built-in", "built-in", "--text", &text, "--pane", "beams 4"],
            2,
            "beam search",
        ),
        (
            &[
                "built-in",
                "built-in",
                "--text",
                &text,
                "--pane",
                "grammar json",
            ],
            2,
            "grammar",
        ),
        (
            &["built-in", "built-in", "--text", &text, "--first", "1"],
            1,
            "token",
        ),
        (
            &[
                "built-in",
                "built-in",
                "--text",
                &text,
                "--b-f32",
                "--b-inputs",
                "8",
            ],
            2,
            "--b-inputs",
        ),
    ] {
        let output = quartet(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
