//! When a run was finished, in words that mean the same to every reader.

use jiff::Timestamp;

/// Formats a moment in seconds since 1970: "2023-11-14 22:13 UTC". Returns `None` for a moment beyond
/// the calendar.
pub fn date_words(secs: u64) -> Option<String> {
    Some(moment(secs)?.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Formats a moment in seconds since 1970 for a sentence: "Finished 2023-11-14 22:13 UTC".
pub(super) fn finish_words(finished_at: u64) -> Option<String> {
    Some(format!("Finished {}", date_words(finished_at)?))
}

/// Formats a moment in seconds since 1970 for programs: "2023-11-14T22:13:20Z", as in RFC 3339.
pub fn finish_stamp(finished_at: u64) -> Option<String> {
    Some(moment(finished_at)?.to_string())
}

fn moment(secs: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(secs).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{finish_stamp, finish_words};

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
        let stamp = finish_stamp(1_700_000_000);
        assert_eq!(stamp.as_deref(), Some("2023-11-14T22:13:20Z"));
    }
}
