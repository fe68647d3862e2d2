//! Comparisons of models on the engine thread: they wait for panes, and free the other model.

use quartet::decoding::ChainConfig;
use quartet::generation::{
    ComparisonPlan, ComparisonText, ComparisonUpdate, GenerationConfig, Limits,
};
use quartet::worker::{Event, GenerationId, ModelSource, OtherModel, OtherWay, Request};

use crate::scripted::ScriptedLm;
use crate::worker::{Harness, describe, greedy};

const ID: GenerationId = GenerationId(9);

fn compare(text: &str) -> Request {
    Request::CompareModels {
        id: ID,
        plan: ComparisonPlan {
            text: ComparisonText::Typed(text.to_owned()),
            settings: vec![GenerationConfig {
                chain: ChainConfig::greedy(),
                seed: 1,
                limits: Limits::default(),
            }],
        },
        other: OtherModel {
            source: ModelSource::Embedded,
            way: OtherWay::Same,
        },
    }
}

/// Receives events up to the end of the comparison. Returns how many tokens were read, and the last
/// update.
fn finish(harness: &mut Harness) -> (usize, ComparisonUpdate) {
    let mut n_read = 0;
    loop {
        match harness.next() {
            Event::Comparison { update, .. } => match update {
                ComparisonUpdate::Read(tokens) => n_read += tokens.len(),
                ComparisonUpdate::Loading { .. } | ComparisonUpdate::Started { .. } => {}
                end => return (n_read, end),
            },
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
    assert_eq!(finish(&mut harness), (11, ComparisonUpdate::Finished));
    // The thread serves the next request.
    harness.worker.send(compare("A fox."));
    assert_eq!(finish(&mut harness), (5, ComparisonUpdate::Finished));
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
        (0, ComparisonUpdate::Failed { .. })
    ));
    harness.worker.send(compare(&"fox ".repeat(50)));
    assert!(matches!(
        finish(&mut harness),
        (0, ComparisonUpdate::Failed { .. })
    ));
}
