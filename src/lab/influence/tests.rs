//! Tests of what a measurement says, and of the run.

use std::sync::Arc;

use super::figures::ChosenLikelihood;
use super::picture::influence_drawing;
use super::plan::{
    AsItIs, CandidateShift, Influence, InfluenceFacts, InfluencePlan, InfluenceText,
    InfluenceUpdate, LeftOut, TopToken,
};
use super::{InfluenceForm, InfluenceRecord, InfluenceResults, InfluenceRun, InfluenceTarget};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{Piece, Vocabulary};
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, ready, report, update_job, written};
use crate::state::{AppState, Command, Pin, RunStatus};
use crate::ui::pictures::Look;
use crate::worker::GenerationId;

const PIECES: [&str; 8] = [
    "Once", " a", " fox", " lived", " nest", " hollow", " town", " hut",
];

pub(super) fn vocabulary() -> Arc<Vocabulary> {
    Arc::new(Vocabulary::new(PIECES.map(Piece::text).to_vec()))
}

/// Four words, after which ‘nest’ was chosen.
pub(super) fn facts() -> InfluenceFacts {
    InfluenceFacts {
        tokens: (0..5).map(TokenId).collect(),
        n_prompt: 4,
        targets: 4..5,
        is_cut: false,
        parts: (0..4).map(|start| start..start + 1).collect(),
    }
}

fn top(token: u32, prob: f64) -> TopToken {
    let token = TokenId(token);
    TopToken { token, prob }
}

pub(super) fn updates() -> Vec<InfluenceUpdate> {
    let influence = |bits: f64, prob: f64, top| Influence {
        bits,
        ln_probs: vec![prob.ln()],
        top,
        candidates: vec![
            CandidateShift {
                token: TokenId(5),
                with: 0.26,
                without: 0.049,
            },
            CandidateShift {
                token: TokenId(6),
                with: 0.047,
                without: 0.11,
            },
        ],
    };
    vec![
        InfluenceUpdate::Read(AsItIs {
            ln_probs: vec![0.11_f64.ln()],
            top: top(5, 0.26),
            chosen: TokenId(4),
        }),
        InfluenceUpdate::Found(vec![
            (0, influence(0.02, 0.10, top(5, 0.24))),
            (1, influence(0.12, 0.11, top(5, 0.17))),
        ]),
        InfluenceUpdate::Found(vec![
            (2, influence(1.61, 0.014, top(6, 0.17))),
            (3, influence(0.004, 0.12, top(5, 0.27))),
        ]),
    ]
}

pub(super) fn results() -> InfluenceResults {
    let mut results = InfluenceResults::new(facts(), LeftOut::Token, vocabulary());
    for update in updates() {
        results.add(update);
    }
    results
}

#[test]
fn sentences_name_the_parts_that_matter_most() {
    let results = results();
    assert_eq!(results.strongest(), Some(2));
    assert_eq!(
        results.sentences(),
        [
            "‘fox’ matters most: without it, the distribution moves by 1.61 bits, and ‘nest’ falls \
             from 11 % to 1.4 %.",
            "‘a’ comes second, with 0.12 bits.",
            "2 of the 4 tokens move the distribution by less than 0.1 bits.",
        ]
    );
    assert!(results.notes()[0].contains("before any setting"));
}

#[test]
fn of_a_whole_text_the_surprise_per_token_is_compared() {
    let facts = InfluenceFacts {
        targets: 2..5,
        n_prompt: 2,
        parts: vec![0..1, 3..4],
        ..facts()
    };
    let mut results = InfluenceResults::new(facts, LeftOut::Word, vocabulary());
    let halves = |n: usize| vec![0.5_f64.ln(); n];
    results.add(InfluenceUpdate::Read(AsItIs {
        ln_probs: vec![0.25_f64.ln(), 0.5_f64.ln(), 0.5_f64.ln()],
        top: top(5, 0.26),
        chosen: TokenId(4),
    }));
    let influence = |n| Influence {
        bits: 0.5,
        ln_probs: halves(n),
        top: top(5, 0.26),
        candidates: Vec::new(),
    };
    results.add(InfluenceUpdate::Found(vec![
        (0, influence(3)),
        (1, influence(1)),
    ]));
    let bits = |part| {
        results
            .likelihoods(part)
            .unwrap()
            .map(ChosenLikelihood::value)
    };
    let [with, without] = bits(0);
    assert!((with - 4.0 / 3.0).abs() < 1e-9 && (without - 1.0).abs() < 1e-9);
    // Only what follows the part is compared.
    let [with, without] = bits(1);
    assert!((with - 1.0).abs() < 1e-9 && (without - 1.0).abs() < 1e-9);
    assert!(
        results
            .notes()
            .iter()
            .any(|note| note.contains("the mean over 3 tokens"))
    );
}

