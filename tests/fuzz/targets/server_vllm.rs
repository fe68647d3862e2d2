//! Fuzzes [`quartet_fuzz::server_vllm`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::server_vllm(data));
