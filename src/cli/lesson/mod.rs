//! `quartet lesson`: lists the built-in lessons, checks lesson files, and takes a lesson without a
//! window.

#[cfg(test)]
mod chat_tests;
#[cfg(test)]
mod claims_tests;
mod mistakes;
mod rehearsal;

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};

use self::mistakes::Mistake;
use self::rehearsal::Rehearsal;
use super::console;
use super::failure::Failure;
use crate::export::read_text_at_most;
use crate::generation::formatting::io_words;
use crate::lessons::{Lesson, MAX_LESSON_BYTES, built_in};

/// Returns the lessons that the built-in model can take.
#[cfg(test)]
fn lessons_without_chat() -> impl Iterator<Item = &'static Arc<Lesson>> {
    built_in().iter().filter(|lesson| !lesson.setup.chat)
}

/// The arguments of `quartet lesson`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: LessonCommand,
}

#[derive(Debug, Subcommand)]
enum LessonCommand {
    /// Check lesson files, and report the line of each error
    Check {
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// List the built-in lessons
    List,
    /// Take a lesson with its own solutions and the built-in model, and print its texts as a
    /// learner reads them
    Rehearse {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Then take it again with mistakes: a step too many, one missing, the wrong order, other
        /// settings
        #[arg(long)]
        mistakes: bool,
    },
}

/// Runs `quartet lesson`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        LessonCommand::List => console::print(list().as_bytes()),
        LessonCommand::Check { files } => check(files),
        LessonCommand::Rehearse { file, mistakes } => rehearse(file, *mistakes),
    }
}

fn list() -> String {
    let mut list = String::new();
    for (number, lesson) in (1..).zip(built_in()) {
        let Lesson {
            id, title, minutes, ..
        } = &**lesson;
        // Writing to a string can't fail.
        writeln!(list, "{number:>2}  {id:<14}  {minutes} min  {title}").ok();
    }
    list
}

/// Checks all files; fails if any is invalid.
fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut all_valid = true;
    for file in files {
        match read(file) {
            Ok(lesson) => {
                let n_steps = lesson.steps.len();
                let steps = if n_steps == 1 { "step" } else { "steps" };
                let words = format!("{}: {}, {n_steps} {steps}\n", file.display(), lesson.title);
                console::print(words.as_bytes())?;
            }
            Err(problem) => {
                all_valid = false;
                console::error(&format!("{}, {problem}", file.display()));
            }
        }
    }
    if all_valid {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

fn rehearse(file: &Path, with_mistakes: bool) -> Result<(), Failure> {
    let problem = |problem: String| Failure::run(format!("{}, {problem}", file.display()));
    let lesson = Arc::new(read(file).map_err(problem)?);
    let mut rehearsal = Rehearsal::new().map_err(problem)?;
    let texts = rehearsal.take(&lesson).map_err(problem)?;
    console::print(texts.as_bytes())?;
    for mistake in Mistake::ALL.into_iter().filter(|_| with_mistakes) {
        let taken = rehearsal.take_with(&lesson, Some(mistake));
        taken.map_err(|error| problem(format!("{}: {error}", mistake.words())))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Lesson, String> {
    let file = File::open(path).map_err(|error| io_words(&error))?;
    let source = read_text_at_most(file, MAX_LESSON_BYTES as u64)?;
    Lesson::from_toml(&source).map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::{built_in, check, list};

    #[test]
    fn the_list_has_every_lesson() {
        assert_eq!(list().lines().count(), built_in().len());
    }

    #[test]
    fn an_invalid_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good.toml");
        let source = include_str!("../../../assets/lessons/temperature.toml");
        std::fs::write(&good, source).unwrap();
        assert!(check(std::slice::from_ref(&good)).is_ok());
        let long = folder.path().join("long.toml");
        std::fs::write(&long, "#".repeat(10_000_000)).unwrap();
        let binary = folder.path().join("binary.toml");
        std::fs::write(&binary, [0xFF, 0xFE, 0x00]).unwrap();
        for wrong in [long, binary, folder.path().join("missing.toml")] {
            assert!(check(&[good.clone(), wrong]).is_err());
        }
    }
}
