//! A thread pool for parallel regions that last microseconds.
//!
//! A forward pass of a small model has a few hundred parallel regions of about ten microseconds
//! each, so the threads spin between regions. A thread that waits longer yields, and then parks.

#![expect(
    unsafe_code,
    reason = "long-lived threads execute jobs that borrow from the caller"
)]

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a waiting thread spins before it starts to yield.
const YIELD_AFTER: Duration = Duration::from_micros(20);

/// How long a waiting thread stays awake before it parks. Between these times it yields.
const PARK_AFTER: Duration = Duration::from_micros(100);

/// Polls between two readings of the clock.
const POLLS_PER_CLOCK_READ: usize = 32;

/// A pool of threads that share each parallel region.
#[derive(Debug)]
pub struct ThreadPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl ThreadPool {
    /// Starts a pool of `n_threads`, at least one. The calling thread counts as one of them.
    pub fn new(n_threads: usize) -> io::Result<Self> {
        let mut pool = Self {
            shared: Arc::default(),
            threads: Vec::new(),
        };
        for index in 1..n_threads {
            let shared = Arc::clone(&pool.shared);
            let thread = thread::Builder::new().name(format!("compute-{index}"));
            pool.threads
                .push(thread.spawn(move || while shared.wait_and_execute() {})?);
        }
        Ok(pool)
    }

    /// The number of threads, including the calling one.
    pub const fn n_threads(&self) -> usize {
        self.threads.len() + 1
    }

    /// Calls `work` for every item, divided among the threads, and returns when all are done.
    ///
    /// If an item panics, this call panics with the same payload, once the items in progress are
    /// finished. A nested call, or one made while another thread uses the pool, processes its items
    /// on the calling thread.
    pub fn run<T: Send>(&self, items: Vec<T>, work: impl Fn(T) + Send + Sync) {
        self.run_with(items, || (), |(), item| work(item));
    }

    /// Like [`Self::run`], with a value per thread that `init` creates before the thread's first
    /// item.
    pub fn run_with<T: Send, S>(
        &self,
        items: Vec<T>,
        init: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T) + Sync,
    ) {
        if self.threads.is_empty() || items.len() < 2 {
            let mut local = init();
            for item in items {
                work(&mut local, item);
            }
            return;
        }
        let items: Vec<Mutex<Option<T>>> =
            items.into_iter().map(|item| Some(item).into()).collect();
        self.distribute(items.len(), init, |local, index| {
            if let Some(item) = items.get(index).and_then(|item| lock(item).take()) {
                work(local, item);
            }
        });
    }

    /// [`Self::run`] for the numbers below `n_items`, without an allocation.
    #[cfg(test)]
    pub fn run_indexed(&self, n_items: usize, work: impl Fn(usize) + Send + Sync) {
        if self.threads.is_empty() || n_items < 2 {
            (0..n_items).for_each(work);
            return;
        }
        self.distribute(n_items, || (), |(), index| work(index));
    }

    fn distribute<S>(
        &self,
        n_items: usize,
        init: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
    ) {
        let next = CachePadded(AtomicUsize::new(0));
        self.shared.run_job(&|| {
            let mut local = None;
            loop {
                let index = next.0.fetch_add(1, Ordering::Relaxed);
                if index >= n_items {
                    break;
                }
                work(local.get_or_insert_with(&init), index);
            }
        });
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.state.0.fetch_or(SHUTDOWN, Ordering::SeqCst);
        self.shared.workers.unpark_all();
        for thread in self.threads.drain(..) {
            // Panics inside a job were caught, so the thread ends normally.
            thread.join().ok();
        }
    }
}

/// A value in its own cache lines, which prevents false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CachePadded<T>(T);

/// What every thread of a job executes: take items until none are left.
type Job<'a> = &'a (dyn Fn() + Sync);

/// State shared by the caller and the threads. There is one job at a time; it belongs to the caller
/// that has set `BUSY`.
#[derive(Debug, Default)]
struct Shared {
    /// The number of threads inside the job, and the bits below.
    state: CachePadded<AtomicUsize>,
    /// The current job, valid while any thread is inside it.
    job: AtomicPtr<Job<'static>>,
    /// The payload of the first thread that panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Threads wait here for a job.
    workers: Parker,
    /// The caller waits here until all threads have left the job.
    caller: Parker,
}

