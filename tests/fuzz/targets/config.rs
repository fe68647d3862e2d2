//! Fuzzes [`quartet_fuzz::config`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::config(data));
