//! Runs as a Markdown page: prompt, settings, metrics and texts.
//!
//! Text from users and models is escaped, or fenced with more backticks than it contains, so that
//! it can't break the page.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use super::finish_date::finish_words;
use super::runs::{Run, runs};
use super::{FileFacts, notes, settings_words};
use crate::analysis::{Metrics, TextScore};
use crate::decoding::Filter;
use crate::generation::formatting::counted;
use crate::generation::{EndOfText, Generation, ModelInfo, PromptRecord, listed};

/// Renders the page.
pub(super) fn render(panes: &[Option<&Generation>], facts: FileFacts) -> String {
    let runs = runs(panes);
    let mut page = match runs.as_slice() {
        [run] if run.n_turns() > 1 => format!(
            "# A conversation in {}, {} turns\n",
            counted(run.panes.len(), "pane"),
            run.n_turns()
        ),
        [run] if run.panes.len() == 1 => "# One prompt, one generation\n".to_owned(),
        [run] => format!("# One prompt, {} generations\n", run.panes.len()),
        runs => format!(
            "# {} runs, {} generations\n",
            runs.len(),
            panes.iter().flatten().count()
        ),
    };
    if let Some(words) = facts.finished_at.and_then(finish_words) {
        line(&mut page, &format!("{words}."));
    }
    for (index, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            line(&mut page, &format!("## Run {}", index + 1));
        }
        push_run(&mut page, run, facts);
    }
    page
}

fn push_run(page: &mut String, run: &Run<'_>, facts: FileFacts) {
    let model = &run.first.model;
    let about = inline(&facts_of(model));
    let is_scored = run.first.is_scored();
    let verb = if is_scored { "Scored" } else { "Generated" };
    line(
        page,
        &format!(
            "{verb} by **{}** ({about}) with Quartet {}.",
            inline(&model.name),
            env!("CARGO_PKG_VERSION")
        ),
    );
    for (second, letters) in run.second_models() {
        let (name, about) = (inline(&second.name), inline(&facts_of(second)));
        let panes = listed(&letters);
        line(
            page,
            &format!("Second model of {panes}: **{name}** ({about})."),
        );
    }
    if is_scored {
        let words = "A given text: each token is scored as if the model had to write it.";
        line(page, words);
    } else {
        push_prompt(page, run.prompt());
    }
    page.push('\n');
    page.push_str(&metrics_table(run));
    for (letter, generation) in &run.panes {
        push_pane(page, letter, generation, facts);
    }
}

