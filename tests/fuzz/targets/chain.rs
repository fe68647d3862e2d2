//! Fuzzes [`quartet_fuzz::chain`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::chain(data));
