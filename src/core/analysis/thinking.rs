//! The thought with which a text begins: what a model writes between its think tags, before its
//! answer.

use std::ops::Range;

use crate::generation::{Generation, Piece, PromptRecord, THOUGHT_TAGS};

/// How much of the end of a prompt is searched for a tag.
const N_MAX_TAG: usize = 64;

/// The thought of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thought {
    /// The first step, and the one after the last. The tags are part of it, as far as the model wrote
    /// them.
    start: usize,
    end: usize,
    /// Whether its end tag was written.
    pub is_closed: bool,
}

impl Thought {
    /// Finds the thought of a text, if it begins with one.
    pub fn of(generation: &Generation) -> Option<Self> {
        let mut scan = ThoughtScan::new(&generation.prompt);
        for step in &generation.steps {
            if scan.is_decided() {
                break;
            }
            scan.push(&step.piece);
        }
        scan.thought()
    }

    /// Returns the steps of the thought, with its tags.
    pub const fn steps(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns how many tokens it took, with its tags.
    pub const fn n_tokens(self) -> usize {
        self.end - self.start
    }

    /// Returns how long it took, in seconds.
    pub fn secs(self, generation: &Generation) -> f64 {
        let at = |step: usize| Some(generation.steps.get(step)?.time);
        let (Some(first), Some(last)) = (at(self.start), at(self.end.saturating_sub(1))) else {
            return 0.0;
        };
        (last.at_secs - first.at_secs + first.forward_secs).max(0.0)
    }
}

/// Follows a text and finds its thought, one token at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThoughtScan {
    n_steps: usize,
    place: Place,
}

/// Where in the text the scan is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Before anything but whitespace and a part of an opening tag: its bytes, and the step at which
    /// they begin.
    Before {
        bytes: Vec<u8>,
        start: usize,
    },
    /// In a thought that ends with this tag: the end of its bytes.
    Inside {
        closing: &'static [u8],
        bytes: Vec<u8>,
        start: usize,
    },
    After(Thought),
    /// The text does not begin with a thought.
    Absent,
}

impl ThoughtScan {
    /// Begins after a prompt, which may open the thought itself.
    pub fn new(prompt: &PromptRecord) -> Self {
        let read = prompt
            .chat
            .as_ref()
            .map_or(&prompt.text, |chat| &chat.rendered);
        Self::after(read)
    }

    /// Begins after a prompt as the model read it.
    pub fn after(read: &str) -> Self {
        let read = read.trim_end().as_bytes();
        let end = read
            .get(read.len().saturating_sub(N_MAX_TAG)..)
            .unwrap_or(read);
        let opened = THOUGHT_TAGS
            .iter()
            .find(|tags| end.ends_with(tags.opening.as_bytes()));
        Self {
            n_steps: 0,
            place: match opened {
                Some(tags) => Place::Inside {
                    closing: tags.closing.as_bytes(),
                    bytes: Vec::new(),
                    start: 0,
                },
                None => Place::Before {
                    bytes: Vec::new(),
                    start: 0,
                },
            },
        }
    }

    /// Returns how many tokens it has gone past.
    pub const fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Goes past the next token.
    pub fn push(&mut self, piece: &Piece) {
        let step = self.n_steps;
        self.n_steps += 1;
        let place = std::mem::replace(&mut self.place, Place::Absent);
        self.place = match place {
            Place::Before { mut bytes, start } => {
                let start = if bytes.is_empty() { step } else { start };
                bytes.extend_from_slice(&piece.bytes);
                before(bytes.trim_ascii_start().to_vec(), start, self.n_steps)
            }
            Place::Inside {
                closing,
                mut bytes,
                start,
            } => {
                bytes.extend_from_slice(&piece.bytes);
                inside(closing, bytes, start, self.n_steps)
            }
            decided => decided,
        };
    }

    /// Returns whether later tokens can't change the answer.
    pub const fn is_decided(&self) -> bool {
        matches!(self.place, Place::After(_) | Place::Absent)
    }

    /// Returns the thought, as far as it was written.
    pub const fn thought(&self) -> Option<Thought> {
        match self.place {
            Place::Inside { start, .. } if start < self.n_steps => Some(Thought {
                start,
                end: self.n_steps,
                is_closed: false,
            }),
            Place::After(thought) => Some(thought),
            Place::Inside { .. } | Place::Before { .. } | Place::Absent => None,
        }
    }
}

/// Returns where a text is that begins with these bytes, apart from whitespace.
fn before(bytes: Vec<u8>, start: usize, n_steps: usize) -> Place {
    if let Some(tags) = THOUGHT_TAGS
        .iter()
        .find(|tags| bytes.starts_with(tags.opening.as_bytes()))
    {
        let rest = bytes.get(tags.opening.len()..).unwrap_or_default();
        return inside(tags.closing.as_bytes(), rest.to_vec(), start, n_steps);
    }
    if THOUGHT_TAGS
        .iter()
        .any(|tags| tags.opening.as_bytes().starts_with(&bytes))
    {
        Place::Before { bytes, start }
    } else {
        Place::Absent
    }
}

