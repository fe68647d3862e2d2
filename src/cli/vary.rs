//! `--vary`: the one or two numbers that an experiment varies, and the settings that stay fixed.

use super::failure::Failure;
use super::panes::pane_settings;
use crate::analysis::sweep::Axis;
use crate::generation::PaneSettings;
use crate::interop::parse_axis;

/// Parses the axes: the rows, then the columns if two numbers are varied. `experiment` is its name
/// in error messages: "a sweep".
pub(crate) fn axes_of(
    descriptions: &[impl AsRef<str>],
    experiment: &str,
) -> Result<(Axis, Option<Axis>), Failure> {
    if descriptions.len() > 2 {
        let n = descriptions.len();
        return Err(Failure::usage(format!(
            "{experiment} varies one or two numbers, but {n} were given"
        )));
    }
    let axis = |description: &str| {
        parse_axis(description).map_err(|error| {
            let pointed = error.pointing_into(description);
            Failure::usage(format!("can’t vary this:\n\n{pointed}"))
        })
    };
    let axes: Result<Vec<Axis>, Failure> = descriptions
        .iter()
        .map(|description| axis(description.as_ref()))
        .collect();
    let mut axes = axes?.into_iter();
    let Some(rows) = axes.next() else {
        return Err(Failure::usage("choose a number to vary with --vary"));
    };
    Ok((rows, axes.next()))
}

/// Returns the settings that are not varied.
pub(crate) fn base_settings(pane: &String) -> Result<Option<PaneSettings>, Failure> {
    let base = pane_settings(std::slice::from_ref(pane))?;
    Ok(base.into_iter().next())
}
