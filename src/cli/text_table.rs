//! Formats tables as text.

/// A cell of a table, and on which side it is aligned.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    words: String,
    is_right: bool,
}

impl Cell {
    pub(crate) fn left(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            is_right: false,
        }
    }

    pub(crate) fn right(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            is_right: true,
        }
    }
}

/// Returns the lines of a table. The last cell of a row is not filled up with spaces.
pub(crate) fn lines(rows: &[Vec<Cell>]) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.words.chars().count());
        }
    }
    let line = |row: &Vec<Cell>| {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(index, (cell, width))| {
            let words = &cell.words;
            match (cell.is_right, index == last) {
                (true, _) => format!("{words:>width$}"),
                (false, true) => words.clone(),
                (false, false) => format!("{words:<width$}"),
            }
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

/// Aligns the last column to the left and all others to the right, and indents the lines.
pub(crate) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let cells_of = |row: &Vec<String>| -> Vec<Cell> {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().enumerate();
        cells
            .map(|(index, words)| Cell {
                words: words.clone(),
                is_right: index != last,
            })
            .collect()
    };
    let rows: Vec<Vec<Cell>> = rows.iter().map(cells_of).collect();
    let indented = lines(&rows).into_iter().map(|line| format!("  {line}"));
    indented.collect()
}

#[cfg(test)]
mod tests {
    use super::{Cell, aligned, lines};

    #[test]
    fn columns_are_aligned() {
        let rows = [
            vec![Cell::left("task"), Cell::right("A")],
            vec![Cell::left("a longer one"), Cell::right("100 %")],
        ];
        assert_eq!(lines(&rows), ["task              A", "a longer one  100 %"]);
        let rows = [["n", "text"], ["12", "a"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), ["   n  text", "  12  a"]);
    }
}
