//! The kernels and their tests, without the rest of the program.

#[path = "../../src/kernels/mod.rs"]
pub mod kernels;
