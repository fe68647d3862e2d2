//! The line below a picture: the model and the prompt.

use crate::generation::Generation;

/// The maximum number of characters of a prompt in a caption.
const MAX_PROMPT_CHARS: usize = 100;

/// Names each distinct model and prompt of these panes once.
pub fn caption(panes: &[Option<&Generation>]) -> String {
    let mut sources: Vec<String> = Vec::new();
    for generation in panes.iter().flatten() {
        let source = source(generation);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources.join(" · ")
}

fn source(generation: &Generation) -> String {
    let model = &generation.model;
    let details: Vec<&str> = [model.quantization.as_str(), model.device.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let details = if details.is_empty() {
        String::new()
    } else {
        format!(" ({})", details.join(", "))
    };
    let input_kind = if generation.prompt.chat.is_some() {
        "message"
    } else {
        "prompt"
    };
    format!(
        "{}{details}, {input_kind} ‘{}’",
        model.name,
        shortened(&generation.prompt.text)
    )
}

/// Joins a text into one line, truncated with "…" if it is long.
fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_PROMPT_CHARS) {
        Some((end, _)) => format!("{} …", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::testing::generation;

    #[test]
    fn a_caption_names_each_source_once() {
        let one = generation(&[(" fox", 0.5)]);
        let mut other = one.clone();
        let prompt = std::sync::Arc::make_mut(&mut other.prompt);
        prompt.text = format!("Once\nupon {}", "a time ".repeat(40));
        let panes = [Some(&one), None, Some(&one), Some(&other)];
        let caption = caption(&panes);
        assert!(
            caption.starts_with("Test, prompt ‘Once there was’ · Test, prompt ‘Once upon a time"),
            "{caption}"
        );
        assert!(caption.ends_with(" …’"), "{caption}");
    }
}
