//! When a run was finished, in words that mean the same to every reader.

use jiff::Timestamp;

/// Formats a moment in seconds since 1970: "Finished 2023-11-14 22:13 UTC". Returns `None` for a
/// moment beyond the calendar.
pub(super) fn finish_words(finished_at: u64) -> Option<String> {
    let secs = i64::try_from(finished_at).ok()?;
    let moment = Timestamp::from_second(secs).ok()?;
    Some(moment.strftime("Finished %Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::finish_words;

    #[test]
    fn a_moment_is_a_date_and_a_time_in_utc() {
        for (secs, expected) in [
            (0, Some("Finished 1970-01-01 00:00 UTC")),
            (1_700_000_000, Some("Finished 2023-11-14 22:13 UTC")),
            (u64::MAX, None),
            (i64::MAX as u64, None),
        ] {
            assert_eq!(finish_words(secs).as_deref(), expected);
        }
    }
}
