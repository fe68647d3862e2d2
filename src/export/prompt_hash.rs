//! A short identifier for a prompt that does not reveal its text.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::generation::PromptRecord;

/// How many bytes of the hash are shown.
const N_BYTES: usize = 6;

/// Returns the beginning of the SHA-256 of the text that the model read, in hexadecimal: the
/// rendered chat template, or the prompt as it was typed.
pub fn prompt_hash(prompt: &PromptRecord) -> String {
    let read = prompt.chat.as_ref().map(|chat| &chat.rendered);
    let digest = Sha256::digest(read.unwrap_or(&prompt.text));
    let mut hash = String::new();
    for byte in digest.iter().take(N_BYTES) {
        // Writing to a string cannot fail.
        write!(hash, "{byte:02x}").ok();
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::prompt_hash;
    use crate::generation::{ChatRecord, ChatSettings, PromptRecord};

    #[test]
    fn the_hash_is_that_of_the_text_that_the_model_read() {
        let mut prompt = PromptRecord {
            text: "Once".to_owned(),
            ..PromptRecord::default()
        };
        let typed = prompt_hash(&prompt);
        assert_eq!(typed, "d88f6d8372f4");
        prompt.chat = Some(ChatRecord {
            settings: ChatSettings::default(),
            rendered: "Once".to_owned(),
        });
        "Twice".clone_into(&mut prompt.text);
        assert_eq!(prompt_hash(&prompt), typed);
    }
}