/// Returns where a thought is whose last bytes are these.
fn inside(closing: &'static [u8], mut bytes: Vec<u8>, start: usize, n_steps: usize) -> Place {
    if bytes.windows(closing.len()).any(|part| part == closing) {
        return Place::After(Thought {
            start,
            end: n_steps,
            is_closed: true,
        });
    }
    let n_kept = closing.len() - 1;
    bytes.drain(..bytes.len().saturating_sub(n_kept));
    Place::Inside {
        closing,
        bytes,
        start,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Thought, ThoughtScan};
    use crate::generation::testing::{generation, generation_of};
    use crate::generation::{ChatRecord, ChatSettings, Generation, Piece, PromptRecord};

    fn written(pieces: &[&str]) -> Generation {
        let pieces: Vec<(&str, f64)> = pieces.iter().map(|piece| (*piece, 0.5)).collect();
        generation(&pieces)
    }

    fn after(rendered: &str, pieces: &[&str]) -> Generation {
        let mut generation = written(pieces);
        Arc::make_mut(&mut generation.prompt).chat = Some(ChatRecord {
            settings: ChatSettings::default(),
            rendered: rendered.to_owned(),
        });
        generation
    }

    /// Returns the steps of the thought, and whether it is closed.
    fn found(generation: &Generation) -> Option<(usize, usize, bool)> {
        let thought = Thought::of(generation)?;
        let steps = thought.steps();
        Some((steps.start, steps.end, thought.is_closed))
    }

    #[test]
    fn a_thought_is_found_however_its_tags_are_split_into_tokens() {
        for (pieces, expected) in [
            (
                &["<think>", "hm", "</think>", "Yes"][..],
                Some((0, 3, true)),
            ),
            (&["\n", "<think>", "hm", "</think>"], Some((1, 4, true))),
            (
                &["<", "think", ">\n", "hm", "\n</", "think", ">\n\n", "Yes"],
                Some((0, 7, true)),
            ),
            (&["<think>", "hm", " so"], Some((0, 3, false))),
            (&["<think></think>", "Yes"], Some((0, 1, true))),
            (&["[THINK]", "a", "[/THINK]", "b"], Some((0, 3, true))),
            (
                &["<|channel>", "thought", "\n", "a", "<channel|>", "b"],
                Some((0, 5, true)),
            ),
            (
                &[
                    "<|channel|>",
                    "analysis",
                    "<|message|>",
                    "a",
                    "<|end|>",
                    "<|start|>",
                ],
                Some((0, 5, true)),
            ),
            (&["<thin", "ker"], None),
            (&["<thin"], None),
            (&["Yes", "<think>", "</think>"], None),
            (&["<|channel|>", "final", "<|message|>", "a"], None),
            (&[], None),
        ] {
            assert_eq!(found(&written(pieces)), expected, "{pieces:?}");
        }
    }

    #[test]
    fn a_prompt_may_open_the_thought_or_close_an_empty_one() {
        let opened = after(
            "<|im_start|>assistant\n<think>\n",
            &["hm", "</think>", "Yes"],
        );
        assert_eq!(found(&opened), Some((0, 2, true)));
        let closed = after("<think>\n\n</think>\n\n", &["Yes", "."]);
        assert_eq!(found(&closed), None);
        let waiting = after("<think>\n", &[]);
        assert_eq!(found(&waiting), None);
        let mut raw = written(&["hm", "</think>"]);
        Arc::make_mut(&mut raw.prompt).text = "Why?<think>".to_owned();
        assert_eq!(found(&raw), Some((0, 2, true)));
    }

    #[test]
    fn special_tokens_and_partial_characters_are_bytes_like_any_other() {
        let pieces = [
            (Piece::special("<think>"), 0.5),
            (Piece::text([0xE2, 0x82]), 0.5),
            (Piece::text([0xAC]), 0.5),
            (Piece::special("</think>"), 0.5),
        ];
        assert_eq!(found(&generation_of(&pieces)), Some((0, 4, true)));
    }

    #[test]
    fn the_time_of_a_thought_is_that_of_its_passes() {
        let text = written(&["<think>", "hm", "</think>", "Yes"]);
        let thought = Thought::of(&text).unwrap();
        assert_eq!(thought.n_tokens(), 3);
        let at = |step: usize| text.steps[step].time;
        let expected = at(2).at_secs - at(0).at_secs + at(0).forward_secs;
        assert!((thought.secs(&text) - expected).abs() < 1e-12);
    }

    #[test]
    fn a_long_thought_keeps_only_the_end_of_its_text() {
        let mut scan = ThoughtScan::new(&PromptRecord::default());
        scan.push(&Piece::text("<think>"));
        for _ in 0..1_000 {
            scan.push(&Piece::text("hm, hm. "));
        }
        assert!(format!("{scan:?}").len() < 300);
        assert!(!scan.is_decided());
        scan.push(&Piece::text("</think>"));
        assert!(scan.is_decided());
    }
}
