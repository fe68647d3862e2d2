//! What is written in a pane, piece by piece: which characters stand for which token, and how they
//! look. It only grows; a character that several tokens share is never broken.

use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::{Generation, Piece, PieceKind, PromptRecord, Step};
use crate::ui::words::{code_point, is_invisible, joins};

/// How a run of characters looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The prompt, repeated.
    Prompt,
    /// Text that was generated.
    Text,
    /// A special token, or the code of a character that cannot be seen.
    Special,
    /// Bytes that are no character.
    Bytes,
    /// The end of a line.
    Newline,
}

impl Look {
    /// Whether it stands on a fill of its own, with a space on either side.
    pub(super) const fn is_chip(self) -> bool {
        matches!(self, Self::Special | Self::Bytes)
    }
}

/// Characters that belong to one token and look the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Where they begin in the text, in bytes; they end where the next run begins.
    pub(super) start: usize,
    /// The step whose token they stand for; nothing for the prompt.
    pub(super) step: Option<usize>,
    /// How they look.
    pub(super) look: Look,
    /// Whether the token is white space and nothing else.
    pub(super) blank: bool,
}

/// All that is written in a pane so far.
#[derive(Debug, Default)]
pub(super) struct Script {
    text: String,
    plain: String,
    runs: Vec<Run>,
    step_starts: Vec<usize>,
    /// Bytes at the end that may become a character with the next token. They are shown already.
    pending: Vec<u8>,
    prompt: Arc<PromptRecord>,
    first: Option<Fingerprint>,
    last: Option<Fingerprint>,
}

/// Tells a step from the one at the same place in another run.
type Fingerprint = (TokenId, u64);

const fn fingerprint(step: &Step) -> Fingerprint {
    (step.token, step.time.at_secs.to_bits())
}

impl Script {
    /// Takes in what was written since the last call; begins anew where it is another generation.
    /// Gives whether it began anew.
    pub(super) fn follow(&mut self, generation: &Generation) -> bool {
        let anew = !self.is_beginning_of(generation);
        if anew {
            *self = Self::begun(&generation.prompt);
        }
        let n_known = self.n_steps();
        for step in generation.steps.iter().skip(n_known) {
            self.push(&step.piece);
        }
        self.first = generation.steps.first().map(fingerprint);
        self.last = generation.steps.last().map(fingerprint);
        anew
    }

    /// The characters, chips and all.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Prompt and generated text without chips, as it is read aloud.
    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    /// How many tokens were taken in.
    pub(super) const fn n_steps(&self) -> usize {
        self.step_starts.len()
    }

    /// Where the characters of a step begin in the text, in bytes.
    pub(super) fn step_start(&self, step: usize) -> Option<usize> {
        self.step_starts.get(step).copied()
    }

    /// The runs from the one that holds the byte `from`, with their ends.
    pub(super) fn runs_from(&self, from: usize) -> impl Iterator<Item = (Run, usize)> {
        let first = self
            .runs
            .partition_point(|run| run.start <= from)
            .saturating_sub(1);
        let runs = self.runs.get(first..).unwrap_or_default();
        let ends = runs.iter().skip(1).map(|run| run.start);
        runs.iter().copied().zip(ends.chain([self.text.len()]))
    }

    fn is_beginning_of(&self, generation: &Generation) -> bool {
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

    fn begun(prompt: &Arc<PromptRecord>) -> Self {
        let mut script = Self {
            prompt: Arc::clone(prompt),
            ..Self::default()
        };
        let start = Run {
            start: 0,
            step: None,
            look: Look::Prompt,
            blank: false,
        };
        script.push_characters(start, &prompt.text);
        if prompt.chat.is_some() {
            // The answer to a message begins a paragraph of its own.
            script.push_characters(start, "\n\n");
        }
        // An empty prompt has its run too, so that there always is one.
        script.push_run(start, "");
        script
    }

    fn push(&mut self, piece: &Piece) {
        let run = Run {
            start: self.text.len(),
            step: Some(self.n_steps()),
            look: Look::Text,
            blank: is_blank(piece),
        };
        self.step_starts.push(self.text.len());
        match piece.kind {
            PieceKind::Special => {
                self.pending.clear();
                self.push_chip(run, Look::Special, &piece.to_string());
            }
            PieceKind::Text => self.push_bytes(run, &piece.bytes),
        }
        if self.step_starts.last() == Some(&self.text.len()) {
            self.push_chip(run, Look::Special, "∅");
        }
    }

    /// Shows bytes as characters where they are some. A token that only begins or goes on with a
    /// character shows its bytes; the token that completes it shows the character.
    fn push_bytes(&mut self, run: Run, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut joined = std::mem::take(&mut self.pending);
        let begun = !joined.is_empty();
        joined.extend_from_slice(bytes);
        let fresh = match std::str::from_utf8(&joined) {
            Err(error) if begun && error.valid_up_to() == 0 => {
                if error.error_len().is_none() {
                    self.push_chip(run, Look::Bytes, &hex(bytes));
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
                self.push_chip(run, Look::Bytes, &hex(invalid));
            }
            self.pending = unfinished(invalid).to_vec();
        }
    }

    fn push_characters(&mut self, run: Run, text: &str) {
        self.plain.push_str(text);
        let all_joiners = text.chars().all(joins);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let special = |c: char| c == '\n' || is_invisible(c) || (all_joiners && joins(c));
            if first == '\n' {
                let newline = Run {
                    look: Look::Newline,
                    ..run
                };
                self.push_run(newline, "\n");
            } else if special(first) {
                self.push_chip(run, Look::Special, &code_point(first));
            } else {
                let end = rest.find(special).unwrap_or(rest.len());
                let (seen, after) = rest.split_at(end);
                self.push_run(run, seen);
                rest = after;
                continue;
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }

    fn push_chip(&mut self, run: Run, look: Look, text: &str) {
        let text = text.replace(' ', "\u{A0}");
        self.push_run(Run { look, ..run }, &format!(" {text} "));
    }

    fn push_run(&mut self, run: Run, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.runs.push(Run { start, ..run });
    }
}

fn is_blank(piece: &Piece) -> bool {
    let white = |c: char| c.is_whitespace() && !is_invisible(c);
    piece.kind == PieceKind::Text
        && piece
            .as_str()
            .is_some_and(|text| !text.is_empty() && text.chars().all(white))
}

/// "E2 82" for the bytes of half a character.
fn hex(bytes: &[u8]) -> String {
    Piece::text(bytes).to_string()
}

/// The bytes, if more of them could make them a character.
fn unfinished(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes,
        _ => &[],
    }
}
