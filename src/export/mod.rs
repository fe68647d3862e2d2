//! A run as a file: JSON to keep and to compute with, Markdown to publish, CSV for spreadsheets.
//!
//! Pure functions, and two that touch files. This module knows no window and no engine.

mod csv;
mod file;
pub mod json;
mod markdown;
mod runs;

pub use self::file::{check_writable, write_whole};

use crate::generation::{Generation, PaneSettings};

/// A form in which a run leaves the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Everything that was recorded; can be read back.
    Json,
    /// The texts with their settings and figures.
    Markdown,
    /// One row for each step of each pane.
    Csv,
}

impl ExportFormat {
    /// All, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Csv];

    /// The word in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
            Self::Csv => "CSV",
        }
    }

    /// What the menu says beside the name.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Json => "everything that was recorded",
            Self::Markdown => "the texts with their settings",
            Self::Csv => "one row for each token",
        }
    }

    /// The ending of such a file, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Csv => "csv",
        }
    }

    /// The format of a file with this ending.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.extension().eq_ignore_ascii_case(extension))
    }
}

/// The generations in this format, as the bytes of a file.
pub fn render(format: ExportFormat, generations: &[&Generation]) -> Vec<u8> {
    match format {
        ExportFormat::Json => json::render(generations),
        ExportFormat::Markdown => markdown::render(generations).into_bytes(),
        ExportFormat::Csv => csv::render(generations).into_bytes(),
    }
}

/// How a generation chose, in the words that read back as that; its seed and its name are told apart.
fn settings_words(generation: &Generation) -> String {
    PaneSettings::from(generation.config.chain.clone()).to_string()
}

#[cfg(test)]
mod tests {
    use super::{ExportFormat, render};
    use crate::generation::PaneSettings;
    use crate::generation::testing::generation;

    #[test]
    fn every_setting_stands_in_the_page_and_in_the_table() {
        let mut generation = generation(&[(" the", 0.5)]);
        for words in [
            "top-k 3, dialect transformers, min-keep 4",
            "bias 13 -2.5 ban 5 6, top-k 40 off, xtc 0.5 threshold 0.2",
            "repeat 1.1 last 32 generated only, dry 0.8 base 1.5 allowed 3 breakers 13 5+6, greedy",
        ] {
            let settings: PaneSettings = words.parse().unwrap();
            generation.config.chain = settings.chain;
            let page = render(ExportFormat::Markdown, &[&generation]);
            let page = String::from_utf8(page).unwrap();
            assert_eq!(page.matches(words).count(), 2, "{page}");
            let table = String::from_utf8(render(ExportFormat::Csv, &[&generation])).unwrap();
            assert!(table.contains(&format!(",\"{words}\",42,")), "{table}");
        }
    }
}
