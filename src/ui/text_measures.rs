//! The metrics of a text in words: rows for tables, and the tooltip of a pane's footer.

use egui::Ui;

use crate::analysis::grammar::GrammarTotals;
use crate::analysis::{Prices, TextMetrics};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Number;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::{grouped, percent};

/// A metric's name, what it means, and its value in words.
pub(super) type MeasureRow = (&'static str, &'static str, fn(&TextMetrics) -> String);

/// Returns the metrics of these texts in the order of a table. Texts with different tokenizers have no
/// perplexity, which is per token.
pub(super) fn rows_for<'a>(
    texts: impl Iterator<Item = &'a TextMetrics>,
    has_one_tokenizer: bool,
) -> impl Iterator<Item = MeasureRow> {
    let (mut has_grammar, mut has_thought) = (false, false);
    for metrics in texts {
        has_grammar |= metrics.grammar.is_some();
        has_thought |= metrics.n_thought_tokens.is_some();
    }
    let of_grammar = if has_grammar { &GRAMMAR_ROWS[..] } else { &[] };
    let of_thought = has_thought.then_some(THOUGHT_ROW);
    let [perplexity, others @ ..] = measure_rows();
    let first = if has_one_tokenizer {
        perplexity
    } else {
        BITS_PER_CHARACTER
    };
    let of_text = std::iter::once(first).chain(others);
    of_text.chain(of_thought).chain(of_grammar.iter().copied())
}

/// Takes the place of the perplexity.
const BITS_PER_CHARACTER: MeasureRow = (
    "Bits per character",
    "How surprising the text is to the model before the chain, per character. Perplexity is per token, \
     and these texts have different tokenizers",
    |metrics| decimals(metrics.bits_per_character, 2),
);

/// How much of a text is its thought.
const THOUGHT_ROW: MeasureRow = (
    "Tokens of thinking",
    "Tokens between the think tags, with the tags",
    |metrics| {
        let n_tokens = metrics.n_thought_tokens;
        n_tokens.map_or_else(missing, |n_tokens| grouped(n_tokens as f64))
    },
);

/// The metrics of a text that was constrained by a grammar.
const GRAMMAR_ROWS: [MeasureRow; 4] = [
    (
        "Grammar distortion, bits",
        "The sum of −log2 of the probability that the model gave to the legal tokens: how far the \
         grammar moved the text from what the model would have written",
        |metrics| decimals(metrics.grammar.map(|grammar| grammar.distortion_bits), 1),
    ),
    (
        "Changed by the grammar",
        "Tokens that differ from what the same coins draw without the grammar",
        |metrics| of_grammar(metrics, |grammar| grouped(grammar.n_changed as f64)),
    ),
    (
        "Forced by the grammar",
        "Tokens that were the only legal ones",
        |metrics| of_grammar(metrics, |grammar| grouped(grammar.n_forced as f64)),
    ),
    (
        "Time per mask",
        "The mean time to find the legal tokens of a step",
        |metrics| {
            of_grammar(metrics, |grammar| {
                format!("{:.3} ms", grammar.mask_millis())
            })
        },
    ),
];

fn of_grammar(metrics: &TextMetrics, words: impl Fn(GrammarTotals) -> String) -> String {
    metrics.grammar.map_or_else(missing, words)
}

const fn measure_rows() -> [MeasureRow; 10] {
    [
        (
            "Perplexity",
            "2 to the power of the mean surprise of the tokens before the chain, with those picked by hand: \
             as surprising as a draw from this many equally likely tokens each time",
            |metrics| decimals(metrics.perplexity, 2),
        ),
        (
            "Mean entropy, bits",
            "The mean uncertainty of the model before the chain, whatever was chosen",
            |metrics| decimals(metrics.mean_entropy_bits, 2),
        ),
        (
            "Greedy picks the same token",
            "The share of tokens that the model ranked first, without those picked by hand",
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
            "Repetition",
            "Where a passage repeats at least three times in a row, from the first token to the last",
            loop_label,
        ),
        (
            "Tokens",
            "Generated tokens, including the end-of-text token",
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
    let rows = rows_for(std::iter::once(metrics), true);
    let mut lines: Vec<String> = rows
        .map(|(name, _, value)| format!("{name}: {}", value(metrics)))
        .collect();
    if prices.are_set() {
        let cost = cost_label(prices.cost(metrics));
        lines.push(format!("Cost: {cost}"));
    }
    lines.join("\n")
}

/// Says what a shorter answer would have saved: the longest text without its loop, as long as the
/// shortest text, or half as long. Returns `None` if output is free.
pub(super) fn saving_words(texts: &[(usize, &TextMetrics)], prices: Prices) -> Option<String> {
    let by_length = |(_, metrics): &&(usize, &TextMetrics)| metrics.n_tokens;
    // On a tie, the first of the longest texts.
    let (place, longest) = texts.iter().rev().max_by_key(by_length)?;
    let (other, shortest) = texts.iter().min_by_key(by_length)?;
    let name = pane_letter(*place);
    let (n_tokens, shorter) = match &longest.repetition {
        Some(found) => {
            let n_tokens = found.steps.start + found.n_period;
            let shorter =
                format!("Stopping {name} at token {n_tokens}, where it begins to repeat itself,");
            (n_tokens, shorter)
        }
        None if shortest.n_tokens < longest.n_tokens => {
            let (n_short, n_long) = (shortest.n_tokens, longest.n_tokens);
            let (n_short, n_long) = (grouped(n_short as f64), grouped(n_long as f64));
            let other = pane_letter(*other);
            let shorter =
                format!("With the {n_short} tokens of {other} instead of {n_long}, {name}");
            (shortest.n_tokens, shorter)
        }
        None => (
            longest.n_tokens / 2,
            format!("With half as many tokens, {name}"),
        ),
    };
    let cost = prices.cost(longest);
    let saved = prices.output * (longest.n_tokens - n_tokens.min(longest.n_tokens)) as f64 / 1e6;
    if saved <= 0.0 {
        return None;
    }
    let (thousand, saved_label) = (cost_label(cost * 1e3), cost_label(saved * 1e3));
    let share = percent(saved / cost);
    Some(format!(
        "{shorter} would have saved {saved_label} of {thousand} per 1,000 runs ({share})."
    ))
}

/// Draws the fields for the prices. An invalid price is refused.
pub(super) fn prices_ui(ui: &mut Ui, prices: &mut Prices) {
    let theme = Theme::of(ui);
    let mut error = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        // The height of the fields, for the words before them.
        ui.set_min_height(28.0);
        let label = "Dollars per million tokens";
        ui.label(Face::Small.text(label).color(theme.text_3));
        for (word, name, price) in [
            ("in", "Price per million input tokens", &mut prices.input),
            ("out", "Price per million output tokens", &mut prices.output),
        ] {
            ui.label(Face::Small.text(word).color(theme.text_2));
            error = price_ui(ui, name, price).or(error);
        }
    });
    if let Some(error) = error {
        ui.label(Face::Small.text(error).color(theme.error));
    }
}

