//! The displayed text of a pane as runs of characters: which token each run belongs to, and its
//! style. It only grows. A character split across several tokens is never broken.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::{Thought, ThoughtScan};
use crate::decoding::TokenId;
use crate::generation::formatting::{code_point, counted, is_invisible, joins};
use crate::generation::{Generation, Piece, PieceKind, PromptRecord, Step};

/// The style of a run of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunStyle {
    Prompt,
    /// Generated text.
    Text,
    /// A special token, or the code point of an invisible character.
    Special,
    /// Bytes that are not a complete character.
    Bytes,
    Newline,
    /// The line that stands for a thought, or above it.
    Thought,
}

impl RunStyle {
    /// Returns whether it has its own background and a space on either side.
    pub(super) const fn is_chip(self) -> bool {
        matches!(self, Self::Special | Self::Bytes)
    }
}

/// Characters of one token in one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The offset of the first byte in the text. The run ends where the next one starts.
    pub(super) start: usize,
    /// The index of the step; `None` for the prompt.
    pub(super) step: Option<usize>,
    pub(super) style: RunStyle,
    /// Whether the token is only whitespace.
    pub(super) blank: bool,
}

/// The text of a pane so far, kept in sync with its generation.
#[derive(Debug)]
pub(super) struct Transcript {
    text: String,
    plain: String,
    /// Cover `text` without gaps, in order.
    runs: Vec<Run>,
    /// The offset of each step's first byte in `text`.
    step_starts: Vec<usize>,
    /// Trailing bytes that the next token may complete to a character. They are already shown.
    pending: Vec<u8>,
    prompt: Arc<PromptRecord>,
    /// Whether the text begins with the prompt.
    has_prompt: bool,
    /// Finds the thought in the text.
    scan: ThoughtScan,
    /// The thought of the text, once it is complete, and how it is shown.
    passage: Option<Passage>,
    /// The first and last step seen, to recognize another generation.
    first: Option<Fingerprint>,
    last: Option<Fingerprint>,
}

impl Default for Transcript {
    fn default() -> Self {
        Self {
            text: String::new(),
            plain: String::new(),
            runs: Vec::new(),
            step_starts: Vec::new(),
            pending: Vec::new(),
            prompt: Arc::default(),
            has_prompt: true,
            scan: ThoughtScan::new(&PromptRecord::default()),
            passage: None,
            first: None,
            last: None,
        }
    }
}

/// How the thought of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownThought {
    /// Like the rest of the text.
    AsText,
    /// As text below a line that folds it.
    Unfolded,
    /// As a line that unfolds it.
    Folded,
}

/// The complete thought of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) thought: Thought,
    pub(super) is_folded: bool,
}

/// Leaves room for the arrow before the line of a thought.
const INDENT: &str = "\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}";

/// "Thought for 212 tokens · 3 s".
fn thought_words(thought: Thought, generation: &Generation) -> String {
    let n_tokens = counted(thought.n_tokens(), "token");
    let secs = thought.secs(generation);
    let decimals = usize::from(secs < 9.95);
    format!("Thought for {n_tokens} · {secs:.decimals$} s").replace(' ', "\u{A0}")
}

/// Distinguishes a step from the step at the same index of another generation.
type Fingerprint = (TokenId, u64);

const fn fingerprint(step: &Step) -> Fingerprint {
    (step.token, step.time.at_secs.to_bits())
}

impl Transcript {
    /// Appends the steps generated since the last call, or starts over if this is another
    /// generation, or if its thought is shown otherwise. Returns whether it started over.
    pub(super) fn sync(&mut self, generation: &Generation, shown: ShownThought) -> bool {
        let is_same = self.is_prefix_of(generation);
        if !is_same {
            self.scan = ThoughtScan::new(&generation.prompt);
        }
        for step in generation.steps.iter().skip(self.scan.n_steps()) {
            self.scan.push(&step.piece);
        }
        let thought = self.scan.thought().filter(|thought| thought.is_closed);
        let thought = thought.filter(|_| shown != ShownThought::AsText);
        let passage = thought.map(|thought| Passage {
            thought,
            is_folded: shown == ShownThought::Folded,
        });
        let restarted = !is_same || passage != self.passage;
        if restarted {
            let scan = self.scan.clone();
            *self = Self::begin(&generation.prompt, self.has_prompt);
            (self.scan, self.passage) = (scan, passage);
        }
        let n_known = self.n_steps();
        for step in generation.steps.iter().skip(n_known) {
            self.push_around_thought(step, generation);
        }
        self.first = generation.steps.first().map(fingerprint);
        self.last = generation.steps.last().map(fingerprint);
        restarted
    }

