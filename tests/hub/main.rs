//! Finding, downloading and listing models, against a server of our own on loopback that speaks the
//! Hub's API and can be told to fail. No network, and nothing outside temporary folders.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

mod bench;
mod command_line;
mod download;
mod faults;
mod find;
mod server;
mod threads;
