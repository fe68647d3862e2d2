//! Uses the thread pool in every way it is used in, for ThreadSanitizer to watch. Built by `run`, not
//! by cargo: the test harness, which is not instrumented, would be reported.

#[path = "../../src/kernels/thread_pool.rs"]
mod thread_pool;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use thread_pool::ThreadPool;

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    for n_threads in [1, 2, 3, 8] {
        let Ok(pool) = ThreadPool::new(n_threads) else {
            eprintln!("no pool of {n_threads} threads could be started");
            std::process::exit(2);
        };
        regions_one_after_the_other(&pool, 2_000);
        regions_after_the_threads_have_parked(&pool);
        regions_that_panic(&pool);
        regions_from_several_threads(&pool);
        println!("{} threads: done", pool.n_threads());
    }
}

/// Every region writes what the next one reads, on whichever thread, without atomics or locks.
fn regions_one_after_the_other(pool: &ThreadPool, n_regions: usize) {
    let mut values = vec![0_usize; 13];
    for _ in 0..n_regions {
        let before: usize = values.iter().sum();
        let base = &before;
        pool.run(values.iter_mut().enumerate().collect(), |(index, value)| {
            *value = (*base + *value + index) % 1_000;
        });
        let scratch = || vec![0_usize; 4];
        let items = values.iter_mut().collect();
        pool.run_with(
            items,
            scratch,
            |scratch: &mut Vec<usize>, value: &mut usize| {
                scratch.rotate_left(1);
                scratch[0] += *value;
                *value += scratch[0] % 7;
            },
        );
    }
}

fn regions_after_the_threads_have_parked(pool: &ThreadPool) {
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(2));
        regions_one_after_the_other(pool, 1);
    }
    // The caller parks while the other threads finish.
    pool.run((0..8).collect(), |item: u64| {
        thread::sleep(Duration::from_millis(item));
    });
}

fn regions_that_panic(pool: &ThreadPool) {
    for bad in 0..9 {
        let mut values = [0; 9];
        let items: Vec<_> = values.iter_mut().enumerate().collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.run(items, |(index, value): (usize, &mut usize)| {
                *value = index;
                assert!(index != bad, "item {index}");
            });
        }));
        assert!(outcome.is_err(), "the panic was lost");
        assert_eq!(values[bad], bad);
        regions_one_after_the_other(pool, 3);
    }
}

fn regions_from_several_threads(pool: &ThreadPool) {
    thread::scope(|scope| {
        let threads = [(); 3].map(|()| {
            scope.spawn(|| {
                regions_one_after_the_other(pool, 200);
                pool.run(vec![1, 2, 3, 4], |_: i32| {
                    regions_one_after_the_other(pool, 20)
                });
            })
        });
        // ThreadSanitizer sees that a thread is joined, but not that a scope waits for it.
        for thread in threads {
            assert!(thread.join().is_ok(), "a thread panicked");
        }
    });
}
