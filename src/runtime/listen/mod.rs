//! A local endpoint: other programs ask for texts over HTTP, and the engine writes them as it writes
//! those of panes.
//!
//! A thread speaks HTTP. Whoever owns the engine's worker owns the `Listener` too: it takes requests
//! for the worker from it, hands it what the worker reports, and gets the record of each request. This
//! module does not know what becomes of the records, and it starts no worker.

mod answering;
mod asked;
mod client;
mod earlier;
mod guard;
mod limits;
mod listener;
mod parts;
mod rendering;
mod routes;
mod served;
mod server;
#[cfg(test)]
mod tests;
mod timed_io;

pub use answering::{AnsweredRequest, OpenRequest, Outcome};
pub use client::Client;
pub use limits::{MAX_OPEN_REQUESTS, MAX_WRITING_TEXTS};
pub use listener::{ListenError, Listener};
