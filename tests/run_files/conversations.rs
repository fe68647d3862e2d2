//! Conversations from the command line: each pane answers replies after its own answers, and the file
//! holds, replays and exports every turn.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quartet::analysis::messages_after;
use quartet::export::json;
use quartet::generation::{ChatSettings, ChatTools, Generation};
use quartet::interop::Messages;
use serde_json::{Value, json};

use crate::hub::tiny_model;
use crate::run_files::{file, schema};

/// Writes the words of a message apart, because the tokenizer of the model knows only whole words.
const TEMPLATE: &str = "{{ bos_token }}{% for message in messages %}\
    {{ ' w7' if message.role == 'assistant' else ' w6' }}\
    {%- for word in message.content.split('w') %}{% if word.strip() %} w{{ word.strip() }}{% endif %}\
    {%- endfor %}{% endfor %}{% if add_generation_prompt %} w7{% endif %}";

/// No pane writes a special token, and the coins of both differ.
const PANES: [&str; 4] = [
    "--pane",
    "bias 3 0 ban 0 1 2, temp 0.9, seed 5",
    "--pane",
    "bias 3 0 ban 0 1 2, top-k 20, seed 6",
];

/// Writes a model of a few words that has a chat template and reads at most 64 tokens.
fn write_model(folder: &Path) {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::write(folder.join(name), tiny_model::file(name)).unwrap();
    }
    let config = json!({"bos_token": "<s>", "eos_token": "</s>", "chat_template": TEMPLATE});
    fs::write(folder.join("tokenizer_config.json"), config.to_string()).unwrap();
}

fn quartet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(said).unwrap()
}

/// A folder with the model, and the paths in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        let model = place.path("model");
        fs::create_dir(&model).unwrap();
        write_model(Path::new(&model));
        place
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs `quartet generate` with the model, at most four tokens per answer.
    fn generate(&self, arguments: &[&str]) -> Output {
        let model = self.path("model");
        let begin = ["generate", "--model", &model, "--max-tokens", "4"];
        quartet(&[&begin[..], arguments].concat())
    }

    /// Generates three turns in two panes, and writes the run file.
    fn converse(&self, more: &[&str]) -> Output {
        let file = self.path("run.json");
        let words = ["--chat", "--prompt", "w10 w11", "--json", &file];
        let replies = ["--reply", "w12", "--reply", "w13 w14 w15"];
        self.generate(&[&words[..], &replies, &PANES, more].concat())
    }

    fn texts(&self, name: &str) -> Vec<Generation> {
        json::parse(&fs::read(self.path(name)).unwrap()).unwrap()
    }
}

