//! Prints texts to standard output as they are generated: a single pane token by token, several
//! panes line by line, or as blocks in the order of the panes.

use std::collections::BTreeMap;

use super::console;
use super::failure::Failure;
use super::run_record::finish_summary;
use super::text_lines::TextLines;
use crate::generation::formatting::{grouped, pane_letter};
use crate::generation::{CertainText, FinishReason, Generation, PaneSettings, PieceKind};

/// How many characters of a pane's settings are printed.
const N_MAX_HEADING: usize = 400;

/// How texts are printed while they are generated.
#[derive(Debug)]
pub(crate) struct TextOutput {
    mode: Mode,
    /// Why writing to standard output failed, if it did.
    failure: Option<Failure>,
}

#[derive(Debug)]
enum Mode {
    /// Not at all.
    Off,
    /// One pane, token by token.
    Live(LiveText),
    /// Each pane when it and all panes before it have finished.
    Blocks(Blocks),
    /// Several panes as they are generated, line by line.
    Lines(Vec<(LiveText, TextLines)>),
    /// Several panes at the end, each with all turns of its conversation.
    Conversations,
}

impl TextOutput {
    /// Prints nothing.
    pub(super) const fn off() -> Self {
        Self {
            mode: Mode::Off,
            failure: None,
        }
    }

    /// Prints a single pane as it is generated, and several panes in their order, each once it and
    /// those before it have finished.
    pub(super) fn of_panes(n_panes: usize) -> Self {
        let mode = match n_panes {
            1 => Mode::Live(LiveText::default()),
            _ => Mode::Blocks(Blocks::default()),
        };
        Self {
            mode,
            failure: None,
        }
    }

    /// Prints a single pane as it is generated, and several panes at the end, in their order, each with
    /// all its turns.
    pub(super) fn of_conversations(n_panes: usize) -> Self {
        if n_panes == 1 {
            return Self::of_panes(n_panes);
        }
        Self {
            mode: Mode::Conversations,
            failure: None,
        }
    }

    /// Prints the texts of all panes as they are generated.
    pub(super) fn streamed(n_panes: usize) -> Self {
        if n_panes == 1 {
            return Self::of_panes(n_panes);
        }
        let lines = (0..n_panes).map(|place| (LiveText::default(), TextLines::of_pane(place)));
        Self {
            mode: Mode::Lines(lines.collect()),
            failure: None,
        }
    }

    /// Returns whether texts are printed as they are generated.
    pub(super) const fn is_live(&self) -> bool {
        matches!(self.mode, Mode::Live(_) | Mode::Lines(_))
    }

    /// Prints the message that begins a turn. The settings of the panes are printed once.
    pub(super) fn begin_turn(&mut self, number: usize, message: &str) {
        let begin = || match number {
            1 => LiveText::default(),
            _ => LiveText::without_heading(),
        };
        match &mut self.mode {
            Mode::Off | Mode::Blocks(_) | Mode::Conversations => return,
            Mode::Live(live) => *live = begin(),
            Mode::Lines(panes) => panes.iter_mut().for_each(|(live, _)| *live = begin()),
        }
        self.print(&turn_title(number, message));
    }

    /// Prints conversations that were not printed as they were generated.
    pub(super) fn print_conversations(&mut self, panes: &[Generation]) {
        if !matches!(self.mode, Mode::Conversations) {
            return;
        }
        for (place, pane) in panes.iter().enumerate() {
            let (letter, heading) = (pane_letter(place), LiveText::default().heading(pane));
            let mut block = format!("{letter} · {heading}");
            for (number, turn) in (1..).zip(pane.turns()) {
                block += &turn_title(number, &turn.prompt.text);
                block += &LiveText::without_heading().rest(turn);
            }
            self.print(&block);
        }
    }

    /// Prints the newest token of the pane at this index, or as much of the text as can't be part
    /// of a stop sequence.
    pub(super) fn stepped(&mut self, place: usize, pane: &Generation) {
        let text = match &mut self.mode {
            Mode::Off | Mode::Blocks(_) | Mode::Conversations => return,
            Mode::Live(live) => live.advance(pane),
            Mode::Lines(panes) => panes
                .get_mut(place)
                .map(|(live, lines)| lines.push(&live.advance(pane)))
                .unwrap_or_default(),
        };
        self.print(&text);
    }

