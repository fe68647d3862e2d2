//! Numbers in the words of a sentence.

use super::share::Interval;
use crate::generation::formatting::percent;

/// The counts that are spelled out.
const COUNTS: [&str; 9] = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight",
];

/// Formats a share of prompts: "60 %".
pub(super) fn share_words(share: f64) -> String {
    if share > 0.0 {
        percent(share)
    } else {
        "0 %".to_owned()
    }
}

/// Formats a range of shares: "45 to 75 %", or with a decimal if it is narrow.
pub(super) fn range_words(interval: Interval) -> String {
    let Interval { low, high } = interval;
    let n_decimals = usize::from(high - low < 0.02);
    let [low, high] = [low, high].map(|end| format!("{:.n_decimals$}", end * 100.0));
    format!("{low} to {high} %")
}

/// Formats a difference of shares: "8 points", "0.4 points".
pub(super) fn points(difference: f64) -> String {
    let points = difference * 100.0;
    if points.round() > 1.0 {
        format!("{points:.0} points")
    } else {
        format!("{:.1} points", points.max(0.1))
    }
}

/// Formats a p-value so that it reads as below 0.05 if and only if it is.
pub(super) fn p_words(p_value: f64) -> String {
    match p_value {
        ..0.001 => "p < 0.001".to_owned(),
        ..0.0095 => format!("p {p_value:.3}"),
        0.045..0.05 => format!("p {:.3}", (p_value * 1000.0).floor() / 1000.0),
        0.995.. => "p 1".to_owned(),
        _ => format!("p {p_value:.2}"),
    }
}

/// Formats a count of prompts that were won or lost.
pub(super) fn won(n: usize) -> String {
    match n {
        0 => "none".to_owned(),
        _ => n.to_string(),
    }
}

/// Spells out a small count.
pub(super) fn spelled(n: usize) -> String {
    COUNTS
        .get(n)
        .map_or_else(|| n.to_string(), |word| (*word).to_owned())
}
