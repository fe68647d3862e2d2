//! The smallest change to a setting that would have changed a choice, in words.

use crate::analysis::{SettingChange, SmallestChange};
use crate::decoding::{ChainConfig, Filter, Picked, Selector};
use crate::generation::Generation;
use crate::generation::formatting::quoted;

/// Describes the smallest change to a setting in one sentence, or says how far the search has got.
pub fn smallest_change_words(generation: &Generation, search: &SmallestChange) -> String {
    if let Some(words) = unsearched_words(generation, search) {
        return words;
    }
    if !search.is_complete() {
        let done = search.progress() * 100.0;
        return format!("Looking for the smallest change, {done:.0} %");
    }
    let Some(first) = search.changes().first() else {
        return unchanged_words(&generation.config.chain, search.is_certain());
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

/// Says why a token has no smallest change, if its settings cannot be searched.
fn unsearched_words(generation: &Generation, search: &SmallestChange) -> Option<String> {
    let selector = generation.config.chain.selector;
    let picked = if generation.is_scored() {
        Picked::Given
    } else {
        search.picked()
    };
    let cause = match picked {
        Picked::ByHand => {
            return Some("A token picked by hand does not depend on the settings.".to_owned());
        }
        Picked::Given => return Some("A given token does not depend on the settings.".to_owned()),
        Picked::ByRatio => "Speculative sampling depends on the draft’s probabilities".to_owned(),
        Picked::ByServer => "The server’s own sampler took this token".to_owned(),
        Picked::ByChain if selector.is_adaptive() => {
            format!("{} adapts to the preceding tokens", selector.name())
        }
        Picked::ByChain if selector.beam_search().is_none() => return None,
        Picked::ByChain | Picked::ByBeams => "Beam search compares whole texts".to_owned(),
    };
    Some(format!(
        "{cause}, so the smallest change cannot be computed."
    ))
}

/// Says that no change was found, or that there is none.
fn unchanged_words(chain: &ChainConfig, is_certain: bool) -> String {
    let enabled = || chain.stages.iter().filter(|stage| stage.enabled);
    if chain.selector == Selector::Greedy && enabled().next().is_none() {
        return "This chain has no stages to change: it always takes the most likely token."
            .to_owned();
    }
    let has_temperature = enabled().any(|stage| matches!(stage.filter, Filter::Temperature(_)));
    // A different guidance scale would need the full rows of both runs, and a chain without a
    // temperature samples at 1.
    let setting = if chain.guidance.is_some() || !has_temperature {
        "setting of the chain"
    } else {
        "setting"
    };
    if is_certain {
        format!("No change to a single {setting} changes this choice.")
    } else {
        format!("No change to a single {setting} was found that changes this choice.")
    }
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
