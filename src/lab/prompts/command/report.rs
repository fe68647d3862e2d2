//! The report of `quartet prompts`: the shares of right answers, task by task, and what they say.

use crate::analysis::sweep::Axis;
use crate::cli::text_table::{self, Cell};
use crate::generation::formatting::{counted, grouped, one_line, percent};
use crate::lab::prompts::figures::statistics::ShareEstimate;
use crate::lab::prompts::figures::{JudgedPane, SweepReading, TaskResults, TaskSweep};
use crate::lab::prompts::record::TasksRecord;

/// How many characters of a prompt, of what is expected and of an answer a row shows.
const N_PROMPT: usize = 36;
const N_EXPECTED: usize = 20;
const N_TEXT: usize = 60;

/// How many tasks are listed. Files have all of them.
const N_LISTED: usize = 40;

/// Renders the report.
pub(super) fn report(record: &TasksRecord<'_>) -> String {
    let results = record.results;
    let mut lines = Vec::new();
    if results.is_judged() {
        lines.extend(text_table::lines(&shares(record)));
        lines.push(String::new());
        lines.extend(sweep(record));
        lines.extend(record.sentences());
    } else {
        let texts = text_table::lines(&texts(results));
        // A text may be empty.
        lines.extend(texts.iter().map(|line| line.trim_end().to_owned()));
    }
    lines.extend(refusals(results));
    lines.join("\n") + "\n"
}

/// Returns a row for each task with its shares of right answers, after one for all of them.
fn shares(record: &TasksRecord<'_>) -> Vec<Vec<Cell>> {
    let results = record.results;
    let panes = 0..results.panes.len();
    let heads = results.panes.iter().map(|pane| Cell::right(name(pane)));
    let mut rows = vec![
        [Cell::left("task"), Cell::left("expected")]
            .into_iter()
            .chain(heads)
            .collect::<Vec<_>>(),
    ];
    let all = panes.clone().map(|pane| {
        let share = record.reading.shares.get(pane).and_then(Option::as_ref);
        Cell::right(share.map_or_else(String::new, estimate_words))
    });
    let n = results.comparable().count();
    let first = [Cell::left(format!("all {n}")), Cell::left("")];
    rows.push(first.into_iter().chain(all).collect());
    rows.extend(overview(record));
    let order = record.reading.order.iter().copied();
    let judged = order.filter(|task| {
        let task = results.tasks().get(*task);
        task.is_some_and(|task| task.is_judged)
    });
    for task in judged.take(N_LISTED) {
        let cells = panes
            .clone()
            .map(|pane| Cell::right(cell(results, task, pane)));
        let first = [
            Cell::left(one_line(&results.prompt_words(task), N_PROMPT)),
            Cell::left(one_line(&results.expected_words(task), N_EXPECTED)),
        ];
        rows.push(first.into_iter().chain(cells).collect());
    }
    rows
}

/// Returns the rows about all answers: votes among them, their variety and their length.
fn overview(record: &TasksRecord<'_>) -> Vec<Vec<Cell>> {
    let overview = &record.reading.overview;
    let n = overview.iter().map(|row| row.n_answers).max().unwrap_or(0);
    let number = |value: Option<f64>| value.map(|value| format!("{value:.1}"));
    let all: [(String, Vec<Option<String>>); 4] = [
        (
            format!("vote of {n}"),
            overview.iter().map(|row| row.vote.map(percent)).collect(),
        ),
        (
            format!("any of {n}"),
            overview.iter().map(|row| row.any.map(percent)).collect(),
        ),
        (
            "different answers".to_owned(),
            overview.iter().map(|row| number(row.n_different)).collect(),
        ),
        (
            "tokens".to_owned(),
            overview.iter().map(|row| number(row.n_tokens)).collect(),
        ),
    ];
    all.into_iter()
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .map(|(name, values)| {
            let first = [Cell::left(name), Cell::left("")];
            let values = values
                .into_iter()
                .map(|value| Cell::right(value.unwrap_or_else(|| "–".to_owned())));
            first.into_iter().chain(values).collect()
        })
        .collect()
}

/// "3 of 5, exactly 57 %": the answers that are right, and the probability of one.
fn cell(results: &TaskResults, task: usize, pane: usize) -> String {
    let drawn = results.n_right(task, pane);
    let exact = results.exact_share(task, pane).map(|share| {
        if share.is_exact() {
            format!("exactly {}", percent(share.middle()))
        } else {
            format!("at least {}", percent(share.at_least))
        }
    });
    let drawn = drawn.map(|(right, n)| format!("{right} of {n}"));
    let parts: Vec<String> = drawn.into_iter().chain(exact).collect();
    if parts.is_empty() {
        return "–".to_owned();
    }
    parts.join(", ")
}

