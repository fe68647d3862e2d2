//! Formats a report as text, at most 80 columns wide.

use std::fmt::{self, Display, Formatter};

use super::bandwidth;
use super::figures::{Branch, Context, Decode, Fork, Futures, Prefill, Shares, Strategy};
use super::futures::{N_FUTURES, N_TOKENS};
use super::memory::Memory;
use super::report::Report;
use crate::generation::ByteSize;
use crate::generation::formatting::counted;

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
        if let Some(branch) = &figures.branch {
            branch_line(branch, f)?;
        }
        if let Some(futures) = &figures.futures {
            futures_table(futures, f)?;
        }
        if let Some(strategies) = &figures.strategies {
            strategies_table(strategies, f)?;
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
            "{}{through}, {}; loaded in {:.2} s; {}",
            model.device,
            counted(self.threads, "thread"),
            self.load_secs,
            match self.rounds {
                1 => "one round".to_owned(),
                n => format!("medians of {n} rounds"),
            },
        )
    }

    fn decode_table(&self, decode: &[Decode], f: &mut Formatter<'_>) -> fmt::Result {
        let raw = if self.raw { ", without a chain" } else { "" };
        writeln!(
            f,
            "\nDecode: {} tokens per pane after a prompt of {}{raw}",
            self.max_tokens, self.prompt_tokens
        )?;
        writeln!(
            f,
            "  panes   tok/s each   tok/s all   ms/step   vs. 1 pane   bandwidth used"
        )?;
        for row in decode {
            writeln!(
                f,
                "  {:>5}   {:>10}   {:>9}   {:>7.2}   {:>10}   {:>14}",
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
    writeln!(
        f,
        "Memory bandwidth: {:.1} GB/s ({}, {} each, {} buffer)",
        bandwidth.bytes_per_sec / 1e9,
        counted(bandwidth.threads, "thread"),
        counted(bandwidth.streams, "stream"),
        ByteSize(bandwidth.buffer_bytes as u64)
    )
}

fn prefill_table(prefill: &[Prefill], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "\nPrefill")?;
    let lengths = prefill.iter().map(|row| row.tokens.to_string());
    line("tokens", lengths, f)?;
    let speeds = prefill.iter().map(|row| speed(row.tokens_per_sec));
    line("tok/s", speeds, f)
}

fn context_table(context: &[Context], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nStep time of one pane by context length, without a chain"
    )?;
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
    writeln!(f, "\nTime within a step")?;
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

fn futures_table(futures: &[Futures], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nFutures: {N_FUTURES} of {N_TOKENS} tokens, sampled from all tokens"
    )?;
    writeln!(
        f,
        "  drawn together   seconds   tok/s all   vs. panes in turn"
    )?;
    for row in futures {
        let width = row.width.map(|width| width.to_string());
        writeln!(
            f,
            "  {:>14}   {:>7.3}   {:>9}   {:>17}",
            width.as_deref().unwrap_or("panes in turn"),
            row.secs,
            speed(row.tokens_per_sec),
            format!("{:.2} ×", row.speed_against_panes),
        )?;
    }
    Ok(())
}

fn strategies_table(strategies: &[Strategy], f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nStrategies, compared with the greedy pane or as many panes as beams"
    )?;
    writeln!(
        f,
        "  {:<36}   ms/pass   tok/pass   tok/s   pass   speed",
        "strategy"
    )?;
    for row in strategies {
        writeln!(
            f,
            "  {:<36}   {:>7.3}   {:>8.2}   {:>5}   {:>4}   {:>5}",
            row.name,
            row.pass_ms,
            row.tokens_per_pass,
            speed(row.tokens_per_sec),
            format!("{:.2}", row.pass_against_baseline),
            format!("{:.2}", row.speed_against_baseline),
        )?;
    }
    Ok(())
}

fn fork_line(fork: &Fork, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "\nFork of {} tokens: {:.4} ms", fork.tokens, fork.ms)?;
    if let (Some(extra), Some(written)) = (fork.extra_bytes, fork.written_bytes) {
        let (extra, written) = (ByteSize(extra), ByteSize(written));
        write!(f, ", {extra}; {written} more with the next token")?;
    }
    writeln!(f)
}

fn branch_line(branch: &Branch, f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nBranch at token {}: first token in {:.2} ms, {:.2} ms in a fresh run ({:.1} ×)",
        branch.tokens, branch.ms, branch.fresh_ms, branch.speed_against_fresh
    )
}

fn memory_lines(memory: &Memory, f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\nMemory: {} with 4 panes, {:.2} × model file ({}) plus KV cache ({})",
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
    writeln!(f, "        {peak} peak, {before} before loading the model")
}

/// Writes a title and one value per column.
fn line(title: &str, values: impl Iterator<Item = String>, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "  {title:<8}")?;
    for value in values {
        write!(f, "{value:>10}")?;
    }
    writeln!(f)
}

/// Formats tokens per second, with one decimal below 100.
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
