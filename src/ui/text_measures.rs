//! The metrics of a text in words: rows for tables, and the tooltip of a pane's footer.

use super::formatting::{grouped, percent};
use crate::analysis::{Prices, TextMetrics};

/// A metric's name, what it means, and its value in words.
pub(super) type MeasureRow = (&'static str, &'static str, fn(&TextMetrics) -> String);

/// Returns the metrics in the order of a table.
pub(super) const fn measure_rows() -> [MeasureRow; 10] {
    [
        (
            "Perplexity",
            "How many equally likely tokens the model hesitated between, on average, before the chain",
            |metrics| decimals(metrics.perplexity, 2),
        ),
        (
            "Mean entropy, bits",
            "The mean uncertainty of the model before the chain, whatever was chosen",
            |metrics| decimals(metrics.mean_entropy_bits, 2),
        ),
        (
            "Greedy picks the same token",
            "The share of tokens that the model ranked first",
            |metrics| metrics.greedy_share.map_or_else(missing, percent),
        ),
        (
            "Distinct-1",
            "The share of different tokens: low values mean repetition",
            |metrics| decimals(metrics.distinct[0], 2),
        ),
        (
            "Distinct-2",
            "The share of different pairs of tokens",
            |metrics| decimals(metrics.distinct[1], 2),
        ),
        (
            "Distinct-3",
            "The share of different runs of three tokens",
            |metrics| decimals(metrics.distinct[2], 2),
        ),
        (
            "Longest repeat, tokens",
            "The longest passage that occurs twice without overlapping itself",
            |metrics| {
                let repeat = metrics.longest_repeat;
                grouped(repeat.map_or(0, |repeat| repeat.n_tokens) as f64)
            },
        ),
        (
            "Loop",
            "Where a passage repeats at least three times in a row, from the first token to the last",
            loop_label,
        ),
        (
            "Tokens",
            "Generated tokens, with the end of the text",
            |metrics| grouped(metrics.n_tokens as f64),
        ),
        (
            "Characters",
            "Characters of the generated text",
            |metrics| grouped(metrics.n_characters as f64),
        ),
    ]
}

/// Returns the metrics of a text, one per line.
pub(super) fn measures_tooltip(metrics: &TextMetrics, prices: Prices) -> String {
    let rows = measure_rows();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|(name, _, value)| format!("{name}: {}", value(metrics)))
        .collect();
    if prices.are_set() {
        let cost = cost_label(prices.cost(metrics));
        lines.push(format!("Cost: {cost}"));
    }
    lines.join("\n")
}

/// Formats dollars with their significant digits.
pub(super) fn cost_label(dollars: f64) -> String {
    match dollars {
        ..0.000_1 => format!("${dollars:.6}"),
        ..0.1 => format!("${dollars:.4}"),
        _ => format!("${dollars:.2}"),
    }
}

fn loop_label(metrics: &TextMetrics) -> String {
    metrics
        .repetition
        .as_ref()
        .map_or_else(missing, |repetition| {
            let steps = &repetition.steps;
            format!("{} to {}", steps.start + 1, steps.end)
        })
}

fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(missing, |value| format!("{value:.decimals$}"))
}

fn missing() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::{cost_label, measures_tooltip};
    use crate::analysis::{Prices, TextMetrics};
    use crate::generation::testing::generation;

    #[test]
    fn a_tooltip_lists_every_metric_and_the_cost_if_there_are_prices() {
        let metrics = TextMetrics::of(&generation(&[(" a", 0.5), (" a", 0.5), (" a", 0.5)]));
        let words = measures_tooltip(&metrics, Prices::default());
        for line in [
            "Perplexity: 1.99",
            "Greedy picks the same token: 100 %",
            "Distinct-1: 0.33",
            "Longest repeat, tokens: 1",
            "Loop: –",
            "Tokens: 3",
            "Characters: 6",
        ] {
            assert!(words.lines().any(|other| other == line), "{words}");
        }
        assert!(!words.contains("Cost"));
        let prices = Prices {
            input: 0.0,
            output: 10.0,
        };
        assert!(measures_tooltip(&metrics, prices).ends_with("Cost: $0.000030"));
    }

    #[test]
    fn costs_keep_their_significant_digits() {
        let costs = [0.00003, 0.0123, 1.5].map(cost_label);
        assert_eq!(costs, ["$0.000030", "$0.0123", "$1.50"]);
    }
}
