//! Lists of prompts that a server answers, over stand-ins and from the command line.

use std::fs;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quartet::decoding::ChainConfig;
use quartet::generation::{FinishReason, GenerationId, Limits, PieceKind, PromptText, ServedText};
use quartet::worker::{
    JobUpdate, ListPlan, ListReport, ListedPrompt, ListedSettings, SampledBy, ServerEvent,
    ServerRequest, ServerWorker,
};
use serde_json::Value;

use crate::servers::bench::{Bench, PROMPT, config, pane};
use crate::servers::stand_in::{Fault, KINDS, Kind, StandIn};

const ID: GenerationId = GenerationId(7);

fn plan(prompts: &[&str]) -> ListPlan {
    ListPlan {
        prompts: prompts
            .iter()
            .map(|prompt| ListedPrompt {
                text: PromptText::raw(*prompt),
                seed: 42,
            })
            .collect(),
        settings: vec![
            ListedSettings {
                chain: ChainConfig::greedy(),
                n_texts: 1,
            },
            ListedSettings {
                chain: ChainConfig::sampled([]),
                n_texts: 2,
            },
        ],
        limits: Limits {
            max_new_tokens: 4,
            ..Limits::default()
        },
    }
}

/// What a list has reported.
#[derive(Default)]
struct Reported {
    texts: Vec<(usize, ServedText)>,
    done: Vec<usize>,
}

/// Reads the reports of a list until its end. `until` may stop it.
fn read(worker: &mut ServerWorker, until: impl Fn(&Reported) -> bool) -> (Reported, JobUpdate) {
    let started_at = Instant::now();
    let mut reported = Reported::default();
    let mut stopping = false;
    loop {
        assert!(started_at.elapsed() < Duration::from_mins(1), "timed out");
        if until(&reported) && !stopping {
            worker.send(ServerRequest::Stop(ID));
            stopping = true;
        }
        let event = worker.wait_at_most(Duration::from_millis(20));
        let update = match event.expect("the thread has ended") {
            Some(ServerEvent::Job { id, update }) => {
                assert_eq!(id, ID);
                update
            }
            Some(ServerEvent::Panicked { message }) => panic!("{message}"),
            _ => continue,
        };
        let JobUpdate::Reported(report) = update else {
            reported.done.sort_unstable();
            reported
                .texts
                .sort_by_key(|(prompt, text)| (*prompt, text.settings, text.seed));
            return (reported, update);
        };
        match report.take().unwrap() {
            ListReport::Began { model } => assert_eq!(model.name, "toy"),
            ListReport::Noted { .. } => {}
            ListReport::Written { prompt, text } => reported.texts.push((prompt, text)),
            ListReport::Done { prompt, secs } => {
                assert!(secs >= 0.0);
                reported.done.push(prompt);
            }
        }
    }
}

fn begin(server: &StandIn, sampled_by: SampledBy, plan: ListPlan) -> ServerWorker {
    let mut worker = ServerWorker::start(config(server, sampled_by), || {});
    let plan = Arc::new(plan);
    worker.send(ServerRequest::AnswerList { id: ID, plan });
    worker
}

fn words(text: &ServedText) -> String {
    let pieces = text.pieces.iter();
    let visible = pieces.filter(|piece| piece.kind == PieceKind::Text);
    let bytes: Vec<u8> = visible.flat_map(|piece| piece.bytes.clone()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn each_text_of_a_list_is_what_a_pane_writes() {
    for kind in KINDS {
        for sampled_by in [SampledBy::Chain, SampledBy::Server] {
            let server = StandIn::start(kind);
            let mut worker = begin(&server, sampled_by, plan(&[PROMPT, " x y"]));
            let (reported, end) = read(&mut worker, |_| false);
            assert_eq!(end, JobUpdate::Finished, "{kind:?}");
            assert_eq!(reported.done, [0, 1]);
            assert_eq!(reported.texts.len(), 2 * 3);
            let panes = vec![
                pane(0, ChainConfig::greedy(), 4),
                pane(1, ChainConfig::sampled([]), 4),
            ];
            let bench = Bench::write(config(&server, sampled_by), panes);
            for (index, written) in bench.written.iter().enumerate() {
                let (_, text) = &reported.texts[index];
                assert_eq!((text.settings, text.seed), (index, 0));
                assert_eq!(words(text), written.text(), "{kind:?}");
                assert_eq!(Some(&text.finish), written.finish.as_ref());
                assert_eq!(&*text.rendered, PROMPT);
            }
        }
    }
}

#[test]
fn a_prompt_that_fails_leaves_the_others_alone() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/tokenize", 1, Fault::Refused(500, "", ""));
    let mut worker = begin(&server, SampledBy::Server, plan(&[" a", " b", " c", " d"]));
    let (reported, end) = read(&mut worker, |_| false);
    assert_eq!(end, JobUpdate::Finished);
    assert_eq!(reported.done, [0, 1, 2, 3]);
    let failed = reported.texts.iter().filter_map(|(prompt, text)| {
        let FinishReason::Failed { error } = &text.finish else {
            return None;
        };
        assert!(error.contains("server error (500)"), "{error}");
        Some(*prompt)
    });
    let failed: Vec<usize> = failed.collect();
    assert_eq!(failed.len(), 3, "one prompt has three texts");
    assert!(failed.iter().all(|prompt| *prompt == failed[0]));
}

#[test]
fn a_server_that_fails_time_after_time_ends_the_list() {
    let server = StandIn::start(Kind::Llama);
    for _ in 0..40 {
        server.fail("/completion", 0, Fault::Refused(500, "", ""));
    }
    let prompts = [" a", " b", " c", " d", " e", " f", " g", " h"];
    let mut worker = begin(&server, SampledBy::Server, plan(&prompts));
    let (reported, end) = read(&mut worker, |_| false);
    let JobUpdate::Failed { error } = end else {
        panic!("{end:?}");
    };
    assert!(error.starts_with("4 texts in a row have failed"), "{error}");
    assert!(reported.done.len() < prompts.len());
    assert!(server.bodies("/completion").len() <= 8);
}

#[test]
fn a_list_stops_at_once_and_keeps_what_it_has() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/completion", 6, Fault::Silence);
    let mut worker = begin(&server, SampledBy::Server, plan(&[" a", " b", " c", " d"]));
    let (reported, end) = read(&mut worker, |reported| reported.texts.len() == 11);
    assert_eq!(end, JobUpdate::Stopped);
    assert_eq!(reported.texts.len(), 11);
    assert_eq!(reported.done.len(), 3);
    let ended_at = Instant::now();
    while server.n_hung_up() == 0 {
        assert!(ended_at.elapsed() < Duration::from_mins(1), "timed out");
        std::thread::yield_now();
    }
}

