//! The run file: the complete record as JSON, from which a run can be shown, explained and repeated
//! without its model.
//!
//! It is written compact, or laid out for reading; opening a file and saving it again produces the
//! same bytes. From the first release on, every format that was released can be loaded.

mod format_2;
mod layout;
mod repeated;
mod settings;

use serde::{Deserialize, Serialize};

use self::layout::Layout;
pub use self::repeated::contradictions_of;
use super::text_file::without_byte_order_mark;
use crate::analysis::contradictions::{Contradiction, RunPlace, turns_of_run};
use crate::generation::{EarlierTurn, Generation};
use crate::interop::api::RecordedRequest;
use crate::json_words::{json_place, json_words};

/// The current format version, in which files are written.
pub const FORMAT_VERSION: u32 = 2;

/// How many letters panes can have: A to ZZ.
pub(super) const N_LETTERS: usize = 26 + 26 * 26;

/// Larger than any real vocabulary. Keeps a damaged file from exhausting memory.
const N_VOCAB_MAX: u32 = 1 << 22;

/// Why a run file can't be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or a field is missing or has the wrong type.
    #[error("this is not a Quartet run file: {message}")]
    Unreadable {
        /// The JSON error, with line and column.
        message: String,
    },

    /// The file is cut off.
    #[error("this run file is incomplete: it ends in the middle, at {place}")]
    Incomplete {
        /// Line and column.
        place: String,
    },

    /// Something follows the run.
    #[error(
        "this file goes on after the end of its run, at {place}; a run file holds one run, so remove \
         what follows"
    )]
    Trailing {
        /// Line and column.
        place: String,
    },

    /// A version of the program that was never released wrote the file.
    #[error(
        "this file has format {version}, from a version of Quartet that was never released; generate \
         the run again"
    )]
    TooOld { version: u32 },

    /// A newer version of the program wrote the file.
    #[error(
        "this file has format {version}, but this version of Quartet only reads up to format \
         {FORMAT_VERSION}; update Quartet to open it"
    )]
    TooNew { version: u32 },

    /// The file has content that would be lost.
    #[error(
        "this file contains {what}, which this version of Quartet does not know; update Quartet to open it"
    )]
    UnknownContent {
        /// The field or the kind, with its place.
        what: String,
    },

    /// A token id is larger than any vocabulary.
    #[error("this file is damaged: token id {id} is out of range")]
    UnknownToken { id: u32 },

    /// Parts of the file contradict each other.
    #[error("this file is damaged: {reason}")]
    Damaged { reason: String },
}

impl ParseError {
    fn damaged(reason: &str) -> Self {
        Self::Damaged {
            reason: reason.to_owned(),
        }
    }
}

/// A run as a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFile {
    pub header: RunHeader,
    pub panes: Vec<Generation>,
    /// The places of the panes, which determine their letters, in ascending order. Empty if they are
    /// A, B, C and so on.
    pub places: Vec<usize>,
    /// The texts of the same prompts that no pane showed when the run was saved.
    pub branches: Vec<Branch>,
    /// The first place at which the file contradicts itself, if it was checked for that.
    pub contradiction: Option<Contradiction>,
}

impl RunFile {
    /// Returns the place of the pane at this index.
    pub fn place(&self, index: usize) -> usize {
        self.places.get(index).copied().unwrap_or(index)
    }

    /// Returns the text at each place, or `None` where the run has none.
    pub fn by_place(&self) -> Vec<Option<&Generation>> {
        let texts = self.panes.iter().enumerate();
        by_place(texts.map(|(index, text)| (self.place(index), text)))
    }

    /// Returns the turns before its texts, in the order of the file, with panes numbered in their
    /// order.
    pub fn turns(&self) -> Vec<(RunPlace, EarlierTurn<'_>)> {
        let panes: Vec<&Generation> = self.panes.iter().collect();
        let branches: Vec<&Generation> = self.branches.iter().map(|branch| &branch.text).collect();
        turns_of_run(&panes, &branches)
    }
}

/// Returns what is at each place, up to the last one. The places must ascend.
pub(crate) fn by_place<T>(placed: impl IntoIterator<Item = (usize, T)>) -> Vec<Option<T>> {
    let mut all = Vec::new();
    for (place, item) in placed {
        all.resize_with(place, || None);
        all.push(Some(item));
    }
    all
}

/// Returns the places of a file, or none if they are those of A, B, C and so on.
pub(crate) fn unless_in_order(places: Vec<usize>) -> Vec<usize> {
    if places.iter().copied().eq(0..places.len()) {
        Vec::new()
    } else {
        places
    }
}

