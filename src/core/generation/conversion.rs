//! What it takes to convert weights while a model is loaded.

use std::fmt;

use super::ByteSize;

/// Weights that are converted while a model is loaded, because no kernel multiplies their formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// Each format in the files with the one in memory, those with the most values first.
    pub formats: Vec<(String, String)>,
    /// Bytes of these weights in the files.
    pub n_file_bytes: u64,
    /// Bytes of these weights in memory.
    pub n_memory_bytes: u64,
    /// The estimated time in seconds.
    pub n_secs: u64,
}

/// Says what becomes of the formats, and what it takes: to be read after "Converts".
impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats: Vec<String> = self
            .formats
            .iter()
            .map(|(from, to)| format!("{from} to {to}"))
            .collect();
        let (memory, file) = (ByteSize(self.n_memory_bytes), ByteSize(self.n_file_bytes));
        write!(
            f,
            "{} while loading: {memory} of memory instead of {file}, in ",
            formats.join(", ")
        )?;
        match self.n_secs {
            0 => f.write_str("less than 1 s"),
            n_secs => write!(f, "about {n_secs} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Conversion;

    #[test]
    fn a_conversion_names_its_formats_memory_and_time() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let mut conversion = Conversion {
            formats: vec![pair("IQ4_XS", "Q8_0"), pair("IQ2_S", "F16")],
            n_file_bytes: 4_400_000_000,
            n_memory_bytes: 8_600_000_000,
            n_secs: 14,
        };
        assert_eq!(
            conversion.to_string(),
            "IQ4_XS to Q8_0, IQ2_S to F16 while loading: 8.6 GB of memory instead of 4.4 GB, in about \
             14 s"
        );
        conversion.n_secs = 0;
        assert!(conversion.to_string().ends_with("in less than 1 s"));
    }
}
