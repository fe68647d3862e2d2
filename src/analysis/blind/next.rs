//! Which texts to compare next.

use std::cmp::Reverse;

use super::strengths::Strengths;

/// Chooses `n_shown` contestants: first the two about whose difference the least is known, then the
/// one that is known least beside those. Of equals, the one that was shown less often comes first.
/// `is_excluded` are pairs that can't be compared. Returns `None` if none can.
pub fn next_shown(
    strengths: &Strengths,
    n_shown: usize,
    is_excluded: impl Fn(usize, usize) -> bool,
) -> Option<Vec<usize>> {
    let n = strengths.n();
    let pairs = (0..n).flat_map(|first| (first + 1..n).map(move |second| (first, second)));
    let allowed = pairs.filter(|(first, second)| !is_excluded(*first, *second));
    let (first, second) = allowed.max_by_key(|(first, second)| {
        let n_shown = strengths.n_shown(*first) + strengths.n_shown(*second);
        let deviation = strengths.difference(*first, *second).1;
        (rounded(deviation), Reverse((n_shown, *first, *second)))
    })?;
    let mut shown = vec![first, second];
    while shown.len() < n_shown {
        let fits = |other: &usize| {
            !shown.contains(other) && shown.iter().all(|one| !is_excluded(*one, *other))
        };
        let unknown = |other: usize| {
            let deviations = shown.iter().map(|one| strengths.difference(*one, other).1);
            rounded(deviations.sum())
        };
        let more = (0..n).filter(fits).max_by_key(|other| {
            let n_shown = strengths.n_shown(*other);
            (unknown(*other), Reverse((n_shown, *other)))
        });
        match more {
            Some(other) => shown.push(other),
            None => break,
        }
    }
    Some(shown)
}

/// Rounds a deviation, so that rounding errors don't decide between equals.
#[expect(clippy::cast_possible_truncation, reason = "deviations are small")]
fn rounded(deviation: f64) -> i64 {
    (deviation * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::next_shown;
    use crate::analysis::blind::{Choice, PRIOR_SPREAD, Strengths};

    fn strengths(n: usize, pairs: &[(usize, usize)]) -> Strengths {
        let choices = pairs.iter().map(|(first, second)| Choice {
            shown: vec![*first, *second],
            picked: Some(*first),
        });
        Strengths::of(n, &choices.collect::<Vec<_>>(), PRIOR_SPREAD)
    }

    #[test]
    fn the_least_known_pair_is_next() {
        let next =
            |pairs: &[(usize, usize)]| next_shown(&strengths(3, pairs), 2, |_, _| false).unwrap();
        assert_eq!(next(&[]), [0, 1]);
        // One vote leaves the newcomer less known than the others.
        assert!(next(&[(0, 1)]).contains(&2));
        assert_eq!(next(&[(0, 1), (0, 2), (0, 1), (0, 2)]), [1, 2]);
    }

    #[test]
    fn every_pair_gets_its_turn() {
        let mut voted: Vec<(usize, usize)> = Vec::new();
        for _ in 0..12 {
            let shown = next_shown(&strengths(4, &voted), 2, |_, _| false).unwrap();
            voted.push((shown[0], shown[1]));
        }
        for first in 0..4 {
            for second in first + 1..4 {
                let n = voted.iter().filter(|pair| **pair == (first, second));
                assert!((1..=3).contains(&n.count()), "{voted:?}");
            }
        }
    }

    #[test]
    fn four_texts_are_four_contestants_and_excluded_pairs_are_left_out() {
        let strengths = strengths(5, &[]);
        let shown = next_shown(&strengths, 4, |_, _| false).unwrap();
        assert_eq!(shown, [0, 1, 2, 3]);
        let shown = next_shown(&strengths, 4, |first, _| first == 0).unwrap();
        assert_eq!(shown, [1, 2, 3, 4]);
        let shown = next_shown(&strengths, 2, |first, second| (first, second) == (0, 1));
        assert_eq!(shown, Some(vec![0, 2]));
        assert_eq!(next_shown(&strengths, 2, |_, _| true), None);
    }
}
