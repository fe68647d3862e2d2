//! Why a command failed, and its exit code.

use std::process::ExitCode;

use super::{console, interrupt};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are invalid, for the reason given.
    Usage(String),
    /// Something failed while the command ran.
    Run(String),
    /// Something failed and the error has already been printed.
    Reported,
    /// Something is not as it should be, which the output says; exits with this code.
    Status(u8),
    /// A signal ended the command after it had saved its partial results.
    Interrupted,
}

impl Failure {
    /// The arguments are invalid; exits with code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Something failed while the command ran; exits with code 1.
    pub(crate) fn run(message: impl Into<String>) -> Self {
        Self::Run(message.into())
    }

    /// Turns a failed run into a usage error, for commands whose exit code 1 means something else.
    pub(crate) fn into_usage(self) -> Self {
        match self {
            Self::Run(message) => Self::Usage(message),
            other => other,
        }
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                console::error(&message);
                ExitCode::from(2)
            }
            Self::Run(message) => {
                console::error(&message);
                ExitCode::FAILURE
            }
            Self::Reported => ExitCode::FAILURE,
            Self::Status(status) => ExitCode::from(status),
            Self::Interrupted => ExitCode::from(interrupt::exit_code()),
        }
    }
}
