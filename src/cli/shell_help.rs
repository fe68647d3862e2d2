//! `quartet completions` and `quartet man`: help for shells, generated from the command-line
//! definition.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use super::console;
use super::failure::Failure;
use crate::generation::formatting::io_words;

/// The arguments of `quartet completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell that completes the words of a command
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The arguments of `quartet man`.
#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The command to describe; without one, the page of quartet itself
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Prints the completions for a shell.
pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut command = super::Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "quartet", &mut script);
    console::print(&script)
}

/// Prints a man page.
pub(super) fn man(arguments: &ManArguments) -> Result<(), Failure> {
    let mut page = Vec::new();
    let rendered = man_of(arguments.command.as_deref())?.render(&mut page);
    rendered.map_err(|error| Failure::run(io_words(&error)))?;
    console::print(&page)
}

fn man_of(name: Option<&str>) -> Result<Man, Failure> {
    let mut command = super::Arguments::command();
    command.build();
    let Some(name) = name else {
        return Ok(Man::new(command));
    };
    let all = command.get_subcommands();
    let known: Vec<&clap::Command> = all.filter(|known| !known.is_hide_set()).collect();
    if let Some(found) = known.iter().find(|known| known.get_name() == name) {
        // A page is named after the whole command.
        return Ok(Man::new((*found).clone()).title(format!("quartet-{name}")));
    }
    let names: Vec<&str> = known.iter().map(|known| known.get_name()).collect();
    Err(Failure::usage(format!(
        "quartet has no command {name:?}; it has {}",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::man_of;

    #[test]
    fn every_command_has_a_page() {
        let page = |name| {
            let mut page = Vec::new();
            man_of(name).unwrap().render(&mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        assert!(page(None).contains("quartet"));
        assert!(page(Some("prompts")).contains("\\-\\-template"));
        assert!(man_of(Some("system-files")).is_err());
        assert!(man_of(Some("nothing")).is_err());
    }
}
