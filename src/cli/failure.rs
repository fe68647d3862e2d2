//! Why a command did not do what it was asked, and how the shell hears of it.

use std::process::ExitCode;

use super::console;

/// Why a command did not do all that it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// The arguments make no sense; the sentence says why.
    Usage(String),
    /// Something failed while it ran; the sentence says what.
    Run(String),
    /// Something failed, and the user has been told.
    Told,
}

impl Failure {
    /// The arguments make no sense.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }

    /// Something failed while it ran.
    pub fn run(sentence: impl Into<String>) -> Self {
        Self::Run(sentence.into())
    }

    /// Tells the user, and gives the code for the shell.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Usage(sentence) => {
                console::complain(&sentence);
                ExitCode::from(2)
            }
            Self::Run(sentence) => {
                console::complain(&sentence);
                ExitCode::FAILURE
            }
            Self::Told => ExitCode::FAILURE,
        }
    }
}
