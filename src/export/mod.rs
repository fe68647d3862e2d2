//! Exporting runs: JSON to archive, a web page and Markdown to publish, CSV and JSON Lines to
//! process.
//!
//! Rendering is pure; only a few functions read or write files. This module knows nothing about
//! windows or engines.

mod archive;
pub(crate) mod csv;
mod file;
mod finish_date;
mod folder;
mod futures;
pub mod html;
pub mod json;
mod jsonl;
mod markdown;
mod prompt_hash;
mod run_path;
mod run_summary;
mod runs;
mod session_file;
mod text;
mod text_file;
mod texts;

pub use self::archive::{is_archive_name, write_archive};
pub use self::file::{check_writable, read_at_most, remove_stale_temporaries, write_atomically};
pub use self::folder::write_folder;
pub use self::futures::{PaneFutures, render_futures};
pub use self::prompt_hash::prompt_hash;
pub use self::run_path::{
    RunFileError, is_run_name, read_marked, read_run, read_text, write_by_name, write_run,
};
pub use self::run_summary::{PaneSummary, RunSummary, read_summary};
pub use self::session_file::SessionFile;
pub use self::text_file::read_text_at_most;
pub use self::texts::{TextRow, texts_csv, texts_jsonl};

use crate::generation::{Generation, PaneSettings};

/// A file format for exported runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// The complete record; can be loaded again.
    Json,
    /// A page to read in a browser, with every token's alternatives.
    Html,
    /// The texts with their settings and metrics.
    Markdown,
    /// One row per step of each pane.
    Csv,
    /// One JSON object per step of each pane.
    JsonLines,
    /// The texts alone.
    Text,
}

impl ExportFormat {
    /// All formats, in menu order.
    pub const ALL: [Self; 6] = [
        Self::Json,
        Self::Html,
        Self::Markdown,
        Self::Csv,
        Self::JsonLines,
        Self::Text,
    ];

    /// Returns the name to show in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Html => "web page",
            Self::Markdown => "Markdown",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON Lines",
            Self::Text => "plain text",
        }
    }

    /// Returns the description to show next to the name in the menu.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Json => "the complete record",
            Self::Html => "for anyone with a browser",
            Self::Markdown => "the texts with their settings",
            Self::Csv => "one row per token",
            Self::JsonLines => "one object per token",
            Self::Text => "the texts alone",
        }
    }

    /// Returns the file extension without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Text => "txt",
        }
    }
}

/// Renders the generations as the content of a file without a date.
pub fn render(format: ExportFormat, generations: &[&Generation]) -> Vec<u8> {
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    render_panes(format, &panes, None)
}

/// Renders the texts of these panes as the content of a file. A pane without a text is left out,
/// and the others keep their letters. `finished_at` is when they were finished, in seconds since
/// 1970; tables have no place for it. A web page has no plots; [`html::render`] adds them.
pub fn render_panes(
    format: ExportFormat,
    panes: &[Option<&Generation>],
    finished_at: Option<u64>,
) -> Vec<u8> {
    match format {
        ExportFormat::Json => {
            let generations: Vec<&Generation> = panes.iter().copied().flatten().collect();
            let header = json::RunHeader {
                title: None,
                finished_at,
            };
            json::write(&header, &generations, json::Form::default())
        }
        ExportFormat::Html => html::render(panes, &[], finished_at).into_bytes(),
        ExportFormat::Markdown => markdown::render(panes, finished_at).into_bytes(),
        ExportFormat::Csv => csv::render(panes).into_bytes(),
        ExportFormat::JsonLines => jsonl::render(panes).into_bytes(),
        ExportFormat::Text => text::render(panes, finished_at).into_bytes(),
    }
}

/// Lists the tokens that the user picked: "Picked by hand: ‘fox’ (token 2), ‘ran’ (token 3)".
/// Returns `None` if there are none.
fn by_hand_words(generation: &Generation) -> Option<String> {
    let steps = (1..).zip(&generation.steps);
    let by_hand = steps.filter(|(_, step)| step.trace.draw.is_by_hand());
    let words = by_hand.map(|(number, step)| {
        let piece = step.piece.to_string();
        let word = match piece.trim() {
            "" => piece.escape_debug().to_string(),
            word => word.to_owned(),
        };
        format!("‘{word}’ (token {number})")
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("Picked by hand: {}", words.join(", ")))
}

/// Says what a reader of a text must know: which tokens were picked by hand, which were written under
/// other settings, and whether the file that the text was read from contradicts itself.
fn notes(generation: &Generation) -> Vec<String> {
    let by_hand = by_hand_words(generation).into_iter();
    by_hand
        .chain(earlier_words(generation))
        .chain(contradiction_words(generation))
        .collect()
}

/// Names the settings that wrote the first tokens: "Tokens 1 to 12 were written under temp 0.7, seed
/// 42".
fn earlier_words(generation: &Generation) -> impl Iterator<Item = String> {
    let mut first = 1;
    generation.earlier.iter().map(move |earlier| {
        let (settings, seed) = (
            PaneSettings::from(earlier.config.chain.clone()),
            earlier.config.seed,
        );
        let start = std::mem::replace(&mut first, earlier.n_steps + 1);
        let last = earlier.n_steps;
        format!("Tokens {start} to {last} were written under {settings}, seed {seed}")
    })
}

/// Says where the file that a text was read from contradicts itself.
pub fn contradiction_words(generation: &Generation) -> Option<String> {
    let words = generation.contradiction.as_ref()?;
    Some(format!("The file of this run contradicts itself: {words}"))
}

/// Describes a generation's chain in the `--pane` grammar, without its seed and name, and what its
/// server did not apply of it.
fn settings_words(generation: &Generation) -> String {
    let settings = PaneSettings::from(generation.config.chain.clone()).to_string();
    match generation.not_applied_words() {
        Some(words) => format!("{settings} ({words})"),
        None => settings,
    }
}

#[cfg(test)]
mod by_hand_tests;

#[cfg(test)]
mod tests {
    use super::{ExportFormat, render, render_panes};
    use crate::generation::PaneSettings;
    use crate::generation::testing::generation;

    #[test]
    fn a_pane_keeps_its_letter_beside_a_pane_without_a_text() {
        let generation = generation(&[(" the", 0.5)]);
        let panes = [None, Some(&generation)];
        let page = String::from_utf8(render_panes(ExportFormat::Markdown, &panes, None)).unwrap();
        assert!(page.contains("### B"), "{page}");
        let table = String::from_utf8(render_panes(ExportFormat::Csv, &panes, None)).unwrap();
        assert!(table.contains(",B,"), "{table}");
    }

    #[test]
    fn markdown_and_csv_contain_every_setting() {
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
