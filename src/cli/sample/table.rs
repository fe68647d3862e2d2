//! Formats a result as a table for the terminal.

use std::fmt::Write as _;

use super::Answer;
use crate::analysis::by_hand::{Draws, Untested};
use crate::analysis::xray::{XrayCell, XrayColumn, XrayPlace};
use crate::decoding::{Selector, TokenId};

/// The width of the probability bar, in characters.
const BAR: usize = 60;

/// Formats one result.
pub(super) fn render(answer: &Answer, names: &[&str]) -> String {
    let name = |token: TokenId| {
        names
            .get(token.index())
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("#{token}"), |name| (*name).to_owned())
    };
    let mut text = format!(
        "{} · {} · row {}\n\n",
        answer.pane, answer.settings, answer.row
    );
    push_stages(&mut text, answer, &name);
    push_bar(&mut text, answer, &name);
    if let Some(draws) = &answer.draws {
        push_draws(&mut text, draws, answer.selector, &name);
    }
    text
}

fn push_stages(text: &mut String, answer: &Answer, name: &dyn Fn(TokenId) -> String) {
    let xray = &answer.xray;
    let mut title = vec![String::new()];
    let shown = xray.columns.iter().filter(|column| is_shown(column));
    title.extend(shown.map(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.filter.to_string(),
        _ => "model".to_owned(),
    }));
    let mut rows = vec![title];
    let recorded = xray
        .rows
        .iter()
        .zip(1..)
        .filter(|(row, rank)| row.rank == Some(*rank));
    for (candidate, _) in recorded.clone() {
        let mut row = vec![name(candidate.token)];
        let cells = xray.columns.iter().zip(&candidate.cells);
        let cells = cells.filter(|(column, _)| is_shown(column));
        row.extend(cells.map(|(_, cell)| match cell {
            XrayCell::Kept(prob) => percent(*prob),
            _ => "–".to_owned(),
        }));
        row.push(match xray.cut_by(candidate).map(|column| &column.at) {
            Some(XrayPlace::Stage { stage, .. }) => format!("cut by {}", stage.filter),
            _ => String::new(),
        });
        rows.push(row);
    }
    let n_all = answer.n_candidates as usize;
    let n_more = n_all - recorded.count();
    if n_more > 0 {
        rows.push(vec![format!("{n_more} less likely")]);
    }
    let mut summary = |title: &str, first: String, of: &dyn Fn(&super::StageAnswer) -> String| {
        let mut row = vec![title.to_owned(), first];
        row.extend(answer.stages.iter().map(of));
        rows.push(row);
    };
    let bits = |nats: f64| format!("{:.3}", nats / std::f64::consts::LN_2);
    summary("tokens left", n_all.to_string(), &|stage| {
        stage.n_kept.to_string()
    });
    summary("mass removed", String::new(), &|stage| {
        percent(stage.mass_removed)
    });
    summary("entropy (bits)", bits(answer.raw_entropy_nats), &|stage| {
        bits(stage.entropy_nats)
    });
    push_columns(text, &rows);
}

/// Returns whether a column is shown: the model and every enabled stage.
const fn is_shown(column: &XrayColumn) -> bool {
    match &column.at {
        XrayPlace::Model | XrayPlace::Row(_) | XrayPlace::Mixture(_) => true,
        XrayPlace::Stage { stage, .. } => stage.enabled,
        XrayPlace::Grammar(_) | XrayPlace::Selector(_) => false,
    }
}

/// Appends the rows as aligned columns. The first column and the "cut by" notes are left-aligned,
/// all others right-aligned.
fn push_columns(text: &mut String, rows: &[Vec<String>]) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            if column == 0 || cell.starts_with("cut by") {
                line.extend([cell, padding.as_str(), "  "]);
            } else {
                line.extend([padding.as_str(), cell, "  "]);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn push_bar(text: &mut String, answer: &Answer, name: &dyn Fn(TokenId) -> String) {
    let mut bar = String::new();
    let mut end = 0.0;
    for (index, prob) in answer.bar.iter().enumerate() {
        end += prob;
        let shade = if index % 2 == 0 { '█' } else { '▒' };
        while bar.chars().count() < BAR
            && ((bar.chars().count() + 1) as f64) <= end * BAR as f64 + 0.5
        {
            bar.push(shade);
        }
    }
    let token = name(answer.token);
    let prob = percent(answer.prob);
    text.push('\n');
    let Some(coin) = answer.coin else {
        let how = if answer.selector.has_coin_per_token() {
            "with a coin for each token"
        } else {
            "without a coin"
        };
        writeln!(text, "{token}, {prob}, {how}").ok();
        return;
    };
    let n_before = (0..BAR)
        .filter(|cell| (cell + 1) as f64 / BAR as f64 <= coin)
        .count();
    writeln!(text, "0 {bar} 1\n  {}▲", " ".repeat(n_before)).ok();
    let (from, to) = (answer.below, answer.below + answer.prob);
    writeln!(
        text,
        "the coin {coin:.4} falls between {from:.4} and {to:.4}: {token}, {prob}"
    )
    .ok();
}

fn push_draws(
    text: &mut String,
    draws: &Draws,
    selector: Selector,
    name: &dyn Fn(TokenId) -> String,
) {
    let mut rows = vec![vec![
        String::new(),
        "drawn".to_owned(),
        "expected".to_owned(),
    ]];
    for count in draws.counts.iter().take(32) {
        let expected = format!("{:.1}", count.expected);
        rows.push(vec![name(count.id), count.count.to_string(), expected]);
    }
    text.push('\n');
    push_columns(text, &rows);
    writeln!(text, "{}", test_words(draws, selector)).ok();
}

/// Formats the χ² test of the counts, or why it does not apply.
fn test_words(draws: &Draws, selector: Selector) -> String {
    if let Some(found) = &draws.chi_squared {
        let (n, chi_squared) = (found.n_freedom, found.chi_squared);
        let degrees = if n == 1 { "degree" } else { "degrees" };
        let bound = found.bound_one_in_20;
        return format!(
            "χ² {chi_squared:.2} with {n} {degrees} of freedom; fair draws exceed {bound:.2} one time \
             in 20"
        );
    }
    let why = match draws.untested(selector) {
        Untested::NoCoin => "the most likely token is always taken",
        Untested::ChanceBefore => {
            "a stage drops tokens at random, and the most likely of the rest is always taken"
        }
        Untested::OneToken => "only one token is left",
        Untested::TooFewDraws => "too few draws to expect at least 5 each of two tokens",
    };
    format!("No χ²: {why}")
}

fn percent(prob: f64) -> String {
    format!("{:.2} %", prob * 100.0)
}
