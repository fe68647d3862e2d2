//! The file that saves what is on screen: a line about the window, and then a run file.

use serde::{Deserialize, Serialize};

use super::json::{self, Form, ParseError, RunFile};

/// The version of the first line.
const VERSION: u32 = 1;

/// The bytes that every session file begins with, unlike any run file.
const BEGINNING: &[u8] = br#"{"session_version":"#;

/// What was on screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFile {
    /// The settings of the window, as JSON.
    pub settings: String,
    /// The indices of the panes that show the texts.
    pub places: Vec<usize>,
    pub run: RunFile,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    session_version: u32,
    places: Vec<usize>,
    settings: String,
}

impl SessionFile {
    /// Renders the file.
    pub fn render(self) -> Vec<u8> {
        let head = Head {
            session_version: VERSION,
            places: self.places,
            settings: self.settings,
        };
        // Serializing plain data to memory can't fail.
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend(json::write_run(&self.run, Form::default()));
        bytes
    }

    /// Returns whether this is the content of a session file.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(BEGINNING)
    }

    /// Reads a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (head, run) = bytes.split_at(end.unwrap_or(bytes.len()));
        let head: Head = serde_json::from_slice(head)?;
        if head.session_version != VERSION {
            let reason = "another version of Quartet saved it".to_owned();
            return Err(ParseError::Damaged { reason });
        }
        Ok(Self {
            settings: head.settings,
            places: head.places,
            run: json::read(run)?,
        })
    }
}