/// A caller owns the pool.
const BUSY: usize = 1 << 28;
/// Threads may enter the job.
const OPEN: usize = 1 << 29;
/// The pool is shutting down; there will be no more jobs.
const SHUTDOWN: usize = 1 << 30;
/// Masks the number of threads inside the job.
const INSIDE_MASK: usize = BUSY - 1;

impl Shared {
    /// Executes a job on this thread and on all others that enter before it is done.
    fn run_job(&self, job: Job<'_>) {
        let state = &self.state.0;
        if state
            .compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            job();
            return;
        }
        self.job
            .store(ptr::from_ref(&job).cast_mut().cast(), Ordering::Relaxed);
        state.fetch_or(OPEN, Ordering::SeqCst);
        self.workers.unpark_all();
        let done = catch_unwind(AssertUnwindSafe(job));
        state.fetch_and(!OPEN, Ordering::SeqCst);
        self.caller
            .wait_until(|| state.load(Ordering::SeqCst) & INSIDE_MASK == 0);
        let panic = lock(&self.panic).take();
        state.fetch_and(!BUSY, Ordering::Release);
        if let Some(panic) = done.err().or(panic) {
            resume_unwind(panic);
        }
    }

    /// Waits for a job and executes it. Returns whether more jobs may follow.
    fn wait_and_execute(&self) -> bool {
        let state = &self.state.0;
        self.workers
            .wait_until(|| state.load(Ordering::SeqCst) & (OPEN | SHUTDOWN) != 0);
        let mut current = state.load(Ordering::Relaxed);
        while current & OPEN != 0 {
            let entry = state.compare_exchange_weak(
                current,
                current + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match entry {
                Ok(_) => {
                    self.execute_job();
                    break;
                }
                Err(actual) => current = actual,
            }
        }
        current & SHUTDOWN == 0
    }

    /// Executes the job that this thread has entered, and leaves it.
    fn execute_job(&self) {
        let state = &self.state.0;
        // SAFETY: `run_job` stored the address of its parameter before it set `OPEN`, and entering
        // the job acquires that store. `run_job` does not return, so its parameter and everything
        // that the job borrows stay alive, until it has seen that no thread is inside. This thread
        // is inside until the `fetch_sub` below. Nobody stores another address before `run_job`
        // clears `BUSY`.
        let job: Job<'_> = unsafe { *self.job.load(Ordering::Relaxed) };
        let done = catch_unwind(AssertUnwindSafe(job));
        if let Err(panic) = done {
            lock(&self.panic).get_or_insert(panic);
        }
        // No items are left, so threads that arrive now need not enter.
        state.fetch_and(!OPEN, Ordering::Relaxed);
        if state.fetch_sub(1, Ordering::SeqCst) & INSIDE_MASK == 1 {
            self.caller.unpark_all();
        }
    }
}

/// Blocks threads until the state changes: spinning at first, then parked.
#[derive(Debug, Default)]
struct Parker {
    /// Incremented under the lock, so that [`Self::unpark_all`] can skip it if nobody is parked.
    n_parked: AtomicUsize,
    mutex: Mutex<()>,
    condvar: Condvar,
}

impl Parker {
    /// Waits until `condition` holds. Every change that can make it true must be followed by
    /// [`Self::unpark_all`].
    fn wait_until(&self, condition: impl Fn() -> bool) {
        if spin_until(&condition) {
            return;
        }
        // A thread that changes the state from here on either sees that a thread is parked, or made
        // its change before the check below. The lock prevents a notification between that check
        // and the wait.
        let mut guard = lock(&self.mutex);
        self.n_parked.fetch_add(1, Ordering::SeqCst);
        while !condition() {
            guard = self
                .condvar
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.n_parked.fetch_sub(1, Ordering::SeqCst);
    }

    /// Makes parked threads check their condition again.
    fn unpark_all(&self) {
        if self.n_parked.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.mutex));
            self.condvar.notify_all();
        }
    }
}

/// Spins for a limited time. Returns whether the condition became true.
fn spin_until(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..POLLS_PER_CLOCK_READ {
            if condition() {
                return true;
            }
            std::hint::spin_loop();
        }
        let waited = start.elapsed();
        if waited > PARK_AFTER {
            return false;
        }
        if waited > YIELD_AFTER {
            thread::yield_now();
        }
    }
}

