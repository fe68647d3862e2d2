//! The smallest change to a setting that would have changed a choice, in words.

use crate::analysis::{SettingChange, SmallestChange};
use crate::decoding::Selector;
use crate::generation::Generation;
use crate::generation::formatting::quoted;

/// Describes the smallest change to a setting in one sentence, or says how far the search has got.
pub fn smallest_change_words(generation: &Generation, search: &SmallestChange) -> String {
    if generation.is_scored() {
        return "A given token does not depend on the settings.".to_owned();
    }
    let selector = generation.config.chain.selector;
    if selector.is_adaptive() {
        let name = selector.name();
        return format!(
            "{name} adapts to the preceding tokens, so the smallest change cannot be computed."
        );
    }
    if !search.is_complete() {
        let done = search.progress() * 100.0;
        return format!("Looking for the smallest change, {done:.0} %");
    }
    let Some(first) = search.changes().first() else {
        // A different guidance scale would need the full rows of both runs.
        let setting = match generation.config.chain.guidance {
            None => "setting",
            Some(_) => "setting of the chain",
        };
        return if search.is_certain() {
            format!("No change to a single {setting} changes this choice.")
        } else {
            format!("No change to a single {setting} was found that changes this choice.")
        };
    };
    let mut sentence = format!(
        "Smallest change: {} instead of {} {}",
        value_words(first),
        first.from,
        draws(generation, first)
    );
    let second = search
        .changes()
        .iter()
        .find(|change| change.setting != first.setting);
    if let Some(second) = second {
        let words = value_words(second);
        if second.token == first.token && second.exact == first.exact {
            let does = if first.exact { "does" } else { "would" };
            sentence.extend(["; so ", does, " ", &words]);
        } else {
            sentence.extend(["; ", &words, " ", &draws(generation, second)]);
        }
    }
    sentence + "."
}

/// "top-p 0.915", or "about top-p 0.915" if it is not certain.
fn value_words(change: &SettingChange) -> String {
    let about = if change.exact { "" } else { "about " };
    format!("{} {about}{}", change.setting, change.to)
}

fn draws(generation: &Generation, change: &SettingChange) -> String {
    let word = match change.token {
        Some(token) => quoted(&generation.vocabulary.piece(token)),
        None => "a token that was not recorded".to_owned(),
    };
    let verb = match (generation.config.chain.selector, change.exact) {
        (Selector::Greedy, true) => "takes",
        (Selector::Greedy, false) => "would most likely take",
        (_, true) => "draws",
        (_, false) => "would most likely draw",
    };
    format!("{verb} {word}")
}
