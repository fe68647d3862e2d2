//! Sweeps and fits on the engine thread: they wait for panes, a stop keeps what is complete, and a
//! new model ends them.

use quartet::decoding::ChainConfig;
use quartet::generation::{
    FitPlan, FitText, FitUpdate, Limits, PromptText, SweepPlan, SweepUpdate,
};
use quartet::lab::cache::{CachePlan, CacheSample, CacheUpdate};
use quartet::worker::{Event, GenerationId, JobUpdate, ModelSource, Request, Worker};

use crate::scripted::ScriptedLm;
use crate::worker::{Harness, describe, gated_worker, greedy};

const ID: GenerationId = GenerationId(8);

/// The id of fits, which may run besides sweeps.
const FIT: GenerationId = GenerationId(9);

fn plan(n_seeds: usize) -> SweepPlan {
    SweepPlan {
        prompts: vec![PromptText::raw("fox")],
        cells: vec![ChainConfig::sampled([]), ChainConfig::greedy()],
        limits: Limits {
            max_new_tokens: 4,
            ..Limits::default()
        },
        seed: 1,
        n_seeds,
        width: 2,
    }
}

fn sweep(n_seeds: usize) -> Request {
    Request::run_job(ID, plan(n_seeds))
}

fn fit(n_chains: usize) -> Request {
    let plan = FitPlan {
        texts: vec![FitText::Typed {
            prompt: None,
            text: "the quick brown fox".to_owned(),
        }],
        chains: vec![ChainConfig::sampled([]); n_chains],
        n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
    };
    Request::run_job(FIT, plan)
}

/// Receives events up to the end of the sweep. Returns how many texts were complete, and the last
/// update.
fn finish(harness: &mut Harness) -> (usize, JobUpdate) {
    let mut n_complete = 0;
    loop {
        match harness.next() {
            Event::Job { id, update } => {
                assert_eq!(id, ID);
                match update {
                    JobUpdate::Reported(report) => match report.take().unwrap() {
                        SweepUpdate::Started { prompts } => assert_eq!(prompts[0].len(), 3),
                        SweepUpdate::Advanced { complete, .. } => n_complete += complete.len(),
                    },
                    end => return (n_complete, end),
                }
            }
            other => panic!("{}", describe(&other)),
        }
    }
}

/// Returns whether a job has ended by having done everything.
fn has_finished(event: &Event, wanted: GenerationId) -> bool {
    let update = JobUpdate::Finished;
    *event == Event::Job { id: wanted, update }
}

#[test]
fn a_sweep_waits_for_panes_and_reports_every_text() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness.generate("fox", [greedy(1, 40)]);
    harness.worker.send(sweep(3));
    let events = harness.until_finished(1);
    let begun = events.iter().any(|event| event.contains("job"));
    assert!(!begun, "{events:?}");
    assert_eq!(finish(&mut harness), (6, JobUpdate::Finished));
}

/// Receives events up to the end of a cache measurement. Returns its samples and the last update.
/// After `n_before_stop` samples, calls `stop` with the worker.
fn measured(
    harness: &mut Harness,
    n_before_stop: usize,
    stop: impl FnOnce(&mut Worker),
) -> (Vec<CacheSample>, JobUpdate) {
    let mut samples = Vec::new();
    let mut stop = Some(stop);
    loop {
        match harness.next() {
            Event::Job { update, .. } if update.is_end() => return (samples, update),
            Event::Job { update, .. } => {
                if let Some(CacheUpdate::Measured(sample)) = update.report() {
                    samples.push(sample.clone());
                    if samples.len() >= n_before_stop
                        && let Some(stop) = stop.take()
                    {
                        stop(&mut harness.worker);
                    }
                }
            }
            other => panic!("{}", describe(&other)),
        }
    }
}

fn measure_cache() -> Request {
    let plan = CachePlan {
        prompt: PromptText::raw("fox"),
        n_tokens: 30,
    };
    Request::run_job(ID, plan)
}

