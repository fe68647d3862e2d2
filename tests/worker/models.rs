//! Models are loaded, cancelled halfway, replaced and unloaded.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::scripted::ScriptedLm;
use quartet::worker::{
    BesideUpdate, ComputeChoice, DeviceChoice, Event, ModelSource, Progress, Request,
};

use super::{Harness, TALE, greedy};

/// A worker whose loader waits for a permit after each step, unless the model is the embedded one.
fn slow_loader() -> (Harness, SyncSender<()>, Receiver<()>) {
    let (permits, gate) = sync_channel::<()>(100);
    let (step, stepped) = sync_channel(100);
    let harness = Harness::with_loader(move |source, progress| {
        if let ModelSource::Path(_) = source {
            for fraction in [0.25, 0.5, 0.75] {
                step.send(()).ok();
                gate.recv().ok();
                if progress(fraction).is_break() {
                    return Ok(None);
                }
            }
        }
        let n_context = if *source == ModelSource::Embedded {
            64
        } else {
            99
        };
        ScriptedLm::reciting(n_context, TALE)
            .into_loaded()
            .map(Some)
    });
    (harness, permits, stepped)
}

fn large() -> Request {
    Request::LoadModel(ModelSource::Path(PathBuf::from("large.gguf")))
}

fn is_end(event: &Event) -> bool {
    matches!(
        event,
        Event::ModelLoaded { .. } | Event::LoadingCancelled | Event::ModelFailed { .. }
    )
}

#[test]
fn a_load_is_cancelled_at_its_next_step_and_the_previous_model_keeps_working() {
    let (mut harness, permits, stepped) = slow_loader();
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(is_end);
    harness.worker.send(large());
    stepped.recv().unwrap();
    harness.generate("Once", [greedy(1, 1)]);
    harness.worker.send(Request::CancelLoading);
    permits.send(()).unwrap();
    assert_eq!(harness.until(is_end), ["loading 0", "loading cancelled"]);
    let events = harness.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
}

#[test]
fn another_model_can_be_requested_right_after_a_cancellation() {
    let (mut harness, permits, stepped) = slow_loader();
    harness.worker.send(large());
    stepped.recv().unwrap();
    harness.worker.send(Request::CancelLoading);
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    permits.send(()).unwrap();
    assert_eq!(harness.until(is_end), ["loading 0", "loading cancelled"]);
    assert_eq!(harness.until(is_end), ["loading 0", "loaded 64"]);
}

#[test]
fn a_late_cancellation_changes_nothing() {
    let (mut harness, permits, _) = slow_loader();
    drop(permits);
    harness.worker.send(large());
    let events = harness.until(is_end);
    assert_eq!(events.last().unwrap(), "loaded 99");
    harness.worker.send(Request::CancelLoading);
    harness.generate("Once", [greedy(1, 1)]);
    let events = harness.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
}

#[test]
fn unloading_a_model_stops_its_generations() {
    let (mut harness, permits) = super::gated_worker();
    harness.generate("Once", [greedy(1, 99)]);
    permits.send(()).unwrap();
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.worker.send(Request::UnloadModel);
    drop(permits);
    let events = harness.until(|event| matches!(event, Event::ModelUnloaded));
    let from = events.len() - 2;
    assert_eq!(events[from..], ["1 finished: Stopped by you", "unloaded"]);
    harness.generate("Once", [greedy(2, 1)]);
    let events = harness.until_finished(2);
    assert!(events.last().unwrap().contains("no model"), "{events:?}");
}

#[test]
fn devices_and_files_are_inspected_without_loading_a_model() {
    let mut harness = Harness::with_loader(|_, _| panic!("nothing should be loaded"));
    harness.worker.send(Request::ListDevices);
    let Event::DevicesListed(devices) = harness.next() else {
        panic!("expected the list of devices");
    };
    assert_eq!(devices.choices.first(), Some(&DeviceChoice::Cpu));
    assert!(devices.cpu_threads.n_default <= devices.cpu_threads.n_max);

    let path = PathBuf::from("nowhere.gguf");
    harness
        .worker
        .send(Request::Inspect(ModelSource::Path(path.clone())));
    let Event::Inspected {
        source: inspected,
        found,
        n_free_bytes,
    } = harness.next()
    else {
        panic!("expected the result of the inspection");
    };
    assert_eq!(inspected, ModelSource::Path(path));
    assert!(found.unwrap_err().contains("nowhere.gguf"));
    assert!(n_free_bytes > 0);
}

