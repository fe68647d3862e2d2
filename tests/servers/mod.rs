//! Panes over servers, with a stand-in for each kind on loopback that can inject faults. The
//! stand-ins respond as the servers' documentation and sources say; `try_llama_server` runs the
//! same checks against the real program.

mod bench;
mod command_line;
mod faults;
mod lists;
mod stand_in;
mod streams;
mod toy_model;
mod traps;
mod writing;
