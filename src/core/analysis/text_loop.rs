//! Finds where a text repeats itself: a passage that comes round at least three times in a row, and
//! goes on after a small change.

use std::collections::HashSet;
use std::ops::Range;

use crate::decoding::TokenId;
use crate::generation::formatting::grouped;

/// The longest period, in tokens, that is looked for.
const MAX_PERIOD: usize = 128;

/// How many times in a row a passage must occur to count as a loop.
const MIN_ROUNDS: usize = 3;

/// The shortest loop, in tokens: three equal tokens in a row do not count.
const MIN_LOOP: usize = 12;

/// A passage that repeats at least three times in a row.
///
/// A small change does not end it: if the text loops on after at most one round, in a passage that
/// shares most of its tokens, that belongs to it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLoop {
    /// The steps from the first occurrence to the end of the last, counted from 0.
    pub steps: Range<usize>,
    /// The length of the repeated passage, in tokens.
    pub n_period: usize,
}

impl TextLoop {
    /// Returns how many times the passage occurs; the last time, perhaps only its beginning.
    pub fn n_rounds(&self) -> usize {
        self.steps.len().div_ceil(self.n_period.max(1))
    }

    /// Says what repeats: "The same 7 tokens, 25 times".
    pub fn words(&self) -> String {
        let tokens = match self.n_period {
            1 => "The same token".to_owned(),
            n => format!("The same {n} tokens"),
        };
        format!("{tokens}, {} times", grouped(self.n_rounds() as f64))
    }
}

/// Finds the loop that starts first, and among those the one with the shortest period.
pub(super) fn find_loop(tokens: &[TokenId]) -> Option<TextLoop> {
    let mut found = first_loop(tokens, tokens.len())?;
    let mut n_period = found.n_period;
    loop {
        let end = found.steps.end;
        // The changed passage may begin inside the last round.
        let from = end.saturating_sub(n_period).max(found.steps.start + 1);
        let rest = tokens.get(from..).unwrap_or_default();
        let Some(next) = first_loop(rest, end + n_period - from) else {
            return Some(found);
        };
        let steps = from + next.steps.start..from + next.steps.end;
        let round = |start: usize, n: usize| tokens.get(start..start + n).unwrap_or_default();
        let is_alike = shares_most(
            round(steps.start, next.n_period),
            round(end - n_period, n_period),
        );
        if steps.end <= end || !is_alike {
            return Some(found);
        }
        found.steps.end = steps.end;
        n_period = next.n_period;
    }
}

/// Returns whether most of the tokens of one round also occur in another.
fn shares_most(round: &[TokenId], other: &[TokenId]) -> bool {
    let other: HashSet<TokenId> = other.iter().copied().collect();
    let n_shared = round.iter().filter(|token| other.contains(token)).count();
    2 * n_shared > round.len()
}

/// Finds the loop that starts first, at `max_start` at the latest.
fn first_loop(tokens: &[TokenId], max_start: usize) -> Option<TextLoop> {
    let mut found: Option<TextLoop> = None;
    for n_period in 1..=MAX_PERIOD.min(tokens.len() / MIN_ROUNDS) {
        let min_run = MIN_LOOP.max(MIN_ROUNDS * n_period) - n_period;
        let equal = tokens.iter().zip(tokens.iter().skip(n_period));
        let mut run = 0;
        for (at, (old, new)) in equal.enumerate() {
            run = if old == new { run + 1 } else { 0 };
            if at + 1 - run > max_start {
                break;
            }
            if run < min_run {
                continue;
            }
            let steps = at + 1 - run..at + 1 + n_period;
            match &mut found {
                Some(known) if known.n_period == n_period && known.steps.start == steps.start => {
                    known.steps.end = steps.end;
                }
                Some(known) if known.steps.start <= steps.start => break,
                _ => found = Some(TextLoop { steps, n_period }),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{TextLoop, find_loop};
    use crate::decoding::TokenId;

    fn tokens(text: &str) -> Vec<TokenId> {
        text.bytes().map(|byte| TokenId(u32::from(byte))).collect()
    }

    #[test]
    fn a_loop_is_found_with_its_start_end_and_period() {
        let expected = |steps, n_period| Some(TextLoop { steps, n_period });
        for (text, found) in [
            ("it was a long day and then it ended", None),
            ("so aaa", None),
            ("well, abcabcabcabcabc.", expected(6..21, 3)),
            ("Noooooooooooooo!", expected(1..15, 1)),
            ("abcdefabcdefabcdef", expected(0..18, 6)),
            ("abcdefabcdefabcde", None),
        ] {
            assert_eq!(find_loop(&tokens(text)), found, "{text}");
        }
    }

    #[test]
    fn a_loop_goes_on_after_a_small_change() {
        let expected = |steps, n_period| Some(TextLoop { steps, n_period });
        let (plain, changed, other) = ("abcdef", "abcde.", "uvwxyz");
        for (text, found) in [
            // One round differs, and the phrase comes back.
            (
                [&plain.repeat(4), changed, &plain.repeat(5)].concat(),
                expected(0..60, 6),
            ),
            // The phrase changes once, and the text loops on with the new one.
            (
                ["so ", &plain.repeat(4), &changed.repeat(20)].concat(),
                expected(3..147, 6),
            ),
            // It changes twice.
            (
                [plain.repeat(3), changed.repeat(3), plain.repeat(3)].concat(),
                expected(0..54, 6),
            ),
            // The changed phrase is longer.
            (
                [plain.repeat(4), "abcdef, ".repeat(4)].concat(),
                expected(0..56, 6),
            ),
            // Another phrase, or the same one much later, is another loop.
            (
                [plain.repeat(4), other.repeat(4)].concat(),
                expected(0..24, 6),
            ),
            (
                [&plain.repeat(4), "then it rained all day", &plain.repeat(4)].concat(),
                expected(0..24, 6),
            ),
        ] {
            assert_eq!(find_loop(&tokens(&text)), found, "{text}");
        }
    }

    #[test]
    fn a_long_loop_with_many_changes_is_found_in_time() {
        let text = "abcdefabcdefabcdefabcde.".repeat(2_000);
        let found = find_loop(&tokens(&text)).unwrap();
        assert_eq!(found.steps, 0..text.len());
    }

    #[test]
    fn rounds_are_counted_with_the_last_one() {
        let found = find_loop(&tokens("abcdefabcdefabcdefab")).unwrap();
        assert_eq!((found.n_period, found.n_rounds()), (6, 4));
        assert_eq!(found.words(), "The same 6 tokens, 4 times");
    }
}
