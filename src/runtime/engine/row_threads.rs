//! Divides work on the logits of several rows among threads.

use rayon::prelude::*;

use crate::kernels::ThreadPool;

/// With fewer logits than this, dividing them among threads that are awake costs more than it saves.
const N_MIN_LOGITS: usize = 1 << 13;

/// With fewer logits than this, waking other threads costs more than it saves.
const N_MIN_LOGITS_TO_WAKE: usize = 1 << 16;

/// Maps each item, in parallel if there are enough logits to make that pay off. `threads` are those
/// that the passes of the model run on, which are still awake after a pass; without them, it is
/// rayon's. `init` creates a value for each thread. The results are in the order of the items.
pub(super) fn map_rows<T: Send, S, R: Send>(
    threads: Option<&ThreadPool>,
    n_logits: usize,
    items: Vec<T>,
    init: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, T) -> R + Send + Sync,
) -> Vec<R> {
    match threads {
        Some(threads) if n_logits >= N_MIN_LOGITS => {
            let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
            let tasks = items.into_iter().zip(&mut results).collect();
            threads.run_with(tasks, init, |local, (item, result)| {
                *result = Some(work(local, item));
            });
            results.into_iter().flatten().collect()
        }
        None if n_logits >= N_MIN_LOGITS_TO_WAKE => {
            items.into_par_iter().map_init(init, work).collect()
        }
        _ => {
            let mut local = init();
            let items = items.into_iter();
            items.map(|item| work(&mut local, item)).collect()
        }
    }
}
