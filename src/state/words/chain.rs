//! Describes a sampler chain in plain English.

use crate::decoding::{ChainConfig, Filter};
use crate::generation::in_sentence;

/// Describes what a chain does, in one or two sentences.
pub fn describe(chain: &ChainConfig) -> String {
    if chain.is_greedy() {
        let is_random = chain.active().any(Filter::is_random);
        let words = if is_random {
            "Picks the token that is most likely after filters that act at random"
        } else if chain.active().all(Filter::preserves_top) {
            "Always picks the most likely token. The text is the same every time."
        } else {
            "Picks the token that is most likely after the filters. The text is the same every time."
        };
        return words.to_owned();
    }
    if let Some(search) = chain.selector.beam_search() {
        return format!(
            "Lets {} texts grow side by side and keeps the most likely ones. The text is the same \
             every time.",
            search.width
        );
    }
    let mut parts: Vec<String> = Vec::new();
    let penalties = || chain.active().filter(|filter| is_penalty(filter));
    if penalties().any(Filter::only_lowers) {
        parts.push("penalizes tokens that have already appeared".to_owned());
    }
    if !penalties().all(Filter::only_lowers) {
        parts.push("boosts tokens that have already appeared".to_owned());
    }
    let is_late = |filter: &&Filter| comes_after_cuts(chain, filter);
    let early = chain.active().filter(|filter| !is_late(filter));
    parts.extend(early.filter_map(reshaping_words));
    let late: Vec<String> = chain
        .active()
        .filter(is_late)
        .filter_map(late_words)
        .collect();
    let cuts: Vec<String> = chain.active().filter_map(cut_words).collect();
    let adaptive = chain.selector.is_adaptive();
    parts.push(match cuts.as_slice() {
        [] if parts.is_empty() && !adaptive => {
            "samples from all tokens, with the model’s own probabilities".to_owned()
        }
        [] => "samples from all tokens".to_owned(),
        cuts => format!("samples from {}", cuts.join(", and of those from ")),
    });
    if let Some(last) = parts.last_mut()
        && !late.is_empty()
    {
        *last = format!("{last}, {}", late.join(" and "));
    }
    let sentence = parts.join(", then ") + &chain.selector.ending();
    crate::state::capitalize(&sentence)
}

/// Returns whether the filter looks back at earlier tokens.
fn is_penalty(filter: &Filter) -> bool {
    filter.window().is_some()
}

/// Describes a filter that changes probabilities without dropping tokens.
fn reshaping_words(filter: &Filter) -> Option<String> {
    match filter {
        filter if is_penalty(filter) || filter.cuts() => None,
        Filter::GreenList(list) => Some(format!("leaves a watermark with key {}", list.key)),
        Filter::SynthId(_) => Some("leaves a watermark with tournament sampling".to_owned()),
        filter => Some(match plain_temperature(filter) {
            Some(value) if value < 1.0 => {
                format!("sharpens the distribution with temperature {value}")
            }
            Some(value) => format!("flattens the distribution with temperature {value}"),
            None => format!(
                "reshapes the distribution with {}",
                in_sentence(filter.name())
            ),
        }),
    }
}

/// Returns whether all filters that drop tokens come before this one, so that they see the
/// probabilities without its effect.
fn comes_after_cuts(chain: &ChainConfig, filter: &Filter) -> bool {
    let is_cut = |filter: &Filter| cut_words(filter).is_some();
    let mut after = chain.active().skip_while(|other| *other != filter);
    chain.active().any(is_cut) && !is_cut(filter) && !after.any(is_cut)
}

/// Describes a reshaping filter that comes after all cuts.
fn late_words(filter: &Filter) -> Option<String> {
    match filter {
        filter if is_penalty(filter) => None,
        Filter::GreenList(list) => Some(format!("watermarked with key {}", list.key)),
        Filter::SynthId(_) => Some("watermarked with tournament sampling".to_owned()),
        filter => Some(match plain_temperature(filter) {
            Some(value) if value < 1.0 => format!("sharpened with temperature {value}"),
            Some(value) => format!("flattened with temperature {value}"),
            None => format!("reshaped with {}", in_sentence(filter.name())),
        }),
    }
}

