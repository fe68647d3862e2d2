//! The smallest change to a setting that would have changed a choice, in words.

use crate::analysis::{ChangedTo, SettingChange, SmallestChange};
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
    let smallest = if search.is_certain() {
        "Smallest change"
    } else {
        "Smallest change that the record proves"
    };
    let mut sentence = format!(
        "{smallest}: {} {} instead of {} {}",
        first.setting,
        first.to_words,
        first.from,
        draws(generation, first)
    );
    let second = search
        .changes()
        .iter()
        .find(|change| change.setting != first.setting);
    if let Some(second) = second {
        let words = format!("{} {}", second.setting, second.to_words);
        if second.token == first.token && second.token != ChangedTo::Unknown {
            sentence.extend(["; so does ", &words]);
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
    if chain.selector == Selector::Greedy && chain.enabled().next().is_none() {
        return "This chain has no stages to change: it always takes the most likely token."
            .to_owned();
    }
    let has_temperature = chain
        .enabled()
        .any(|filter| matches!(filter, Filter::Temperature(_)));
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
        format!(
            "The record shows no change to a single {setting} that changes this choice, but can’t rule \
             one out."
        )
    }
}

fn draws(generation: &Generation, change: &SettingChange) -> String {
    let verb = match generation.config.chain.selector {
        Selector::Greedy => "takes",
        _ => "draws",
    };
    match change.token {
        ChangedTo::Token(token) => {
            format!("{verb} {}", quoted(&generation.vocabulary.piece(token)))
        }
        ChangedTo::Unrecorded => format!("{verb} a token that was not recorded"),
        ChangedTo::Unknown => format!("{verb} another token, but the record does not show which"),
    }
}
