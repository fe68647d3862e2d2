//! The same stages in another order.

use super::{Names, Side, numbers_of, shared};
use crate::decoding::Filter;
use crate::generation::{in_sentence, listed};

/// A sentence for each pair of stages whose order differs and matters; what temperature does to
/// several cuts is one.
pub(super) fn reasons(sides: &[Side<'_>; 2], [one, other]: &Names) -> Vec<String> {
    let mut reasons = Vec::new();
    let turned = turned_pairs(sides);
    let heated = |heat_first: bool| -> Vec<(&Filter, &Filter)> {
        let pairs = turned.iter().filter_map(|(before, after)| {
            let pair = if heat_first {
                (*before, *after)
            } else {
                (*after, *before)
            };
            (is_heat(pair.0) && pair.1.cuts()).then_some(pair)
        });
        pairs.collect()
    };
    reasons.extend(heat_words(&heated(true), one, other));
    reasons.extend(heat_words(&heated(false), other, one));
    for (before, after) in &turned {
        let heat_and_cut = (is_heat(before) && after.cuts()) || (is_heat(after) && before.cuts());
        if !heat_and_cut {
            reasons.push(pair_words(before, after, one, other));
        }
    }
    reasons
}

/// The pairs that stand in this order in the first chain and the other way round in the second.
fn turned_pairs<'a>(sides: &'a [Side<'a>; 2]) -> Vec<(&'a Filter, &'a Filter)> {
    let [_, second] = sides;
    let stages: Vec<&Filter> = shared(sides).map(|(filter, _)| filter).collect();
    let mut turned = Vec::new();
    for (index, before) in stages.iter().enumerate() {
        for after in stages.iter().skip(index + 1) {
            let other_way = second.place_of(before) > second.place_of(after);
            if other_way && order_matters(before, after) {
                turned.push((*before, *after));
            }
        }
    }
    turned
}

/// Temperature and the cuts that come after it in one chain (`hot`) and before it in the other.
fn heat_words(pairs: &[(&Filter, &Filter)], hot: &str, cold: &str) -> Option<String> {
    let (heat, _) = pairs.first()?;
    let heat = &numbers_of(heat);
    let cuts: Vec<String> = pairs
        .iter()
        .map(|(_, cut)| in_sentence(cut.name()))
        .collect();
    let they_see = if cuts.len() == 1 {
        "it sees"
    } else {
        "they see"
    };
    let sentence = format!(
        "{} comes before {} in {hot} and after in {cold}, where {they_see} the model's own \
         probabilities",
        heat.name(),
        listed(&cuts)
    );
    let by_ratio = pairs
        .iter()
        .all(|(_, cut)| matches!(cut, Filter::TopP(_) | Filter::MinP(_) | Filter::TopA(_)));
    Some(match heat {
        Filter::Temperature(heat) if by_ratio && heat.temperature > 1.0 => {
            format!("{sentence}; so {hot} lets more tokens through")
        }
        Filter::Temperature(_) if by_ratio => {
            format!("{sentence}; so {hot} lets fewer tokens through")
        }
        _ => sentence,
    })
}

fn pair_words(before: &Filter, after: &Filter, one: &str, other: &str) -> String {
    let (before, after) = (&numbers_of(before), &numbers_of(after));
    let (first, then) = (before.name(), in_sentence(after.name()));
    let sentence = format!("{first} comes before {then} in {one} and after in {other}");
    match (kind(before), kind(after)) {
        (Kind::Cuts, Kind::Cuts) => {
            format!("{sentence}: the one that comes later sees only what the other left")
        }
        (Kind::Adds, Kind::Heats) | (Kind::Heats, Kind::Adds) => {
            format!("{sentence}: temperature scales what comes before it")
        }
        (Kind::Adds, Kind::Multiplies) | (Kind::Multiplies, Kind::Adds) => {
            format!(
                "{sentence}: dividing and then subtracting is not subtracting and then dividing"
            )
        }
        _ => sentence,
    }
}

/// What a filter does to the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Adds,
    Multiplies,
    Forbids,
    Heats,
    Cuts,
}

fn kind(filter: &Filter) -> Kind {
    match filter {
        Filter::LogitBias(bias) if bias.biases.is_empty() => Kind::Forbids,
        Filter::LogitBias(_)
        | Filter::FrequencyPenalty(_)
        | Filter::PresencePenalty(_)
        | Filter::Dry(_) => Kind::Adds,
        Filter::RepetitionPenalty(_) => Kind::Multiplies,
        Filter::NoRepeatNgram(_) => Kind::Forbids,
        Filter::Temperature(_) | Filter::DynamicTemperature(_) | Filter::QuadraticSmoothing(_) => {
            Kind::Heats
        }
        _ => Kind::Cuts,
    }
}

fn is_heat(filter: &Filter) -> bool {
    kind(filter) == Kind::Heats
}

/// Whether the two do something else when they change places.
fn order_matters(one: &Filter, other: &Filter) -> bool {
    match (kind(one), kind(other)) {
        (Kind::Adds, Kind::Adds)
        | (Kind::Forbids, Kind::Forbids | Kind::Adds | Kind::Multiplies)
        | (Kind::Adds | Kind::Multiplies, Kind::Forbids) => false,
        (Kind::Cuts, Kind::Cuts) => !(sees_the_order_alone(one) && sees_the_order_alone(other)),
        (Kind::Heats, Kind::Cuts) => heat_matters(one, other),
        (Kind::Cuts, Kind::Heats) => heat_matters(other, one),
        // A plain temperature and a repetition penalty both multiply, and a ban stays a ban.
        (Kind::Multiplies | Kind::Forbids, Kind::Heats) => !is_plain(other),
        (Kind::Heats, Kind::Multiplies | Kind::Forbids) => !is_plain(one),
        _ => true,
    }
}

/// Top-k counts and min-p compares with the best alone: neither asks what else is left.
const fn sees_the_order_alone(filter: &Filter) -> bool {
    matches!(filter, Filter::TopK(_) | Filter::MinP(_))
}

/// The k most likely are the same at any temperature, and so are those within some standard
/// deviations; but a temperature that follows the entropy depends on who is left.
fn heat_matters(heat: &Filter, cut: &Filter) -> bool {
    match heat {
        Filter::DynamicTemperature(heat) if heat.range > 0.0 => true,
        Filter::QuadraticSmoothing(_) => !matches!(cut, Filter::TopK(_)),
        _ => !matches!(cut, Filter::TopK(_) | Filter::TopNSigma(_)),
    }
}

fn is_plain(heat: &Filter) -> bool {
    match heat {
        Filter::Temperature(_) => true,
        Filter::DynamicTemperature(heat) => heat.range <= 0.0,
        _ => false,
    }
}
