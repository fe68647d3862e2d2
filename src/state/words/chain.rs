//! A chain in words: the sentence that says what it does.

use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
use crate::decoding::{ChainConfig, Filter, Selector};
use crate::generation::in_sentence;

/// What a chain does, in one or two sentences.
pub fn describe(chain: &ChainConfig) -> String {
    if chain.is_greedy() {
        let by_chance = chain.active().any(|filter| filter.is_random());
        let words = if by_chance {
            "Takes the token that is most likely after its settings, which act by chance."
        } else if chain.active().all(Filter::keeps_the_best) {
            "Takes the most likely token, always. The same text every time."
        } else {
            "Takes the token that is most likely after its settings. The same text every time."
        };
        return words.to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    let penalties = || chain.active().filter(|filter| is_penalty(filter));
    if penalties().any(Filter::only_lowers) {
        parts.push("holds back what was said already".to_owned());
    }
    if !penalties().all(Filter::only_lowers) {
        parts.push("makes likelier what was said already".to_owned());
    }
    let is_late = |filter: &&Filter| comes_after_cuts(chain, filter);
    let before = chain.active().filter(|filter| !is_late(filter));
    parts.extend(before.filter_map(bend_words));
    let late: Vec<String> = chain
        .active()
        .filter(is_late)
        .filter_map(late_words)
        .collect();
    let cuts: Vec<String> = chain.active().filter_map(cut_words).collect();
    let adaptive = chain.selector.is_adaptive();
    parts.push(match cuts.as_slice() {
        [] if parts.is_empty() && !adaptive => {
            "draws from all tokens, just as the model weighs them".to_owned()
        }
        [] => "draws from all tokens".to_owned(),
        cuts => format!("draws from {}", cuts.join(", and of these from ")),
    });
    if let Some(last) = parts.last_mut()
        && !late.is_empty()
    {
        *last = format!("{last}, {}", late.join(" and "));
    }
    let sentence = parts.join(", then ") + &aim_words(chain.selector);
    crate::state::capital(&sentence) + "."
}

/// Whether it looks at what was written before.
fn is_penalty(filter: &Filter) -> bool {
    filter.window().is_some()
}

/// What a draw aims at that learns from what it drew.
fn aim_words(selector: Selector) -> String {
    match selector {
        Selector::Greedy | Selector::Multinomial | Selector::GumbelMax => String::new(),
        Selector::MirostatV1(MirostatV1 { tau, .. })
        | Selector::MirostatV2(MirostatV2 { tau, .. }) => {
            format!(" so that the surprise stays near {tau} bits")
        }
        Selector::AdaptiveP(AdaptiveP { target, .. }) if target < 0.0 => String::new(),
        Selector::AdaptiveP(AdaptiveP { target, .. }) => {
            format!(" so that they are about {} % likely", percent(target))
        }
    }
}

fn bend_words(filter: &Filter) -> Option<String> {
    match filter {
        filter if is_penalty(filter) || filter.cuts() => None,
        filter => Some(match plain_temperature(filter) {
            Some(heat) if heat < 1.0 => format!("sharpens with temperature {heat}"),
            Some(heat) => format!("flattens with temperature {heat}"),
            None => format!(
                "changes the probabilities with {}",
                in_sentence(filter.name())
            ),
        }),
    }
}

/// Whether all cuts stand before the filter, so that they see the probabilities without it.
fn comes_after_cuts(chain: &ChainConfig, filter: &Filter) -> bool {
    let is_cut = |filter: &Filter| cut_words(filter).is_some();
    let mut after = chain.active().skip_while(|other| *other != filter);
    chain.active().any(is_cut) && !is_cut(filter) && !after.any(is_cut)
}

fn late_words(filter: &Filter) -> Option<String> {
    match filter {
        filter if is_penalty(filter) => None,
        filter => Some(match plain_temperature(filter) {
            Some(heat) if heat < 1.0 => format!("sharpened with temperature {heat}"),
            Some(heat) => format!("flattened with temperature {heat}"),
            None => format!(
                "with the probabilities changed by {}",
                in_sentence(filter.name())
            ),
        }),
    }
}

/// The temperature of a stage that has the same one for all steps.
fn plain_temperature(filter: &Filter) -> Option<f32> {
    match filter {
        Filter::Temperature(heat) => Some(heat.temperature),
        Filter::DynamicTemperature(heat) if heat.range <= 0.0 => Some(heat.temperature),
        _ => None,
    }
}

fn cut_words(filter: &Filter) -> Option<String> {
    match filter {
        Filter::TopK(filter) if filter.k == 1 => Some("the most likely token only".to_owned()),
        Filter::TopK(filter) => Some(format!("the {} most likely tokens only", filter.k)),
        Filter::TopP(filter) => Some(format!(
            "the fewest tokens that hold {} %",
            percent(filter.p)
        )),
        Filter::MinP(filter) => Some(format!(
            "those at least {} % as likely as the best",
            percent(filter.p)
        )),
        filter if filter.cuts() && !is_penalty(filter) => {
            Some(format!("what {} leaves", in_sentence(filter.name())))
        }
        _ => None,
    }
}

/// A share as a percentage, without figures that mean nothing: 0.9 is 90, 0.055 is 5.5.
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
        let repetition = Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.1,
            window: Window::LAST_64,
        });
        let sampled = |filters: &[Filter]| ChainConfig::sampled(filters.iter().cloned());
        for (chain, sentence) in [
            (
                ChainConfig::greedy(),
                "Takes the most likely token, always. The same text every time.",
            ),
            (
                sampled(&[]),
                "Draws from all tokens, just as the model weighs them.",
            ),
            (
                ChainConfig {
                    selector: Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 }),
                    ..sampled(&[])
                },
                "Draws from all tokens so that the surprise stays near 5 bits.",
            ),
            (
                sampled(&[Filter::RepetitionPenalty(RepetitionPenalty {
                    penalty: 0.5,
                    window: Window::LAST_64,
                })]),
                "Makes likelier what was said already, then draws from all tokens.",
            ),
            (
                sampled(&[temperature(1.3)]),
                "Flattens with temperature 1.3, then draws from all tokens.",
            ),
            (
                sampled(&[temperature(0.7), Filter::TopP(TopP { p: 0.9 })]),
                "Sharpens with temperature 0.7, then draws from the fewest tokens that hold 90 %.",
            ),
            (
                sampled(&[repetition, Filter::MinP(MinP { p: 0.05 })]),
                "Holds back what was said already, then draws from those at least 5 % as likely as \
                 the best.",
            ),
            (
                sampled(&[Filter::TopK(TopK { k: 40 }), Filter::TopP(TopP { p: 0.95 })]),
                "Draws from the 40 most likely tokens only, and of these from the fewest tokens \
                 that hold 95 %.",
            ),
            (
                sampled(&[temperature(0.0)]),
                "Takes the most likely token, always. The same text every time.",
            ),
            (
                ChainConfig {
                    selector: Selector::Greedy,
                    ..sampled(&[Filter::Xtc(Xtc {
                        probability: 0.5,
                        threshold: 0.1,
                    })])
                },
                "Takes the token that is most likely after its settings, which act by chance.",
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
                "Draws from the fewest tokens that hold 95 %, sharpened with temperature 0.8.",
            ),
            (
                sampled(&[Filter::TopK(TopK { k: 40 }), temperature(1.5)]),
                "Draws from the 40 most likely tokens only, flattened with temperature 1.5.",
            ),
        ] {
            assert_eq!(describe(&chain), sentence);
        }
    }
}
