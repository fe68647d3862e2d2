//! Fuzzes [`quartet_fuzz::run_file`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::run_file(data));
