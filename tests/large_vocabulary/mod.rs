//! A made-up vocabulary the size of Qwen's.

/// The number of tokens.
pub(crate) const N_VOCAB: u32 = 151_936;

/// Returns every byte, and made-up words of two to nine characters. The last entry is the
/// end-of-text token.
pub(crate) fn large_vocabulary() -> Vec<Vec<u8>> {
    const LETTERS: &[u8] = b"etaoinshrdlucmfwypvbgkjqxz ETAOIN0123456789\"{}[]:,.-_";
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let mut words: Vec<Vec<u8>> = bytes.collect();
    while words.len() + 1 < N_VOCAB as usize {
        let n_bytes = 2 + random(8);
        let word = (0..n_bytes).map(|_| LETTERS[random(LETTERS.len() as u64) as usize]);
        words.push(word.collect());
    }
    words.push(Vec::new());
    words
}
