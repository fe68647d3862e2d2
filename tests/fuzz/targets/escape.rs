//! Fuzzes [`quartet_fuzz::escape`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::escape(data));
