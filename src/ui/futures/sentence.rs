//! What the futures of a pane show, in words.

use crate::analysis::futures::Share;
use crate::generation::formatting::{grouped, token_word};
use crate::state::{FuturesRun, RunStatus};

/// "64 texts, 62 different", or how many are complete.
pub(super) fn count_words(run: &FuturesRun) -> String {
    let (n, n_asked) = (run.futures().len(), run.plan().n_futures);
    let n_distinct = grouped(run.n_distinct as f64);
    match run.status {
        RunStatus::Waiting | RunStatus::Running => format!("{n} of {n_asked}"),
        RunStatus::Complete => format!("{n} texts, {n_distinct} different"),
        RunStatus::Stopped | RunStatus::Failed { .. } => {
            format!("{n} of {n_asked} texts, {n_distinct} different")
        }
    }
}

/// Describes the most frequent first token and the entropies, or returns `None` without futures.
pub(super) fn reading(run: &FuturesRun) -> Option<String> {
    let first = run.tree.first()?;
    let n = run.futures().len();
    let word = token_word(&run.vocabulary.piece(*first.tokens.first()?));
    let share = Share { n_with: first.n, n };
    let mut words = if first.n == n {
        format!("All {n} texts begin with ‘{word}’.")
    } else {
        format!(
            "{} of these {n} texts begin with ‘{word}’: {}.",
            first.n,
            share_words(share)
        )
    };
    if let (Some(first), Some(last)) = (run.entropy_bits.first(), run.entropy_bits.last()) {
        let most = (n as f64).log2();
        let entropies = format!(
            " The first token has an entropy of {first:.1} bits and the last {last:.1}; {n} texts can \
             show at most {most:.1}."
        );
        words.push_str(&entropies);
    }
    Some(words)
}

/// "53 % (41–65)": a share and its 95 % confidence interval.
pub(super) fn share_words(share: Share) -> String {
    let (low, high) = share.interval();
    let [value, low, high] = [share.value(), low, high].map(|share| (share * 100.0).round());
    format!("{value} % ({low}–{high})")
}

#[cfg(test)]
mod tests {
    use super::share_words;
    use crate::analysis::futures::Share;

    #[test]
    fn a_share_has_its_interval() {
        let words = |n_with| share_words(Share { n_with, n: 64 });
        assert_eq!(words(34), "53 % (41–65)");
        assert_eq!(words(0), "0 % (0–6)");
    }
}
