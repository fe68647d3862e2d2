//! What must not harm the program: malformed files, killed processes, hostile servers.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails may panic, in a helper too"
)]

mod display;
mod hostile;
mod random;
mod rounds;
