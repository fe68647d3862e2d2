//! Fuzzes [`quartet_fuzz::server_openai`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::server_openai(data));
