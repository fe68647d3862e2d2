//! How many rounds of attacks are run.

use std::env;

/// Returns how often each attack is repeated: once, or as often as `QUARTET_HOSTILE_ROUNDS` says.
pub(crate) fn rounds() -> u64 {
    let named = env::var("QUARTET_HOSTILE_ROUNDS").ok();
    named.map_or(1, |rounds| rounds.parse().unwrap())
}
