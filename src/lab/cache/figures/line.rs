//! A straight line fitted to measured times.

/// A line: `constant + slope × length`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub constant: f64,
    /// Per token of length.
    pub slope: f64,
}

impl Line {
    /// Fits a line to points (the Theil–Sen estimator): the slope is the median of the slopes
    /// between all pairs, and the constant is the median of the residuals. Other programs on the
    /// machine delay some passes; unlike the mean, the median is hardly affected. Returns `None` if
    /// there are fewer than two distinct lengths.
    ///
    /// Sen, P. K. (1968), "Estimates of the regression coefficient based on Kendall's tau".
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let pairs = points.iter().enumerate().flat_map(|(index, a)| {
            let later = points.iter().skip(index + 1);
            later.filter_map(move |b| {
                let run = b.0 - a.0;
                (run != 0.0).then(|| (b.1 - a.1) / run)
            })
        });
        let slope = median(pairs.collect())?;
        let residuals = points.iter().map(|(x, y)| y - slope * x);
        let constant = median(residuals.collect())?;
        Some(Self { constant, slope })
    }

    /// Returns the value at a length.
    pub fn at(self, length: f64) -> f64 {
        self.constant + self.slope * length
    }
}

/// Returns the median: the middle value, or the mean of the two in the middle.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if !values.len().is_multiple_of(2) {
        return Some(upper);
    }
    let lower = values.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(*lower, upper))
}

#[cfg(test)]
mod tests {
    use super::{Line, median};

    #[test]
    fn a_line_is_found_despite_delayed_points() {
        let exact = |x: f64| 0.3 + 0.05 * x;
        let mut points: Vec<(f64, f64)> = (1..=20_i32)
            .map(|x| (f64::from(x), exact(f64::from(x))))
            .collect();
        for delayed in [3, 9, 17] {
            points[delayed].1 += 40.0;
        }
        let line = Line::through(&points).unwrap();
        assert!((line.slope - 0.05).abs() < 1e-9, "{line:?}");
        assert!((line.constant - 0.3).abs() < 1e-9, "{line:?}");
        assert!((line.at(100.0) - 5.3).abs() < 1e-9);
    }

    #[test]
    fn a_line_needs_two_lengths() {
        assert_eq!(Line::through(&[]), None);
        assert_eq!(Line::through(&[(1.0, 2.0)]), None);
        assert_eq!(Line::through(&[(1.0, 2.0), (1.0, 4.0)]), None);
        let line = Line::through(&[(1.0, 2.0), (3.0, 6.0)]).unwrap();
        assert_eq!((line.constant, line.slope), (0.0, 2.0));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0, 3.0, 9.0]), Some(3.5));
    }
}
