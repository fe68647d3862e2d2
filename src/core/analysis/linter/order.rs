//! Findings about combinations of stages and about their order.

use super::{Importance, Lint, Remedy, active, all_called, called, sentence};
use crate::analysis::dialects::is_temperature;
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector};

/// The lowest temperature at which dividing a logit cannot overflow.
const LEAST_PLAIN_TEMPERATURE: f32 = 1e-6;

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let mut lints: Vec<Lint> = temperature_after_cuts(chain).into_iter().collect();
    lints.extend(two_of_a_kind(chain));
    lints
}

fn temperature_after_cuts(chain: &ChainConfig) -> Option<Lint> {
    // Greedy ignores the temperature, and an adaptive selector cuts again after it.
    if chain.selector != Selector::Multinomial && !chain.selector.has_coin_per_token() {
        return None;
    }
    let (heat_at, heat) = active(chain).find(|(_, filter)| is_temperature(filter))?;
    let (first_cut, cut) = active(chain).find(|(_, filter)| depends_on_temperature(filter))?;
    let all_before =
        active(chain).all(|(index, filter)| !depends_on_temperature(filter) || index < heat_at);
    if !all_before || !keeps_ratios(heat) {
        return None;
    }
    Some(Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "{} after {} cannot change which tokens are kept, only how likely each one is",
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

/// Whether a temperature is never so close to 0 that it leaves one token.
fn keeps_ratios(heat: &Filter) -> bool {
    let least = match heat {
        Filter::Temperature(heat) => heat.temperature,
        Filter::DynamicTemperature(heat) => heat.temperature - heat.range,
        _ => return false,
    };
    least >= LEAST_PLAIN_TEMPERATURE
}

/// Whether a temperature before the cut changes what it keeps.
fn depends_on_temperature(filter: &Filter) -> bool {
    filter.cuts() && !filter.ignores_scale()
}

/// Reports several active stages of one kind, except logit biases, which act as one list.
fn two_of_a_kind(chain: &ChainConfig) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (index, filter) in active(chain) {
        let same = || active(chain).filter(|(_, other)| other.kind() == filter.kind());
        let others: Vec<usize> = same().skip(1).map(|(other, _)| other).collect();
        let is_first = same().next().is_some_and(|(first, _)| first == index);
        let is_bias = filter.kind() == FilterKind::LogitBias;
        if !is_first || is_bias || others.is_empty() {
            continue;
        }
        let names = all_called(same().map(|(_, filter)| filter));
        lints.push(Lint {
            importance: Importance::Notable,
            message: sentence(&format!("{names} are in the same chain and both apply")),
            stage: Some(index),
            remedy: Some(Remedy::KeepFirst { others }),
        });
    }
    lints
}
