//! The facts about a model in a few words.

use std::time::Duration;

use crate::generation::{ByteSize, listed};
use crate::state::ModelRow;

/// Formats a parameter count for reading: "17 M", "1.2 B".
pub(crate) fn count_words(n: u64) -> String {
    let n = n as f64;
    match n {
        ..1e6 => format!("{:.0} k", n / 1e3),
        ..10e6 => format!("{:.1} M", n / 1e6),
        ..1e9 => format!("{:.0} M", n / 1e6),
        _ => format!("{:.1} B", n / 1e9),
    }
}

/// Returns the known facts about a model, "600 M · 484 MB · opened yesterday", or its path if there
/// are none. `now` is a Unix time in seconds.
pub(super) fn facts(row: &ModelRow, now: u64) -> String {
    let facts = [
        row.n_params.map(count_words),
        (!row.quantization.is_empty()).then(|| row.quantization.clone()),
        row.n_bytes.map(|n_bytes| ByteSize(n_bytes).to_string()),
        row.path.is_none().then(|| "built in".to_owned()),
        row.opened_at.map(|then| {
            format!(
                "opened {}",
                ago(Duration::from_secs(now.saturating_sub(then)))
            )
        }),
        (!row.also_in.is_empty()).then(|| format!("also in {}", listed(&row.also_in))),
    ];
    let known: Vec<String> = facts.into_iter().flatten().collect();
    match &row.path {
        Some(path) if known.is_empty() => path.display().to_string(),
        _ => known.join(" · "),
    }
}

/// Formats how long ago something happened, in a single unit.
fn ago(elapsed: Duration) -> String {
    let minutes = elapsed.as_secs() / 60;
    let several = |n: u64, unit: &str| match n {
        1 => format!("1 {unit} ago"),
        n => format!("{n} {unit}s ago"),
    };
    match minutes {
        0 => "just now".to_owned(),
        1..60 => several(minutes, "minute"),
        60..1_440 => several(minutes / 60, "hour"),
        1_440..2_880 => "yesterday".to_owned(),
        2_880..44_640 => several(minutes / 1_440, "day"),
        44_640..525_600 => several(minutes / 43_800, "month"),
        _ => several(minutes / 525_600, "year"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ago, count_words, facts};
    use crate::state::{ModelRow, ModelRowStatus};

    #[test]
    fn parameter_counts_are_rounded_for_reading() {
        for (n, words) in [
            (5_120_000, "5.1 M"),
            (17_000_000, "17 M"),
            (620_000_000, "620 M"),
            (1_240_000_000, "1.2 B"),
        ] {
            assert_eq!(count_words(n), words);
        }
    }

    #[test]
    fn times_are_rounded_to_a_single_unit() {
        for (minutes, words) in [
            (0, "just now"),
            (1, "1 minute ago"),
            (59, "59 minutes ago"),
            (60, "1 hour ago"),
            (1_500, "yesterday"),
            (3_000, "2 days ago"),
            (44_639, "30 days ago"),
            (44_640, "1 month ago"),
            (525_599, "11 months ago"),
            (1_100_000, "2 years ago"),
        ] {
            assert_eq!(ago(Duration::from_secs(minutes * 60)), words);
        }
    }

    #[test]
    fn unknown_facts_are_left_out() {
        let mut row = ModelRow {
            path: Some("qwen.gguf".into()),
            name: "qwen".to_owned(),
            n_params: None,
            quantization: String::new(),
            n_bytes: None,
            opened_at: None,
            also_in: Vec::new(),
            limits: None,
            load_warning: None,
            status: ModelRowStatus::Closed,
            unload_blocked: None,
        };
        assert_eq!(facts(&row, 0), "qwen.gguf");
        row.n_params = Some(596_000_000);
        row.quantization = "Q8_0".to_owned();
        row.n_bytes = Some(639_000_000);
        row.opened_at = Some(1_000);
        assert_eq!(
            facts(&row, 1_130),
            "596 M · Q8_0 · 639 MB · opened 2 minutes ago"
        );
        row.also_in = vec!["LM Studio", "llama.cpp"];
        let facts_too = facts(&row, 1_130);
        assert!(
            facts_too.ends_with("ago · also in LM Studio and llama.cpp"),
            "{facts_too}"
        );
        row.path = None;
        assert!(facts(&row, 1_130).contains("built in"));
    }
}
