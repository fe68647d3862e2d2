//! Byte counts in human-readable units.

use std::fmt;

/// A byte count that displays in a fitting decimal unit: "5.2 GB", "291 MB", "1.2 MB".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// Decimal units, each 1,000 times the previous one.
const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];

impl ByteSize {
    /// Formats the number alone, in the unit of `other`: "3.9" beside "5.2 GB". A size that would
    /// round to "0.0" keeps its unit: "29 MB".
    fn in_unit_of(self, other: Self) -> String {
        let number = self.number(other.unit());
        if number == "0.0" {
            self.to_string()
        } else {
            number
        }
    }

    /// Formats this size as a part of `total`: "3.9 of 5.2 GB". Uses bytes if the two sizes differ
    /// but would look the same.
    pub fn of(self, total: Self) -> String {
        if self != total && self.to_string() == total.to_string() {
            format!("{} of {} bytes", self.0, total.0)
        } else {
            format!("{} of {total}", self.in_unit_of(total))
        }
    }

    /// The index into [`UNITS`] of the unit to display.
    fn unit(self) -> usize {
        let mut n = self.0 as f64;
        let mut unit = 0;
        // 999.5 would round to 1000, so it moves on to the next unit.
        while n >= 999.5 && unit + 1 < UNITS.len() {
            n /= 1000.0;
            unit += 1;
        }
        unit
    }

    fn number(self, unit: usize) -> String {
        let n = (0..unit).fold(self.0 as f64, |n, _| n / 1000.0);
        // No decimals below a gigabyte, unless only one digit would be left.
        if unit == 0 || (unit < 3 && n >= 9.95) {
            format!("{n:.0}")
        } else {
            format!("{n:.1}")
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit();
        let name = UNITS.get(unit).copied().unwrap_or_default();
        write!(f, "{} {name}", self.number(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_are_shown_with_two_or_three_digits() {
        for (n_bytes, expected) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (9949, "9.9 kB"),
            (9951, "10 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (291_400_000, "291 MB"),
            (999_600_000, "1.0 GB"),
            (5_240_000_000, "5.2 GB"),
            (12_340_000_000, "12.3 GB"),
            (u64::MAX, "18446744.1 TB"),
        ] {
            assert_eq!(ByteSize(n_bytes).to_string(), expected);
        }
    }

    #[test]
    fn two_sizes_side_by_side_share_a_unit() {
        let need = ByteSize(5_200_000_000);
        assert_eq!(ByteSize(3_900_000_000).in_unit_of(need), "3.9");
        assert_eq!(ByteSize(800_000_000).in_unit_of(need), "0.8");
        assert_eq!(ByteSize(29_000_000).in_unit_of(need), "29 MB");
        assert_eq!(ByteSize(800_000_000).of(need), "0.8 of 5.2 GB");
        assert_eq!(
            ByteSize(5_199_999_999).of(need),
            "5199999999 of 5200000000 bytes"
        );
    }
}
