//! Progress on standard error: a single updating line on a terminal, otherwise one line per
//! milestone.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::console;

/// The shortest time between updates of the line.
const PAUSE: Duration = Duration::from_millis(100);

/// How progress is shown.
#[derive(Debug)]
pub(crate) enum Progress {
    /// As an updating line, on a terminal.
    Line { drawn_at: Option<Instant> },
    /// As a log, in a file or a pipe.
    Log,
    /// Not shown: a text is being printed to the same terminal, or the command is to be quiet.
    Hidden,
}

impl Progress {
    /// Chooses how to show progress, depending on whether standard error is a terminal and may be
    /// written to.
    pub(crate) fn new() -> Self {
        if console::is_quiet() {
            Self::Hidden
        } else if io::stderr().is_terminal() {
            Self::Line { drawn_at: None }
        } else {
            Self::Log
        }
    }

    /// Shows a milestone, on a new line of a log.
    pub(crate) fn milestone(&mut self, message: &str) {
        match self {
            Self::Line { drawn_at } => {
                draw(message);
                *drawn_at = Some(Instant::now());
            }
            Self::Log => console::note(message),
            Self::Hidden => {}
        }
    }

    /// Updates the line on a terminal; a log ignores this.
    pub(crate) fn update(&mut self, message: impl FnOnce() -> String) {
        if let Self::Line { drawn_at } = self
            && drawn_at.is_none_or(|drawn_at| drawn_at.elapsed() >= PAUSE)
        {
            draw(&message());
            *drawn_at = Some(Instant::now());
        }
    }

    /// Clears the line and stops showing progress, so that a text can be printed to the terminal.
    /// A log continues.
    pub(crate) fn hide(&mut self) {
        if let Self::Line { .. } = self {
            self.clear();
            *self = Self::Hidden;
        }
    }

    /// Clears the line on a terminal.
    pub(crate) fn clear(&mut self) {
        if let Self::Line { drawn_at: Some(_) } = self {
            draw("");
        }
    }
}

fn draw(message: &str) {
    let mut stderr = io::stderr().lock();
    // It does not matter if a progress line can't be shown.
    write!(stderr, "\r\x1b[K{}", console::escape_control(message)).ok();
    stderr.flush().ok();
}
