//! Comparisons of models on the engine thread: they wait for panes, and free the other model.

use quartet::decoding::ChainConfig;
use quartet::generation::{GenerationConfig, Limits};
use quartet::lab::models::{ComparisonPlan, ComparisonText, ComparisonUpdate};
use quartet::worker::{
    AnyPlan, Event, GenerationId, JobUpdate, ModelSource, OtherModel, OtherWay, Request,
};

use crate::scripted::ScriptedLm;
use crate::worker::{Harness, describe, greedy};

const ID: GenerationId = GenerationId(9);

fn plan(text: &str) -> ComparisonPlan {
    ComparisonPlan {
        text: ComparisonText::Typed(text.to_owned()),
        settings: vec![GenerationConfig {
            chain: ChainConfig::greedy(),
            seed: 1,
            limits: Limits::default(),
        }],
    }
}

fn compare(text: &str) -> Request {
    Request::RunJob {
        id: ID,
        plan: AnyPlan::new(plan(text)),
        model: None,
        other: Some(OtherModel {
            source: ModelSource::Embedded,
            way: OtherWay::Same,
        }),
    }
}

/// Receives events up to the end of the comparison. Returns how many tokens were read, and the last
/// update.
fn finish(harness: &mut Harness) -> (usize, JobUpdate) {
    let mut n_read = 0;
    loop {
        match harness.next() {
            Event::Job { update, .. } if update.is_end() => return (n_read, update),
            Event::Job { update, .. } => {
                if let Some(ComparisonUpdate::Read(tokens)) = update.report() {
                    n_read += tokens.len();
                }
            }
            other => panic!("{}", describe(&other)),
        }
    }
}

#[test]
fn a_comparison_waits_for_panes_and_reads_every_token() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness.generate("fox", [greedy(1, 40)]);
    harness.worker.send(compare("The fox ran."));
    let events = harness.until_finished(1);
    let begun = events.iter().any(|event| event.contains("Started"));
    assert!(!begun, "{events:?}");
    assert_eq!(finish(&mut harness), (11, JobUpdate::Finished));
    // The thread serves the next request.
    harness.worker.send(compare("A fox."));
    assert_eq!(finish(&mut harness), (5, JobUpdate::Finished));
}

#[test]
fn a_comparison_that_cannot_begin_says_why() {
    let mut harness = Harness::with_loader(|_, _| ScriptedLm::babbling(64).into_loaded().map(Some));
    harness.worker.send(compare("fox"));
    let words = describe(&harness.next());
    assert!(words.contains("no model is loaded"), "{words}");
    let load = Request::LoadModel(ModelSource::Embedded);
    harness.worker.send(load);
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    harness.worker.send(compare("f"));
    assert!(matches!(
        finish(&mut harness),
        (0, JobUpdate::Failed { .. })
    ));
    harness.worker.send(compare(&"fox ".repeat(50)));
    assert!(matches!(
        finish(&mut harness),
        (0, JobUpdate::Failed { .. })
    ));
}

#[test]
fn a_comparison_needs_another_model() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness
        .worker
        .send(Request::run_job(ID, plan("The fox ran.")));
    let words = describe(&harness.next());
    assert!(words.contains("no other model to compare with"), "{words}");
}

#[test]
fn a_stop_cancels_loading_the_other_model() {
    let mut n_loaded = 0;
    let mut harness = Harness::with_loader(move |_, progress| {
        n_loaded += 1;
        if n_loaded > 1 {
            // The other model loads until it is cancelled.
            while progress(0.5).is_continue() {
                std::thread::yield_now();
            }
            return Ok(None);
        }
        ScriptedLm::babbling(512).into_loaded().map(Some)
    });
    let load = Request::LoadModel(ModelSource::Embedded);
    harness.worker.send(load);
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    harness.worker.send(compare("The fox ran."));
    harness.until(|event| describe(event).contains("Loading"));
    harness.worker.send(Request::StopJob(ID));
    assert_eq!(finish(&mut harness), (0, JobUpdate::Stopped));
}