/// Returns the temperature of a stage that uses the same one at every step.
fn plain_temperature(filter: &Filter) -> Option<f32> {
    match filter {
        Filter::Temperature(filter) => Some(filter.temperature),
        Filter::DynamicTemperature(filter) if filter.range <= 0.0 => Some(filter.temperature),
        _ => None,
    }
}

/// Describes the tokens that a filter keeps.
fn cut_words(filter: &Filter) -> Option<String> {
    match filter {
        Filter::TopK(top_k) if top_k.k == 1 => Some("the most likely token".to_owned()),
        Filter::TopK(top_k) => Some(format!("the {} most likely tokens", top_k.k)),
        Filter::TopP(top_p) => Some(format!(
            "the fewest tokens that hold {} % of the probability",
            percent(top_p.p)
        )),
        Filter::MinP(min_p) => Some(format!(
            "the tokens at least {} % as likely as the top one",
            percent(min_p.p)
        )),
        filter if filter.cuts() && !is_penalty(filter) => Some(format!(
            "the tokens that {} keeps",
            in_sentence(filter.name())
        )),
        _ => None,
    }
}

/// Converts a fraction to a percentage without spurious digits: 0.9 to 90, 0.055 to 5.5.
fn percent(share: f32) -> f64 {
    (f64::from(share) * 10_000.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::describe;
    use crate::decoding::filters::{
        DynamicTemperature, MinP, RepetitionPenalty, Temperature, TopK, TopP, Window, Xtc,
    };
    use crate::decoding::selector::MirostatV2;
    use crate::decoding::{ChainConfig, Filter, Selector};

    #[test]
    fn a_chain_is_described_in_plain_sentences() {
        let temperature = |temperature| Filter::Temperature(Temperature { temperature });
        let repetition = |penalty| {
            let window = Window::LAST_64;
            Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
        };
        let top_k = Filter::TopK(TopK { k: 40 });
        let sampled = |filters: &[Filter]| ChainConfig::sampled(filters.iter().cloned());
        for (chain, sentence) in [
            (
                ChainConfig::greedy(),
                "Always picks the most likely token. The text is the same every time.",
            ),
            (
                sampled(&[]),
                "Samples from all tokens, with the model’s own probabilities",
            ),
            (
                ChainConfig {
                    selector: Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 }),
                    ..sampled(&[])
                },
                "Samples from all tokens, keeping the surprise near 5 bits",
            ),
            (
                sampled(&[repetition(0.5)]),
                "Boosts tokens that have already appeared, then samples from all tokens",
            ),
            (
                sampled(&[temperature(1.3)]),
                "Flattens the distribution with temperature 1.3, then samples from all tokens",
            ),
            (
                sampled(&[temperature(0.7), Filter::TopP(TopP { p: 0.9 })]),
                "Sharpens the distribution with temperature 0.7, then samples from the fewest \
                 tokens that hold 90 % of the probability",
            ),
            (
                sampled(&[repetition(1.1), Filter::MinP(MinP { p: 0.05 })]),
                "Penalizes tokens that have already appeared, then samples from the tokens at \
                 least 5 % as likely as the top one",
            ),
            (
                sampled(&[top_k.clone(), Filter::TopP(TopP { p: 0.95 })]),
                "Samples from the 40 most likely tokens, and of those from the fewest tokens that \
                 hold 95 % of the probability",
            ),
            (
                sampled(&[temperature(0.0)]),
                "Always picks the most likely token. The text is the same every time.",
            ),
            (
                ChainConfig {
                    selector: Selector::Greedy,
                    ..sampled(&[Filter::Xtc(Xtc {
                        probability: 0.5,
                        threshold: 0.1,
                    })])
                },
                "Picks the token that is most likely after filters that act at random",
            ),
            (
                sampled(&[
                    Filter::TopP(TopP { p: 0.95 }),
                    Filter::DynamicTemperature(DynamicTemperature {
                        temperature: 0.8,
                        range: 0.0,
                        exponent: 1.0,
                    }),
                ]),
                "Samples from the fewest tokens that hold 95 % of the probability, sharpened with \
                 temperature 0.8",
            ),
            (
                sampled(&[top_k, temperature(1.5)]),
                "Samples from the 40 most likely tokens, flattened with temperature 1.5",
            ),
        ] {
            assert_eq!(describe(&chain), sentence);
        }
    }
}
