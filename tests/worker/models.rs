//! Models that are loaded, called off half-way, replaced and let go.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use quartet::engine::scripted::ScriptedLm;
use quartet::worker::{ComputeChoice, DeviceChoice, Event, ModelSource, Request};

use super::{Desk, TALE, greedy};

/// A desk whose loader, for a path, stands still after each step until it gets leave.
fn slow_desk() -> (Desk, SyncSender<()>, Receiver<()>) {
    let (leave, gate) = sync_channel::<()>(100);
    let (step, stepped) = sync_channel(100);
    let desk = Desk::open(move |source, progress| {
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
    (desk, leave, stepped)
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
fn a_loading_is_cancelled_at_its_next_step_and_the_model_before_it_writes_on() {
    let (mut desk, leave, stepped) = slow_desk();
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    desk.until(is_end);
    desk.worker.send(large());
    stepped.recv().unwrap();
    desk.generate("Once", [greedy(1, 1)]);
    desk.worker.send(Request::CancelLoading);
    leave.send(()).unwrap();
    assert_eq!(desk.until(is_end), ["loading 0", "loading cancelled"]);
    let events = desk.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
}

#[test]
fn another_model_can_be_asked_for_as_soon_as_one_is_cancelled() {
    let (mut desk, leave, stepped) = slow_desk();
    desk.worker.send(large());
    stepped.recv().unwrap();
    desk.worker.send(Request::CancelLoading);
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    leave.send(()).unwrap();
    assert_eq!(desk.until(is_end), ["loading 0", "loading cancelled"]);
    assert_eq!(desk.until(is_end), ["loading 0", "loaded 64"]);
}

#[test]
fn a_cancel_that_comes_too_late_changes_nothing() {
    let (mut desk, leave, _) = slow_desk();
    drop(leave);
    desk.worker.send(large());
    let events = desk.until(is_end);
    assert_eq!(events.last().unwrap(), "loaded 99");
    desk.worker.send(Request::CancelLoading);
    desk.generate("Once", [greedy(1, 1)]);
    let events = desk.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Token limit");
}

#[test]
fn a_model_that_is_let_go_ends_what_it_writes_and_is_gone() {
    let (mut desk, leave) = super::gated_desk();
    desk.generate("Once", [greedy(1, 99)]);
    leave.send(()).unwrap();
    desk.until(|event| matches!(event, Event::Stepped { .. }));
    desk.worker.send(Request::UnloadModel);
    drop(leave);
    let events = desk.until(|event| matches!(event, Event::ModelUnloaded));
    let from = events.len() - 2;
    assert_eq!(events[from..], ["1 finished: Stopped by you", "unloaded"]);
    desk.generate("Once", [greedy(2, 1)]);
    let events = desk.until_finished(2);
    assert!(events.last().unwrap().contains("no model"), "{events:?}");
}

#[test]
fn facts_are_told_without_loading_anything() {
    let mut desk = Desk::open(|_, _| panic!("nothing is to be loaded"));
    desk.worker.send(Request::ListDevices);
    let Event::DevicesListed(devices) = desk.next() else {
        panic!("the devices are listed");
    };
    assert_eq!(devices.choices.first(), Some(&DeviceChoice::Cpu));
    assert!(devices.cpu_threads.n_usual <= devices.cpu_threads.n_max);

    let path = PathBuf::from("nowhere.gguf");
    desk.worker.send(Request::Inspect(path.clone()));
    let Event::Inspected {
        path: of,
        found,
        n_free_bytes,
    } = desk.next()
    else {
        panic!("the file is inspected");
    };
    assert_eq!(of, path);
    assert!(found.unwrap_err().contains("nowhere.gguf"));
    assert!(n_free_bytes > 0);
}

#[test]
fn a_device_that_is_missing_is_told_before_the_model_is_loaded() {
    let (mut desk, leave, _) = slow_desk();
    drop(leave);
    desk.worker.send(Request::ComputeWith(ComputeChoice {
        device: DeviceChoice::Cuda(99),
        ..ComputeChoice::default()
    }));
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    let events = desk.until(is_end);
    assert_eq!(events, ["no CUDA 99", "loading 0", "loaded 64"]);
}