#[test]
fn a_cache_measurement_reports_every_part_and_stops_within_a_pass() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness.worker.send(measure_cache());
    let (samples, end) = measured(&mut harness, usize::MAX, |_| ());
    assert_eq!(end, JobUpdate::Finished);
    let n_on = samples
        .iter()
        .filter(|s| matches!(s, CacheSample::On { .. }));
    assert_eq!(n_on.count(), 29);
    let is_same = |sample: &CacheSample| match sample {
        CacheSample::Off { is_same_token, .. } => *is_same_token,
        _ => true,
    };
    assert!(samples.iter().all(is_same));

    // Each pass waits for a permit, so that the stop arrives before the measurement's end.
    let n_passes = 6;
    let (mut harness, permits) = gated_worker();
    for _ in 0..n_passes {
        permits.send(()).unwrap();
    }
    harness.worker.send(measure_cache());
    let (samples, end) = measured(&mut harness, 3, |worker| {
        worker.send(Request::StopJob(ID));
        drop(permits);
    });
    assert_eq!(end, JobUpdate::Stopped);
    assert!(samples.len() <= n_passes + 1, "{}", samples.len());
}

#[test]
fn a_stopped_sweep_keeps_its_complete_texts() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    // It would never end on its own.
    harness.worker.send(sweep(usize::MAX / 4));
    let is_complete = |event: &Event| {
        let Event::Job { update, .. } = event else {
            return false;
        };
        matches!(update.report(), Some(SweepUpdate::Advanced { complete, .. })
            if !complete.is_empty())
    };
    harness.until(is_complete);
    harness.worker.send(Request::StopJob(ID));
    let (_, end) = finish(&mut harness);
    assert_eq!(end, JobUpdate::Stopped);
    // Another stop has nothing to stop, and the thread serves the next request.
    harness.worker.send(Request::StopJob(ID));
    harness.worker.send(sweep(1));
    assert_eq!(finish(&mut harness), (2, JobUpdate::Finished));
}

#[test]
fn a_sweep_or_a_fit_that_cannot_begin_says_why() {
    let mut harness = Harness::with_loader(|_, _| ScriptedLm::babbling(64).into_loaded().map(Some));
    for request in [sweep(1), fit(1)] {
        harness.worker.send(request);
        let words = describe(&harness.next());
        assert!(words.contains("no model is loaded"), "{words}");
    }
    let load = Request::LoadModel(ModelSource::Embedded);
    harness.worker.send(load);
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    let mut invalid = plan(1);
    invalid.cells = vec![ChainConfig::sampled([quartet::decoding::Filter::TopP(
        quartet::decoding::filters::TopP { p: 2.0 },
    )])];
    harness.worker.send(Request::run_job(ID, invalid));
    let words = describe(&harness.next());
    assert!(words.contains("Top-p must be between 0 and 1"), "{words}");
}

#[test]
fn a_new_model_ends_sweeps_and_fits() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness.worker.send(fit(3));
    harness.worker.send(sweep(usize::MAX / 4));
    let events = harness.until(|event| has_finished(event, FIT));
    let swept = events.iter().any(|event| event.starts_with("8 job"));
    assert!(!swept, "a sweep waits for fits: {events:?}");
    harness.until(|event| matches!(event, Event::Job { id: ID, .. }));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    let (_, end) = finish(&mut harness);
    assert_eq!(end, JobUpdate::Stopped);
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
}

#[test]
fn a_stopped_fit_is_reported_once() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    harness.worker.send(fit(200_000));
    let is_computing = |event: &Event| {
        let Event::Job { update, .. } = event else {
            return false;
        };
        matches!(update.report(), Some(FitUpdate::Computed { .. }))
    };
    harness.until(is_computing);
    harness.worker.send(Request::StopJob(FIT));
    let stopped = Event::Job {
        id: FIT,
        update: JobUpdate::Stopped,
    };
    harness.until(|event| *event == stopped);
    harness.worker.send(Request::StopJob(FIT));
    harness.worker.send(fit(2));
    harness.until(|event| has_finished(event, FIT));
}
