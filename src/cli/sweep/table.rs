//! The figures of a sweep as tables of text.

use std::fmt::Write as _;

use crate::analysis::sweep::{Metric, SweepResults};

/// Returns a table of each figure over two numbers, or one table of all figures over one number.
pub(super) fn tables(results: &SweepResults, metrics: &[Metric]) -> String {
    match &results.setup.columns {
        Some(columns) => {
            let corner = format!(
                "{} \\ {}",
                results.setup.rows.parameter.key(),
                columns.parameter.key()
            );
            let grids = metrics.iter().map(|metric| {
                let mut rows = vec![[vec![corner.clone()], columns.labels()].concat()];
                rows.extend(results.setup.rows.labels().into_iter().enumerate().map(
                    |(row, label)| {
                        let first = row * results.setup.n_columns();
                        let cells = first..first + results.setup.n_columns();
                        let mut line = vec![label];
                        line.extend(cells.map(|cell| figure(results, cell, *metric)));
                        line
                    },
                ));
                let title = results.title(*metric);
                format!("{title}, {}\n\n{}", metric.explanation(), aligned(&rows))
            });
            grids.collect::<Vec<_>>().join("\n")
        }
        None => {
            let titles = metrics.iter().map(|metric| results.title(*metric));
            let key = results.setup.rows.parameter.key();
            let mut rows = vec![std::iter::once(key).chain(titles).collect::<Vec<_>>()];
            rows.extend(results.setup.rows.labels().into_iter().enumerate().map(
                |(cell, label)| {
                    let figures = metrics.iter().map(|metric| figure(results, cell, *metric));
                    std::iter::once(label).chain(figures).collect()
                },
            ));
            aligned(&rows)
        }
    }
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
