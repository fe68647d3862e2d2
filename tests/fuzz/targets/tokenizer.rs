//! Fuzzes [`quartet_fuzz::tokenizer`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::tokenizer(data));
