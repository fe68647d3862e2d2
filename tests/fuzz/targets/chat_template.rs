//! Fuzzes [`quartet_fuzz::chat_template`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| quartet_fuzz::chat_template(data));
