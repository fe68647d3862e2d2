//! Finding, downloading and listing models, with a fake Hub on loopback that can inject faults. The
//! tests use no network and write only to temporary folders.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failing test may panic, in helpers too"
)]

mod bench;
mod command_line;
mod download;
mod faults;
mod find;
#[path = "../loopback/mod.rs"]
mod loopback;
mod privacy;
#[path = "../hostile/random.rs"]
mod random;
#[path = "../hostile/rounds.rs"]
mod rounds;
mod server;
mod threads;