#[test]
fn each_pane_answers_replies_after_its_own_answers() {
    let place = Place::new();
    let output = place.converse(&[]);
    assert!(output.status.success(), "{}", said(&output));
    let schema: Value = serde_json::from_slice(&file("assets/schema/run-file-2.json")).unwrap();
    let written: Value =
        serde_json::from_slice(&fs::read(place.path("run.json")).unwrap()).unwrap();
    assert_eq!(schema::check(&schema, &written), Ok(()));
    assert_eq!(written["turns"].as_array().unwrap().len(), 4);
    let texts = place.texts("run.json");
    for text in &texts {
        let turns = text.turns();
        let messages: Vec<&str> = turns.iter().map(|turn| &*turn.prompt.text).collect();
        assert_eq!(messages, ["w10 w11", "w12", "w13 w14 w15"]);
        for turn in &turns[1..] {
            let before = turn.previous_turn.as_deref().unwrap();
            let history = &turn.prompt.chat.as_ref().unwrap().settings.history;
            assert_eq!(*history, messages_after(before));
        }
    }
    assert_ne!(texts[0].text(), texts[1].text(), "the histories differ");
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let at = |words: &str| {
        printed
            .find(words)
            .unwrap_or_else(|| panic!("{words} in {printed}"))
    };
    assert!(at("A · ") < at("Turn 1: w10 w11") && at("Turn 3: w13") < at("B · "));
    assert_eq!(printed.matches("Turn 2: w12\n").count(), 2);

    let (run, model) = (place.path("run.json"), place.path("model"));
    let output = quartet(&["replay", &run, "--model", &model]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for words in ["Same tokens, bit-identical numbers.", "\nTurn 2 of B "] {
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    let output = quartet(&["replay", &run, "--model", &model, "--json"]);
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let panes = verdict["panes"].as_array().unwrap();
    let found: Vec<_> = panes
        .iter()
        .map(|pane| {
            (
                pane["pane"].as_str().unwrap(),
                pane["turn"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [("A", 3), ("B", 3), ("A", 1), ("A", 2), ("B", 1), ("B", 2)];
    assert_eq!(found, expected);
    assert_eq!(verdict["n_tokens"], 24);
}

#[test]
fn a_turn_is_the_same_as_the_conversation_given_as_messages() {
    let place = Place::new();
    assert!(place.converse(&[]).status.success());
    for (pane, last) in PANES.chunks(2).zip(place.texts("run.json")) {
        for turn in last.turns() {
            let chat = turn.prompt.chat.as_ref().unwrap();
            let messages = Messages {
                system: None,
                history: chat.settings.history.clone(),
                last: Some(turn.prompt.text.clone()),
                tools: ChatTools::default(),
            };
            let (file, given) = (place.path("messages.json"), place.path("given.json"));
            fs::write(&file, messages.to_json()).unwrap();
            let paths = ["--messages", &file, "--json", &given];
            let output = place.generate(&[&paths[..], pane].concat());
            assert!(output.status.success(), "{}", said(&output));
            let given = place.texts("given.json").remove(0);
            assert_eq!(given.prompt.tokens, turn.prompt.tokens);
            let numbers = |text: &Generation| {
                let steps = text.steps.iter();
                steps
                    .map(|step| (step.token, step.trace.clone(), step.logits_hash))
                    .collect::<Vec<_>>()
            };
            assert_eq!(numbers(&given), numbers(turn));
        }
        let n_read = last.prompt.n_prefilled;
        assert!(n_read < last.prompt.tokens.len(), "the cache is reused");
    }
}

#[test]
fn exported_messages_go_on_where_they_ended() {
    let place = Place::new();
    let folder = place.path("export");
    let output = place.converse(&["--export", &folder]);
    assert!(output.status.success(), "{}", said(&output));
    let read = |name: &str| fs::read_to_string(Path::new(&folder).join(name)).unwrap();
    let lines = read("run.messages.jsonl");
    assert_eq!(lines.lines().count(), 2);
    let first = lines.lines().next().unwrap();
    let messages = Messages::parse(first).unwrap();
    let texts = place.texts("run.json");
    assert_eq!(messages.history, messages_after(&texts[0]));
    assert!(read("run.csv").starts_with("run,model,pane,name,settings,seed,turn,step,"));
    assert_eq!(read("run.jsonl").matches("\"turn\":2,").count(), 8);
    for name in ["run.md", "run.txt", "run.html"] {
        let page = read(name);
        for turn in texts.iter().flat_map(Generation::turns) {
            assert!(page.contains(&turn.prompt.text), "{name}");
        }
        assert!(page.contains("urn 3"), "{name}");
    }

    let file = place.path("messages.jsonl");
    fs::write(&file, &lines).unwrap();
    let output = place.generate(&["--messages", &file, "--reply", "w20"]);
    assert!(
        said(&output).contains("it holds 2 chats"),
        "{}",
        said(&output)
    );
    fs::write(&file, first).unwrap();
    let output = place.generate(&["--messages", &file]);
    assert!(said(&output).contains("--reply TEXT"), "{}", said(&output));
    let next = place.path("next.json");
    let arguments = ["--messages", &file, "--reply", "w20", "--json", &next];
    let output = place.generate(&[&arguments[..], &PANES].concat());
    assert!(output.status.success(), "{}", said(&output));
    let chat = place.texts("next.json")[0].prompt.chat.clone().unwrap();
    let expected = ChatSettings {
        history: messages.history,
        ..ChatSettings::default()
    };
    assert_eq!(chat.settings, expected);
}

#[test]
fn a_pane_whose_context_is_full_stops_with_a_sentence_that_names_it() {
    let place = Place::new();
    let file = place.path("run.json");
    let long = ["w20"; 24].join(" ");
    let words = ["--chat", "--prompt", "w10", "--json", &file];
    let replies = [
        "--reply", "w11", "--reply", &long, "--reply", &long, "--reply", &long,
    ];
    let output = place.generate(&[&words[..], &replies, &PANES].concat());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let said = String::from_utf8(output.stderr).unwrap();
    for letter in ["A", "B"] {
        let start = format!("error: Pane {letter} (");
        let line = said.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(
            line.contains("stops after turn 3: the prompt has"),
            "{line}"
        );
    }
    for text in place.texts("run.json") {
        assert_eq!(text.n_turns(), 3);
        assert!(!text.steps.is_empty());
    }
    let output = quartet(&["generate", "--prompt", "Once", "--reply", "Hi"]);
    assert_eq!(output.status.code(), Some(2), "replies need a chat");
}

#[test]
fn the_answers_of_a_conversation_are_scored_as_they_were_written() {
    let place = Place::new();
    let guided = [
        "--pane",
        "bias 3 0 ban 0 1 2, temp 0.9, guide 1.5 against \"w20\", seed 7",
        "--pane",
        "bias 3 0 ban 0 1 2, temp 0.9, guide dola against layers 1, seed 8",
    ];
    assert!(place.converse(&guided).status.success());
    let (model, file, json) = (
        place.path("model"),
        place.path("messages.json"),
        place.path("scored.json"),
    );
    let score = |more: &[&str]| {
        let begin = ["score", "--model", &model, "--messages", &file];
        quartet(&[&begin[..], more].concat())
    };
    let panes = [&PANES[..], &guided].concat();
    for (pane, written) in panes.chunks(2).zip(place.texts("run.json")) {
        let messages = Messages {
            history: messages_after(&written),
            ..Messages::default()
        };
        fs::write(&file, messages.to_json()).unwrap();
        let output = score(&[pane, &["--json", &json]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let scored = place.texts("scored.json").remove(0);
        assert_eq!(scored.n_turns(), 3);
        for (was, is) in written.turns().into_iter().zip(scored.turns()) {
            assert!(is.is_scored());
            assert_eq!(is.prompt.tokens, was.prompt.tokens);
            let numbers = |text: &Generation| {
                let steps = text.steps.iter();
                steps
                    .map(|step| (step.token, step.logits_hash, step.trace.raw_prob.to_bits()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(numbers(is), numbers(was));
        }
        let n_tokens: usize = written.turns_back().map(|turn| turn.steps.len()).sum();
        let report = score(pane);
        assert!(
            said(&report).starts_with(&format!("{n_tokens} tokens")),
            "{}",
            said(&report)
        );
        let replay = quartet(&["replay", &json, "--model", &model]);
        assert!(replay.status.success(), "{}", said(&replay));
    }
    let assistant = r#"[{"role": "assistant", "content": "w10"}]"#;
    fs::write(&file, assistant).unwrap();
    let refused = score(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("at message 1, user and assistant don’t speak in turn"));
}

#[test]
fn a_run_keeps_thoughts_tools_and_their_results() {
    let place = Place::new();
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let request = json!({
        "messages": [
            {"role": "user", "content": "w10"},
            {"role": "assistant", "content": "w11", "reasoning_content": "w12", "tool_calls": [call]},
            {"role": "tool", "content": "w13", "tool_call_id": "c", "name": "f"},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    });
    let (file, run) = (place.path("messages.json"), place.path("run.json"));
    fs::write(&file, request.to_string()).unwrap();
    let output = place.generate(&["--messages", &file, "--json", &run, "--pane", "greedy"]);
    assert!(output.status.success(), "{}", said(&output));
    let schema: Value =
        serde_json::from_slice(&crate::run_files::file("assets/schema/run-file-2.json")).unwrap();
    let written: Value = serde_json::from_slice(&fs::read(&run).unwrap()).unwrap();
    assert_eq!(schema::check(&schema, &written), Ok(()));
    let text = place.texts("run.json").remove(0);
    let settings = &text.prompt.chat.as_ref().unwrap().settings;
    assert_eq!(settings.history[1].thinking.as_deref(), Some("w12"));
    assert_eq!(settings.history[1].tool_calls, [call]);
    let answered = settings.tools.answered_call.as_ref().unwrap();
    assert_eq!(answered.name.as_deref(), Some("f"));
    assert_eq!(settings.tools.definitions.len(), 1);
}
