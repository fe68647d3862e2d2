//! The threads that compute together.

use rayon::prelude::*;

/// Threads that compute together and sleep in between.
#[derive(Debug)]
pub struct Team {
    pool: rayon::ThreadPool,
}

impl Team {
    /// So many threads, the one that asks for work included; at least one.
    pub fn new(n_threads: usize) -> std::io::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads.max(1));
        let pool = pool.build().map_err(std::io::Error::other)?;
        Ok(Self { pool })
    }

    /// How many threads it has.
    pub fn n_threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Works on all items, each on one of the threads, and returns when all are done.
    pub fn run<T: Send>(&self, items: Vec<T>, work: impl Fn(T) + Send + Sync) {
        self.pool
            .install(|| items.into_par_iter().with_max_len(1).for_each(work));
    }
}
