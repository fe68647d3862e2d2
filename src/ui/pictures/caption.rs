//! The line below a picture: the model, the prompt, each pane's settings and seed, and the coin.

use crate::export::{date_words, prompt_hash};
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, ModelInfo, PaneSettings, chain_words};
use crate::plots::StepAt;

/// The maximum number of characters of a prompt in a caption.
const MAX_PROMPT_CHARS: usize = 100;

/// Names the model, the prompt, the settings and the seed of a text, and the coin of one step.
pub fn step_caption(generation: &Generation, at: StepAt) -> String {
    let mut panes = vec![None; at.pane];
    panes.push(Some(generation));
    let draw = generation.steps.get(at.step).map(|step| step.trace.draw);
    let coin = match draw.and_then(|draw| draw.coin) {
        Some(coin) => format!(", coin {coin:.3}"),
        None => String::new(),
    };
    format!("{}, token {}{coin}", caption(&panes), at.step + 1)
}

/// Names each distinct model and prompt of these panes once, then the second models, then the
/// settings of each pane. A pane's index determines its letter.
pub fn caption(panes: &[Option<&Generation>]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for generation in panes.iter().flatten() {
        let source = source(generation);
        if !parts.contains(&source) {
            parts.push(source);
        }
    }
    for generation in panes.iter().flatten() {
        let second = generation.second_model.as_deref();
        let second = second.map(|second| format!("second model {}", model_words(second)));
        parts.extend(second.filter(|second| !parts.contains(second)));
    }
    let texts = (0..).zip(panes);
    parts.extend(texts.filter_map(|(place, text)| Some(settings(place, (*text)?))));
    let mut texts = panes.iter().flatten();
    if texts.any(|text| text.contradiction.is_some()) {
        parts.push("the file of this run contradicts itself".to_owned());
    }
    parts.join(" · ")
}

/// Appends the date of a run to its caption.
pub fn dated(caption: &str, finished_at: Option<u64>) -> String {
    match finished_at.and_then(date_words) {
        Some(date) => format!("{caption} · {date}"),
        None => caption.to_owned(),
    }
}

/// "B T 0.7, top-p 0.9, seed 42". Greedy needs no seed.
fn settings(place: usize, generation: &Generation) -> String {
    let chain = &generation.config.chain;
    let words = if generation.is_scored() {
        PaneSettings::from(chain.clone()).to_string()
    } else {
        chain_words(chain, generation.config.seed)
    };
    let letter = pane_letter(place);
    match generation.not_applied_words() {
        Some(lacking) => format!("{letter} {words} ({lacking})"),
        None => format!("{letter} {words}"),
    }
}

/// "Quartet Stories (`Q8_0`, CPU)".
pub(crate) fn model_words(model: &ModelInfo) -> String {
    let details: Vec<&str> = [model.quantization.as_str(), model.device.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    if details.is_empty() {
        model.name.clone()
    } else {
        format!("{} ({})", model.name, details.join(", "))
    }
}

fn source(generation: &Generation) -> String {
    let model = model_words(&generation.model);
    if generation.is_scored() {
        return format!("{model}, a given text");
    }
    let input_kind = if generation.prompt.chat.is_some() {
        "message"
    } else {
        "prompt"
    };
    format!(
        "{model}, {input_kind} ‘{}’ ({})",
        shortened(&generation.prompt.text),
        prompt_hash(&generation.prompt)
    )
}

/// Joins a text into one line, truncated with "…" if it is long.
pub(crate) fn shortened(text: &str) -> String {
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
    fn a_caption_names_each_source_once_and_every_setting() {
        let one = generation(&[(" fox", 0.5)]);
        let mut other = one.clone();
        let prompt = std::sync::Arc::make_mut(&mut other.prompt);
        prompt.text = format!("Once\nupon {}", "a time ".repeat(40));
        other.config.chain = crate::decoding::ChainConfig::greedy();
        let hashes = [&one, &other].map(|text| prompt_hash(&text.prompt));
        let panes = [Some(&one), None, Some(&one), Some(&other)];
        let caption = caption(&panes);
        let source = format!(
            "Test, prompt ‘Once there was’ ({}) · Test, prompt",
            hashes[0]
        );
        assert!(caption.starts_with(&source), "{caption}");
        let settings = format!(
            " …’ ({}) · A T 0.7, seed 42 · C T 0.7, seed 42 · D greedy",
            hashes[1]
        );
        assert!(caption.ends_with(&settings), "{caption}");
    }

    #[test]
    fn a_caption_ends_with_the_date() {
        let words = dated("Test", Some(1_700_000_000));
        assert_eq!(words, "Test · 2023-11-14 22:13 UTC");
        assert_eq!(dated("Test", None), "Test");
    }

    #[test]
    fn a_second_model_is_named_once() {
        let mut text = generation(&[(" fox", 0.5)]);
        let mut small = (*text.model).clone();
        small.name = "Small".to_owned();
        small.quantization = "Q4_0".to_owned();
        text.second_model = Some(std::sync::Arc::new(small));
        let caption = caption(&[Some(&text), Some(&text)]);
        let expected = " · second model Small (Q4_0) · A T 0.7, seed 42 · B T 0.7, seed 42";
        assert!(caption.ends_with(expected), "{caption}");
    }

    #[test]
    fn the_caption_of_a_step_names_the_coin() {
        let mut text = generation(&[(" fox", 0.5)]);
        text.config.seed = 7;
        let coin = text.steps[0].trace.draw.coin.unwrap();
        let words = step_caption(&text, StepAt { pane: 2, step: 0 });
        let end = format!(" · C T 0.7, seed 7, token 1, coin {coin:.3}");
        assert!(words.ends_with(&end), "{words}");
    }

    #[test]
    fn a_scored_text_has_no_prompt_and_no_seed() {
        let text = crate::generation::testing::scored(&[(" fox", 0.5)], "top-k 3");
        assert_eq!(caption(&[Some(&text)]), "Test, a given text · A top-k 3");
    }
}
