//! Fuzzes [`quartet_fuzz::safetensors`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::safetensors(data));
