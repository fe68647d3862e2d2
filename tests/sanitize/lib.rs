//! The kernels of Quartet and their tests, without the rest of it.

#[path = "../../src/kernels/mod.rs"]
pub mod kernels;
