//! How far a run has come, on standard error: one line that changes on a terminal, a line for each
//! thing that happened elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::console;

/// The changing line changes no more often than this.
const PAUSE: Duration = Duration::from_millis(100);

/// Where progress is told.
#[derive(Debug)]
pub(super) enum Progress {
    /// On a terminal.
    Line {
        /// When the line was last drawn.
        drawn_at: Option<Instant>,
    },
    /// Into a file or another program.
    Log,
}

impl Progress {
    /// On standard error.
    pub fn new() -> Self {
        if io::stderr().is_terminal() {
            Self::Line { drawn_at: None }
        } else {
            Self::Log
        }
    }

    /// Something happened: a line of its own, unless one line shows what goes on.
    pub fn happened(&mut self, sentence: &str) {
        match self {
            Self::Line { drawn_at } => {
                draw(sentence);
                *drawn_at = Some(Instant::now());
            }
            Self::Log => console::note(sentence),
        }
    }

    /// Something has come further; a log does not tell.
    pub fn going_on(&mut self, sentence: impl FnOnce() -> String) {
        if let Self::Line { drawn_at } = self
            && drawn_at.is_none_or(|drawn_at| drawn_at.elapsed() >= PAUSE)
        {
            draw(&sentence());
            *drawn_at = Some(Instant::now());
        }
    }

    /// All is done: nothing of the line is left.
    pub fn done(&mut self) {
        if let Self::Line { drawn_at: Some(_) } = self {
            draw("");
        }
    }
}

fn draw(sentence: &str) {
    let mut stderr = io::stderr().lock();
    // Nothing is lost with a line of progress that can't be shown.
    write!(stderr, "\r\x1b[K{}", console::spelt_out(sentence)).ok();
    stderr.flush().ok();
}