/// Locks a mutex, ignoring poison: its value stays valid if a thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::Duration;

    use super::{ThreadPool, lock};

    #[test]
    fn every_item_is_processed_exactly_once() {
        for n_threads in [0, 1, 2, 3, 8] {
            let pool = ThreadPool::new(n_threads).unwrap();
            assert_eq!(pool.n_threads(), n_threads.max(1));
            for n_items in [0, 1, 2, 7, 100] {
                let counts: Vec<AtomicUsize> = (0..n_items).map(|_| 0.into()).collect();
                pool.run_indexed(n_items, |index| {
                    counts[index].fetch_add(1, Ordering::Relaxed);
                });
                let mut targets = vec![0; n_items];
                let items = targets.iter_mut().enumerate().collect();
                pool.run(items, |(index, target): (usize, &mut usize)| {
                    *target = counts[index].load(Ordering::Relaxed) + index;
                });
                assert_eq!(targets, (1..=n_items).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_thread_initializes_its_value_once_for_all_its_items() {
        for n_threads in [1, 3] {
            let pool = ThreadPool::new(n_threads).unwrap();
            let n_initialized = AtomicUsize::new(0);
            let mut targets = vec![0; 50];
            let items: Vec<&mut usize> = targets.iter_mut().collect();
            let init = || {
                n_initialized.fetch_add(1, Ordering::Relaxed);
                0
            };
            pool.run_with(items, init, |n_before: &mut usize, target| {
                *n_before += 1;
                *target = *n_before;
            });
            let n_initialized = n_initialized.into_inner();
            assert!((1..=n_threads).contains(&n_initialized));
            let n_first = targets.iter().filter(|target| **target == 1).count();
            assert_eq!(n_first, n_initialized);
            assert!(targets.iter().all(|target| *target > 0));
        }
    }

    #[test]
    fn no_item_is_lost_over_many_regions() {
        let pool = ThreadPool::new(3).unwrap();
        let sum = AtomicUsize::new(0);
        for round in 0..20_000 {
            pool.run_indexed(5, |index| {
                sum.fetch_add(index, Ordering::Relaxed);
            });
            assert_eq!(sum.load(Ordering::Relaxed), 10 * (round + 1));
        }
    }

    /// Waits until every thread of the pool is parked.
    fn wait_until_parked(pool: &ThreadPool) {
        let workers = &pool.shared.workers;
        while workers.n_parked.load(Ordering::SeqCst) < pool.threads.len() {
            thread::yield_now();
        }
        // A thread counts itself under the lock, which it releases once it is parked.
        drop(lock(&workers.mutex));
    }

    #[test]
    fn parked_threads_wake_up_for_the_next_job() {
        let pool = ThreadPool::new(4).unwrap();
        for _ in 0..5 {
            wait_until_parked(&pool);
            let (n_arrived, arrived) = (Mutex::new(0), Condvar::new());
            // Each item waits for the others, so each needs a thread of its own.
            pool.run_indexed(4, |_| {
                let mut n_arrived = n_arrived.lock().unwrap();
                *n_arrived += 1;
                arrived.notify_all();
                let limit = Duration::from_mins(1);
                let waited = arrived.wait_timeout_while(n_arrived, limit, |n| *n < 4);
                assert_eq!(*waited.unwrap().0, 4, "threads that woke up");
            });
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_stays_usable() {
        let pool = ThreadPool::new(3).unwrap();
        for bad in 0..9 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run((0..9).collect(), |item: usize| {
                    assert!(item != bad, "item {item}");
                });
            }));
            let message = outcome.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(*message, format!("item {bad}"));
            let n_done = AtomicUsize::new(0);
            pool.run_indexed(9, |_| {
                n_done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(n_done.into_inner(), 9);
        }
    }

    #[test]
    fn nested_and_concurrent_calls_complete() {
        let pool = ThreadPool::new(3).unwrap();
        let n_done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        pool.run_indexed(4, |_| {
                            pool.run(vec![1, 2, 3], |item| {
                                n_done.fetch_add(item, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(n_done.into_inner(), 3 * 100 * 4 * 6);
    }
}
