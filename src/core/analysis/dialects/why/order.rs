//! Explains differences in the order of stages that both chains have.

use super::{Names, Side, numbers_of, shared};
use crate::decoding::Filter;
use crate::generation::{in_sentence, listed};

/// Returns one sentence for each pair of stages whose order differs and matters. A temperature
/// with several cuts gets a single sentence.
pub(super) fn reasons(sides: &[Side<'_>; 2], [one, other]: &Names) -> Vec<String> {
    let mut reasons = Vec::new();
    let swapped = swapped_pairs(sides);
    let scaled_cuts = |scaling_first: bool| -> Vec<(&Filter, &Filter)> {
        let pairs = swapped.iter().filter_map(|(before, after)| {
            let pair = if scaling_first {
                (*before, *after)
            } else {
                (*after, *before)
            };
            (scales(pair.0) && pair.1.cuts()).then_some(pair)
        });
        pairs.collect()
    };
    reasons.extend(temperature_sentence(&scaled_cuts(true), one, other));
    reasons.extend(temperature_sentence(&scaled_cuts(false), other, one));
    for (before, after) in &swapped {
        let scaling_and_cut = (scales(before) && after.cuts()) || (scales(after) && before.cuts());
        if !scaling_and_cut {
            reasons.push(pair_sentence(before, after, one, other));
        }
    }
    reasons
}

/// The pairs of stages in the first chain's order that the second chain applies the other way
/// round.
fn swapped_pairs<'a>(sides: &'a [Side<'a>; 2]) -> Vec<(&'a Filter, &'a Filter)> {
    let [_, second] = sides;
    let stages: Vec<&Filter> = shared(sides).map(|(filter, _)| filter).collect();
    let mut swapped = Vec::new();
    for (index, before) in stages.iter().enumerate() {
        for after in stages.iter().skip(index + 1) {
            let other_way = second.place_of(before) > second.place_of(after);
            if other_way && order_matters(before, after) {
                swapped.push((*before, *after));
            }
        }
    }
    swapped
}

/// Describes a temperature with the cuts that follow it in one chain (`scaled`) and precede it in
/// the other (`unscaled`).
fn temperature_sentence(
    pairs: &[(&Filter, &Filter)],
    scaled: &str,
    unscaled: &str,
) -> Option<String> {
    let (temperature, _) = pairs.first()?;
    let temperature = &numbers_of(temperature);
    let cuts: Vec<String> = pairs
        .iter()
        .map(|(_, cut)| in_sentence(cut.name()))
        .collect();
    let (them, they_see) = if cuts.len() == 1 {
        ("it", "it sees")
    } else {
        ("them", "they see")
    };
    let sentence = format!(
        "{} comes before {} in {scaled} but after {them} in {unscaled}, where {they_see} unscaled \
         probabilities",
        temperature.name(),
        listed(&cuts)
    );
    let by_ratio = pairs
        .iter()
        .all(|(_, cut)| matches!(cut, Filter::TopP(_) | Filter::MinP(_) | Filter::TopA(_)));
    Some(match temperature {
        Filter::Temperature(filter) if by_ratio && filter.temperature > 1.0 => {
            format!("{sentence}; so {scaled} keeps more tokens")
        }
        Filter::Temperature(_) if by_ratio => {
            format!("{sentence}; so {scaled} keeps fewer tokens")
        }
        _ => sentence,
    })
}

fn pair_sentence(before: &Filter, after: &Filter, one: &str, other: &str) -> String {
    let (before, after) = (&numbers_of(before), &numbers_of(after));
    let (first, then) = (before.name(), in_sentence(after.name()));
    let sentence = format!("{first} comes before {then} in {one} but after it in {other}");
    match (kind(before), kind(after)) {
        (Kind::Cuts, Kind::Cuts) => {
            format!("{sentence}: the later filter sees only the tokens that the earlier one kept")
        }
        (Kind::Adds, Kind::Scales) | (Kind::Scales, Kind::Adds) => {
            format!("{sentence}: temperature also scales what was added before it")
        }
        (Kind::Adds, Kind::Multiplies) | (Kind::Multiplies, Kind::Adds) => {
            format!("{sentence}: dividing before subtracting differs from subtracting first")
        }
        _ => sentence,
    }
}

/// What a filter does to the logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Adds to or subtracts from single logits.
    Adds,
    /// Multiplies or divides single logits.
    Multiplies,
    Bans,
    /// Reshapes all logits, as a temperature does.
    Scales,
    Cuts,
    /// Leaves one token, whatever other stages do.
    Forces,
}

fn kind(filter: &Filter) -> Kind {
    match filter {
        Filter::LogitBias(bias) if bias.biases.is_empty() => Kind::Bans,
        Filter::LogitBias(_)
        | Filter::FrequencyPenalty(_)
        | Filter::PresencePenalty(_)
        | Filter::Dry(_)
        | Filter::GreenList(_)
        | Filter::SynthId(_) => Kind::Adds,
        Filter::RepetitionPenalty(_) => Kind::Multiplies,
        Filter::NoRepeatNgram(_) => Kind::Bans,
        Filter::ThinkingBudget(_) => Kind::Forces,
        Filter::Temperature(_) | Filter::DynamicTemperature(_) | Filter::QuadraticSmoothing(_) => {
            Kind::Scales
        }
        _ => Kind::Cuts,
    }
}

fn scales(filter: &Filter) -> bool {
    kind(filter) == Kind::Scales
}

/// Whether swapping the two filters can change the result.
fn order_matters(one: &Filter, other: &Filter) -> bool {
    match (kind(one), kind(other)) {
        (Kind::Forces, _)
        | (_, Kind::Forces)
        | (Kind::Adds, Kind::Adds)
        | (Kind::Bans, Kind::Bans | Kind::Adds | Kind::Multiplies)
        | (Kind::Adds | Kind::Multiplies, Kind::Bans) => false,
        (Kind::Cuts, Kind::Cuts) => !(ignores_the_rest(one) && ignores_the_rest(other)),
        (Kind::Scales, Kind::Cuts) => scaling_matters(one, other),
        (Kind::Cuts, Kind::Scales) => scaling_matters(other, one),
        // A plain temperature and a repetition penalty both multiply, and a ban survives scaling.
        (Kind::Multiplies | Kind::Bans, Kind::Scales) => !is_plain(other),
        (Kind::Scales, Kind::Multiplies | Kind::Bans) => !is_plain(one),
        _ => true,
    }
}

/// Top-k only counts, and min-p only compares with the top token. Neither depends on which other
/// tokens are left.
const fn ignores_the_rest(filter: &Filter) -> bool {
    matches!(filter, Filter::TopK(_) | Filter::MinP(_))
}

/// Whether it matters if a cut comes before or after a temperature. The k most likely tokens are
/// the same at any temperature, and so are those within n standard deviations and before min-k's
/// cliff. But a dynamic temperature depends on the entropy of the remaining tokens.
fn scaling_matters(scaling: &Filter, cut: &Filter) -> bool {
    match scaling {
        Filter::DynamicTemperature(filter) if filter.range > 0.0 => true,
        Filter::QuadraticSmoothing(_) => !matches!(cut, Filter::TopK(_)),
        _ => !cut.ignores_scale(),
    }
}

fn is_plain(scaling: &Filter) -> bool {
    match scaling {
        Filter::Temperature(_) => true,
        Filter::DynamicTemperature(filter) => filter.range <= 0.0,
        _ => false,
    }
}
