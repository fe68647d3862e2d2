//! Fuzzes [`quartet_fuzz::settings`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::settings(data));
