//! Fuzzes [`quartet_fuzz::gguf`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::gguf(data));
