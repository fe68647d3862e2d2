//! The panes that a command is given, as settings.

use std::str::FromStr;

use super::failure::Failure;
use crate::generation::PaneSettings;

/// What each `--pane` describes; the panes of a new window where there is none.
pub(super) fn pane_settings(descriptions: &[String]) -> Result<Vec<PaneSettings>, Failure> {
    if descriptions.is_empty() {
        return Ok(PaneSettings::classics().to_vec());
    }
    let parse = |description: &String| {
        PaneSettings::from_str(description).map_err(|error| {
            let pointed = error.pointing_into(description);
            Failure::usage(format!("in a pane's settings:\n\n{pointed}"))
        })
    };
    descriptions.iter().map(parse).collect()
}