/// A text that no pane showed when the run was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The index of the pane that last showed it, among the panes of the file.
    pub pane: Option<usize>,
    pub text: Generation,
}

/// What a run file says about the run as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunHeader {
    /// The name that the user gave it.
    pub title: Option<String>,
    /// When the run was finished, in seconds since 1970.
    pub finished_at: Option<u64>,
    /// The request of another program that it answers.
    pub request: Option<RecordedRequest>,
}

/// How a run file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Form {
    /// Whether it is indented, to be read by people.
    pub pretty: bool,
    /// Whether it keeps what the steps record below their heads. That makes every what-if exact and
    /// takes up to 5 bytes per step for each token of the vocabulary.
    pub detail: bool,
}

/// Renders texts as a run file without branches.
pub fn write(header: &RunHeader, generations: &[&Generation], form: Form) -> Vec<u8> {
    let panes = Panes {
        texts: generations,
        places: &[],
    };
    rendered(&format_2::content(header, panes, &[], form), form)
}

/// Renders the texts at these places as a run file without branches.
pub fn write_by_place(header: &RunHeader, by_place: &[Option<&Generation>], form: Form) -> Vec<u8> {
    let panes = by_place.iter().enumerate();
    let panes = panes.filter_map(|(place, text)| Some((place, (*text)?)));
    let (places, texts): (Vec<usize>, Vec<&Generation>) = panes.unzip();
    let panes = Panes {
        texts: &texts,
        places: &unless_in_order(places),
    };
    rendered(&format_2::content(header, panes, &[], form), form)
}

/// The panes of a run to write.
#[derive(Clone, Copy)]
struct Panes<'a> {
    texts: &'a [&'a Generation],
    /// As in [`RunFile::places`].
    places: &'a [usize],
}

/// Renders a run as a file.
pub fn write_run(run: &RunFile, form: Form) -> Vec<u8> {
    let texts: Vec<&Generation> = run.panes.iter().collect();
    let panes = Panes {
        texts: &texts,
        places: &run.places,
    };
    let content = format_2::content(&run.header, panes, &run.branches, form);
    rendered(&content, form)
}

fn rendered(content: &impl Serialize, form: Form) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Serializing plain data with string keys to memory can't fail.
    if form.pretty {
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Layout::default());
        content.serialize(&mut serializer).ok();
    } else {
        serde_json::to_writer(&mut bytes, content).ok();
    }
    bytes.push(b'\n');
    bytes
}

/// Loads a run file.
///
/// The vocabularies contain only the tokens that occur in the file.
pub fn read(bytes: &[u8]) -> Result<RunFile, ParseError> {
    #[derive(Deserialize)]
    struct Head {
        format_version: u32,
    }

    let bytes = without_byte_order_mark(bytes);
    let head = serde_json::from_slice(bytes).map_err(|error| parse_error(error, bytes))?;
    let Head { format_version } = head;
    match format_version {
        FORMAT_VERSION => format_2::read(bytes),
        version @ ..FORMAT_VERSION => Err(ParseError::TooOld { version }),
        version => Err(ParseError::TooNew { version }),
    }
}

/// Returns the error for a file that is not JSON. A JSON parser can't tell a file that is cut off
/// within a number from one with a malformed number.
fn parse_error(error: serde_json::Error, bytes: &[u8]) -> ParseError {
    let text = bytes.trim_ascii();
    let place = json_place(&error);
    match ParseError::from(error) {
        ParseError::Unreadable { .. } if text.starts_with(b"{") && !text.ends_with(b"}") => {
            ParseError::Incomplete { place }
        }
        other => other,
    }
}

/// Loads the generations of a run file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Generation>, ParseError> {
    read(bytes).map(|file| file.panes)
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        let place = json_place(&error);
        if error.is_eof() && error.column() > 1 {
            return Self::Incomplete { place };
        }
        if message.starts_with("trailing characters") {
            return Self::Trailing { place };
        }
        for (start, kind) in [
            ("unknown field `", "the field"),
            ("unknown variant `", "the kind"),
        ] {
            let rest = message.strip_prefix(start);
            if let Some(name) = rest.and_then(|rest| rest.split('`').next()) {
                let what = format!("{kind} ‘{name}’ at {place}");
                return Self::UnknownContent { what };
            }
        }
        Self::Unreadable {
            message: json_words(&error),
        }
    }
}
