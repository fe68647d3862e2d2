//! The limit of what can be typed or pasted into a field.

use crate::generation::formatting::grouped;

/// The most characters of a typed text. A model that reads more of them takes minutes on a laptop.
const N_MAX_CHARS: usize = 200_000;

/// Cuts a text that is longer than fields allow, but for one character, which shows that the rest is
/// missing. Returns how many characters a field accepts.
pub fn cut_to_limit(text: &mut String) -> usize {
    let n_max = N_MAX_CHARS + 1;
    if let Some((end, _)) = past_limit(text, n_max) {
        text.truncate(end);
    }
    n_max
}

/// Says that a text was cut; `None` if it was not.
pub fn cut_words(text: &str) -> Option<String> {
    past_limit(text, N_MAX_CHARS)?;
    let n_max = grouped(N_MAX_CHARS as f64);
    Some(format!(
        "A field holds at most {n_max} characters; the rest was left out"
    ))
}

/// Returns the first character after `n_max` of them.
fn past_limit(text: &str, n_max: usize) -> Option<(usize, char)> {
    // No text has more characters than bytes.
    (text.len() > n_max).then(|| text.char_indices().nth(n_max))?
}

#[cfg(test)]
mod tests {
    use super::{N_MAX_CHARS, cut_to_limit, cut_words};

    #[test]
    fn a_text_is_cut_at_a_character_and_says_so() {
        let mut text = "é".repeat(N_MAX_CHARS);
        assert_eq!(cut_to_limit(&mut text), N_MAX_CHARS + 1);
        assert_eq!(text.chars().count(), N_MAX_CHARS);
        assert_eq!(cut_words(&text), None);
        text.push_str("éé");
        cut_to_limit(&mut text);
        assert_eq!(text.chars().count(), N_MAX_CHARS + 1);
        let words = "A field holds at most 200,000 characters; the rest was left out";
        assert_eq!(cut_words(&text).as_deref(), Some(words));
    }
}
