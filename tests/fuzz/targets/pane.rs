//! Fuzzes [`quartet_fuzz::pane`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::pane(data));
