//! The line below a picture: the model, the prompt, the seed and the coin.

use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::ui::plots::StepAt;

/// The maximum number of characters of a prompt in a caption.
const MAX_PROMPT_CHARS: usize = 100;

/// Names each distinct model and prompt of these panes once, then their seeds.
pub fn caption(panes: &[Option<&Generation>]) -> String {
    let sources = sources(panes);
    let seeds = seeds(panes);
    let parts = [sources, seeds].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Names the model and the prompt of a text, its seed, and the coin of one step.
pub fn step_caption(generation: &Generation, at: StepAt) -> String {
    let panes = [Some(generation)];
    let draw = generation.steps.get(at.step).map(|step| step.trace.draw);
    let coin = match draw.and_then(|draw| draw.coin) {
        Some(coin) => format!(", coin {coin:.3}"),
        None => String::new(),
    };
    format!("{}, token {}{coin}", caption(&panes), at.step + 1)
}

/// Names the seed that all panes share, or the seed of each.
fn seeds(panes: &[Option<&Generation>]) -> String {
    let seeds = || {
        let panes = panes.iter().enumerate();
        panes.filter_map(|(pane, text)| Some((pane_letter(pane), (*text)?.config.seed)))
    };
    let Some((_, first)) = seeds().next() else {
        return String::new();
    };
    if seeds().all(|(_, seed)| seed == first) {
        return format!("seed {first}");
    }
    let seeds: Vec<String> = seeds()
        .map(|(pane, seed)| format!("{pane} {seed}"))
        .collect();
    format!("seeds {}", seeds.join(", "))
}

fn sources(panes: &[Option<&Generation>]) -> String {
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
        assert!(caption.ends_with(" …’, seed 42"), "{caption}");
    }

    #[test]
    fn a_caption_names_the_seeds_and_the_coin() {
        let one = generation(&[(" fox", 0.5)]);
        let mut other = one.clone();
        other.config.seed = 7;
        let words = caption(&[Some(&one), None, Some(&other)]);
        assert!(words.ends_with(", seeds A 42, C 7"), "{words}");
        let at = StepAt { pane: 2, step: 0 };
        let coin = other.steps[0].trace.draw.coin.unwrap();
        let words = step_caption(&other, at);
        let end = format!(", seed 7, token 1, coin {coin:.3}");
        assert!(words.ends_with(&end), "{words}");
    }
}