    /// Returns a text that the user types, in which each character counts as a step.
    pub(super) fn of_characters(text: &str) -> Self {
        let mut transcript = Self::default();
        for (index, (start, c)) in text.char_indices().enumerate() {
            transcript.step_starts.push(start);
            let style = match c {
                '\n' => RunStyle::Newline,
                _ => RunStyle::Text,
            };
            let run = Run {
                start,
                step: Some(index),
                style,
                blank: false,
            };
            transcript.push_run(run, c.encode_utf8(&mut [0; 4]));
        }
        transcript
    }

    /// Returns the displayed characters, including chips.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the prompt and the generated text without chips, for screen readers.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// Returns the number of steps in the text.
    pub(super) const fn n_steps(&self) -> usize {
        self.step_starts.len()
    }

    /// Returns the offset of a step's first byte in the text.
    pub(super) fn step_start(&self, step: usize) -> Option<usize> {
        self.step_starts.get(step).copied()
    }

    /// Returns the runs from the one that contains byte `from`, each with its end.
    pub(super) fn runs_from(&self, from: usize) -> impl Iterator<Item = (Run, usize)> {
        let first = self
            .runs
            .partition_point(|run| run.start <= from)
            .saturating_sub(1);
        let runs = self.runs.get(first..).unwrap_or_default();
        let ends = runs.iter().skip(1).map(|run| run.start);
        runs.iter().copied().zip(ends.chain([self.text.len()]))
    }

    /// Returns the runs that overlap these bytes, each with the bytes that it covers.
    pub(super) fn parts(&self, bytes: Range<usize>) -> impl Iterator<Item = (Run, Range<usize>)> {
        let end = bytes.end;
        self.runs_from(bytes.start)
            .take_while(move |(run, _)| run.start < end)
            .map(move |(run, run_end)| (run, run.start.max(bytes.start)..run_end.min(end)))
            .filter(|(_, part)| !part.is_empty())
    }

    fn is_prefix_of(&self, generation: &Generation) -> bool {
        let at = |step: usize| generation.steps.get(step).map(fingerprint);
        let (known, prompt) = (&self.prompt, &generation.prompt);
        let same_words =
            || known.text == prompt.text && known.chat.is_some() == prompt.chat.is_some();
        let same_prompt = Arc::ptr_eq(known, prompt) || same_words();
        let same_steps = match self.n_steps() {
            0 => true,
            n => at(0) == self.first && at(n - 1) == self.last,
        };
        same_prompt && same_steps && !self.runs.is_empty()
    }

    /// Creates the transcript of no text yet, to which no prompt belongs.
    pub(super) fn without_prompt() -> Self {
        Self {
            has_prompt: false,
            ..Self::default()
        }
    }

    /// Creates the transcript of a message alone.
    pub(super) fn of_message(message: &str) -> Self {
        let mut transcript = Self::default();
        let start = Run {
            start: 0,
            step: None,
            style: RunStyle::Prompt,
            blank: false,
        };
        transcript.push_characters(start, message);
        transcript.push_run(start, "");
        transcript
    }

    fn begin(prompt: &Arc<PromptRecord>, has_prompt: bool) -> Self {
        let mut transcript = Self {
            prompt: Arc::clone(prompt),
            has_prompt,
            scan: ThoughtScan::new(prompt),
            ..Self::default()
        };
        let start = Run {
            start: 0,
            step: None,
            style: RunStyle::Prompt,
            blank: false,
        };
        if has_prompt {
            transcript.push_characters(start, &prompt.text);
        }
        if has_prompt && prompt.chat.is_some() {
            // The reply to a message starts a new paragraph.
            transcript.push_characters(start, "\n\n");
        }
        // Even an empty prompt has a run, so that there is always one.
        transcript.push_run(start, "");
        transcript
    }

