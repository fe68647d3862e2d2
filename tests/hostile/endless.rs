//! Inputs that never end, and numbers that are too large: each is refused at once, without filling
//! the memory.

use std::process::{Command, Output, Stdio};

/// Runs the program with at most this much address space, in kilobytes, and endless standard input.
fn with_limit(arguments: &[&str]) -> Output {
    const N_KILOBYTES: &str = "3000000";
    let zero = std::fs::File::open("/dev/zero").unwrap();
    Command::new("bash")
        .args([
            "-c",
            "ulimit -v \"$0\"; exec timeout 60 \"$@\"",
            N_KILOBYTES,
        ])
        .arg(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .stdin(Stdio::from(zero))
        .output()
        .unwrap()
}

/// Runs the program, which must say one of these reasons.
fn assert_refused(arguments: &[&str], reasons: &[&str]) {
    let output = with_limit(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_said = reasons.iter().any(|reason| error.contains(reason));
    assert!(is_said, "{arguments:?}: {error}");
    assert!(
        !error.contains("memory allocation"),
        "{arguments:?}: {error}"
    );
    let code = output.status.code();
    assert!(
        matches!(code, Some(1 | 2)),
        "{arguments:?}: {code:?} {error}"
    );
}

#[test]
fn every_text_input_has_a_limit() {
    const ZERO: &str = "/dev/zero";
    let once = ["--prompt", "Once"];
    let grammar = |kind: &str| format!("grammar {kind} file {ZERO}");
    let (schema, gbnf) = (grammar("schema"), grammar("gbnf"));
    for arguments in [
        &["generate", "--prompt", "-"][..],
        &["score", ZERO],
        &["score", "-"],
        &["detect", ZERO, "--watermark", "green-list 2"],
        &["fit", "--text", ZERO],
        &["compare", "built-in", "built-in", "--text", ZERO],
        &["sample", "--logits", ZERO],
        &["sample", "--logits", "-"],
        &["settings", "--from", ZERO],
        &["settings", "--from", "-"],
        &["sweep", "--prompts", ZERO, "--vary", "temp 0.5 1"],
        &["prompts", ZERO],
        &["why", ZERO, "--token", "1"],
        &["replay", ZERO],
        &["lesson", "check", ZERO],
        &[&["generate"][..], &once, &["--pane", &schema]].concat(),
        &[&["generate"][..], &once, &["--pane", &gbnf]].concat(),
    ] {
        assert_refused(arguments, &["it has more than", "at most"]);
    }
}

#[test]
fn every_large_number_is_refused_at_once() {
    let sweep = ["sweep", "--prompt", "Once", "--vary"];
    let fit = ["fit", "--text", "story.txt", "--vary"];
    for steps in ["18446744073709551615", "1000000000"] {
        let vary = format!("temp 0.1..2/{steps}");
        for command in [&sweep, &fit] {
            assert_refused(&[&command[..], &[&vary]].concat(), &["at most 64 values"]);
        }
    }
    let seeds = [&sweep[..], &["temp 0.5 1", "--seeds", "1000000000"]].concat();
    assert_refused(&seeds, &["1,000,000"]);
    let detect = [
        "detect",
        "w.txt",
        "--watermark",
        "green-list 2",
        "--vocabulary",
    ];
    for size in ["1000000000", "4294967295", "300000000"] {
        assert_refused(&[&detect[..], &[size]].concat(), &["4,000,000"]);
    }
}
