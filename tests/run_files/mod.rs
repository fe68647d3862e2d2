//! Run files: the schema, round trips, damaged and foreign files, and runs that are saved, opened
//! and replayed.

mod conversations;
mod documents;
mod kills;
mod other_models;
mod replay;
mod schema;
mod texts;
mod thoughts;

use std::path::Path;

use quartet::export::json::{self, Branch, Form, RunFile, RunHeader};
use quartet::generation::{Generation, GenerationId, Lineage, Origin, OriginChange};
use serde_json::Value;

use self::texts::random_runs;

/// Every way to write a file.
const FORMS: [Form; 4] = [
    Form {
        pretty: false,
        detail: false,
    },
    DETAILED,
    Form {
        pretty: true,
        detail: false,
    },
    Form {
        pretty: true,
        detail: true,
    },
];

const DETAILED: Form = Form {
    pretty: false,
    detail: true,
};

fn file(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn write(panes: &[Generation], form: Form) -> Vec<u8> {
    let panes: Vec<&Generation> = panes.iter().collect();
    json::write(&RunHeader::default(), &panes, form)
}

#[test]
fn every_written_file_follows_the_schema() {
    let schema: Value = serde_json::from_slice(&file("assets/schema/run-file-2.json")).unwrap();
    let mut runs = random_runs(12, 6, 1 << 20);
    runs.extend(random_runs(4, 6, 8_000));
    runs[0].second_model = Some(runs[1].model.clone());
    runs.extend(json::parse(&file("tests/golden/export.json")).unwrap());
    for form in FORMS {
        for panes in [&runs[..], &runs[..1], &[]] {
            let value: Value = serde_json::from_slice(&write(panes, form)).unwrap();
            assert_eq!(schema::check(&schema, &value), Ok(()));
        }
    }
    let golden = serde_json::from_slice(&file("tests/golden/export.json")).unwrap();
    assert_eq!(schema::check(&schema, &golden), Ok(()));
}

#[test]
fn opening_and_saving_again_produces_the_same_bytes() {
    let mut runs = random_runs(24, 8, 1 << 20);
    runs[0].second_model = Some(runs[1].model.clone());
    runs.extend(json::parse(&file("tests/golden/export.json")).unwrap());
    for form in FORMS {
        let bytes = write(&runs, form);
        let read = json::parse(&bytes).unwrap();
        assert!(write(&read, form) == bytes, "{form:?}");
        if form.detail {
            for (read, run) in read.iter().zip(&runs) {
                assert_eq!((&read.steps, &read.config), (&run.steps, &run.config));
                assert_eq!((&read.prompt, &read.model), (&run.prompt, &run.model));
            }
        }
    }
}

#[test]
fn a_step_takes_a_few_kilobytes() {
    let runs = random_runs(24, 8, 0);
    let n_steps: usize = runs.iter().map(|run| run.steps.len()).sum();
    let value: Value = serde_json::from_slice(&write(&runs, Form::default())).unwrap();
    let panes = value["panes"].as_array().unwrap();
    let n_bytes: usize = panes
        .iter()
        .map(|pane| pane["steps"].to_string().len())
        .sum();
    let mean = n_bytes / n_steps;
    assert!(mean < 2400, "{mean} bytes per step");
}

#[test]
fn unknown_content_is_refused_by_name() {
    let run = String::from_utf8(write(&random_runs(4, 3, 0), Form::default())).unwrap();
    for (place, added, name) in [
        (
            r#""finish_reason":"#,
            r#""ensembles":[],"finish_reason":"#,
            "the field ‘ensembles’",
        ),
        (
            r#"{"token":"#,
            r#"{"melody":"","token":"#,
            "the field ‘melody’",
        ),
        (
            r#""vocabulary":"#,
            r#""tree":{},"vocabulary":"#,
            "the field ‘tree’",
        ),
        (
            r#""summary":"#,
            r#""watermark":7,"summary":"#,
            "the field ‘watermark’",
        ),
        (
            r#""architecture":"#,
            r#""experts":8,"architecture":"#,
            "the field ‘experts’",
        ),
        (
            r#""selector":""#,
            r#""selector":"psychic-"#,
            "the kind ‘psychic-",
        ),
    ] {
        let newer = run.replacen(place, added, 1);
        assert_ne!(newer, run, "{place}");
        let error = json::parse(newer.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains(name) && error.ends_with("update Quartet to open it"),
            "{error}"
        );
    }
}

#[test]
fn files_of_other_programs_and_edited_files_are_errors() {
    for (bytes, message) in [
        (
            &b"{\"name\": \"package\"}"[..],
            "this is not a Quartet run file",
        ),
        (b"GGUF\x03\0\0\0", "this is not a Quartet run file"),
        (b"[]", "this is not a Quartet run file"),
        (b"\xFF\xFE", "this is not a Quartet run file"),
    ] {
        let error = json::parse(bytes).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let run = String::from_utf8(write(&random_runs(4, 3, 1 << 20), DETAILED)).unwrap();
    for (from, to) in [
        (r#""n_kept":"#, r#""n_kept":-"#),
        (r#""ln_mass":"#, r#""probs":[],"ln_mass":"#),
        (r#""filter":0,"#, r#""filter":99,"#),
        (r#""logits":""#, r#""logits":"%"#),
        (r#""id":1,"#, r#""id":0,"#),
        (
            r#""head":{"tokens":["#,
            r#""head":{"tokens":[1,1,1,1,1,1,1,1,1,"#,
        ),
    ] {
        let edited = run.replacen(from, to, 1);
        assert_ne!(edited, run, "{from}");
        assert!(json::parse(edited.as_bytes()).is_err(), "{to}");
    }
}

/// Returns a run with two panes. The first shows a branch of a branch; the file also contains the
/// two texts that it descends from.
fn tree() -> RunFile {
    let mut texts = random_runs(4, 6, 0).into_iter();
    let mut next = |id, origin: Option<(u64, usize, OriginChange)>| {
        let mut text = texts.next().unwrap();
        text.lineage = Lineage {
            id: GenerationId(id),
            origin: origin.map(|(parent, position, change)| Origin {
                parent: GenerationId(parent),
                position,
                change,
            }),
        };
        text
    };
    let parent = next(30, None);
    let mut child = next(41, Some((30, 2, OriginChange::ByHand { n_tokens: 1 })));
    let mut grandchild = next(52, Some((41, 4, OriginChange::Seed)));
    let shown = next(63, Some((9, 1, OriginChange::Settings)));
    for text in [&mut child, &mut grandchild] {
        text.model = parent.model.clone();
        text.vocabulary = parent.vocabulary.clone();
        text.prompt = parent.prompt.clone();
    }
    child.steps = parent
        .steps
        .range(..2)
        .chain(child.steps.range(2..))
        .cloned()
        .collect();
    grandchild.steps = child
        .steps
        .range(..4)
        .chain(grandchild.steps.range(4..))
        .cloned()
        .collect();
    RunFile {
        header: RunHeader::default(),
        panes: vec![grandchild, shown],
        branches: vec![
            Branch {
                pane: Some(0),
                text: parent,
            },
            Branch {
                pane: None,
                text: child,
            },
        ],
        ..RunFile::default()
    }
}

#[test]
fn branches_and_parents_are_kept_and_shared_steps_are_written_once() {
    let schema: Value = serde_json::from_slice(&file("assets/schema/run-file-2.json")).unwrap();
    let run = tree();
    for form in FORMS {
        let bytes = json::write_run(&run, form);
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(schema::check(&schema, &value), Ok(()));
        let n_written = value["branches"][0]["text"]["steps"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(n_written, run.branches[0].text.steps.len() - 2);
        assert_eq!(value["branches"][1]["shares"]["text"], 0);
        let read = json::read(&bytes).unwrap();
        assert!(json::write_run(&read, form) == bytes, "{form:?}");
        // The texts are numbered by age, and a parent that is not in the file is 0.
        let texts = || {
            read.panes
                .iter()
                .chain(read.branches.iter().map(|branch| &branch.text))
        };
        let lineage = |text: &Generation| {
            let origin = text.lineage.origin;
            let origin = origin.map(|origin| (origin.parent.0, origin.position, origin.change));
            (text.lineage.id.0, origin)
        };
        let found: Vec<_> = texts().map(lineage).collect();
        let by_hand = OriginChange::ByHand { n_tokens: 1 };
        assert_eq!(
            found,
            [
                (3, Some((2, 4, OriginChange::Seed))),
                (4, Some((0, 1, OriginChange::Settings))),
                (1, None),
                (2, Some((1, 2, by_hand))),
            ]
        );
        let tokens =
            |text: &Generation| text.steps.iter().map(|step| step.token).collect::<Vec<_>>();
        let written = run
            .panes
            .iter()
            .chain(run.branches.iter().map(|branch| &branch.text));
        assert!(texts().map(tokens).eq(written.map(tokens)));
    }
}

#[test]
fn branches_that_contradict_the_file_are_errors() {
    let run = String::from_utf8(json::write_run(&tree(), Form::default())).unwrap();
    for (from, to) in [
        (r#""shares":{"text":0"#, r#""shares":{"text":3"#),
        (
            r#""shares":{"text":0,"n_steps":4"#,
            r#""shares":{"text":0,"n_steps":4000"#,
        ),
        (r#"{"pane":0,"shares""#, r#"{"pane":2,"shares""#),
        (r#""change":"seed""#, r#""change":"mood""#),
        (r#""position":2"#, r#""position":2,"mood":1"#),
    ] {
        let edited = run.replacen(from, to, 1);
        assert_ne!(edited, run, "{from}");
        assert!(json::parse(edited.as_bytes()).is_err(), "{to}");
    }
}