    /// Appends a step, unless it is part of a folded thought, and the line that stands for it.
    fn push_around_thought(&mut self, step: &Step, generation: &Generation) {
        let Some(Passage { thought, is_folded }) = self.passage else {
            return self.push(&step.piece);
        };
        let (index, steps) = (self.n_steps(), thought.steps());
        if index == steps.start {
            let line = Run {
                start: self.text.len(),
                step: None,
                style: RunStyle::Thought,
                blank: false,
            };
            self.push_run(
                line,
                &format!("{INDENT}{}", thought_words(thought, generation)),
            );
            if !is_folded {
                self.end_line();
            }
        }
        if index == steps.end && is_folded && !step.piece.bytes.starts_with(b"\n") {
            self.end_line();
        }
        if is_folded && steps.contains(&index) {
            self.step_starts.push(self.text.len());
        } else {
            self.push(&step.piece);
        }
    }

    fn end_line(&mut self) {
        let newline = Run {
            start: self.text.len(),
            step: None,
            style: RunStyle::Newline,
            blank: false,
        };
        self.push_run(newline, "\n");
    }

    /// Returns the offset of the line that stands for the thought.
    pub(super) fn thought_line(&self) -> Option<usize> {
        let mut runs = self.runs.iter();
        runs.find(|run| run.style == RunStyle::Thought)
            .map(|run| run.start)
    }

    /// Returns the thought of the text, if it is complete, and how it is shown.
    pub(super) const fn passage(&self) -> Option<Passage> {
        self.passage
    }

    fn push(&mut self, piece: &Piece) {
        let run = Run {
            start: self.text.len(),
            step: Some(self.n_steps()),
            style: RunStyle::Text,
            blank: is_blank(piece),
        };
        self.step_starts.push(self.text.len());
        match piece.kind {
            PieceKind::Special => {
                self.pending.clear();
                self.push_chip(run, RunStyle::Special, &piece.to_string());
            }
            PieceKind::Text => self.push_bytes(run, &piece.bytes),
        }
        if self.step_starts.last() == Some(&self.text.len()) {
            self.push_chip(run, RunStyle::Special, "∅");
        }
    }

    /// Appends bytes, decoded as far as possible. A token that starts or continues a character
    /// shows its bytes; the token that completes it shows the character.
    fn push_bytes(&mut self, run: Run, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut joined = std::mem::take(&mut self.pending);
        let has_pending = !joined.is_empty();
        joined.extend_from_slice(bytes);
        let fresh = match std::str::from_utf8(&joined) {
            Err(error) if has_pending && error.valid_up_to() == 0 => {
                if error.error_len().is_none() {
                    self.push_chip(run, RunStyle::Bytes, &hex(bytes));
                    self.pending = joined;
                    return;
                }
                bytes
            }
            _ => &joined,
        };
        for chunk in fresh.utf8_chunks() {
            self.push_characters(run, chunk.valid());
            let invalid = chunk.invalid();
            if !invalid.is_empty() {
                self.push_chip(run, RunStyle::Bytes, &hex(invalid));
            }
            self.pending = incomplete(invalid).to_vec();
        }
    }

    fn push_characters(&mut self, run: Run, text: &str) {
        self.plain.push_str(text);
        let all_joiners = text.chars().all(joins);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let needs_own_run = |c: char| c == '\n' || is_invisible(c) || (all_joiners && joins(c));
            if first == '\n' {
                let newline = Run {
                    style: RunStyle::Newline,
                    ..run
                };
                self.push_run(newline, "\n");
            } else if needs_own_run(first) {
                self.push_chip(run, RunStyle::Special, &code_point(first));
            } else {
                let end = rest.find(needs_own_run).unwrap_or(rest.len());
                let (visible, after) = rest.split_at(end);
                self.push_run(run, visible);
                rest = after;
                continue;
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }

    fn push_chip(&mut self, run: Run, style: RunStyle, text: &str) {
        let text = text.replace(' ', "\u{A0}");
        self.push_run(Run { style, ..run }, &format!(" {text} "));
    }

    fn push_run(&mut self, run: Run, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.runs.push(Run { start, ..run });
    }
}

fn is_blank(piece: &Piece) -> bool {
    let visible_whitespace = |c: char| c.is_whitespace() && !is_invisible(c);
    piece.kind == PieceKind::Text
        && piece
            .as_str()
            .is_some_and(|text| !text.is_empty() && text.chars().all(visible_whitespace))
}

/// Formats bytes as hexadecimal: "E2 82".
fn hex(bytes: &[u8]) -> String {
    Piece::text(bytes).to_string()
}

/// Returns the bytes if they are the start of a character, otherwise nothing.
fn incomplete(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes,
        _ => &[],
    }
}
