//! A thread pool for parallel regions that last microseconds.
//!
//! A forward pass of a small model has a few hundred parallel regions of about ten microseconds
//! each, so the threads spin between regions. A thread that waits longer yields, and then parks.

#![expect(
    unsafe_code,
    reason = "threads that outlive a call work on what it borrows"
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
const SPIN_TIME: Duration = Duration::from_micros(20);

/// How long a waiting thread yields before it parks.
const AWAKE_TIME: Duration = Duration::from_micros(100);

/// Polls between two readings of the clock.
const N_LOOKS: usize = 32;

/// A pool of threads that share each parallel region.
#[derive(Debug)]
pub struct ThreadPool {
    meeting: Arc<Meeting>,
    threads: Vec<JoinHandle<()>>,
}

impl ThreadPool {
    /// Starts a pool of `n_threads`, at least one. The calling thread counts as one of them.
    pub fn new(n_threads: usize) -> io::Result<Self> {
        let mut team = Self {
            meeting: Arc::default(),
            threads: Vec::new(),
        };
        for index in 1..n_threads {
            let meeting = Arc::clone(&team.meeting);
            let thread = thread::Builder::new().name(format!("compute-{index}"));
            team.threads
                .push(thread.spawn(move || while meeting.attend() {})?);
        }
        Ok(team)
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
        make: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T) + Sync,
    ) {
        if self.threads.is_empty() || items.len() < 2 {
            let mut own = make();
            for item in items {
                work(&mut own, item);
            }
            return;
        }
        let items: Vec<Mutex<Option<T>>> =
            items.into_iter().map(|item| Some(item).into()).collect();
        self.take_turns(items.len(), make, |own, index| {
            if let Some(item) = items.get(index).and_then(|item| lock(item).take()) {
                work(own, item);
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
        self.take_turns(n_items, || (), |(), index| work(index));
    }

    fn take_turns<S>(
        &self,
        n_items: usize,
        make: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
    ) {
        let next = Alone(AtomicUsize::new(0));
        self.meeting.hold(&|| {
            let mut own = None;
            loop {
                let index = next.0.fetch_add(1, Ordering::Relaxed);
                if index >= n_items {
                    break;
                }
                work(own.get_or_insert_with(&make), index);
            }
        });
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.meeting.gate.0.fetch_or(OVER, Ordering::SeqCst);
        self.meeting.idle.wake();
        for thread in self.threads.drain(..) {
            // Panics inside a job were caught, so the thread ends normally.
            thread.join().ok();
        }
    }
}

/// A value in cache lines of its own, which prevents false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Alone<T>(T);

/// What every thread of a job executes: take items until none are left.
type Job<'a> = &'a (dyn Fn() + Sync);

/// State shared by the caller and the threads. There is one job at a time; it belongs to the caller
/// that has set `BUSY`.
#[derive(Debug, Default)]
struct Meeting {
    /// The number of threads inside the job, and the bits below.
    gate: Alone<AtomicUsize>,
    /// The current job, valid while any thread is inside it.
    job: AtomicPtr<Job<'static>>,
    /// The payload of the first thread that panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Threads wait here for a job.
    idle: Rest,
    /// The caller waits here until all threads have left the job.
    caller: Rest,
}

/// A caller owns the pool.
const HELD: usize = 1 << 28;
/// Threads may enter the job.
const OPEN: usize = 1 << 29;
/// The pool is shutting down; there will be no more jobs.
const OVER: usize = 1 << 30;
/// Masks the number of threads inside the job.
const N_INSIDE: usize = HELD - 1;

impl Meeting {
    /// Executes a job on this thread and on all others that enter before it is done.
    fn hold(&self, job: Job<'_>) {
        let gate = &self.gate.0;
        if gate
            .compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            job();
            return;
        }
        self.job
            .store(ptr::from_ref(&job).cast_mut().cast(), Ordering::Relaxed);
        gate.fetch_or(OPEN, Ordering::SeqCst);
        self.idle.wake();
        let done = catch_unwind(AssertUnwindSafe(job));
        gate.fetch_and(!OPEN, Ordering::SeqCst);
        self.caller
            .wait_until(|| gate.load(Ordering::SeqCst) & N_INSIDE == 0);
        let panic = lock(&self.panic).take();
        gate.fetch_and(!HELD, Ordering::Release);
        if let Some(panic) = done.err().or(panic) {
            resume_unwind(panic);
        }
    }

    /// Waits for a job and executes it. Returns whether more jobs may follow.
    fn attend(&self) -> bool {
        let gate = &self.gate.0;
        self.idle
            .wait_until(|| gate.load(Ordering::SeqCst) & (OPEN | OVER) != 0);
        let mut state = gate.load(Ordering::Relaxed);
        while state & OPEN != 0 {
            let entered =
                gate.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed);
            match entered {
                Ok(_) => {
                    self.take_part();
                    break;
                }
                Err(now) => state = now,
            }
        }
        state & OVER == 0
    }

    /// Executes the job that this thread has entered, and leaves it.
    fn take_part(&self) {
        let gate = &self.gate.0;
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
        gate.fetch_and(!OPEN, Ordering::Relaxed);
        if gate.fetch_sub(1, Ordering::SeqCst) & N_INSIDE == 1 {
            self.caller.wake();
        }
    }
}

