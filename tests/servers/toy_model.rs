//! A model small enough to compute in a test. Its logits depend on the tokens so far.

use quartet::decoding::TokenId;

/// Its end-of-text token.
pub(crate) const END: usize = 0;

/// The three bytes of "€", each a token.
pub(crate) const EURO: [usize; 3] = [27, 28, 29];

/// The number of tokens: the end-of-text token, " a" to " z", and the bytes of "€".
pub(crate) const N_VOCAB: usize = 30;

/// Returns the bytes of a token. Servers report none for the end-of-text token.
pub(crate) fn bytes(token: usize) -> Vec<u8> {
    match token {
        END => Vec::new(),
        1..=26 => vec![b' ', b'a' + (token - 1) as u8],
        _ => vec!["€".as_bytes()[token - 27]],
    }
}

pub(crate) fn name(token: usize) -> String {
    if token == END {
        "</s>".to_owned()
    } else {
        String::from_utf8_lossy(&bytes(token)).into_owned()
    }
}

/// Tokenizes a text that consists of these tokens.
pub(crate) fn tokenize(text: &str) -> Vec<usize> {
    let (mut tokens, mut rest) = (Vec::new(), text.as_bytes());
    while !rest.is_empty() {
        let token = (1..N_VOCAB).find(|token| rest.starts_with(&bytes(*token)));
        let token = token.unwrap_or_else(|| panic!("{text:?} has no tokens"));
        rest = &rest[bytes(token).len()..];
        tokens.push(token);
    }
    tokens
}

/// Returns the log-probs of the next token, in nats. The first byte of "€" is followed by the
/// other two; it and the end-of-text token are rare.
pub(crate) fn log_probs(tokens: &[usize]) -> Vec<f32> {
    let last = tokens.last().copied().unwrap_or_default();
    let mut seed = (tokens.len() as u32).wrapping_mul(40_503) ^ (last as u32 * 977);
    let mut logits: Vec<f32> = (0..N_VOCAB)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 2.0_f32.powi(24) * 6.0
        })
        .collect();
    logits[END] = -3.0;
    logits[EURO[0]] = 0.0;
    logits[EURO[1]] = if last == EURO[0] { 40.0 } else { -20.0 };
    logits[EURO[2]] = if last == EURO[1] { 40.0 } else { -20.0 };
    let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
    let log_prob = |logit: f32| (f64::from(logit) - sum.ln()) as f32;
    logits.into_iter().map(log_prob).collect()
}

/// Returns all tokens, most likely first.
pub(crate) fn ranked(log_probs: &[f32]) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..log_probs.len()).collect();
    ranked.sort_by(|a, b| log_probs[*b].total_cmp(&log_probs[*a]).then(a.cmp(b)));
    ranked
}

pub(crate) fn ids(tokens: &[usize]) -> Vec<TokenId> {
    tokens.iter().map(|token| TokenId(*token as u32)).collect()
}