    /// Prints the rest of the pane at this index, which has finished.
    pub(super) fn finished(&mut self, place: usize, pane: &Generation) {
        let is_empty = pane.steps.is_empty() && error_of(pane).is_some();
        let text = match &mut self.mode {
            Mode::Blocks(blocks) => {
                let letter = pane_letter(place);
                let block = || format!("{letter} · {}", LiveText::default().rest(pane));
                blocks.finish(place, if is_empty { String::new() } else { block() })
            }
            _ if is_empty => return,
            Mode::Off | Mode::Conversations => return,
            Mode::Live(live) => live.rest(pane),
            Mode::Lines(panes) => panes
                .get_mut(place)
                .map(|(live, lines)| lines.finish(&live.rest(pane)))
                .unwrap_or_default(),
        };
        self.print(&text);
    }

    /// Prints what is left, and returns the first error of writing to standard output.
    pub(super) fn into_result(mut self) -> Result<(), Failure> {
        if let Mode::Blocks(blocks) = &mut self.mode {
            let rest = blocks.rest();
            self.print(&rest);
        }
        self.failure.map_or(Ok(()), Err)
    }

    fn print(&mut self, text: &str) {
        if self.failure.is_none() && !text.is_empty() {
            self.failure = console::print(text.as_bytes()).err();
        }
    }
}

/// The texts of several panes, which are printed in the panes’ order.
#[derive(Debug, Default)]
struct Blocks {
    /// How many panes have been printed.
    n_printed: usize,
    /// The finished texts, by the index of the pane.
    finished: BTreeMap<usize, String>,
}

impl Blocks {
    /// Notes the text of a pane, and returns what can be printed now.
    fn finish(&mut self, place: usize, text: String) -> String {
        self.finished.insert(place, text);
        let mut printed = String::new();
        while let Some(text) = self.finished.remove(&self.n_printed) {
            printed += &text;
            self.n_printed += 1;
        }
        printed
    }

    /// Returns the texts that wait for a pane that has not finished.
    fn rest(&mut self) -> String {
        std::mem::take(&mut self.finished).into_values().collect()
    }
}

/// Returns the error with which a pane failed, if it did.
pub(super) fn error_of(pane: &Generation) -> Option<&str> {
    match &pane.finish {
        Some(FinishReason::Failed { error }) => Some(error),
        _ => None,
    }
}

/// How much of a growing text has been printed.
#[derive(Debug, Default)]
struct LiveText {
    /// What later tokens can't change. `None` before the first token.
    certain: Option<CertainText>,
    /// The length of the printed text in bytes, or `None` before its heading is printed.
    n_printed: Option<usize>,
}

impl LiveText {
    /// Begins the text of a pane whose heading is printed.
    fn without_heading() -> Self {
        Self {
            n_printed: Some(0),
            ..Self::default()
        }
    }

    /// Returns what to print after the newest step of this pane.
    fn advance(&mut self, pane: &Generation) -> String {
        let stops = &pane.config.limits.stop_strings;
        let certain = self.certain.get_or_insert_with(|| CertainText::new(stops));
        let last = pane.steps.last().map(|step| &step.piece);
        let last = last.filter(|piece| piece.kind == PieceKind::Text);
        let sure = last
            .map(|piece| certain.push(&piece.bytes).text)
            .unwrap_or_default();
        let heading = self.heading(pane);
        self.n_printed = Some(self.n_printed.unwrap_or_default() + sure.len());
        heading + &sure
    }

    /// Returns what to print when the pane has finished.
    fn rest(&self, pane: &Generation) -> String {
        let text = pane.text();
        let rest = text.get(self.n_printed.unwrap_or_default()..);
        let summary = finish_summary(pane);
        format!(
            "{}{}\n[{summary}]\n\n",
            self.heading(pane),
            rest.unwrap_or_default()
        )
    }

