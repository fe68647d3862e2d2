//! Exporting runs: JSON to archive, a web page and Markdown to publish, CSV and JSON Lines to
//! process.
//!
//! Rendering is pure; only a few functions read or write files. This module knows nothing about
//! windows or engines.

mod archive;
pub(crate) mod csv;
mod dated_result;
mod file;
mod finish_date;
mod folder;
mod futures;
pub mod html;
pub mod json;
mod jsonl;
mod markdown;
mod messages;
mod prompt_hash;
mod result_file;
mod run_path;
mod run_summary;
mod runs;
mod session_file;
mod text;
mod text_file;

pub use self::archive::{is_archive_name, write_archive};
pub use self::csv::CsvReader;
pub(crate) use self::dated_result::{dated_json, dated_table};
pub use self::file::{check_writable, read_at_most, remove_stale_temporaries, write_atomically};
pub use self::finish_date::{date_words, finish_stamp};
pub use self::folder::write_folder;
pub use self::futures::{PaneFutures, render_futures};
pub use self::prompt_hash::prompt_hash;
pub use self::result_file::{ResultSummary, read_result, write_result};
pub use self::run_path::{
    RunFileError, is_run_name, read_marked, read_run, read_text, write_by_name, write_run,
};
pub use self::run_summary::{
    AskedSummary, PaneSummary, ResultWords, RunSummary, read_summary, summary_of,
};
pub use self::session_file::SessionFile;
pub use self::text_file::read_text_at_most;

use crate::analysis::Thought;
use crate::generation::formatting::counted;
use crate::generation::{Generation, PaneSettings, Step};

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
    /// The conversations as messages, for other programs.
    Messages,
}

impl ExportFormat {
    /// All formats, in menu order.
    pub const ALL: [Self; 7] = [
        Self::Json,
        Self::Html,
        Self::Markdown,
        Self::Csv,
        Self::JsonLines,
        Self::Text,
        Self::Messages,
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
            Self::Messages => "messages",
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
            Self::Messages => "the chats, one per line",
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
            Self::Messages => "messages.jsonl",
        }
    }
}

/// Renders the generations as the content of a file without a date.
pub fn render(format: ExportFormat, generations: &[&Generation]) -> Vec<u8> {
    let panes: Vec<Option<&Generation>> = generations.iter().copied().map(Some).collect();
    render_panes(format, &panes, FileFacts::default())
}

/// What a file says besides its texts, and what it leaves out of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// When the texts were finished, in seconds since 1970.
    pub finished_at: Option<u64>,
    /// Whether the thoughts of the texts are left out. A JSON file and a web page always have them.
    pub leaves_thoughts_out: bool,
    pub csv_reader: CsvReader,
}

impl FileFacts {
    /// Returns the thought of a text that the file leaves out.
    fn left_out(self, generation: &Generation) -> Option<Thought> {
        Thought::of(generation).filter(|_| self.leaves_thoughts_out)
    }

    /// Returns the text of a generation as the file has it.
    fn text_of(self, generation: &Generation) -> String {
        match self.left_out(generation) {
            // Models write line breaks between a thought and the answer.
            Some(thought) => generation
                .text_from(thought.steps().end)
                .trim_start()
                .to_owned(),
            None => generation.text(),
        }
    }

    /// Iterates over the steps of a generation that the file has, each with its index.
    fn steps_of(self, generation: &Generation) -> impl Iterator<Item = (usize, &Step)> {
        let thought = self.left_out(generation).map(Thought::steps);
        let steps = generation.steps.iter().enumerate();
        steps.filter(move |(index, _)| {
            let thought = thought.as_ref();
            thought.is_none_or(|thought| !thought.contains(index))
        })
    }

    /// Says what is left out of a text: "A thought of 340 tokens is left out".
    fn left_out_words(self, generation: &Generation) -> Option<String> {
        let thought = self.left_out(generation)?;
        let tokens = counted(thought.n_tokens(), "token");
        Some(format!("A thought of {tokens} is left out"))
    }
}