#[test]
fn the_files_hold_everything_that_was_measured() {
    let (results, text) = (results(), generation(&[]));
    let record = InfluenceRecord {
        results: &results,
        model: &text.model,
        target: "the next token",
    };
    let table = String::from_utf8(record.csv()).unwrap();
    let rows: Vec<&str> = table.trim_end().split("\r\n").collect();
    assert_eq!(rows.len(), 5);
    assert!(rows[3].starts_with("fox,2,1,1.61,"), "{table}");
    let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
    assert_eq!(json["format"], "quartet influence");
    assert_eq!(json["parts"][2]["text"], "fox");
    assert_eq!(json["parts"][2]["candidates"][0]["text"], " hollow");
    assert_eq!(json["as_it_is"]["chosen"]["text"], " nest");
    let drawing = influence_drawing(record, Look::default());
    for words in [
        "How far the distribution moves without it",
        ">fox</text>",
        ">1.61</text>",
        "as it is",
    ] {
        assert!(drawing.contains(words), "{words}: {drawing}");
    }
}

/// Starts the measurement and returns its id and plan.
pub(super) fn start(state: &mut AppState) -> (GenerationId, InfluencePlan) {
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Influence)));
    let [effect] = &effects[..] else {
        panic!("{effects:?}");
    };
    planned::<InfluencePlan>(effect).unwrap()
}

#[test]
fn a_run_collects_what_the_job_reports() {
    let mut state = ready();
    let (id, plan) = start(&mut state);
    assert_eq!(plan.text, InfluenceText::Prompt(state.prompt.to_text()));
    report(&mut state, id, InfluenceUpdate::Started(facts()));
    for update in updates() {
        report(&mut state, id, update);
    }
    let run = state.lab.influence.run.as_ref().unwrap();
    assert_eq!(run.summary(), "4 of 4 tokens");
    assert_eq!(run.shown_part(), Some(2));
    update_job(&mut state, id, JobUpdate::Finished);
    let run = state.lab.influence.run.as_mut().unwrap();
    assert_eq!(
        (run.status.clone(), run.summary()),
        (RunStatus::Complete, "4 tokens".to_owned())
    );
    run.move_selection(9);
    assert_eq!(run.selected, Some(3));
}

/// Measures the four words.
pub(super) fn measure(state: &mut AppState) {
    let (id, _) = start(state);
    report(state, id, InfluenceUpdate::Started(facts()));
    state.lab.influence.run.as_mut().unwrap().model.vocabulary = vocabulary();
    for update in updates() {
        report(state, id, update);
    }
    update_job(state, id, JobUpdate::Finished);
}

#[test]
fn a_measurement_is_kept_and_shown_again_as_it_was() {
    let mut state = ready();
    measure(&mut state);
    let other = reopened(&state, LabTab::Influence);
    let run = |state: &AppState| state.lab.influence.run.clone().unwrap();
    let (before, after) = (run(&state), run(&other));
    let sentences = |run: &InfluenceRun| run.results.as_ref().unwrap().sentences();
    assert_eq!(sentences(&after), sentences(&before));
    assert_eq!(after.summary(), before.summary());
    assert_eq!(after.target, before.target);
    refuses(&state, LabTab::Influence, |json| {
        json["found"][0][0] = 4.into();
    });
    refuses(&state, LabTab::Influence, |json| {
        json["facts"]["parts"][0]["end"] = 99.into();
    });
}

#[test]
fn a_kept_measurement_runs_again_with_everything_that_made_it() {
    let mut state = written();
    let pane = state.panes[1].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    state.lab.influence.form = InfluenceForm {
        target: InfluenceTarget::Pinned,
        unit: LeftOut::Word,
        also_written: true,
    };
    let (_, plan) = start(&mut state);
    state.lab.influence.run = None;
    measure(&mut state);
    let (mut other, effects) = run_again(&state, LabTab::Influence);
    let (id, again) = planned::<InfluencePlan>(&effects[0]).unwrap();
    assert_eq!(again, plan);
    report(&mut other, id, InfluenceUpdate::Started(facts()));
    other.lab.influence.run.as_mut().unwrap().model.vocabulary = vocabulary();
    for update in updates() {
        report(&mut other, id, update);
    }
    let effects = update_job(&mut other, id, JobUpdate::Finished);
    are_the_same(&state, &other, LabTab::Influence, &effects);
    for (field, value) in [("n_prompt", 99), ("step", 99)] {
        refuses(&state, LabTab::Influence, |json| {
            json["plan"]["text"]["Written"][field] = value.into();
        });
    }
}

#[test]
fn a_pinned_token_and_a_whole_text_are_read_as_they_were_written() {
    let mut state = written();
    let pane = state.panes[1].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    state.lab.influence.form.target = InfluenceTarget::Pinned;
    let (id, plan) = start(&mut state);
    let InfluenceText::Written { step, n_prompt, .. } = plan.text else {
        panic!("{plan:?}");
    };
    assert_eq!(step, Some(1));
    assert!(n_prompt > 0);
    let run = state.lab.influence.run.as_ref().unwrap();
    assert!(
        run.target.starts_with("token 2, ") && run.target.ends_with(" of B"),
        "{}",
        run.target
    );
    update_job(&mut state, id, JobUpdate::Stopped);
    state.lab.influence.form.target = InfluenceTarget::Text(pane);
    let (_, plan) = start(&mut state);
    assert!(matches!(
        plan.text,
        InfluenceText::Written { step: None, .. }
    ));
}
