//! Measures two models in one window: the second model's memory compared with its estimate, the
//! memory that unloading it frees, and the time that four panes take on both models at once,
//! compared with one model after the other.
//!
//!     cargo bench --bench two_models
//!
//! The second model has random weights; `SHAPE` and `QUANT` set its shape and quantization.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark prints its results, and stops if it can't measure"
)]

use std::path::PathBuf;
use std::time::Instant;

use quartet::decoding::ChainConfig;
use quartet::engine::{Compute, ComputeChoice, Synthetic, open_embedded, resident_memory};
use quartet::generation::{
    Continuation, EndOfText, GenerationConfig, GenerationId, Limits, ModelSource, PromptText,
};
use quartet::worker::{Event, PaneModelUpdate, PaneRequest, Progress, Request, Worker};

const N_TOKENS: usize = 64;
const N_ROUNDS: usize = 5;

fn main() {
    let variable =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let shape = variable("SHAPE", "smollm2-135m");
    let quant = variable("QUANT", "q8_0");
    let synthetic = Synthetic::find(&shape, &quant, 1).expect("a known shape and quantization");
    let outline = synthetic.inspect().expect("the model can be inspected");
    let compute = Compute::choose(ComputeChoice::default());
    let load = move |source: &ModelSource, progress: quartet::engine::LoadProgress<'_>| match source
    {
        ModelSource::Embedded => open_embedded(&compute, progress),
        ModelSource::Path(_) => synthetic.open(&compute, progress),
    };
    let mut worker = Worker::with_loader(load, || {});
    worker.send(Request::LoadModel(ModelSource::Embedded));
    until(&mut worker, |event| {
        matches!(event, Event::ModelLoaded { .. })
    });
    // The buffers that the first texts allocate count toward the first model.
    together(&mut worker, [None; 4]);
    let before = resident();
    let other = ModelSource::Path(PathBuf::from(&shape));
    worker.send(Request::LoadPaneModel(other.clone()));
    until(&mut worker, is_loaded);
    let loaded = resident();
    let both = [None, None, Some(&other), Some(&other)];
    together(&mut worker, both);
    let written = resident();
    let n_weights = outline.memory.n_weight_bytes;
    let n_estimate = outline.memory.n_bytes(2, N_TOKENS + 8);
    let percent = |n_bytes: u64, n: u64| 100.0 * n_bytes as f64 / n as f64;
    let megabytes = |n_bytes: u64| n_bytes as f64 / 1e6;
    println!("{shape} {quant}, {:.1} MB of weights", megabytes(n_weights));
    let took = loaded - before;
    println!(
        "loading takes {:.1} MB, {:.1} % of the weights",
        megabytes(took),
        percent(took, n_weights)
    );
    let took = written - before;
    println!(
        "with two texts {:.1} MB, {:.1} % of the estimate of {:.1} MB",
        megabytes(took),
        percent(took, n_estimate),
        megabytes(n_estimate)
    );

    let mut ratios = Vec::new();
    for _ in 0..N_ROUNDS {
        let at_once = together(&mut worker, both);
        let first = together(&mut worker, [None; 2]);
        let second = together(&mut worker, [Some(&other); 2]);
        ratios.push(at_once / (first + second));
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(N_ROUNDS / 2).copied().unwrap_or_default();
    println!("four panes on both at once take {median:.2} times as long as one after the other");

    worker.send(Request::UnloadPaneModel(other));
    until(
        &mut worker,
        |event| matches!(event, Event::PaneModel { update, .. } if *update == PaneModelUpdate::Unloaded),
    );
    let left = resident();
    println!(
        "unloading frees {:.1} MB and leaves {:+.1} MB",
        megabytes(written.saturating_sub(left)),
        megabytes(left) - megabytes(before)
    );
}

/// Returns the resident memory in bytes.
fn resident() -> u64 {
    resident_memory().expect("the system reports it").n_now
}

fn is_loaded(event: &Event) -> bool {
    matches!(event, Event::PaneModel { update, .. }
        if matches!(update, PaneModelUpdate::Loaded { .. }))
}

/// Generates a text in each pane, all at once. Returns the elapsed seconds.
fn together<const N: usize>(worker: &mut Worker, models: [Option<&ModelSource>; N]) -> f64 {
    let pane = |(id, model): (u64, Option<&ModelSource>)| PaneRequest {
        id: GenerationId(id),
        config: GenerationConfig {
            chain: ChainConfig::sampled([]),
            seed: id,
            limits: Limits {
                max_new_tokens: N_TOKENS,
                end_of_text: EndOfText::Ignored,
                ..Limits::default()
            },
        },
        model: model.cloned(),
        continuation: Continuation::default(),
    };
    let started_at = Instant::now();
    worker.send(Request::Generate {
        prompt: PromptText::raw("Once upon a time"),
        panes: (0..).zip(models).map(pane).collect(),
        n_detail_bytes: 0,
    });
    for _ in 0..N {
        until(worker, |event| {
            matches!(event, Event::Progress(Progress::Finished { .. }))
        });
    }
    started_at.elapsed().as_secs_f64()
}

/// Waits for an event that matches.
fn until(worker: &mut Worker, matches: impl Fn(&Event) -> bool) {
    loop {
        let event = worker.wait().expect("the engine runs");
        if matches(&event) {
            return;
        }
    }
}
