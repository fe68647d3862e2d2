//! Formats tables as text.

/// Aligns the last column to the left and all others to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &Vec<String>| {
        let last = row.len().saturating_sub(1);
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(place, (cell, width))| {
            if place == last {
                cell.clone()
            } else {
                format!("{cell:>width$}")
            }
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
    };
    rows.iter().map(line).collect()
}
