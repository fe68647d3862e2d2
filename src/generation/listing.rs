//! Helpers for building sentences: lists of words and stage names.

/// Joins words for use in a sentence: "a, b and c".
pub(crate) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// Lowercases a stage's name for use inside a sentence, except initials: "top-p", but "DRY".
pub(crate) fn in_sentence(name: &str) -> String {
    let is_initials = name.chars().all(char::is_uppercase);
    if is_initials {
        name.to_owned()
    } else {
        name.to_lowercase()
    }
}
