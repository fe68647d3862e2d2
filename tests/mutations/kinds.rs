//! A run of each kind.

use std::sync::Arc;
use std::time::Duration;

use quartet::analysis::messages_after;
use quartet::decoding::TokenId;
use quartet::engine::Recorder;
use quartet::export::json::{Branch, RunFile};
use quartet::generation::{
    ChatSettings, Continuation, Generation, GenerationConfig, GenerationId, Lineage, Origin,
    OriginChange, PromptText,
};
use quartet::worker::{
    PaneRequest, SampledBy, ServerConfig, ServerEvent, ServerRequest, ServerWorker,
};

use crate::llama_stand_in;
use crate::mutations::author::{Author, config, empty, model};

const PROMPT: &str = "once upon a time a fox and a fox and";

/// A run, and the models that wrote it.
pub(crate) struct Kind {
    pub name: &'static str,
    pub run: RunFile,
    pub authors: Vec<Author>,
}

impl Kind {
    fn of(name: &'static str, author: Author, panes: Vec<Generation>) -> Self {
        Self::with_branches(name, vec![author], panes, Vec::new())
    }

    fn with_branches(
        name: &'static str,
        authors: Vec<Author>,
        panes: Vec<Generation>,
        branches: Vec<Branch>,
    ) -> Self {
        let run = RunFile {
            panes,
            branches,
            ..RunFile::default()
        };
        Self { name, run, authors }
    }
}

/// Writes a run of one kind.
pub(crate) type WriteKind = Box<dyn Fn() -> Kind + Send>;

/// Returns what writes a run of each kind.
pub(crate) fn kinds() -> Vec<WriteKind> {
    let mut all: Vec<WriteKind> = Vec::new();
    for (name, settings) in WRITTEN {
        for (seed, words) in (7..).zip(settings) {
            all.push(Box::new(move || written(name, words, seed)));
        }
    }
    for write in [
        chat,
        conversation,
        by_hand,
        branch,
        scored,
        two_models,
        over_a_server,
    ] {
        all.push(Box::new(write));
    }
    all
}

/// The kinds that differ only in their settings.
const WRITTEN: [(&str, &[&str]); 8] = [
    (
        "plain",
        &[
            "greedy",
            "sample",
            "temp 0.7, top-p 0.9",
            "repeat 1.3 last all, top-k 8, xtc 0.5 threshold 0.1",
            "top-k 8, top-p 0.9, dialect llama.cpp, min-keep 3",
        ],
    ),
    (
        "adaptive",
        &[
            "top-k 20, mirostat 3 eta 0.2",
            "mirostat-1 3 eta 0.2",
            "adaptive-p 0.3",
            "gumbel",
        ],
    ),
    ("beams", &["beams 2"]),
    ("looked-up drafts", &["drafts 3 ngram 2, greedy"]),
    (
        "drafts",
        &["drafts 2 model, temp 0.8", "drafts 2 model ratio, sample"],
    ),
    (
        "guidance",
        &[
            "guide 1.5 against \"a sad text\"",
            "guide 1.3 cutoff 0.1 against model",
        ],
    ),
    (
        "grammar",
        &[
            "grammar regex \"[a-f ]+\"",
            "grammar check regex \"[a-f ]+\", top-k 40",
        ],
    ),
    (
        "watermark",
        &[
            "gumbel-mark 42 window 4",
            "green-list 2, sample",
            "synth-id 4, top-k 20",
        ],
    ),
];

/// Writes one text, so that a file is small and each change of it is checked quickly.
fn written(name: &'static str, settings: &str, seed: u64) -> Kind {
    let mut author = Author::new("Scripted", 1);
    let n_tokens = if name.contains("drafts") { 3 } else { 2 };
    let panes = author.write(PROMPT, &[config(settings, seed, n_tokens)]);
    Kind::of(name, author, panes)
}

fn chat() -> Kind {
    let mut author = Author::new("Scripted", 2);
    let message = PromptText::chat("who is there", "be kind");
    let mut config = config("temp 0.8", 3, 3);
    config.limits.stop_strings = vec!["~~".to_owned()];
    let panes = author.write(message, &[config]);
    Kind::of("chat", author, panes)
}

/// Three turns, the last of them in two panes.
fn conversation() -> Kind {
    let mut author = Author::new("Scripted", 9);
    let message = PromptText::chat("who is there", "be kind");
    let mut last = author.write(message, &[config("temp 0.8", 3, 3)]).remove(0);
    let mut reply = |last: Generation, message: &str, configs: &[GenerationConfig]| {
        let chat = last.prompt.chat.clone().unwrap();
        let settings = ChatSettings {
            history: messages_after(&last),
            ..chat.settings
        };
        let answers = author.write(PromptText::chat_with(message, settings), configs);
        let last = Arc::new(last);
        let answers = answers.into_iter();
        answers
            .map(|answer| answer.following(Some(Arc::clone(&last))))
            .collect::<Vec<_>>()
    };
    last = reply(last, "why", &[config("sample", 4, 3)]).remove(0);
    let panes = reply(
        last,
        "and then",
        &[config("greedy", 5, 3), config("top-k 30", 6, 3)],
    );
    Kind::of("conversation", author, panes)
}