/// Renders the texts of these panes as the content of a file. A pane without a text is left out,
/// and the others keep their letters. A web page has no plots; [`html::render`] adds them.
pub fn render_panes(
    format: ExportFormat,
    panes: &[Option<&Generation>],
    facts: FileFacts,
) -> Vec<u8> {
    let finished_at = facts.finished_at;
    match format {
        ExportFormat::Json => {
            let header = json::RunHeader {
                finished_at,
                ..json::RunHeader::default()
            };
            json::write_by_place(&header, panes, json::Form::default())
        }
        ExportFormat::Html => html::render(panes, &[], finished_at).into_bytes(),
        ExportFormat::Markdown => markdown::render(panes, facts).into_bytes(),
        ExportFormat::Csv => csv::render(panes, facts),
        ExportFormat::JsonLines => jsonl::render(panes, facts).into_bytes(),
        ExportFormat::Text => text::render(panes, facts).into_bytes(),
        ExportFormat::Messages => messages::render(panes).into_bytes(),
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

/// Returns whether a text follows others in a conversation.
fn has_turns_before(panes: &[Option<&Generation>]) -> bool {
    let mut texts = panes.iter().copied().flatten();
    texts.any(|text| text.previous_turn.is_some())
}

/// Says which of the turns before it a text was written without: "The model did not get turns 1 to 3".
fn left_out_turns_words(generation: &Generation) -> Option<String> {
    match generation.n_left_out() {
        0 => None,
        1 => Some("The model did not get turn 1".to_owned()),
        n => Some(format!("The model did not get turns 1 to {n}")),
    }
}

/// Says what a reader of a text must know: what is left out of it or of its prompt, which tokens were
/// picked by hand, which were written under other settings, and whether the file that the text was read
/// from contradicts itself.
fn notes(generation: &Generation, facts: FileFacts) -> Vec<String> {
    let left_out = facts.left_out_words(generation).into_iter();
    left_out
        .chain(left_out_turns_words(generation))
        .chain(by_hand_words(generation))
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
    use super::{ExportFormat, FileFacts, render, render_panes};
    use crate::generation::PaneSettings;
    use crate::generation::testing::generation;

    #[test]
    fn a_pane_keeps_its_letter_beside_a_pane_without_a_text() {
        let generation = generation(&[(" the", 0.5)]);
        let panes = [None, Some(&generation)];
        let rendered = |format| {
            let bytes = render_panes(format, &panes, FileFacts::default());
            String::from_utf8(bytes).unwrap()
        };
        let page = rendered(ExportFormat::Markdown);
        assert!(page.contains("### B"), "{page}");
        let table = rendered(ExportFormat::Csv);
        assert!(table.contains(",B,"), "{table}");
    }

    #[test]
    fn a_thought_is_left_out_on_request() {
        let pieces = ["<think>", "so", "</think>", " ", "Oslo", "."];
        let text = generation(&pieces.map(|piece| (piece, 0.5)));
        let rendered = |format, leaves_thoughts_out| {
            let facts = FileFacts {
                leaves_thoughts_out,
                ..FileFacts::default()
            };
            let bytes = render_panes(format, &[Some(&text)], facts);
            String::from_utf8(bytes).unwrap()
        };
        for format in [ExportFormat::Markdown, ExportFormat::Text] {
            let whole = rendered(format, false);
            assert!(whole.contains("<think>so</think> Oslo."), "{whole}");
            assert!(!whole.contains("left out"), "{whole}");
            let answer = rendered(format, true);
            assert!(!answer.contains("think"), "{answer}");
            assert!(answer.contains("Oslo."), "{answer}");
            let words = "A thought of 3 tokens is left out";
            assert!(answer.contains(words), "{answer}");
        }
        for (format, n_heads) in [(ExportFormat::Csv, 1), (ExportFormat::JsonLines, 0)] {
            assert_eq!(rendered(format, false).lines().count(), n_heads + 6);
            let answer = rendered(format, true);
            assert_eq!(answer.lines().count(), n_heads + 3, "{answer}");
            assert!(answer.contains("Oslo") && !answer.contains("</think>"));
        }
        let json = rendered(ExportFormat::Json, true);
        assert!(json.contains("</think>"), "the record is complete");
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