#[test]
fn an_unavailable_device_is_reported_before_the_model_is_loaded() {
    let (mut harness, permits, _) = slow_loader();
    drop(permits);
    harness.worker.send(Request::SetCompute(ComputeChoice {
        device: DeviceChoice::Cuda(99),
        ..ComputeChoice::default()
    }));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    let events = harness.until(is_end);
    assert_eq!(events, ["no CUDA 99", "loading 0", "loaded 64"]);
}

#[test]
fn a_second_model_is_loaded_with_progress_and_can_be_cancelled_and_freed() {
    let (mut harness, permits, stepped) = slow_loader();
    let second = || Request::LoadSecondModel(Some(ModelSource::Path(PathBuf::from("small.gguf"))));
    let is_second =
        |event: &Event| matches!(event, Event::SecondModel(_) | Event::SecondModelCancelled);
    harness.worker.send(second());
    assert_eq!(
        harness.until(is_second),
        ["second model false"],
        "there is no first model"
    );
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(is_end);
    harness.worker.send(second());
    stepped.recv().unwrap();
    harness.worker.send(Request::CancelLoading);
    permits.send(()).unwrap();
    let events = harness.until(is_second);
    assert_eq!(events, ["second model loading 0", "second model cancelled"]);
    drop(permits);
    harness.worker.send(second());
    let events = harness.until(is_second);
    assert_eq!(events[2], "second model loading 0.5", "{events:?}");
    assert_eq!(events.last().unwrap(), "second model true");
    harness.worker.send(Request::LoadSecondModel(None));
    assert_eq!(harness.until(is_second), ["second model true"]);
}

fn beside() -> Request {
    Request::LoadBeside(ModelSource::Path(PathBuf::from("large.gguf")))
}

fn is_beside_end(event: &Event) -> bool {
    matches!(event, Event::Beside(update) if !matches!(update, BesideUpdate::Loading { .. }))
}

/// A slow worker that has loaded the embedded model and loads another one beside it.
fn loading_beside() -> (Harness, SyncSender<()>, Receiver<()>) {
    let (mut harness, permits, stepped) = slow_loader();
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(is_end);
    harness.worker.send(beside());
    stepped.recv().unwrap();
    (harness, permits, stepped)
}

#[test]
fn the_model_in_use_writes_until_the_one_beside_it_takes_over() {
    let (mut harness, permits, _stepped) = loading_beside();
    harness.generate("Once", [greedy(1, 3)]);
    let events = harness.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
    drop(permits);
    let events = harness.until(is_end);
    let from = events.len() - 2;
    assert_eq!(events[from..], ["beside Loaded", "loaded 99"]);
}

#[test]
fn a_model_that_was_loaded_beside_another_waits_for_the_text_that_is_being_written() {
    let (lm, passes) = super::gated();
    let mut lm = Some(lm);
    let mut harness = Harness::with_loader(move |source, _| match source {
        ModelSource::Embedded => lm.take().expect("loaded once").into_loaded().map(Some),
        ModelSource::Path(_) => ScriptedLm::reciting(99, TALE).into_loaded().map(Some),
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(is_end);
    harness.generate("Once", [greedy(1, 2)]);
    harness.worker.send(beside());
    let is_loading = |event: &Event| matches!(event, Event::Beside(_));
    harness.until(is_loading);
    passes.send(()).unwrap();
    drop(passes);
    let events = harness.until(is_end);
    let at = |words: &str| events.iter().position(|event| event == words);
    let finished = at("1 finished: Token limit").unwrap();
    assert!(finished < at("beside Loaded").unwrap(), "{events:?}");
}

#[test]
fn a_load_beside_the_model_in_use_ends_with_a_cancellation_or_another_request_to_load() {
    for request in [
        Request::CancelLoading,
        Request::LoadModel(ModelSource::Embedded),
        Request::UnloadModel,
    ] {
        let (mut harness, permits, _stepped) = loading_beside();
        harness.worker.send(request);
        let events = harness.until(is_beside_end);
        assert_eq!(events.last().unwrap(), "beside Cancelled");
        drop(permits);
        harness.worker.send(Request::ListDevices);
        let events = harness.until(|event| matches!(event, Event::DevicesListed(_)));
        assert!(!events.contains(&"loaded 99".to_owned()), "{events:?}");
    }
}

#[test]
fn a_model_that_fails_beside_the_one_in_use_says_why() {
    let mut harness = Harness::with_loader(|source, _| match source {
        ModelSource::Embedded => ScriptedLm::reciting(64, TALE).into_loaded().map(Some),
        ModelSource::Path(_) => Err(quartet::engine::EngineError::PromptEmpty),
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(is_end);
    harness.worker.send(beside());
    let events = harness.until(is_beside_end);
    assert!(events.last().unwrap().contains("Failed"), "{events:?}");
    harness.generate("Once", [greedy(1, 1)]);
    let events = harness.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
}