/// Blocks threads until the state changes: spinning at first, then parked.
#[derive(Debug, Default)]
struct Rest {
    n_asleep: AtomicUsize,
    bed: Mutex<()>,
    alarm: Condvar,
}

impl Rest {
    /// Waits until `condition` holds. Every change that can make it true must be followed by
    /// [`Self::unpark_all`].
    fn wait_until(&self, changed: impl Fn() -> bool) {
        if comes_soon(&changed) {
            return;
        }
        // A thread that changes the state from here on either sees that a thread is parked, or made
        // its change before the check below. The lock prevents a notification between that check
        // and the wait.
        let mut bed = lock(&self.bed);
        self.n_asleep.fetch_add(1, Ordering::SeqCst);
        while !changed() {
            bed = self.alarm.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.n_asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Makes parked threads check their condition again.
    fn wake(&self) {
        if self.n_asleep.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.bed));
            self.alarm.notify_all();
        }
    }
}

/// Spins for a limited time. Returns whether the condition became true.
fn comes_soon(changed: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..N_LOOKS {
            if changed() {
                return true;
            }
            std::hint::spin_loop();
        }
        let waited = start.elapsed();
        if waited > AWAKE_TIME {
            return false;
        }
        if waited > SPIN_TIME {
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
    use std::collections::BTreeSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::ThreadPool;

    #[test]
    fn each_item_is_worked_on_once() {
        for n_threads in [0, 1, 2, 3, 8] {
            let team = ThreadPool::new(n_threads).unwrap();
            assert_eq!(team.n_threads(), n_threads.max(1));
            for n_items in [0, 1, 2, 7, 100] {
                let counts: Vec<AtomicUsize> = (0..n_items).map(|_| 0.into()).collect();
                team.run_indexed(n_items, |index| {
                    counts[index].fetch_add(1, Ordering::Relaxed);
                });
                let mut places = vec![0; n_items];
                let items = places.iter_mut().enumerate().collect();
                team.run(items, |(index, place): (usize, &mut usize)| {
                    *place = counts[index].load(Ordering::Relaxed) + index;
                });
                assert_eq!(places, (1..=n_items).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_thread_makes_its_own_once_and_has_it_for_all_its_items() {
        for n_threads in [1, 3] {
            let team = ThreadPool::new(n_threads).unwrap();
            let n_made = AtomicUsize::new(0);
            let mut places = vec![0; 50];
            let items: Vec<&mut usize> = places.iter_mut().collect();
            let make = || {
                n_made.fetch_add(1, Ordering::Relaxed);
                0
            };
            team.run_with(items, make, |n_before: &mut usize, place| {
                *n_before += 1;
                *place = *n_before;
            });
            let n_made = n_made.into_inner();
            assert!((1..=n_threads).contains(&n_made));
            let n_first = places.iter().filter(|place| **place == 1).count();
            assert_eq!(n_first, n_made);
            assert!(places.iter().all(|place| *place > 0));
        }
    }

    #[test]
    fn regions_follow_each_other_without_a_loss() {
        let team = ThreadPool::new(3).unwrap();
        let sum = AtomicUsize::new(0);
        for round in 0..20_000 {
            team.run_indexed(5, |index| {
                sum.fetch_add(index, Ordering::Relaxed);
            });
            assert_eq!(sum.load(Ordering::Relaxed), 10 * (round + 1));
        }
    }

    #[test]
    fn threads_that_slept_come_back() {
        let team = ThreadPool::new(4).unwrap();
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(2));
            let seen = Mutex::new(BTreeSet::new());
            team.run_indexed(4, |_| {
                let name = thread::current().name().map(str::to_owned);
                seen.lock().unwrap().insert(name);
                thread::sleep(Duration::from_millis(20));
            });
            let seen = seen.into_inner().unwrap();
            assert!(seen.contains(&Some("compute-1".to_owned())), "{seen:?}");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_goes_on() {
        let team = ThreadPool::new(3).unwrap();
        for bad in 0..9 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                team.run((0..9).collect(), |item: usize| {
                    assert!(item != bad, "item {item}");
                });
            }));
            let message = outcome.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(*message, format!("item {bad}"));
            let n_done = AtomicUsize::new(0);
            team.run_indexed(9, |_| {
                n_done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(n_done.into_inner(), 9);
        }
    }

    #[test]
    fn work_may_be_asked_for_from_inside_and_from_several_threads() {
        let team = ThreadPool::new(3).unwrap();
        let n_done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        team.run_indexed(4, |_| {
                            team.run(vec![1, 2, 3], |item| {
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
