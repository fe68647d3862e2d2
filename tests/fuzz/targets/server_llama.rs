//! Fuzzes [`quartet_fuzz::server_llama`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::server_llama(data));
