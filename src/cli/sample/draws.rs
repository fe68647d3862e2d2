//! `--draws`: many draws from one row of logits, with progress.

use crate::analysis::by_hand::{Draws, LogitRow};
use crate::cli::progress::Progress;
use crate::decoding::{ChainConfig, Coins, DecodingError};
use crate::generation::formatting::grouped;

/// How many draws are made between updates of the progress.
const N_PART: u32 = 10_000;

/// Draws `n` times, at `n` consecutive positions, and shows how many draws are done.
pub(super) fn toss(
    config: &ChainConfig,
    row: &LogitRow,
    first: Coins,
    n: u32,
    progress: &mut Progress,
) -> Result<Draws, DecodingError> {
    let mut n_done = n.min(N_PART);
    let mut draws = Draws::toss(config, row, first, n_done)?;
    while n_done < n {
        progress.update(|| {
            let [done, all] = [n_done, n].map(|count| grouped(f64::from(count)));
            format!("{done} of {all} draws")
        });
        let coins = Coins {
            position: first.position + u64::from(n_done),
            ..first
        };
        let n_more = N_PART.min(n - n_done);
        let more = Draws::toss(config, row, coins, n_more)?;
        draws = draws.and(&more, config.selector);
        n_done += n_more;
    }
    progress.clear();
    Ok(draws)
}

#[cfg(test)]
mod tests {
    use super::{N_PART, toss};
    use crate::analysis::by_hand::{Draws, LogitRow};
    use crate::cli::progress::Progress;
    use crate::generation::PaneSettings;

    #[test]
    fn draws_in_parts_are_those_of_one_go() {
        let row = LogitRow {
            logits: vec![2.0, 1.0, 0.5, -1.0],
            ..LogitRow::default()
        };
        let n = 2 * N_PART + 7;
        for words in ["sample", "xtc 0.5 threshold 0.1"] {
            let config = words.parse::<PaneSettings>().unwrap().chain;
            let parts = toss(&config, &row, row.coins(7), n, &mut Progress::Log).unwrap();
            let all = Draws::toss(&config, &row, row.coins(7), n).unwrap();
            assert_eq!(parts.n(), u64::from(n));
            for (one, other) in parts.counts.iter().zip(&all.counts) {
                assert_eq!((one.id, one.count), (other.id, other.count), "{words}");
                assert!((one.expected - other.expected).abs() < 1e-6, "{words}");
            }
        }
    }
}
