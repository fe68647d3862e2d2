//! Helpers for building sentences: lists of words and stage names.

/// Joins words for use in a sentence: "a, b and c".
pub fn listed<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// The names of people and products that stages and draws are named after.
const PROPER_NAMES: [&str; 2] = ["Gumbel", "SynthID"];

/// Lowercases a stage's name for use inside a sentence, except initials and proper names: "top-p",
/// but "DRY" and "Gumbel watermark".
pub fn in_sentence(name: &str) -> String {
    let is_initials = name.chars().all(char::is_uppercase);
    if is_initials || PROPER_NAMES.iter().any(|proper| name.starts_with(proper)) {
        name.to_owned()
    } else {
        name.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::in_sentence;

    #[test]
    fn initials_and_proper_names_keep_their_capitals() {
        for (name, expected) in [
            ("Top-p", "top-p"),
            ("Mirostat v2", "mirostat v2"),
            ("DRY", "DRY"),
            ("Gumbel watermark", "Gumbel watermark"),
            ("SynthID-Text", "SynthID-Text"),
        ] {
            assert_eq!(in_sentence(name), expected);
        }
    }
}
