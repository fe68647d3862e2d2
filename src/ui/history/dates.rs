//! When a run was finished, in the user's time zone: a heading for its day and a word for its time.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Returns the heading and the time of a moment, both in seconds since 1970.
pub(super) fn heading_and_time(at: u64, now: u64) -> (&'static str, String) {
    let zone = TimeZone::system();
    match (zoned(at, &zone), zoned(now, &zone)) {
        (Some(at), Some(now)) => words(&at, &now),
        _ => ("Undated", String::new()),
    }
}

/// Formats a moment in one phrase: "Today 15:38", "12 Mar 2026".
pub(crate) fn phrase(at: u64, now: u64) -> String {
    match heading_and_time(at, now) {
        (day @ ("Today" | "Yesterday"), time) => format!("{day} {time}"),
        (_, time) => time,
    }
}

fn zoned(secs: u64, zone: &TimeZone) -> Option<Zoned> {
    let secs = i64::try_from(secs).ok()?;
    Some(Timestamp::from_second(secs).ok()?.to_zoned(zone.clone()))
}

fn words(at: &Zoned, now: &Zoned) -> (&'static str, String) {
    let (at_day, today) = (at.date(), now.date());
    let n_days = today.since(at_day).map_or(i32::MAX, |span| span.get_days());
    match n_days {
        ..=0 => ("Today", at.strftime("%H:%M").to_string()),
        1 => ("Yesterday", at.strftime("%H:%M").to_string()),
        2..=6 => ("Last week", at.strftime("%a").to_string()),
        _ => ("Earlier", at.strftime("%-d %b %Y").to_string()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::{words, zoned};

    #[test]
    fn a_moment_is_named_by_its_distance_in_days() {
        const DAY: u64 = 86_400;
        // Noon on Thursday, 16 November 2023.
        let now = 1_700_136_000;
        for (at, heading, time) in [
            (now, "Today", "12:00"),
            (now - 12 * 3600, "Today", "00:00"),
            (now - 12 * 3600 - 60, "Yesterday", "23:59"),
            (now - 3 * DAY, "Last week", "Mon"),
            (now - 7 * DAY, "Earlier", "9 Nov 2023"),
            (now - 400 * DAY, "Earlier", "12 Oct 2022"),
        ] {
            let moment = |secs| zoned(secs, &TimeZone::UTC).unwrap();
            let found = words(&moment(at), &moment(now));
            assert_eq!(found, (heading, time.to_owned()));
        }
    }
}
