//! How the engine thread ends: it panics, or its worker is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use quartet::generation::EndOfText;
use quartet::worker::{Event, ModelSource, PaneRequest, Progress, Request};

use super::{Harness, TALE, greedy};
use crate::scripted::ScriptedLm;

#[test]
fn a_panic_is_reported_and_a_new_worker_can_start() {
    let mut harness =
        Harness::with_model(|| ScriptedLm::new(64, |_| panic!("row {} is not there", 3)));
    harness.generate("Once", [greedy(1, 5)]);
    let events = harness.until(|event| matches!(event, Event::Panicked { .. }));
    assert_eq!(events.last().unwrap(), "panicked: row 3 is not there");
    harness.generate("Once", [greedy(2, 5)]);
    assert_eq!(harness.worker.wait(), None, "the thread has ended");

    harness = Harness::with_model(|| ScriptedLm::reciting(64, TALE));
    harness.generate("Once", [greedy(3, 5)]);
    assert_eq!(
        harness.until_finished(3).last().unwrap(),
        "3 finished: Token limit"
    );
}

#[test]
fn a_panic_at_any_forward_pass_keeps_what_was_generated() {
    // The first passes are those of the prompt.
    for n_passes in 0..12 {
        let mut harness = Harness::with_model(move || {
            let mut n_left = n_passes;
            ScriptedLm::reciting(64, TALE).before_forward(move |_| {
                assert!(n_left > 0, "out of passes");
                n_left -= 1;
            })
        });
        harness.generate("Once", [greedy(1, 50), greedy(2, 50)]);
        let events = harness.until(|event| matches!(event, Event::Panicked { .. }));
        assert_eq!(events.last().unwrap(), "panicked: out of passes");
        let is_step = |event: &&String| {
            let of_pane = event.starts_with("1 ") || event.starts_with("2 ");
            of_pane && !event.contains("finished")
        };
        let n_steps = events.iter().filter(is_step);
        // Every finished pass has reported its tokens.
        assert_eq!(n_steps.count(), 2 * n_passes, "{events:?}");
        assert_eq!(harness.worker.wait(), None, "the thread has ended");
    }
}

#[test]
fn a_panic_while_loading_is_reported() {
    let mut harness = Harness::with_loader(|_, _| panic!("no such tensor"));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    let events = harness.until(|event| matches!(event, Event::Panicked { .. }));
    assert_eq!(events, ["loading 0", "panicked: no such tensor"]);
}

/// Counts how often it is dropped. The thread owns one and drops it when it ends.
struct DropCounter(Arc<AtomicUsize>);

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn dropping_a_worker_ends_its_thread_in_any_state() {
    let n_ended = Arc::new(AtomicUsize::new(0));
    let endless = || {
        let mut pane = greedy(1, usize::MAX);
        pane.config.limits.end_of_text = EndOfText::Ignored;
        pane
    };
    let babbling = || ScriptedLm::babbling(usize::MAX);
    let acts: [fn(&mut Harness, PaneRequest); 4] = [
        |_, _| {},
        |harness, pane| {
            harness.generate("Once", [pane]);
            harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
        },
        |harness, pane| {
            // Nobody receives the events, so the thread blocks once the channel is full.
            harness.generate("Once", [pane]);
            for _ in 0..512 {
                harness.wakes.recv_timeout(Duration::from_mins(1)).unwrap();
            }
        },
        |harness, pane| {
            harness
                .worker
                .send(Request::LoadModel(ModelSource::Embedded));
            harness.generate("Once", [pane]);
        },
    ];
    for (n_before, act) in acts.into_iter().enumerate() {
        let counter = DropCounter(Arc::clone(&n_ended));
        let mut harness = Harness::with_loader(move |_, _| {
            let _owned = &counter;
            babbling().into_loaded().map(Some)
        });
        harness
            .worker
            .send(Request::LoadModel(ModelSource::Embedded));
        harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
        act(&mut harness, endless());
        assert_eq!(n_ended.load(Ordering::SeqCst), n_before);
        drop(harness);
        assert_eq!(n_ended.load(Ordering::SeqCst), n_before + 1);
    }
}

#[test]
fn dropping_a_worker_cancels_its_loader() {
    let (started, has_started) = sync_channel(1);
    let (cancelled, was_cancelled) = sync_channel(1);
    let mut harness = Harness::with_loader(move |_, progress| {
        started.send(()).unwrap();
        let mut hundredths = (0..u16::MAX).map(|hundredths| f32::from(hundredths) / 100.0);
        let is_cancelled = hundredths.any(|fraction| progress(fraction).is_break());
        cancelled.send(is_cancelled).unwrap();
        Ok(None)
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    has_started.recv().unwrap();
    drop(harness);
    assert!(was_cancelled.recv().unwrap());
}