fn by_hand() -> Kind {
    let mut author = Author::new("Scripted", 3);
    let configs = [config("top-k 30", 5, 5)];
    let mut text = author.write(PROMPT, &configs).remove(0);
    text.steps.truncate(1);
    text.finish = None;
    let continuation = Continuation {
        kept: text.steps.iter().map(|step| step.token).collect(),
        by_hand: [b'q', b'z'].map(|byte| TokenId(byte.into())).to_vec(),
        ..Continuation::default()
    };
    let text = author.go_on(&text, continuation);
    Kind::of("by hand", author, vec![text])
}

/// A text, one that went on from its second token with another seed, and one that went on from
/// there by hand.
fn branch() -> Kind {
    let mut author = Author::new("Scripted", 4);
    let mut parent = author.write(PROMPT, &[config("sample", 5, 5)]).remove(0);
    parent.lineage.id = GenerationId(1);
    let from = |id, change, position| Lineage {
        id: GenerationId(id),
        origin: Some(Origin {
            parent: GenerationId(1),
            position,
            change,
        }),
    };
    let mut reseeded = parent.clone();
    reseeded.go_on(2, config("sample", 6, 5));
    reseeded.finish = None;
    reseeded.lineage = from(2, OriginChange::Seed, 2);
    let kept = |text: &Generation| Continuation {
        kept: text.steps.iter().map(|step| step.token).collect(),
        ..Continuation::default()
    };
    let continuation = kept(&reseeded);
    let reseeded = author.go_on(&reseeded, continuation);
    let mut picked = parent.clone();
    picked.go_on(3, parent.config.clone());
    picked.finish = None;
    picked.lineage = from(3, OriginChange::ByHand { n_tokens: 1 }, 3);
    let continuation = Continuation {
        by_hand: vec![TokenId(u32::from(b'q'))],
        ..kept(&picked)
    };
    let picked = author.go_on(&picked, continuation);
    let branches = vec![Branch {
        pane: Some(0),
        text: parent,
    }];
    Kind::with_branches("branch", vec![author], vec![reseeded, picked], branches)
}

fn scored() -> Kind {
    let mut author = Author::new("Scripted", 5);
    let text = author.score("a fox ran", &config("top-k 40", 1, 200));
    Kind::of("scored", author, vec![text])
}

fn two_models() -> Kind {
    let (mut first, mut second) = (Author::new("Scripted", 6), Author::new("Other", 16));
    let configs = [config("temp 0.9", 9, 3)];
    let mut panes = first.write(PROMPT, &configs);
    panes.extend(second.write(PROMPT, &configs));
    Arc::make_mut(&mut panes[1].prompt).n_prefilled = 1;
    Kind::with_branches("two models", vec![first, second], panes, Vec::new())
}

/// A text over a server by Quartet's chain, and one by the server's own sampler, which lacks a
/// setting.
fn over_a_server() -> Kind {
    let author = Author::new("Scripted", 8);
    let address = llama_stand_in::serve(model("Scripted", 8));
    let mut panes = over(&address, SampledBy::Chain, &config("temp 0.8", 4, 2));
    let settings = config("temp 0.7, eta 0.5", 4, 2);
    panes.extend(over(&address, SampledBy::Server, &settings));
    Kind::of("over a server", author, panes)
}

/// Writes a text over a server.
fn over(address: &str, sampled_by: SampledBy, config: &GenerationConfig) -> Vec<Generation> {
    let server = ServerConfig {
        sampled_by,
        timeout: Duration::from_secs(20),
        ..ServerConfig::at(address.to_owned())
    };
    let mut worker = ServerWorker::start(server, || {});
    let pane = PaneRequest {
        id: GenerationId(0),
        config: config.clone(),
        model: None,
        continuation: Continuation::default(),
    };
    worker.send(ServerRequest::Generate {
        prompt: PROMPT.into(),
        panes: vec![pane],
    });
    let mut recorder = Recorder {
        id: GenerationId(0),
        text: empty(config),
    };
    while recorder.text.finish.is_none() {
        let text = &mut recorder.text;
        match worker
            .wait_at_most(Duration::from_secs(20))
            .unwrap()
            .unwrap()
        {
            ServerEvent::Connected { model, .. } => text.model = model,
            ServerEvent::Vocabulary(known) => text.vocabulary = known,
            ServerEvent::Noted { not_applied, .. } => text.not_applied = not_applied,
            ServerEvent::Progress(progress) => assert!(recorder.note(&progress)),
            ServerEvent::ConnectFailed { error } => panic!("{error}"),
            ServerEvent::Job { .. } => panic!("no list was asked for"),
            ServerEvent::Panicked { message } => panic!("{message}"),
        }
    }
    vec![recorder.text]
}