/// Draws the field for a price. Returns what is wrong with the number typed last, if anything.
fn price_ui(ui: &mut Ui, name: &str, price: &mut f64) -> Option<&'static str> {
    let id = ui.scope_id().with(name);
    let was_refused: bool = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let error = was_refused.then_some("A price is a number of dollars, at least 0");
    let mut typed = *price;
    let field = Number::new(name, 0.0..=100.0, 2).error(error);
    if field.field_ui(ui, &mut typed).changed() {
        let is_valid = typed.is_finite() && typed >= 0.0;
        if is_valid {
            *price = typed;
        }
        ui.data_mut(|data| data.insert_temp(id, !is_valid));
    }
    error
}

/// Formats an amount in dollars, with more decimals if it is small.
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
            format!("{}–{}", steps.start + 1, steps.end)
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
    use egui::{Event, Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use super::{cost_label, measures_tooltip, saving_words};
    use crate::analysis::{Prices, TextLoop, TextMetrics};
    use crate::generation::testing::generation;
    use crate::state::DockTab;
    use crate::state::tests::written;
    use crate::ui::testing::{key, window_of};

    #[test]
    fn a_tooltip_lists_every_metric_and_the_cost_if_there_are_prices() {
        let metrics = TextMetrics::of(&generation(&[(" a", 0.5), (" a", 0.5), (" a", 0.5)]));
        let words = measures_tooltip(&metrics, Prices::default());
        for line in [
            "Perplexity: 1.99",
            "Greedy picks the same token: 100 %",
            "Distinct-1: 0.33",
            "Longest repeat, tokens: 1",
            "Repetition: –",
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
    fn a_shorter_answer_would_have_saved_money() {
        let text = |n_tokens| TextMetrics {
            n_prompt: 100,
            n_tokens,
            ..TextMetrics::default()
        };
        let prices = Prices {
            input: 1.0,
            output: 10.0,
        };
        let (long, short) = (text(190), text(40));
        let looping = TextMetrics {
            repetition: Some(TextLoop {
                steps: 30..190,
                n_period: 10,
            }),
            ..text(190)
        };
        for (texts, expected) in [
            (
                vec![(0, &short), (3, &long)],
                "With the 40 tokens of A instead of 190, D would have saved $1.50 of $2.00 per 1,000 \
                 runs (75 %).",
            ),
            (
                vec![(1, &long)],
                "With half as many tokens, B would have saved $0.95 of $2.00 per 1,000 runs (48 %).",
            ),
            (
                vec![(0, &short), (2, &looping)],
                "Stopping C at token 40, where it begins to repeat itself, would have saved $1.50 of \
                 $2.00 per 1,000 runs (75 %).",
            ),
        ] {
            assert_eq!(saving_words(&texts, prices).as_deref(), Some(expected));
        }
        let free = Prices {
            output: 0.0,
            ..prices
        };
        assert_eq!(saving_words(&[(0, &long)], free), None);
        assert_eq!(saving_words(&[], prices), None);
    }

    #[test]
    fn a_price_is_typed_in_numbers_and_an_invalid_one_is_refused() {
        let mut state = written();
        state.view.dock_tab = DockTab::Numbers;
        let mut window = window_of(vec2(1280.0, 900.0), state);
        window.run_steps(2);
        let mut type_price = |text: &str| {
            window
                .get_by_label("Price per million output tokens")
                .focus();
            window.run_steps(2);
            key(&mut window, Modifiers::COMMAND, Key::A);
            window.event(Event::Text(text.to_owned()));
            window.run_steps(2);
            key(&mut window, Modifiers::NONE, Key::Enter);
            window.run_steps(2);
            let complains = window
                .query_by_label("A price is a number of dollars, at least 0")
                .is_some();
            let lesson = window.query_by_label_contains("would have saved").is_some();
            (window.state().view.prices.output, complains, lesson)
        };
        assert_eq!(type_price("2,5"), (2.5, false, true));
        assert_eq!(type_price("-3"), (2.5, true, true));
        assert_eq!(type_price("inf"), (2.5, true, true));
        assert_eq!(type_price("0"), (0.0, false, false));
    }

    #[test]
    fn costs_keep_their_significant_digits() {
        let costs = [0.00003, 0.0123, 1.5].map(cost_label);
        assert_eq!(costs, ["$0.000030", "$0.0123", "$1.50"]);
    }
}
