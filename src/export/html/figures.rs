//! The table of figures.

use super::escape::escaped;
use super::{line, settings_line, steps};
use crate::analysis::{Metrics, TextMetrics, have_different_tokenizers};
use crate::generation::Generation;
use crate::generation::formatting::{pane_letter, percent, speed};

/// Appends a row of figures for each text. The turns of a pane follow each other.
pub(super) fn push_figures(page: &mut String, texts: &[(usize, &Generation)]) {
    let has_turns = texts.iter().any(|(_, text)| text.previous_turn.is_some());
    let turn_words = |text: &Generation| {
        let words = || format!(" · turn {}", text.n_turns());
        has_turns.then(words).unwrap_or_default()
    };
    let is_per_character = have_different_tokenizers(texts.iter().map(|(_, text)| *text));
    let surprise = if is_per_character {
        "Bits per character"
    } else {
        "Perplexity"
    };
    let head = format!(
        "<section><h2>Figures</h2><div class=\"scroll\"><table><tr><th>Pane</th><th>Settings</th>\
         <th class=\"num\">Tokens</th><th class=\"num\">{surprise}</th>\
         <th class=\"num\">Mean entropy</th><th class=\"num\">Greedy would take it</th>\
         <th class=\"num\">Tokens/s</th><th>Finish reason</th></tr>",
    );
    line(page, &head);
    for (place, text) in texts {
        let (metrics, measures) = (Metrics::of(text), TextMetrics::of(text));
        let number = |value: Option<f64>, unit: &str| {
            value.map_or_else(String::new, |value| format!("{value:.2}{unit}"))
        };
        let numbers = [
            text.steps.len().to_string(),
            number(
                if is_per_character {
                    measures.bits_per_character
                } else {
                    measures.perplexity
                },
                "",
            ),
            number(measures.mean_entropy_bits, " bits"),
            measures.greedy_share.map(percent).unwrap_or_default(),
            metrics.decode_per_sec.map(speed).unwrap_or_default(),
        ];
        let numbers = numbers.map(|cell| format!("<td class=\"num\">{cell}</td>"));
        let finish = text.finish_words();
        line(
            page,
            &format!(
                "<tr><td><span class=\"badge p{}\">{}</span> {}{}</td><td>{}</td>{}<td>{}</td></tr>",
                steps::color(*place),
                pane_letter(*place),
                escaped(&text.shown_name()),
                turn_words(text),
                escaped(&settings_line(text)),
                numbers.concat(),
                escaped(&finish.unwrap_or_default()),
            ),
        );
    }
    line(page, "</table></div></section>");
}
