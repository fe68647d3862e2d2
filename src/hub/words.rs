//! Sizes as people say them.

/// A number of bytes: "484 MB", "1.92 GB".
pub fn size_words(n_bytes: u64) -> String {
    let n = n_bytes as f64;
    match n {
        ..1e3 => format!("{n_bytes} bytes"),
        ..1e6 => format!("{:.0} KB", n / 1e3),
        ..1e9 => format!("{:.0} MB", n / 1e6),
        _ => format!("{:.2} GB", n / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::size_words;

    #[test]
    fn sizes_are_said_as_people_say_them() {
        for (n_bytes, words) in [
            (0, "0 bytes"),
            (2_100, "2 KB"),
            (483_900_000, "484 MB"),
            (1_915_305_312, "1.92 GB"),
        ] {
            assert_eq!(size_words(n_bytes), words);
        }
    }
}