    /// Returns the pane's name and the settings that reproduce it, or an empty string if they have
    /// already been printed.
    fn heading(&self, pane: &Generation) -> String {
        if self.n_printed.is_some() {
            return String::new();
        }
        let mut settings = PaneSettings::from(pane.config.chain.clone());
        if settings.chain.leaves_chance() {
            settings.seed = Some(pane.config.seed);
        }
        let lacking = pane.not_applied_words();
        let lacking = lacking.map_or_else(String::new, |words| format!("; {words}"));
        let settings = shortened(&settings.to_string());
        format!("{} ({settings}{lacking})\n", pane.name)
    }
}

/// Formats the message that begins a turn: "Turn 2: Why?".
fn turn_title(number: usize, message: &str) -> String {
    format!("Turn {number}: {message}\n")
}

/// Shortens settings that are longer than a few lines, as those with a schema may be.
fn shortened(settings: &str) -> String {
    match settings.char_indices().nth(N_MAX_HEADING) {
        Some((end, _)) => {
            let n_left_out = settings.chars().count() - N_MAX_HEADING;
            let start = settings.get(..end).unwrap_or(settings);
            format!(
                "{start}… and {} more characters",
                grouped(n_left_out as f64)
            )
        }
        None => settings.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, LiveText, N_MAX_HEADING, shortened};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation, Piece};

    #[test]
    fn long_settings_are_shortened() {
        let settings = "é".repeat(N_MAX_HEADING);
        assert_eq!(shortened(&settings), settings);
        let longer = format!("{settings}{}", "x".repeat(1_234));
        assert_eq!(
            shortened(&longer),
            format!("{settings}… and 1,234 more characters")
        );
    }

    #[test]
    fn blocks_are_printed_in_the_order_of_the_panes() {
        let mut blocks = Blocks::default();
        let mut finish = |place: usize, text: &str| blocks.finish(place, text.to_owned());
        assert_eq!(finish(2, "C"), "");
        assert_eq!(finish(0, "A"), "A");
        // B has failed and has no text.
        assert_eq!(finish(1, ""), "C");
        assert_eq!(finish(4, "E"), "");
        assert_eq!(blocks.rest(), "E");
        assert_eq!(blocks.rest(), "");
    }

    /// Generates these pieces and returns what is printed after each, then at the end.
    fn printed(
        pieces: &[&[u8]],
        stops: &[&str],
        finish: FinishReason,
    ) -> (Vec<String>, Generation) {
        let mut pane = generation(&[]);
        pane.config.limits.stop_strings = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let step = generation(&[("", 1.0)]).steps[0].clone();
        let (mut live, mut printed) = (LiveText::default(), Vec::new());
        for piece in pieces {
            let mut step = step.clone();
            step.piece = Piece::text(*piece);
            pane.steps.push(step);
            printed.push(live.advance(&pane));
        }
        pane.finish = Some(finish);
        printed.push(live.rest(&pane));
        (printed, pane)
    }

    #[test]
    fn a_streamed_text_equals_the_text_printed_at_once() {
        let stop = || FinishReason::StopString {
            stop: "###".to_owned(),
        };
        let pieces: [(&[&[u8]], FinishReason); 6] = [
            (&[b"Once", b" upon", b" a"], FinishReason::MaxTokens),
            (&[b"\xF0\x9F", b"\xA6", b"\x8A!"], FinishReason::MaxTokens),
            (
                &[b"a\xF0\x9F", b"b\xFF", b"\xE2\x82"],
                FinishReason::Cancelled,
            ),
            (&[b"a#", b"#b#", b"##", b""], FinishReason::MaxTokens),
            (&[b"a#", b"##"], stop()),
            (&[b"a#b", b"\n##", b"# tail"], stop()),
        ];
        for (pieces, finish) in pieces {
            let (parts, pane) = printed(pieces, &["###", "\n\n"], finish);
            assert_eq!(parts.concat(), LiveText::default().rest(&pane), "{parts:?}");
        }
    }

    #[test]
    fn only_what_may_be_a_stop_sequence_is_held_back() {
        let pieces: [&[u8]; 3] = [b"one #", b"# two", b" #"];
        let (parts, _) = printed(&pieces, &["###"], FinishReason::MaxTokens);
        assert!(parts[0].ends_with("\none "), "{parts:?}");
        assert_eq!(parts[1], "## two");
        assert_eq!(parts[2], " ");
        assert!(parts[3].starts_with("#\n["), "{parts:?}");
    }
}