#[test]
fn stopping_all_panes_leaves_a_list_alone() {
    let server = StandIn::start(Kind::Llama);
    let mut worker = begin(&server, SampledBy::Server, plan(&[" a", " b"]));
    worker.send(ServerRequest::StopAll);
    let (reported, end) = read(&mut worker, |_| false);
    assert_eq!(end, JobUpdate::Finished);
    assert_eq!(reported.texts.len(), 2 * 3);
}

fn prompts(list: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.csv");
    fs::write(&path, list).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.arg("prompts").arg(&path).args(arguments);
    command.output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const LIST: &str = "prompt,expected\n a b,contains: a\n c d,contains: a\n";
const LOCAL: [&str; 4] = ["--pane", "greedy", "--pane", "sample"];

#[test]
fn a_list_has_panes_with_beams_and_on_servers_beside_others() {
    let server = StandIn::start(Kind::Llama);
    let d = format!("D={}", server.address);
    let shared = ["--seeds", "2", "--tokens", "4", "--json", "-"];
    let more = ["--pane", "beams 3", "--pane", "sample", "--pane-server", &d];
    let alone = prompts(LIST, &[&shared[..], &LOCAL].concat());
    let beside = prompts(LIST, &[&shared[..], &LOCAL, &more].concat());
    assert!(beside.status.success(), "{}", stderr(&beside));
    let (alone, beside) = (json(&alone), json(&beside));
    for task in 0..2 {
        let answers = &beside["tasks"][task]["answers"];
        for pane in 0..2 {
            assert_eq!(answers[pane], alone["tasks"][task]["answers"][pane]);
        }
        let n_answers = [2, 3].map(|pane| answers[pane].as_array().unwrap().len());
        assert_eq!(n_answers, [1, 2], "beams answer once");
        // The toy model has other words.
        assert_eq!(
            answers[3][0]["finish"]["reason"],
            answers[3][1]["finish"]["reason"]
        );
        assert!(answers[3][0]["surprise_bits"].as_f64().unwrap() > 0.0);
    }
    let model = |pane: usize| beside["settings"][pane]["model"]["name"].clone();
    let toy = Value::from("toy");
    assert_eq!([2, 3].map(model), [Value::Null, toy]);
    let written = beside.to_string();
    assert!(
        !written.contains("127.0.0.1"),
        "the address is not recorded"
    );
}

#[test]
fn an_error_of_a_server_is_named_at_its_task() {
    let server = StandIn::start(Kind::Llama);
    server.fail("/tokenize", 1, Fault::Refused(500, "", ""));
    let b = format!("B={}", server.address);
    let panes = ["--pane", "greedy", "--pane", "greedy", "--pane-server", &b];
    let more = ["--tokens", "3", "--server-sampler"];
    let output = prompts(LIST, &[&panes[..], &more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    let named = printed
        .lines()
        .find(|line| line.contains("server error (500)"));
    let named = named.unwrap();
    assert!(
        named.starts_with("Line 2, B: ") || named.starts_with("Line 3, B: "),
        "{printed}"
    );
    assert!(
        printed.contains("1 of 1") || printed.contains("0 of 1"),
        "{printed}"
    );
}

#[test]
fn a_list_runs_on_servers_alone() {
    let server = StandIn::start(Kind::Vllm);
    let words = [
        "--server",
        &server.address,
        "--pane",
        "greedy",
        "--tokens",
        "3",
    ];
    let output = prompts(LIST, &[&words[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let found = json(&output);
    assert_eq!(found["model"]["name"], "toy");
    assert_eq!(found["tasks"][1]["answers"][0].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_server_cannot_do_for_a_list_is_refused_in_a_sentence() {
    let server = StandIn::start(Kind::Llama);
    let b = format!("B={}", server.address);
    let panes = ["--pane", "greedy", "--pane", "sample", "--pane-server", &b];
    for (more, sentence) in [
        (&["--vary", "temp 0.5..1/2"][..], "pane B runs on a server"),
        (&["--seeds", "0"], "can only be drawn"),
    ] {
        let output = prompts(LIST, &[&panes[..], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
    }
}
