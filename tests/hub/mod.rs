//! Finding, downloading and listing models, with a fake Hub on loopback that can inject faults. The
//! tests use no network and write only to temporary folders.

mod bench;
mod command_line;
mod download;
mod faults;
mod find;
mod opening;
mod privacy;
mod server;
mod threads;
pub(crate) mod tiny_model;
