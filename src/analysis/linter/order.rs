//! Remarks on which stages stand beside each other, and in what order.

use super::{Importance, Lint, Remedy, active, all_called, called, sentence};
use crate::analysis::dialects::is_temperature;
use crate::decoding::{ChainConfig, Filter, Selector};

/// No score overflows when it is divided by a temperature from here on.
const LEAST_PLAIN_TEMPERATURE: f32 = 1e-6;

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let mut lints: Vec<Lint> = temperature_after_cuts(chain).into_iter().collect();
    lints.extend(two_of_a_kind(chain));
    lints
}

fn temperature_after_cuts(chain: &ChainConfig) -> Option<Lint> {
    // Greedy feels no temperature at all, and a selector that learns cuts once more, after it.
    if !matches!(chain.selector, Selector::Multinomial | Selector::GumbelMax) {
        return None;
    }
    let (heat_at, heat) = active(chain).find(|(_, filter)| is_temperature(filter))?;
    let (first_cut, cut) = active(chain).find(|(_, filter)| feels_heat(filter))?;
    let all_before = active(chain).all(|(index, filter)| !feels_heat(filter) || index < heat_at);
    if !all_before || !is_plain(heat) {
        return None;
    }
    Some(Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "{} after {} can't change which tokens are kept, only how often each is drawn",
            called(heat),
            called(cut)
        )),
        stage: Some(heat_at),
        remedy: Some(Remedy::Move {
            from: heat_at,
            to: first_cut,
        }),
    })
}

/// Whether a temperature can't come so near to 0 that it leaves one token.
fn is_plain(heat: &Filter) -> bool {
    let least = match heat {
        Filter::Temperature(heat) => heat.temperature,
        Filter::DynamicTemperature(heat) => heat.temperature - heat.range,
        _ => return false,
    };
    least >= LEAST_PLAIN_TEMPERATURE
}

/// The k most likely and those within some deviations are the same at any temperature.
fn feels_heat(filter: &Filter) -> bool {
    filter.cuts() && !matches!(filter, Filter::TopK(_) | Filter::TopNSigma(_))
}

/// Stages of one kind that all act. Biases are apart: several are one list of tokens.
fn two_of_a_kind(chain: &ChainConfig) -> Vec<Lint> {
    let kind = |filter: &Filter| std::mem::discriminant(filter);
    let mut lints = Vec::new();
    for (index, filter) in active(chain) {
        let same = || active(chain).filter(|(_, other)| kind(other) == kind(filter));
        let others: Vec<usize> = same().skip(1).map(|(other, _)| other).collect();
        let is_first = same().next().is_some_and(|(first, _)| first == index);
        let is_bias = matches!(filter, Filter::LogitBias(_));
        if !is_first || is_bias || others.is_empty() {
            continue;
        }
        let names = all_called(same().map(|(_, filter)| filter));
        lints.push(Lint {
            importance: Importance::Notable,
            message: sentence(&format!("{names} stand in one chain, one after the other")),
            stage: Some(index),
            remedy: Some(Remedy::KeepFirst { others }),
        });
    }
    lints
}