/// Formats a model's properties: "`Q8_0`, CPU, 2 threads, SHA-256 …".
fn facts_of(model: &ModelInfo) -> String {
    let facts = [
        model.quantization_words(),
        model.device.clone(),
        match model.n_threads.map(NonZeroUsize::get) {
            None => String::new(),
            Some(1) => "1 thread".to_owned(),
            Some(n) => format!("{n} threads"),
        },
        model.implementation.name().unwrap_or_default().to_owned(),
        if model.sha256.is_empty() {
            String::new()
        } else {
            format!("SHA-256 {}", model.sha256)
        },
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    facts.join(", ")
}

/// Appends the prompt and, for a chat message, the text that the model read.
fn push_prompt(page: &mut String, prompt: &PromptRecord) {
    let n_tokens = tokens(prompt.tokens.len());
    let Some(chat) = &prompt.chat else {
        line(page, &format!("Prompt ({n_tokens}):"));
        line(page, &fenced(&prompt.text));
        return;
    };
    if let Some(system) = &chat.settings.system {
        line(page, "System prompt:");
        line(page, &fenced(system));
    }
    if let Some(kwargs) = chat.settings.kwargs_json() {
        line(page, "Template variables:");
        line(page, &fenced(&kwargs));
    }
    if let Some(tools) = chat.settings.tools_json() {
        line(page, "Tools:");
        line(page, &fenced(&tools));
    }
    for message in &chat.settings.history {
        line(page, &format!("Earlier, {}:", message.role.heading()));
        line(page, &fenced(&message.shown()));
    }
    line(page, &format!("{}:", chat.settings.message_heading()));
    line(page, &fenced(&prompt.text));
    line(
        page,
        &format!("Rendered by the chat template ({n_tokens}):"),
    );
    line(page, &fenced(&chat.rendered));
}

fn metrics_table(run: &Run<'_>) -> String {
    let mut table = String::from(
        "| Pane | Name | Settings | Seed | Tokens | Tokens/s | Time to first token | Finish reason |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    for (letter, generation) in &run.panes {
        let turns = generation.turns();
        for (number, turn) in (1..).zip(&turns) {
            let pane = match turns.len() {
                1 => letter.clone(),
                _ => format!("{letter}, turn {number}"),
            };
            let _ = writeln!(table, "| {} |", metrics_cells(pane, turn).join(" | "));
        }
    }
    table
}

/// Returns the cells of a text. `pane` names its pane, and its turn in a conversation.
fn metrics_cells(pane: String, generation: &Generation) -> [String; 8] {
    let metrics = Metrics::of(generation);
    let speed = metrics.decode_per_sec.map(|speed| format!("{speed:.1}"));
    let first = metrics
        .first_token_secs
        .map(|secs| format!("{:.0} ms", secs * 1000.0));
    [
        pane,
        inline(&generation.name),
        inline(&settings_words(generation)),
        generation.config.seed.to_string(),
        metrics.n_generated.to_string(),
        speed.unwrap_or_default(),
        first.unwrap_or_default(),
        inline(&finish_reason(generation)),
    ]
}

fn push_pane(page: &mut String, letter: &str, generation: &Generation, facts: FileFacts) {
    let heading = format!("### {letter} · {}", inline(&generation.name));
    line(page, heading.trim_end());
    if generation.previous_turn.is_none() {
        return push_text(page, generation, facts);
    }
    for (number, turn) in (1..).zip(generation.turns()) {
        line(page, &format!("#### {letter}, turn {number}"));
        let chat = turn.prompt.chat.as_ref();
        let heading = chat.map_or("Message", |chat| chat.settings.message_heading());
        line(page, &format!("{heading}:"));
        line(page, &fenced(&turn.prompt.text));
        push_text(page, turn, facts);
    }
}

fn push_text(page: &mut String, generation: &Generation, facts: FileFacts) {
    line(page, &settings(generation));
    if generation.is_scored() {
        line(page, &score_words(generation));
        let text = generation.prompt.text.clone() + &generation.text();
        line(page, &fenced(&text));
    } else {
        line(page, &fenced(&facts.text_of(generation)));
    }
    for words in notes(generation, facts) {
        line(page, &format!("{}.", inline(&words)));
    }
    line(page, &format!("{}.", inline(&finish_reason(generation))));
}

/// Formats a score: "Perplexity 36.47, 5.19 bits per token, 1.34 bits per byte. All 61 tokens could
/// have been generated."
fn score_words(generation: &Generation) -> String {
    let score = TextScore::of(generation);
    let figures = [
        score
            .perplexity()
            .map(|value| format!("Perplexity {value:.2}")),
        score
            .bits_per_token()
            .map(|value| format!("{value:.2} bits per token")),
        score
            .bits_per_byte()
            .map(|value| format!("{value:.2} bits per byte")),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    format!("{}. {}.", figures.join(", "), inline(&score.cut_words()))
}

fn settings(generation: &Generation) -> String {
    let config = &generation.config;
    let mut parts = vec![inline(&settings_words(generation))];
    let chain = &config.chain;
    let by_chance = |filter: &Filter| filter.is_random();
    if !chain.is_greedy() || chain.active().any(by_chance) {
        parts.push(format!("seed {}", config.seed));
    }
    parts.push(format!("up to {}", tokens(config.limits.max_new_tokens)));
    let stops = &config.limits.stop_strings;
    parts.extend(
        stops
            .iter()
            .filter(|stop| !stop.is_empty())
            .map(|stop| format!("stop sequence {}", code(stop))),
    );
    if config.limits.end_of_text == EndOfText::Ignored {
        parts.push("end of text ignored".to_owned());
    }
    format!("Settings: {}.", parts.join(", "))
}

fn finish_reason(generation: &Generation) -> String {
    let words = generation.finish_words();
    words.unwrap_or_else(|| "Still running".to_owned())
}

fn tokens(n: usize) -> String {
    match n {
        1 => "1 token".to_owned(),
        n => format!("{n} tokens"),
    }
}

/// Appends a paragraph.
fn line(page: &mut String, text: &str) {
    page.push('\n');
    page.push_str(text);
    page.push('\n');
}

/// Puts a text unchanged into a fence longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// Formats a short text as inline code, escaped like a Rust string literal.
fn code(text: &str) -> String {
    let text = format!("{text:?}");
    let ticks = "`".repeat(longest_run_of_backticks(&text) + 1);
    format!("{ticks}{text}{ticks}")
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// Escapes every character that could be markup, for use within a line or a table cell.
fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{FileFacts, render};
    use crate::generation::testing::scored;

    #[test]
    fn a_scored_text_has_figures_and_no_prompt() {
        let text = scored(&[(" the", 0.5), (" fox", 0.125)], "greedy");
        let page = render(&[Some(&text)], FileFacts::default());
        assert!(page.contains("Scored by **Test**"), "{page}");
        let figures = "Perplexity 4.00, 2.00 bits per token, 0.50 bits per byte. \
                       1 of 2 tokens could not have been generated (cut by greedy).";
        assert!(page.contains(figures), "{page}");
        assert!(!page.contains("Prompt ("), "{page}");
    }
}