/// Returns what was found over what is varied, as a table: a row for each value, or the map.
fn sweep(record: &TasksRecord<'_>) -> Vec<String> {
    let Some((sweep, reading)) = record.sweep else {
        return Vec::new();
    };
    if reading.is_empty() {
        let refusal = record.results.exact_refusal();
        let words = refusal.unwrap_or("No probability could be computed exactly");
        return vec![format!("{words}."), String::new()];
    }
    let rows = match &sweep.columns {
        Some(columns) => map_rows(sweep, columns, reading),
        None => curve_rows(sweep, reading),
    };
    let mut lines = text_table::lines(&rows);
    lines.push(String::new());
    lines
}

/// Returns a row for each value of the number.
fn curve_rows(sweep: &TaskSweep, reading: &SweepReading) -> Vec<Vec<Cell>> {
    let number = |value: Option<f64>, n_digits: usize| {
        let words = value.map(|value| format!("{value:.n_digits$}"));
        words.unwrap_or_else(|| "–".to_owned())
    };
    let has_exact = !reading.points.is_empty();
    let has_drawn = !reading.drawn.is_empty();
    let mut heads = vec![sweep.axis.parameter.name()];
    if has_exact {
        heads.push("right, exactly".to_owned());
    }
    if has_drawn {
        let names = ["right, drawn", "different answers", "tokens", "seconds"];
        heads.extend(names.map(str::to_owned));
    }
    let mut rows = vec![heads.into_iter().map(Cell::right).collect::<Vec<_>>()];
    for (cell, label) in sweep.axis.labels().into_iter().enumerate() {
        let mut row = vec![label];
        if has_exact {
            let point = reading.points.get(cell);
            row.push(point.map_or("–".to_owned(), |it| percent(it.share.middle())));
        }
        if let Some(drawn) = reading.drawn_cells().nth(cell) {
            row.push(drawn.share.as_ref().map_or("–".to_owned(), estimate_words));
            row.push(number(drawn.overview.n_different, 1));
            row.push(number(drawn.overview.n_tokens, 1));
            row.push(number(drawn.overview.secs, 3));
        }
        rows.push(row.into_iter().map(Cell::right).collect());
    }
    rows
}

/// Returns a row for each value of the first number, with a column for each value of the second.
fn map_rows(sweep: &TaskSweep, columns: &Axis, reading: &SweepReading) -> Vec<Vec<Cell>> {
    let names = [&sweep.axis, columns].map(|axis| axis.parameter.name());
    let heads = std::iter::once(names.join(" ↓ ") + " →").chain(columns.labels());
    let mut rows = vec![heads.map(Cell::right).collect::<Vec<_>>()];
    let shares: Vec<&[ShareEstimate]> = reading.shares.chunks(sweep.n_columns()).collect();
    for (label, shares) in sweep.axis.labels().into_iter().zip(shares) {
        let shares = shares.iter().map(|estimate| percent(estimate.share));
        let row = std::iter::once(label).chain(shares);
        rows.push(row.map(Cell::right).collect());
    }
    rows
}

/// "41 % (30–53)": a share and its interval.
fn estimate_words(estimate: &ShareEstimate) -> String {
    let interval = estimate.interval.map(|interval| {
        let (low, high) = (100.0 * interval.low, 100.0 * interval.high);
        format!(" ({low:.0}–{high:.0})")
    });
    format!(
        "{}{}",
        percent(estimate.share),
        interval.unwrap_or_default()
    )
}

/// Returns a row for each answer that isn't judged.
fn texts(results: &TaskResults) -> Vec<Vec<Cell>> {
    let heads = ["#", "prompt", "pane", "seed", "tokens", "end", "text"];
    let mut rows = vec![heads.map(Cell::left).to_vec()];
    for task in (0..results.tasks().len()).take(N_LISTED) {
        for (index, pane) in results.panes.iter().enumerate() {
            for answer in results.answers(task, index) {
                rows.push(vec![
                    Cell::right((task + 1).to_string()),
                    Cell::left(one_line(&results.prompt_words(task), N_PROMPT)),
                    Cell::left(name(pane)),
                    Cell::right(answer.seed.to_string()),
                    Cell::right(answer.tokens.len().to_string()),
                    Cell::left(answer.finish_words(&pane.chain)),
                    Cell::left(one_line(&answer.answer.text, N_TEXT)),
                ]);
            }
        }
    }
    rows
}

/// Says which tasks could not be answered, and how many are not listed.
fn refusals(results: &TaskResults) -> Vec<String> {
    let mut lines = Vec::new();
    for (task, own) in results.tasks().iter().enumerate() {
        let line = own.line;
        lines.extend(
            results
                .error(task)
                .map(|error| format!("Line {line}: {error}")),
        );
        lines.extend(results.unanswered(task).iter().map(|(settings, error)| {
            let pane = results.settings_at(*settings);
            let letter = pane.map_or("", |pane| &pane.letter);
            format!("Line {line}, {letter}: {error}")
        }));
    }
    let n = results.tasks().len();
    if n > N_LISTED {
        let (shown, all) = (grouped(N_LISTED as f64), counted(n, "task"));
        lines.push(format!(
            "{shown} of {all} are listed; --json and --csv write all of them."
        ));
    }
    lines
}

fn name(pane: &JudgedPane) -> String {
    format!("{} {}", pane.letter, pane.name)
}
