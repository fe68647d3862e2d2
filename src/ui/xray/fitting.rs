//! How much of the table fits, in whole rows: when it is low, the feet go first, then rows, then the
//! coin. Rows that do not fit are one line, and the chosen row is always shown.

use super::{FEET, HEADS, Heights};

/// With fewer lines than this, the feet make room for another one.
const ENOUGH_LINES: usize = 5;

/// With fewer lines than this, the coin makes room for more.
const LEAST_LINES: usize = 3;

/// What fits into a table’s height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    /// How many lines fit between the heads and the feet.
    pub n_lines: usize,
    pub has_feet: bool,
    pub has_coin: bool,
}

impl Fit {
    /// Returns what fits into this height. A coin that the user can move stays.
    pub(super) fn of(height: f32, n_rows: usize, keeps_coin: bool, heights: Heights) -> Self {
        let lines = |feet: bool, coin: bool| {
            let feet = if feet { FEET } else { 0.0 };
            let coin = if coin { heights.coin_bar() } else { 0.0 };
            count_of_lines((height - HEADS - feet - coin) / heights.row)
        };
        let (has_feet, has_coin) = if lines(true, true) >= n_rows.min(ENOUGH_LINES) {
            (true, true)
        } else {
            (
                false,
                keeps_coin || lines(false, true) >= n_rows.min(LEAST_LINES),
            )
        };
        Self {
            n_lines: lines(has_feet, has_coin).clamp(1, n_rows.max(1)),
            has_feet,
            has_coin,
        }
    }

    /// Returns the lines of a table with this many rows, of which one is chosen.
    pub(super) fn lines(self, n_rows: usize, chosen: Option<usize>) -> Vec<Line> {
        let n_lines = self.n_lines;
        if n_rows <= n_lines {
            return (0..n_rows).map(Line::Row).collect();
        }
        if n_lines == 1 {
            return vec![Line::Row(chosen.unwrap_or(0))];
        }
        let below = chosen.filter(|chosen| *chosen >= n_lines - 1);
        let n_top = n_lines - 1 - usize::from(below.is_some());
        let top = (0..n_top).map(Line::Row);
        top.chain([Line::Hidden])
            .chain(below.map(Line::Row))
            .collect()
    }
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// The row at this index.
    Row(usize),
    /// Stands for the rows that do not fit.
    Hidden,
}

#[expect(clippy::cast_sign_loss, reason = "a negative height becomes 0 first")]
fn count_of_lines(lines: f32) -> usize {
    lines.floor().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::{Fit, Heights, Line};

    #[test]
    fn the_feet_go_first_then_rows_then_the_coin() {
        // Heads 24, a row 18, feet 18, the coin 46.
        for (height, n_rows, n_lines, has_feet, has_coin) in [
            (300.0, 48, 11, true, true),
            (178.0, 48, 5, true, true),
            (177.0, 48, 5, false, true),
            (160.0, 48, 5, false, true),
            (159.0, 48, 4, false, true),
            (124.0, 48, 3, false, true),
            (123.0, 48, 5, false, false),
            (60.0, 48, 2, false, false),
            (10.0, 48, 1, false, false),
            (124.0, 2, 2, true, true),
            (300.0, 3, 3, true, true),
        ] {
            let expected = Fit {
                n_lines,
                has_feet,
                has_coin,
            };
            assert_eq!(
                Fit::of(height, n_rows, false, Heights::USUAL),
                expected,
                "{height}, {n_rows} rows"
            );
        }
        assert!(Fit::of(60.0, 48, true, Heights::USUAL).has_coin);
    }

    #[test]
    fn the_chosen_row_is_always_among_the_lines() {
        use Line::{Hidden, Row};
        let fit = |n_lines| Fit {
            n_lines,
            has_feet: true,
            has_coin: true,
        };
        for (n_lines, n_rows, chosen, lines) in [
            (5, 3, Some(2), &[Row(0), Row(1), Row(2)][..]),
            (4, 9, None, &[Row(0), Row(1), Row(2), Hidden]),
            (4, 9, Some(2), &[Row(0), Row(1), Row(2), Hidden]),
            (4, 9, Some(3), &[Row(0), Row(1), Hidden, Row(3)]),
            (4, 9, Some(8), &[Row(0), Row(1), Hidden, Row(8)]),
            (2, 9, Some(8), &[Hidden, Row(8)]),
            (1, 9, Some(8), &[Row(8)]),
        ] {
            assert_eq!(
                fit(n_lines).lines(n_rows, chosen),
                lines,
                "{n_lines}, {chosen:?}"
            );
        }
    }
}
