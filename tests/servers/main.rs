//! Panes over servers, with a stand-in for each kind on loopback that can inject faults. The
//! stand-ins respond as the servers' documentation and sources say; `try_llama_server` runs the
//! same checks against the real program.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failing test may panic, in helpers too"
)]

mod bench;
mod command_line;
mod faults;
#[path = "../loopback/mod.rs"]
mod loopback;
mod stand_in;
mod streams;
mod toy_model;
mod traps;
mod writing;
