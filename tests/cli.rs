//! Runs the command line and checks what it prints, writes and returns.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use quartet::ui::run_folder;
use serde_json::Value;

const PROMPT: &str = "Once upon a time there was a little fox who";

fn quartet(arguments: &[&str]) -> Output {
    with_input("", arguments)
}

fn with_input(input: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that reads no input may have exited already.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn run(arguments: &[&str]) -> Value {
    let output = quartet(&[&["generate", "--json", "-"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn tokens(pane: &Value) -> Vec<u64> {
    let steps = pane["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["token"].as_u64().unwrap())
        .collect()
}

#[test]
fn without_panes_the_four_default_panes_are_generated_and_recorded() {
    let run = run(&["--prompt", PROMPT, "--max-tokens", "12"]);
    let panes = run["panes"].as_array().unwrap();
    let names: Vec<&str> = panes
        .iter()
        .map(|pane| pane["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Greedy", "Pure sampling", "Top-k", "Top-p"]);
    for step in panes[0]["steps"].as_array().unwrap() {
        assert_eq!(
            (&step["final_prob"], &step["n_kept"]),
            (&1.0.into(), &1.into())
        );
        // Only the token itself survives.
        assert_eq!(step["survivors"]["n"], 1);
    }
    for pane in panes {
        assert_eq!(pane["finish_reason"], "max_tokens");
        assert_eq!(tokens(pane).len(), 12);
        assert!(pane["settings"].is_object());
        for step in pane["steps"].as_array().unwrap() {
            for field in ["token", "raw_prob", "final_prob", "rank", "entropy_nats"] {
                assert!(!step[field].is_null(), "{field}");
            }
            assert!(!step["head"]["tokens"].as_array().unwrap().is_empty());
        }
    }
}

#[test]
fn a_pane_generates_the_same_tokens_alone_and_in_a_batch() {
    let panes = [
        "greedy",
        "seed 7",
        "temp 0.7, top-p 0.9, seed 7",
        "top-k 40, repeat 1.3",
    ];
    let arguments = ["--prompt", PROMPT, "--max-tokens", "40"];
    let flags: Vec<&str> = panes.iter().flat_map(|pane| ["--pane", pane]).collect();
    let together = run(&[&arguments[..], &flags].concat());
    for (index, pane) in panes.into_iter().enumerate() {
        let alone = run(&[&arguments[..], &["--pane", pane]].concat());
        assert_eq!(
            tokens(&together["panes"][index]),
            tokens(&alone["panes"][0]),
            "{pane}"
        );
    }
    assert_ne!(tokens(&together["panes"][1]), tokens(&together["panes"][2]));
}

#[test]
fn each_text_is_printed_under_its_name_and_the_settings_that_reproduce_it() {
    let arguments = [
        "generate",
        "--prompt",
        PROMPT,
        "--max-tokens",
        "5",
        "--seed",
        "3",
    ];
    let panes = ["--pane", "greedy", "--pane", "temp 0.7, name \"Mild\""];
    let output = quartet(&[&arguments[..], &panes].concat());
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(text.starts_with("A · Greedy (greedy)\n"), "{text}");
    assert!(
        text.contains("[Token limit, 5 tokens]\n\nB · Mild (T 0.7, seed 3)\n"),
        "{text}"
    );
    let progress = stderr(&output);
    assert!(
        progress.contains("Mild: Token limit, 5 tokens\n"),
        "{progress}"
    );
    assert!(!progress.contains('\x1b'), "a log has no control codes");
}

#[test]
fn several_panes_can_be_streamed_line_by_line() {
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "60"];
    let panes = ["--pane", "greedy", "--pane", "seed 3", "--stream"];
    let output = quartet(&[&arguments[..], &panes].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let streamed = stdout(&output);
    let of_pane = |letter: &str| -> Vec<&str> {
        let lines = streamed.lines();
        lines.filter_map(|line| line.strip_prefix(letter)).collect()
    };
    let (first, second) = (of_pane("A  "), of_pane("B  "));
    assert_eq!(first.len() + second.len(), streamed.lines().count());
    assert_eq!(first[0], "Greedy (greedy)");
    assert_eq!(second[0], "Pure sampling (sample, seed 3)");
    // The panes take turns, and the lines of each pane form its text.
    assert!(!streamed.starts_with(&format!("A  {}\n", first.join("\nA  "))));
    let alone = stdout(&quartet(&[&arguments[..], &["--pane", "greedy"]].concat()));
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(&first.join(" ")), words(&alone));
}

#[test]
fn the_prompt_can_come_from_standard_input() {
    let arguments = [
        "generate",
        "--prompt",
        "-",
        "--max-tokens",
        "3",
        "--json",
        "-",
    ];
    let output = with_input(&format!("{PROMPT}\n"), &arguments);
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["prompt"]["text"], PROMPT);
}

#[test]
fn a_prompt_of_megabytes_is_refused_before_it_is_tokenized() {
    let output = with_input(&"fox ".repeat(500_000), &["generate", "--prompt", "-"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    let sentence = "the prompt has 2.0 MB, but the model reads at most 384 tokens";
    assert!(said.contains(sentence), "{said}");
}

#[test]
fn stop_strings_and_ignore_eos_work() {
    let stopped = run(&[
        "--prompt", PROMPT, "--pane", "greedy", "--stop", "the", "--stop", "a",
    ]);
    let pane = &stopped["panes"][0];
    assert_eq!(pane["finish_reason"], "stop_string");
    assert!(!pane["text"].as_str().unwrap().contains('a'));

    let unstopped = run(&[
        "--prompt",
        "The end.",
        "--max-tokens",
        "300",
        "--pane",
        "greedy",
        "--ignore-eos",
    ]);
    assert_eq!(tokens(&unstopped["panes"][0]).len(), 300);
}

#[test]
fn files_are_written_to_the_requested_paths() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let export = folder.path().join("new/export");
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "4"];
    let files = [
        "--threads",
        "1",
        "--json",
        json.to_str().unwrap(),
        "--export",
        export.to_str().unwrap(),
    ];
    let output = quartet(&[&arguments[..], &files].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&json), read(&export.join("run.json")));
    let page = read(&export.join("run.md"));
    assert!(page.contains("Pure sampling") && page.contains("(Q8\\_0, CPU, 1 thread, SHA-256 "));
    assert!(read(&export.join("run.csv")).lines().count() > 16);
    // No pane leaves a watermark to plot or answers a message.
    let mut listed = run_folder::possible_contents();
    listed.retain(|(name, _)| !name.starts_with("watermark.") && name != "run.messages.jsonl");
    assert_eq!(std::fs::read_dir(&export).unwrap().count(), listed.len());
    for (name, _) in listed {
        let bytes = std::fs::read(export.join(&name)).unwrap();
        let begins = |start: &[u8]| bytes.starts_with(start);
        match Path::new(&name).extension().and_then(|end| end.to_str()) {
            Some("pdf") => assert!(begins(b"%PDF"), "{name}"),
            Some("svg") => assert!(begins(b"<svg"), "{name}"),
            Some("png") => assert!(begins(b"\x89PNG"), "{name}"),
            _ => assert!(!bytes.is_empty(), "{name}"),
        }
    }
    let xray = read(&export.join("x-ray.svg"));
    assert!(xray.contains(">X-ray<") && xray.contains("Logit"));
    assert!(read(&export.join("texts.svg")).contains(">Pure sampling<"));
    for name in ["texts.svg", "compare.svg", "loop.svg", "run.html", "run.md"] {
        assert!(
            read(&export.join(name)).contains(" UTC"),
            "{name} has a date"
        );
    }
}

#[test]
fn an_export_has_the_width_the_letters_and_the_tables_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "4"];
    let place = [
        "--pane",
        "greedy",
        "--export",
        folder.path().to_str().unwrap(),
    ];
    let style = ["--picture-width", "85mm", "--outline-text", "--excel"];
    let output = quartet(&[&arguments[..], &place, &style].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = std::fs::read_to_string(folder.path().join("texts.svg")).unwrap();
    assert!(
        svg.contains("width=\"321.2") && !svg.contains("<text"),
        "{svg}"
    );
    let table = std::fs::read_to_string(folder.path().join("run.csv")).unwrap();
    assert!(table.starts_with("\u{FEFF}run,"), "{table}");
    assert!(table.trim_end().ends_with('Z'), "{table}");

    let wrong = [&arguments[..], &["--picture-width", "8.5cm"]].concat();
    let output = quartet(&wrong);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("such as 85mm"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_record_is_compressed_if_its_name_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json.gz");
    let name = file.to_str().unwrap();
    let arguments = ["--pane", "greedy", "--max-tokens", "0", "--json", name];
    let output = quartet(&[&["generate", "--prompt", PROMPT], &arguments[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x1f\x8b"));

    let output = quartet(&["why", name, "--token", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "error: pane A has no tokens\n");
}

#[test]
fn more_panes_than_a_plot_can_show_are_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "2"];
    let panes = ["--pane", "sample"].repeat(9);
    let place = ["--export", folder.path().to_str().unwrap()];
    let output = quartet(&[&arguments[..], &panes, &place].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("at most 8 panes, but 9 were given"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let output = quartet(&[&arguments[..], &panes].concat());
    assert_eq!(
        stdout(&output).matches("[Token limit, 2 tokens]").count(),
        9
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_loses_no_text() {
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "4"];
    let output = quartet(&[&arguments[..], &["--json", "/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("[Token limit, 4 tokens]"));
    let said = stderr(&output);
    assert!(
        said.contains("error: ") && said.contains("/dev/full"),
        "{said}"
    );
}

#[test]
fn an_obstructed_export_fails_before_the_model_is_loaded() {
    for name in ["run.json", "speed.png"] {
        let folder = tempfile::tempdir().unwrap();
        let in_the_way = folder.path().join(name);
        std::fs::create_dir(&in_the_way).unwrap();
        let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "4"];
        let place = ["--export", folder.path().to_str().unwrap()];
        let output = quartet(&[&arguments[..], &place].concat());
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stdout(&output), "");
        let (said, path) = (stderr(&output), in_the_way.to_str().unwrap());
        assert!(said.contains("error: ") && said.contains(path), "{said}");
        assert!(!said.contains("Loading the model"), "{said}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn a_wrong_path_fails_before_the_model_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("missing/run.json");
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "in the way").unwrap();
    for (command, flag, path) in [
        (&["generate", "--prompt", PROMPT][..], "--json", &json),
        (
            &["generate", "--prompt", PROMPT],
            "--json",
            &folder.path().to_owned(),
        ),
        (&["generate", "--prompt", PROMPT], "--export", &blocked),
        (&["bench"], "--json", &json),
    ] {
        let path = path.to_str().unwrap();
        let output = quartet(&[command, &[flag, path]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stdout(&output), "");
        let said = stderr(&output);
        assert!(
            said.starts_with("error: could not ") && said.ends_with(&format!("\n{path}\n")),
            "{said}"
        );
    }
    assert_eq!(std::fs::read_to_string(&blocked).unwrap(), "in the way");
}

#[test]
fn a_failed_run_leaves_no_folder_that_it_created() {
    let home = tempfile::tempdir().unwrap();
    for (name, is_new) in [("new", true), ("mine", false)] {
        let folder = home.path().join(name);
        if !is_new {
            std::fs::create_dir(&folder).unwrap();
        }
        let output = quartet(&[
            "generate",
            "--prompt",
            "Once",
            "--model",
            "missing.gguf",
            "--export",
            folder.to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert_eq!(folder.exists(), !is_new, "{name}");
    }
}

#[test]
fn a_failed_run_says_why_and_returns_1_and_keeps_existing_files() {
    let long = "fox ".repeat(2000);
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("run.json");
    std::fs::write(&before, "old text").unwrap();
    let place = ["--export", folder.path().to_str().unwrap()];
    for (arguments, sentence) in [
        (["--prompt", "", "--max-tokens", "4"], "the prompt is empty"),
        (
            ["--prompt", long.as_str(), "--max-tokens", "4"],
            "the model reads",
        ),
        (
            ["--prompt", "Once", "--model", "missing.gguf"],
            "missing.gguf",
        ),
    ] {
        let output = quartet(&[&["generate"], &arguments[..], &place].concat());
        assert_eq!(output.status.code(), Some(1), "{sentence}");
        let said = stderr(&output);
        assert!(
            said.contains("error: ") && said.contains(sentence),
            "{said}"
        );
        assert_eq!(said.matches(sentence).count(), 1, "printed once: {said}");
        assert_eq!(stdout(&output), "");
        assert_eq!(std::fs::read_to_string(&before).unwrap(), "old text");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn chat_fails_for_a_model_without_a_chat_template() {
    let output = quartet(&[
        "generate", "--chat", "--system", "Be kind", "--prompt", "Hi",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let sentence = "this model has no chat template; it can only continue a text";
    let said = stderr(&output);
    assert_eq!(said.matches(sentence).count(), 1, "{said}");
    assert_eq!(stdout(&output), "");
}

#[test]
fn messages_are_read_from_a_file_and_their_mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("messages.json");
    let place = file.to_string_lossy().into_owned();
    let user = r#"{"role": "user", "content": "Hi"}"#;
    for (json, sentence) in [
        (format!("[{user}]"), "this model has no chat template"),
        (format!("[{user}, 7]"), "message 2 has no role"),
        ("[".to_owned(), "it is not JSON: line 1, column 1"),
    ] {
        std::fs::write(&file, json).unwrap();
        let kwargs = r#"{"enable_thinking": false}"#;
        let variables = ["--chat-template-kwargs", kwargs];
        let output = quartet(&[&["generate", "--messages", &place][..], &variables].concat());
        assert_eq!(output.status.code(), Some(1), "{sentence}");
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
    }
    for other in [["--prompt", "Hi"], ["--system", "Be kind"]] {
        let output = quartet(&[&["generate", "--messages", &place][..], &other].concat());
        assert_eq!(output.status.code(), Some(2), "{other:?}");
    }
}

#[test]
fn invalid_arguments_are_pointed_at_and_return_2() {
    let generate = ["generate", "--prompt", "Once"];
    for (arguments, sentence) in [
        (
            vec!["--pane", "top-p 0.9, tmp 3"],
            "top-p 0.9, tmp 3\n           ^^^\n",
        ),
        (vec!["--pane", "top-p 9"], "top-p 9\n      ^\n"),
        (vec!["--max-tokens", "many"], "--max-tokens"),
        (vec!["--nonsense"], "--nonsense"),
        (vec!["--system", "Be kind"], "--chat"),
        (
            vec!["--pane", "greedy", "--pane-model", "Z=built-in"],
            "this run has only pane A\n",
        ),
    ] {
        let output = quartet(&[&generate[..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{sentence}");
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    assert_eq!(
        quartet(&["generate"]).status.code(),
        Some(2),
        "a prompt is required"
    );
}

#[test]
fn the_help_includes_the_pane_grammar() {
    let help = stdout(&quartet(&["generate", "--help"]));
    for word in ["--pane", "top-p 0.9", "seed 7", "greedy"] {
        assert!(help.contains(word), "{word}");
    }
}

const QUICK: [&str; 7] = [
    "bench",
    "--prompt-tokens",
    "8",
    "--max-tokens",
    "4",
    "--rounds",
    "1",
];

fn bench(arguments: &[&str]) -> Output {
    quartet(&[&QUICK[..], arguments].concat())
}

#[test]
fn the_benchmark_measures_each_number_of_panes() {
    let output = bench(&["--panes", "1,3", "--only", "decode", "--json", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format_version"], 2);
    let runs = report["decode"].as_array().unwrap();
    let panes: Vec<_> = runs
        .iter()
        .map(|run| run["panes"].as_u64().unwrap())
        .collect();
    assert_eq!(panes, [1, 3]);
    for run in runs {
        for figure in [
            "each_per_sec",
            "together_per_sec",
            "step_ms",
            "time_against_one",
            "bandwidth_share",
        ] {
            assert!(run[figure].as_f64().unwrap() > 0.0, "{figure}");
        }
        let shares = run["shares"].as_object().unwrap();
        let sum: f64 = shares.values().map(|share| share.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{shares:?}");
    }
    assert!(report["bandwidth"]["bytes_per_sec"].as_f64().unwrap() > 0.0);
    assert!(report["prefill"].is_null() && report["memory"].is_null());
}

#[test]
fn random_weights_are_measured_like_a_file() {
    let lengths = ["--prefill", "16,32", "--context", "16,64"];
    let model = ["--synthetic", "tiny", "--quant", "q4_k_m"];
    let output = bench(
        &[
            &lengths[..],
            &model,
            &["--panes", "2", "--raw", "--json", "-"],
        ]
        .concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["model"]["name"], "Random tiny");
    assert_eq!(report["model"]["file"], "synthetic");
    assert_eq!(report["model"]["quantization"], "Q4_K");
    assert_eq!(report["raw"], true);
    let tokens = |part: &str| -> Vec<u64> {
        let rows = report[part].as_array().unwrap();
        rows.iter()
            .map(|row| row["tokens"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(tokens("prefill"), [16, 32]);
    assert_eq!(tokens("context"), [16, 64]);
    assert_eq!(report["fork"]["tokens"], 504);
    assert!(report["fork"]["ms"].as_f64().unwrap() > 0.0);
    assert!(report["memory"]["ratio"].as_f64().unwrap() > 0.0);
    assert_eq!(report["decode"][0]["time_against_one"], Value::Null);
}

#[test]
fn the_benchmark_table_fits_a_terminal() {
    let output = bench(&["--synthetic", "tiny", "--panes", "1,2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    for title in [
        "Random tiny",
        " s; one round\n",
        "Memory bandwidth: ",
        "Prefill\n",
        "Decode: 4 tokens per pane after a prompt of 8",
        "Time within a step",
        "Step time of one pane by context length",
        "Fork of 504 tokens",
        "Memory: ",
    ] {
        assert!(table.contains(title), "{title}: {table}");
    }
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn an_impossible_benchmark_is_explained() {
    for (arguments, expected) in [
        (
            &["--max-tokens", "100000"][..],
            "exceed this model’s context",
        ),
        (&["--context", "100000"], "100000 tokens exceed the"),
        (
            &["--synthetic", "gpt-5"],
            "[possible values: tiny, smollm2-135m, qwen2.5-0.5b, qwen3-0.6b, llama-3.2-1b]",
        ),
        (
            &["--synthetic", "tiny", "--quant", "q9"],
            "[possible values: q4_0, q4_1,",
        ),
        (
            &["--only", "speed"],
            "prefill, decode, context, fork, branch, futures, strategies, memory",
        ),
    ] {
        let output = quartet(&[&["bench"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let missing = quartet(&["bench", "--model", "no such file.gguf"]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn settings_convert_to_other_tools_and_back() {
    for (tool, expected, notes) in [
        (
            "llama.cpp",
            "--temp 0.7 --top-k 0 --top-p 0.9 --min-p 0 --repeat-penalty 1 --seed 42 --n-predict 200\n",
            "llama.cpp has its own random numbers: seed 42 gives different draws there\n",
        ),
        (
            "transformers",
            "import transformers\n\ntransformers.set_seed(42)\nmodel.generate(\n    **inputs,\n    do_sample=True,\n    \
             temperature=0.7,\n    top_k=0,\n    top_p=0.9,\n    repetition_penalty=1.0,\n    \
             max_new_tokens=200,\n)\n",
            "transformers applies temperature before top-p, here it comes after\n\
             transformers has its own random numbers: seed 42 gives different draws there\n",
        ),
    ] {
        let output = quartet(&["settings", "--pane", "top-p 0.9, temp 0.7", "--to", tool]);
        assert_eq!(stdout(&output), expected);
        assert_eq!(stderr(&output), notes);
    }
    let output = with_input(
        "llama-cli -m model.gguf --top-p 0.9 --top-k 0 --min-p 0 --temp 0.7 -s 7 -n 64 -r User:",
        &["settings", "--from", "-"],
    );
    assert_eq!(
        stdout(&output),
        "top-k 0, top-p 0.9, min-p 0, T 0.7, dialect llama.cpp, seed 7\n"
    );
    assert_eq!(
        stderr(&output),
        "-m does not affect sampling\n\
         Arguments for `quartet generate`: --max-tokens 64 --stop='User:'\n"
    );
}

#[test]
fn invalid_settings_are_explained() {
    for (input, arguments, code, expected) in [
        (
            "--temp hot",
            &["--from", "-"][..],
            1,
            "error: --temp must be a number, not \"hot\"\n",
        ),
        ("", &["--pane", "top-p 0.9"], 2, "--to <TOOL>"),
        (
            "",
            &["--pane", "top-pp", "--to", "ollama"],
            2,
            "did you mean \"top-p\"?",
        ),
        (
            "",
            &["--from", "no/such/file"],
            1,
            "error: could not read the settings: ",
        ),
    ] {
        let output = with_input(input, &[&["settings"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn a_model_is_inspected_without_being_loaded() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/model/quartet-stories-q8_0.gguf"
    );
    let output = quartet(&["inspect", model, "--tokens", "100"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    for words in [
        "Name         quartet-stories-q8_0\n",
        "Weights      7.9 million, stored as Q8_0\n",
        "Context      384 tokens\n",
        "for each of 4 panes of 100 tokens\n",
    ] {
        assert!(table.contains(words), "{table}");
    }
    let output = quartet(&["inspect", model, "--tokens", "100", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["name"], "quartet-stories-q8_0");
    assert_eq!(
        (&json["n_context"], &json["memory"]["n_panes"]),
        (&384.into(), &4.into())
    );
}

#[test]
fn shells_get_completions_and_man_pages() {
    let script = quartet(&["completions", "bash"]);
    assert!(
        stdout(&script).contains("quartet__subcmd__prompts"),
        "{}",
        stdout(&script)
    );
    let page = quartet(&["man", "prompts"]);
    assert!(
        stdout(&page).contains("\\-\\-template"),
        "{}",
        stdout(&page)
    );
    let unknown = quartet(&["man", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("no command \"nothing\""),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn recommended_models_are_listed_as_json() {
    let output = quartet(&["search", "--json"]);
    let lines = stdout(&output);
    assert!(lines.lines().count() >= 2, "{lines}");
    for line in lines.lines() {
        let model: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            model["repository"].as_str().unwrap().contains('/'),
            "{line}"
        );
        assert!(model["n_bytes"].as_u64().unwrap() > 1_000_000, "{line}");
    }
}

/// Checks that both commands fail with the same message.
fn assert_unusable(model: &Path, expected: &str) {
    let model = model.to_str().unwrap();
    let inspected = quartet(&["inspect", model]);
    assert_eq!(inspected.status.code(), Some(1), "{}", stdout(&inspected));
    assert!(
        stderr(&inspected).contains(expected),
        "{}",
        stderr(&inspected)
    );
    let generated = quartet(&["generate", "--model", model, "--prompt", "Once"]);
    assert!(
        stderr(&generated).ends_with(&stderr(&inspected)),
        "{}",
        stderr(&generated)
    );
}

#[test]
fn a_model_that_cannot_generate_is_not_inspected_as_if_it_could() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = root.join("tests/architectures/fixtures");
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &Path, name: &str| {
        std::fs::copy(from, folder.path().join(name)).unwrap();
    };
    copy(
        &fixtures.join("llama/model.safetensors"),
        "model.safetensors",
    );
    copy(&fixtures.join("llama/config.json"), "config.json");
    copy(&root.join("assets/model/tokenizer.json"), "tokenizer.json");
    assert_unusable(folder.path(), "tokens, but the model");

    // A folder whose configuration asks for one more layer than the weights have.
    copy(&fixtures.join("tokenizer.json"), "tokenizer.json");
    let config = std::fs::read(fixtures.join("llama/config.json")).unwrap();
    let mut config: Value = serde_json::from_slice(&config).unwrap();
    let n_layers = config["num_hidden_layers"].as_u64().unwrap();
    config["num_hidden_layers"] = (n_layers + 1).into();
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let missing = format!("tensor model.layers.{n_layers}.");
    assert_unusable(folder.path(), &missing);
}

#[test]
fn a_file_that_is_no_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, "{}").unwrap();
    let expected = format!(
        "this is neither a GGUF file nor a model folder\n{}\n",
        path.display()
    );
    assert_unusable(&path, &expected);
}

#[test]
fn logits_without_a_token_are_explained() {
    for (logits, sentence) in [
        ("[]", "error: row 1: there are no logits\n"),
        ("nan, 1", "error: row 1: 1 logit is NaN or +∞\n"),
        ("[null, null]", "error: row 1: every logit is −∞\n"),
    ] {
        let output = quartet(&["sample", "--logits", logits, "--pane", "greedy"]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stderr(&output), sentence);
    }
}

#[test]
fn a_broken_model_prints_one_error_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.gguf");
    // No tensors, and one metadata entry: an alignment of zero.
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(17_u64.to_le_bytes());
    bytes.extend(b"general.alignment\x04\0\0\0\0\0\0\0");
    std::fs::write(&path, bytes).unwrap();
    let output = quartet(&["inspect", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let expected = format!(
        "error: The model’s weights could not be understood: \
         general.alignment must be a power of two, such as 32\n{}\n",
        path.display()
    );
    assert_eq!(stderr(&output), expected);
}

#[test]
fn an_unavailable_device_is_not_replaced_by_another() {
    let arguments = ["generate", "--prompt", "Once", "--max-tokens", "2"];
    let run_on = |device| quartet(&[&arguments[..], &["--device", device]].concat());
    assert!(run_on("cpu").status.success());
    for (device, sentence) in [
        ("cuda:99", "CUDA 99 is not available, only CPU"),
        ("tpu", "cuda:1"),
    ] {
        let refused = run_on(device);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(sentence), "{}", stderr(&refused));
    }
}

#[test]
fn a_reduced_precision_cache_is_named_in_the_record() {
    let arguments = ["--prompt", "Once upon a time", "--max-tokens", "8"];
    for (cache, device) in [
        ("f16", "\"CPU with an f16 cache\""),
        ("q8", "\"CPU with a q8 cache\""),
    ] {
        let kept = run(&[&arguments[..], &["--cache", cache]].concat());
        assert!(kept.to_string().contains(device), "{kept}");
    }
    let refused = quartet(&["generate", "--prompt", "Once", "--cache", "f8"]);
    assert!(stderr(&refused).contains("f32, f16, q8"));
}

#[test]
fn inputs_of_24_and_8_bits_are_named_in_the_record_and_16_are_the_default() {
    let arguments = ["--prompt", PROMPT, "--max-tokens", "1"];
    let device =
        |inputs: &[&str]| run(&[&arguments[..], inputs].concat())["model"]["device"].clone();
    assert_eq!(device(&[]), "CPU");
    assert_eq!(device(&["--inputs", "16"]), "CPU");
    assert_eq!(device(&["--inputs", "24"]), "CPU with 24-bit inputs");
    assert_eq!(device(&["--inputs", "8"]), "CPU with 8-bit inputs");
    let both = ["--inputs", "8", "--cache", "f16"];
    assert_eq!(device(&both), "CPU with an f16 cache and 8-bit inputs");
    let refused = quartet(&["generate", "--prompt", "Once", "--inputs", "4"]);
    assert!(stderr(&refused).contains("24, 16, 8"));
}

#[test]
fn probabilities_are_compared_with_those_of_the_dequantized_weights() {
    let arguments = ["generate", "--prompt", PROMPT, "--max-tokens", "12"];
    let greedy = ["--pane", "greedy", "--compare", "exact"];
    let output = quartet(&[&arguments[..], &greedy].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let row = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.trim().starts_with(name));
        let (_, figures) = line.unwrap().split_once("   ").unwrap();
        figures.split_whitespace().map(str::to_owned).collect()
    };
    let largest = |name: &str| row(name)[0].parse::<f64>().unwrap();
    assert!(
        text.contains("in nats, compared with f32 at 12 tokens"),
        "{text}"
    );
    let default = largest("16-bit inputs, an f32 cache, ");
    assert!(default < 0.005, "{text}");
    assert_eq!(row("16-bit inputs, an f32 cache, ")[2], "none");
    assert!(largest("… 8-bit inputs") > 10.0 * default, "{text}");
    assert!(10.0 * largest("… 24-bit inputs") < default, "{text}");
    for name in ["… an f16 cache", "… a q8 cache"] {
        assert!(largest(name) > default, "{text}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_tokens() {
    let written = |threads: &[&str]| {
        let arguments = ["--prompt", PROMPT, "--max-tokens", "8", "--pane", "greedy"];
        let run = run(&[&arguments, threads].concat());
        (tokens(&run["panes"][0]), run["model"]["n_threads"].clone())
    };
    let (alone, usual) = (written(&["--threads", "1"]), written(&[]));
    assert_eq!(alone.0, usual.0);
    assert_eq!(alone.1, 1);
    assert!(usual.1.as_u64().unwrap() >= 1);
    let refused = quartet(&["bench", "--threads", "0"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(
        said.contains("--threads") && said.contains("at least 1"),
        "{said}"
    );
}

#[test]
fn every_count_has_a_limit() {
    let generate = ["generate", "--prompt", "Once", "--max-tokens"];
    let sweep = ["sweep", "--prompt", "Once", "--vary", "temp 1"];
    let sweep = |option| [&sweep[..], &[option]].concat();
    let server = |option| {
        vec![
            "generate",
            "--prompt",
            "Once",
            "--server",
            "localhost",
            option,
        ]
    };
    let convert = [
        "settings",
        "--pane",
        "greedy",
        "--to",
        "ollama",
        "--max-tokens",
    ];
    let compare = ["compare", "built-in", "built-in", "--text", "-", "--first"];
    let sample = ["sample", "--logits", "3,2"];
    let sample = |option| [&sample[..], &[option]].concat();
    for (arguments, most) in [
        (generate.to_vec(), "20,000,000"),
        (convert.to_vec(), "20,000,000"),
        (compare.to_vec(), "20,000,000"),
        (vec!["score", "-", "--first"], "20,000,000"),
        (vec!["cache", "--max-tokens"], "20,000,000"),
        (vec!["inspect", "model.gguf", "--tokens"], "20,000,000"),
        (vec!["inspect", "model.gguf", "--panes"], "1,000"),
        (sweep("--max-tokens"), "20,000,000"),
        (sweep("--seeds"), "1,000,000"),
        (sweep("--width"), "4,096"),
        (sample("--draws"), "100,000,000"),
        (sample("--prompt-tokens"), "20,000,000"),
        (server("--server-probs"), "4,000,000"),
        (server("--server-timeout"), "86,400"),
        (
            vec![
                "detect",
                "-",
                "--watermark",
                "gumbel-mark 1",
                "--vocabulary",
            ],
            "4,000,000",
        ),
        (vec!["search", "--limit"], "1,000"),
        (vec!["bench", "--panes"], "64"),
        (vec!["bench", "--prompt-tokens"], "20,000,000"),
        (vec!["bench", "--max-tokens"], "20,000,000"),
        (vec!["bench", "--prefill"], "20,000,000"),
        (vec!["bench", "--context"], "20,000,000"),
        (vec!["bench", "--rounds"], "10,000"),
    ] {
        let output = quartet(&[&arguments[..], &["4294967295"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = stderr(&output);
        let option = arguments.last().unwrap();
        let reason = format!(" to {most}\n");
        assert!(said.contains(option) && said.contains(&reason), "{said}");
    }
}

#[test]
fn a_number_of_tokens_has_the_same_name_in_every_command_that_writes() {
    let help = |command: &str| stdout(&quartet(&[command, "--help"]));
    for command in ["bench", "cache", "generate", "prompts", "settings", "sweep"] {
        let help = help(command);
        assert!(help.contains("--max-tokens <N>"), "{command}: {help}");
        assert!(!help.contains("--tokens"), "{command}: {help}");
    }
    assert!(help("detect").contains("--scores") && help("sample").contains("--names <NAMES>"));
    // The names of earlier versions work where they were documented.
    let (prompt, vary) = (["--prompt", PROMPT], ["--vary", "temp 0.5 1"]);
    for arguments in [
        [&["generate", "--tokens", "2"][..], &prompt].concat(),
        [
            &["sweep", "--tokens", "2", "--seeds", "1"][..],
            &prompt,
            &vary,
        ]
        .concat(),
        vec!["cache", "--tokens", "4"],
        vec![
            "sample", "--logits", "2, 1", "--tokens", "the, a", "--pane", "greedy",
        ],
    ] {
        let output = quartet(&arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_watermark_is_described_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text.txt");
    let pane = "gumbel-mark 42 window 4";
    let written = run(&["--prompt", PROMPT, "--pane", pane, "--max-tokens", "60"]);
    let story = written["panes"][0]["text"].as_str().unwrap();
    std::fs::write(&file, story).unwrap();
    let detect = |options: &[&str]| {
        let file = file.to_str().unwrap();
        let arguments = [&["detect", file, "--watermark", pane], options].concat();
        let output = quartet(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let found: Value = serde_json::from_str(&detect(&["--json"])).unwrap();
    assert_eq!(found["looked_for"], "Gumbel watermark with key 42");
    assert_eq!(found["verdict"], "found");
    assert!(found["p_value"].as_f64().unwrap() < 0.001);
    assert!(found["score"].as_f64() > found["expected_score"].as_f64());
    assert_eq!(found.get("tokens"), None);
    let scored: Value = serde_json::from_str(&detect(&["--json", "--scores"])).unwrap();
    let tokens = scored["tokens"].as_array().unwrap();
    assert_eq!(tokens.len() as u64, found["n_tokens"].as_u64().unwrap());
    let pieces: Vec<&str> = tokens
        .iter()
        .map(|token| token["piece"].as_str().unwrap())
        .collect();
    assert_eq!(pieces.concat().trim(), story.trim());
    let scores = tokens.iter().filter_map(|token| token["score"].as_f64());
    let sum: f64 = scores.sum();
    assert!((sum - found["score"].as_f64().unwrap()).abs() < 1e-6);
    std::fs::write(&file, "").unwrap();
    let empty: Value = serde_json::from_str(&detect(&["--json"])).unwrap();
    assert_eq!(
        (&empty["verdict"], &empty["z_score"]),
        (&"too_short".into(), &Value::Null)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_display_the_error_says_so_and_names_no_library() {
    for (variable, value, expected) in [
        (
            "DISPLAY",
            "",
            "there is no display; set DISPLAY or WAYLAND_DISPLAY",
        ),
        (
            "DISPLAY",
            ":4242",
            "the display can’t be used (DISPLAY=:4242)",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
        command
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET");
        let output = command.env(variable, value).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let error = stderr(&output);
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("see quartet --help"), "{error}");
        for word in ["winit", "EventLoop", "os error", ".rs", "X11"] {
            assert!(!error.contains(word), "{error}");
        }
    }
}

#[test]
fn biases_and_bans_without_effect_are_reported() {
    let sample = ["sample", "--logits", "3,2,1,0", "--pane"];
    let repeating = ["sample", "--logits", "3,2", "--history", "0 1", "--pane"];
    let generate = [
        "generate",
        "--prompt",
        "Once",
        "--max-tokens",
        "1",
        "--pane",
    ];
    for (command, pane, sentence) in [
        (
            &sample[..],
            "top-k 1, ban 0",
            "token 0 was sampled although",
        ),
        (&sample, "bias 4 100", "there is no token 4 to bias or ban"),
        (
            &repeating,
            "no-repeat 1",
            "a token repeats a sequence although no-repeat forbids it",
        ),
        (&generate, "ban 99999", "there is no token 99999 to bias"),
        (&generate, "bias 6144 100", "the last token is 6143\n"),
    ] {
        let output = quartet(&[command, &[pane]].concat());
        assert!(output.status.success());
        let said = stderr(&output);
        assert_eq!(said.matches(sentence).count(), 1, "{said}");
    }
    let output = quartet(&[&sample[..], &["ban 0"]].concat());
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_bias_absorbed_by_huge_logits_keeps_the_probabilities_normalized() {
    let output = quartet(&[
        "sample",
        "--logits",
        "1,1,1,1",
        "--pane",
        "temp 1e-20, bias 0 1",
        "--json",
        "-",
    ]);
    let answers: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = answers[0]["kept"].as_array().unwrap();
    let sum: f64 = kept.iter().map(|kept| kept["prob"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn a_malformed_logits_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("row.json");
    for (text, sentence) in [
        ("{}", "‘logits’ is missing"),
        ("1,2,3", "the scores are not a list of numbers, {"),
        (
            "{\"logits\": [1, 2], \"histroy\": [0]}",
            "‘histroy’ is unknown; known are logits, history, n_prompt",
        ),
        (
            "{\"logits\": [1, -Infinity]}",
            "JSON has no -Infinity: write null or \"-inf\" for a score of −∞",
        ),
        ("[1, NaN]", "JSON has no NaN"),
        (
            "[{\"logits\": [1]}, {\"logits\": [\"x\"]}]",
            "row 2: \"x\" is not a number\n",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let output = quartet(&["sample", "--logits", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains(sentence), "{said}");
        assert!(said.ends_with(&format!("\n{}\n", path.display())), "{said}");
    }
}

#[test]
fn control_characters_in_a_file_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("red.gguf");
    // No tensors, and one metadata entry: an architecture name that colors the terminal.
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend(20_u64.to_le_bytes());
    bytes.extend(b"general.architecture\x08\0\0\0");
    bytes.extend(8_u64.to_le_bytes());
    bytes.extend(b"\x1b[31mRED");
    std::fs::write(&path, bytes).unwrap();
    let output = quartet(&["inspect", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(!said.contains('\x1b'), "{said:?}");
    assert!(said.starts_with("error: "), "{said:?}");
}

#[test]
fn a_token_of_an_exported_run_is_explained_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let arguments = ["--prompt", PROMPT, "--max-tokens", "6", "--json", file];
    let output = quartet(&[&["generate"], &arguments[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));

    let output = quartet(&["why", file, "--pane", "D", "--token", "4"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let words = stdout(&output);
    let lines: Vec<&str> = words.lines().collect();
    assert_eq!(lines[0], "Pane D, token 4 of 6");
    assert!(lines[1].starts_with("Why ‘"), "{words}");
    assert!(lines[2].starts_with("The model ranked it "), "{words}");
    assert!(lines[2].contains("Top-p 0.9 kept "), "{words}");
    assert!(lines[2].contains("The coin 0."), "{words}");
    assert!(lines[3].starts_with("Smallest change: "), "{words}");
    assert!(lines[4].starts_with("The model put ‘"), "{words}");
    assert!(
        lines[4].contains("Rounding with 16-bit inputs and "),
        "{words}"
    );
    assert!(lines[5].contains("A takes ‘"), "{words}");
    let by_name = quartet(&["why", file, "--pane", "Top-p", "--token", "4"]);
    assert_eq!(stdout(&by_name), words);
    let json = quartet(&["why", file, "--pane", "D", "--token", "4", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!((&json["pane"], &json["token"]), (&"D".into(), &4.into()));
    assert_eq!(json["title"], lines[1]);
    assert_eq!(json["story"], lines[2]);

    for (arguments, code, message) in [
        (
            ["why", file, "--pane", "D", "--token", "7"],
            2,
            "between 1 and 6",
        ),
        (
            ["why", file, "--pane", "D", "--token", "0"],
            2,
            "between 1 and 6",
        ),
        (
            ["why", file, "--pane", "E", "--token", "1"],
            2,
            "A (Greedy), B",
        ),
        (
            ["why", "no.json", "--pane", "A", "--token", "1"],
            2,
            "could not read the run",
        ),
    ] {
        let output = quartet(&arguments);
        assert_eq!(output.status.code(), Some(code));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

const AESOP: &str = "A hungry fox saw some fine bunches of grapes hanging from a vine.\n";

#[test]
fn a_text_is_scored_under_several_settings() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("scored.json");
    let export = folder.path().join("export");
    let arguments = [
        "score",
        "-",
        "--pane",
        "sample",
        "--pane",
        "top-k 40",
        "--json",
        json.to_str().unwrap(),
        "--export",
        export.to_str().unwrap(),
    ];
    let output = with_input(AESOP, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("65 bytes · perplexity "), "{said}");
    assert!(lines[1].starts_with("A  sample: All "), "{said}");
    assert!(
        lines[2].ends_with("could not have been generated (cut by top-k 40)"),
        "{said}"
    );
    assert!(!stderr(&output).contains("Prefill"), "{}", stderr(&output));
    let record: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let steps = record["panes"][0]["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["picked"] == "given"));
    assert_eq!(lines.len(), 5 + steps.len());
    let page = std::fs::read_to_string(export.join("run.html")).unwrap();
    assert!(page.contains("perplexity") && !page.contains("=\"http"));
    let rows = std::fs::read_to_string(export.join("run.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 2 * steps.len());
}

#[test]
fn a_text_that_does_not_fit_names_the_option_that_shortens_it() {
    let long = "The fox ran home. ".repeat(200);
    let output = with_input(&long, &["score", "-"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("the model reads at most 384"), "{said}");
    assert!(said.contains("--first 384"), "{said}");
    let output = with_input(&long, &["score", "-", "--first", "384", "--pane", "greedy"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("383 tokens"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn an_unreadable_text_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let score = || quartet(&["score", path.to_str().unwrap()]);
    assert!(stderr(&score()).contains("could not read the text"));
    std::fs::write(&path, [0xFF, 0xFE]).unwrap();
    assert!(stderr(&score()).contains("it is not UTF-8 text"));
    assert_eq!(score().status.code(), Some(1));
}

#[test]
fn a_quiet_command_says_nothing_but_errors() {
    let generate = [
        "generate",
        "--prompt",
        "Once",
        "--pane",
        "greedy",
        "--max-tokens",
        "3",
    ];
    let loud = quartet(&generate);
    assert!(!stderr(&loud).is_empty());
    let output = quartet(&[&generate[..], &["--quiet"]].concat());
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
    assert_eq!(output.stdout, loud.stdout);
    let wrong = quartet(&[
        "generate", "--quiet", "--prompt", "Once", "--pane", "gready",
    ]);
    assert!(stderr(&wrong).starts_with("error: "), "{}", stderr(&wrong));
}
