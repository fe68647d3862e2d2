//! Decoding and its definitions: reference values, golden files, properties.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails may panic, in a helper too"
)]

mod decoding_golden;
mod decoding_properties;
mod decoding_reference;
mod watermark_reference;
