//! A report as a text for people, at most 80 columns wide.

use std::fmt::{self, Display, Formatter};

use super::bandwidth;
use super::figures::{Context, Decode, Fork, Prefill, Shares};
use super::memory::Memory;
use super::report::Report;
use crate::generation::ByteSize;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        self.head(f)?;
        if let Some(bandwidth) = &figures.bandwidth {
            bandwidth_line(bandwidth, f)?;
        }
        if let Some(prefill) = &figures.prefill {
            prefill_table(prefill, f)?;
        }
        if let Some(decode) = &figures.decode {
            self.decode_table(decode, f)?;
            shares_table(decode, f)?;
        }
        if let Some(context) = &figures.context {
            context_table(context, f)?;
        }
        if let Some(fork) = &figures.fork {
            fork_line(fork, f)?;
        }
        if let Some(memory) = &figures.memory {
            memory_lines(memory, f)?;
        }
        Ok(())
    }
}

impl Report {
    fn head(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        writeln!(
            f,
            "{}, {:.1} M weights, {}",
            model.name,
            model.n_params as f64 / 1e6,
            model.quantization,
        )?;
        let through = model.implementation.name();
        let through = through.map_or_else(String::new, |name| format!(" through {name}"));
        writeln!(
            f,
            "{}{through}, {} threads; opened in {:.2} s; medians of {} rounds",
            model.device, self.threads, self.load_secs, self.rounds
        )
    }

    fn decode_table(&self, decode: &[Decode], f: &mut Formatter<'_>) -> fmt::Result {
        let raw = if self.raw { ", without a chain" } else { "" };
        writeln!(
            f,
            "\nWriting {} tokens in each pane after {}{raw}",
            self.max_tokens, self.prompt_tokens
        )?;
        writeln!(
            f,
            "  panes   tok/s each   together   ms a step   against 1 pane   of bandwidth"
        )?;
        for row in decode {
            writeln!(
                f,
                "  {:>5}   {:>10}   {:>8}   {:>9.2}   {:>14}   {:>12}",
                row.panes,
                speed(row.each_per_sec),
                speed(row.together_per_sec),
                row.step_ms,
                or_dash(row.time_against_one.map(|ratio| format!("{ratio:.2} ×"))),
                or_dash(row.bandwidth_share.map(percent)),
            )?;
        }
        Ok(())
    }
}

fn bandwidth_line(bandwidth: &bandwidth::Sample, f: &mut Formatter<'_>) -> fmt::Result {
    let stretches = match bandwidth.streams {
        1 => "1 stretch".to_owned(),
        n => format!("{n} stretches"),
    };
    writeln!(
        f,
        "Memory is read at {:.1} GB/s ({} threads, {stretches} each, {})",
        bandwidth.bytes_per_sec / 1e9,
        bandwidth.threads,
        ByteSize(bandwidth.buffer_bytes as u64)
    )
}

fn prefill_table(prefill: &[Prefill], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "\nReading a prompt")?;
    let lengths = prefill.iter().map(|row| row.tokens.to_string());
    line("tokens", lengths, f)?;
    let speeds = prefill.iter().map(|row| speed(row.tokens_per_sec));
    line("tok/s", speeds, f)
}

fn context_table(context: &[Context], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "\nOne token of one pane after so many, without a chain")?;
    let lengths = context.iter().map(|row| row.tokens.to_string());
    line("tokens", lengths, f)?;
    line(
        "ms",
        context.iter().map(|row| format!("{:.2}", row.step_ms)),
        f,
    )
}

fn shares_table(decode: &[Decode], f: &mut Formatter<'_>) -> fmt::Result {
    if decode.iter().all(|row| row.shares.is_none()) {
        return Ok(());
    }
    writeln!(f, "\nWhere the time of a step goes")?;
    writeln!(
        f,
        "  panes   matrix products   attention     head    other   chain and record"
    )?;
    for row in decode {
        if let Some(shares) = &row.shares {
            let Shares {
                products,
                attention,
                head,
                other,
                chain_and_record,
            } = shares;
            writeln!(
                f,
                "  {:>5}   {:>15}   {:>9}   {:>6}   {:>6}   {:>16}",
                row.panes,
                percent(*products),
                percent(*attention),
                percent(*head),
                percent(*other),
                percent(*chain_and_record),
            )?;
        }
    }
    Ok(())
}

fn fork_line(fork: &Fork, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "\nForking {} tokens: {:.4} ms", fork.tokens, fork.ms)?;
    if let (Some(extra), Some(written)) = (fork.extra_bytes, fork.written_bytes) {
        let (extra, written) = (ByteSize(extra), ByteSize(written));
        write!(f, ", {extra} more; {written} with the next token")?;
    }
    writeln!(f)
}

fn memory_lines(memory: &Memory, f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nMemory: {} with 4 panes, {:.2} × the file ({}) and the texts ({})",
        ByteSize(memory.now_bytes),
        memory.ratio,
        ByteSize(memory.file_bytes),
        ByteSize(memory.cache_bytes),
    )?;
    let peak = or_dash(
        memory
            .peak_bytes
            .map(|n_bytes| ByteSize(n_bytes).to_string()),
    );
    let before = ByteSize(memory.before_bytes);
    writeln!(
        f,
        "        {peak} at most, {before} before the model was opened"
    )
}

/// A title and a number in each column.
fn line(title: &str, values: impl Iterator<Item = String>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "  {title:<8}")?;
    for value in values {
        write!(f, "{value:>10}")?;
    }
    writeln!(f)
}

/// Tokens a second with as many digits as matter.
fn speed(per_sec: f64) -> String {
    if per_sec < 100.0 {
        format!("{per_sec:.1}")
    } else {
        format!("{per_sec:.0}")
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}
