//! Parses the `--pane` arguments.

use std::str::FromStr;

use super::failure::Failure;
use crate::generation::PaneSettings;

/// Parses each `--pane`, or returns the default panes of a new window if there are none.
pub(super) fn pane_settings(descriptions: &[String]) -> Result<Vec<PaneSettings>, Failure> {
    if descriptions.is_empty() {
        return Ok(PaneSettings::classics().to_vec());
    }
    let parse = |description: &String| {
        PaneSettings::from_str(description).map_err(|error| {
            let pointed = error.pointing_into(description);
            Failure::usage(format!("invalid pane settings:\n\n{pointed}"))
        })
    };
    descriptions.iter().map(parse).collect()
}
