//! A run as a page: prompt, settings, figures and texts.
//!
//! What people and models wrote stands in fences longer than any in it, or escaped, so that no
//! text can change the page around it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use super::runs::{Run, runs};
use super::settings_words;
use crate::analysis::Metrics;
use crate::decoding::Filter;
use crate::generation::{EndOfText, FinishReason, Generation, PromptRecord};

/// The page.
pub(super) fn render(generations: &[&Generation]) -> String {
    let runs = runs(generations);
    let mut page = match runs.as_slice() {
        [run] if run.panes.len() == 1 => "# One prompt, one text\n".to_owned(),
        [run] => format!("# One prompt, {} texts\n", run.panes.len()),
        runs => format!(
            "# {} prompts or models, {} texts\n",
            runs.len(),
            generations.len()
        ),
    };
    for (index, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            line(&mut page, &format!("## Run {}", index + 1));
        }
        push_run(&mut page, run);
    }
    page
}

fn push_run(page: &mut String, run: &Run<'_>) {
    let model = &run.first.model;
    let facts = [
        model.quantization.clone(),
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
    let facts = inline(&facts.join(", "));
    line(
        page,
        &format!(
            "Written by **{}** ({facts}) in Quartet {}.",
            inline(&model.name),
            env!("CARGO_PKG_VERSION")
        ),
    );
    push_prompt(page, &run.first.prompt);
    page.push('\n');
    page.push_str(&figures(run));
    for (number, generation) in &run.panes {
        push_pane(page, *number, generation);
    }
}

/// What was asked; of a chat also what the model read of it.
fn push_prompt(page: &mut String, prompt: &PromptRecord) {
    let n_tokens = tokens(prompt.tokens.len());
    let Some(chat) = &prompt.chat else {
        line(page, &format!("Prompt, {n_tokens}:"));
        line(page, &fenced(&prompt.text));
        return;
    };
    if !chat.system.is_empty() {
        line(page, "System prompt:");
        line(page, &fenced(&chat.system));
    }
    line(page, "Message:");
    line(page, &fenced(&prompt.text));
    line(page, &format!("As the model read it, {n_tokens}:"));
    line(page, &fenced(&chat.rendered));
}

fn figures(run: &Run<'_>) -> String {
    let mut table = String::from(
        "| | Pane | Settings | Seed | Tokens | Tokens a second | First token | Ended |\n\
         | ---: | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    for (number, generation) in &run.panes {
        let metrics = Metrics::of(generation);
        let speed = metrics.decode_per_sec.map(|speed| format!("{speed:.1}"));
        let first = metrics
            .first_token_secs
            .map(|secs| format!("{:.0} ms", secs * 1000.0));
        let cells = [
            number.to_string(),
            inline(&generation.name),
            inline(&settings_words(generation)),
            generation.config.seed.to_string(),
            metrics.n_generated.to_string(),
            speed.unwrap_or_default(),
            first.unwrap_or_default(),
            inline(&ended(generation)),
        ];
        let _ = writeln!(table, "| {} |", cells.join(" | "));
    }
    table
}

fn push_pane(page: &mut String, number: usize, generation: &Generation) {
    let heading = format!("### {number} · {}", inline(&generation.name));
    line(page, heading.trim_end());
    line(page, &settings(generation));
    line(page, &fenced(&generation.text()));
    line(page, &format!("{}.", inline(&ended(generation))));
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
            .map(|stop| format!("stops at {}", code(stop))),
    );
    if config.limits.end_of_text == EndOfText::Ignored {
        parts.push("end of text ignored".to_owned());
    }
    format!("Settings: {}.", parts.join(", "))
}

fn ended(generation: &Generation) -> String {
    generation
        .finish
        .as_ref()
        .map_or_else(|| "Still writing".to_owned(), FinishReason::to_string)
}

fn tokens(n: usize) -> String {
    match n {
        1 => "1 token".to_owned(),
        n => format!("{n} tokens"),
    }
}

/// A paragraph of its own.
fn line(page: &mut String, text: &str) {
    page.push('\n');
    page.push_str(text);
    page.push('\n');
}

/// A text exactly as it is, in a fence longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// A short text as code, its line breaks and marks in Rust's escapes.
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

/// A text within a line or a table's cell, with every character escaped that could be markup.
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
