//! Which texts to compare next.

use std::cmp::Reverse;

use super::strengths::Strengths;

/// Chooses `n_shown` contestants: first the pair about which the least is known, then, one by one,
/// the contestant about which the least is known in comparison with those already chosen. Ties go
/// to the one shown less often. `is_excluded` says which pairs can't be compared and receives the
/// smaller index first. Returns `None` if no pair can be compared.
///
/// Little is known about a pair if its difference is uncertain and its next vote could go either
/// way: v × p × (1 − p), where v is the variance of the difference and p the probability that the
/// first wins, times the chance that the vote is decided at all. That approximates the information expected from a vote (Lindley, D. V. (1956), "On a
/// measure of the information provided by an experiment"). By v alone, a pair whose votes always
/// agree would be shown again and again.
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
        let unknown = unknown(strengths, *first, *second);
        (rounded(unknown), Reverse((n_shown, *first, *second)))
    })?;
    let mut shown = vec![first, second];
    while shown.len() < n_shown {
        let fits = |other: &usize| {
            let allows = |one: &usize| !is_excluded(*one.min(other), *one.max(other));
            !shown.contains(other) && shown.iter().all(allows)
        };
        let unknown = |other: usize| {
            let all = shown.iter().map(|one| unknown(strengths, *one, other));
            rounded(all.sum())
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

/// Returns how little is known about a pair.
fn unknown(strengths: &Strengths, first: usize, second: usize) -> f64 {
    let (difference, deviation) = strengths.difference(first, second);
    let chance = 1.0 / (1.0 + (-difference).exp());
    let decided = strengths.decided_share(first, second);
    deviation * deviation * chance * (1.0 - chance) * decided
}

/// Rounds a number, so that rounding errors don't break ties.
#[expect(clippy::cast_possible_truncation, reason = "variances are small")]
fn rounded(number: f64) -> i64 {
    (number * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::next_shown;
    use crate::lab::blind::{Choice, PRIOR_SPREAD, Strengths};

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
        // After one vote, the least is known about the contestant that was not shown.
        assert!(next(&[(0, 1)]).contains(&2));
        assert_eq!(next(&[(0, 1), (0, 2), (0, 1), (0, 2)]), [1, 2]);
    }

    #[test]
    fn every_contestant_gets_its_turn_and_settled_pairs_are_not_shown_again() {
        let mut voted: Vec<(usize, usize)> = Vec::new();
        for _ in 0..12 {
            let shown = next_shown(&strengths(4, &voted), 2, |_, _| false).unwrap();
            voted.push((shown[0], shown[1]));
        }
        for contestant in 0..4 {
            let n = voted.iter().filter(|(a, b)| [*a, *b].contains(&contestant));
            assert!(n.count() >= 4, "{voted:?}");
        }
        // The first has won every vote and the last none, so a vote on this pair would tell the
        // least.
        let n_extreme = voted.iter().filter(|pair| **pair == (0, 3)).count();
        assert!(n_extreme <= 1, "{voted:?}");
    }

    #[test]
    fn a_pair_that_nobody_can_tell_apart_gives_way_to_the_others() {
        let mut choices: Vec<Choice> = Vec::new();
        let mut n_undecided = 0;
        for _ in 0..12 {
            let strengths = Strengths::of(3, &choices, PRIOR_SPREAD);
            let shown = next_shown(&strengths, 2, |_, _| false).unwrap();
            let picked = (shown != [0, 1]).then_some(shown[0]);
            n_undecided += usize::from(picked.is_none());
            choices.push(Choice { shown, picked });
        }
        assert!((1..=5).contains(&n_undecided), "{choices:?}");
    }

    #[test]
    fn four_contestants_can_be_shown_and_excluded_pairs_are_left_out() {
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
