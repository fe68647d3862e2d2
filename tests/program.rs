//! The program run as a separate process, and its exchanges with the Hub and with servers.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails may panic, in a helper too"
)]

mod cache_cli;
mod cli;
mod compare_cli;
mod display;
mod fit_cli;
mod hub;
mod launcher;
mod listen_cli;
mod llama_stand_in;
mod loopback;
mod prompts_cli;
mod random;
mod replay_set_cli;
mod rounds;
mod run_files;
mod servers;
mod smoke;
mod starters;
mod sweep_cli;
