//! Formats a sweep's figures as text tables.

use std::fmt::Write as _;

use crate::analysis::sweep::{Axis, Metric, SweepResults};

/// Returns a table of each figure over two numbers, or one table of all figures over one number.
pub(super) fn tables(results: &SweepResults, metrics: &[Metric]) -> String {
    let Some(columns) = &results.setup.columns else {
        return aligned(&list(results, metrics));
    };
    let grids = metrics.iter().map(|metric| {
        let title = results.title(*metric);
        let table = aligned(&grid(results, columns, *metric));
        format!("{title}, {}\n\n{table}", metric.explanation())
    });
    grids.collect::<Vec<_>>().join("\n")
}

/// Returns one line per row of cells.
fn grid(results: &SweepResults, columns: &Axis, metric: Metric) -> Vec<Vec<String>> {
    let rows = &results.setup.rows;
    let n_columns = columns.values().len();
    let corner = format!("{} \\ {}", rows.parameter.key(), columns.parameter.key());
    let head: Vec<String> = std::iter::once(corner).chain(columns.labels()).collect();
    let mut lines = vec![head];
    for (row, label) in rows.labels().into_iter().enumerate() {
        let cells = row * n_columns..(row + 1) * n_columns;
        let figures = cells.map(|cell| figure(results, cell, metric));
        lines.push(std::iter::once(label).chain(figures).collect());
    }
    lines
}

/// Returns one line per value, with all figures.
fn list(results: &SweepResults, metrics: &[Metric]) -> Vec<Vec<String>> {
    let rows = &results.setup.rows;
    let titles = metrics.iter().map(|metric| results.title(*metric));
    let head: Vec<String> = std::iter::once(rows.parameter.key())
        .chain(titles)
        .collect();
    let mut lines = vec![head];
    for (cell, label) in rows.labels().into_iter().enumerate() {
        let figures = metrics.iter().map(|metric| figure(results, cell, *metric));
        lines.push(std::iter::once(label).chain(figures).collect());
    }
    lines
}

fn figure(results: &SweepResults, cell: usize, metric: Metric) -> String {
    let summary = results
        .cells()
        .get(cell)
        .and_then(|cell| cell.summary(metric));
    summary.map_or_else(|| "–".to_owned(), |summary| metric.format(summary.mean))
}

/// Aligns the columns to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:>width$}"));
        // Writing to a string cannot fail.
        writeln!(table, "  {}", cells.collect::<Vec<_>>().join("  ")).ok();
    }
    table
}

#[cfg(test)]
mod tests {
    use super::tables;
    use crate::analysis::sweep::testing::{setup, text};
    use crate::analysis::sweep::{Keep, Metric, SweepResults};
    use crate::generation::testing::generation;

    #[test]
    fn tables_show_every_cell_and_what_is_missing() {
        let vocabulary = generation(&[]).vocabulary;
        let mut results = SweepResults::new(setup(2, 2, 1), 1, Keep::Texts);
        results.add(text(1, 0, &[1, 2]), &vocabulary);
        let found = tables(&results, &[Metric::Surprise]);
        let expected = "Surprise, bits per token\n\n  temp \\ top-p  0.8    1\n           0.5    –  1.0\n             1    –    –\n";
        assert_eq!(found, expected);
        let mut results = SweepResults::new(setup(2, 0, 1), 1, Keep::Texts);
        results.add(text(1, 0, &[1, 2]), &vocabulary);
        let found = tables(&results, &[Metric::Surprise, Metric::Greedy]);
        let expected =
            "  temp  Surprise  Greedy\n   0.5         –       –\n     1       1.0    50 %\n";
        assert_eq!(found, expected);
    }
}
