//! What isn't judged or isn't followed, in sentences.

use std::collections::BTreeMap;

use super::template::Names;
use super::{Task, TaskFile};

/// Returns what whoever reads the results must know about the tasks.
pub(super) fn notes(file: &TaskFile, names: &Names, tasks: &[Task]) -> Vec<String> {
    let mut notes = file.notes.clone();
    for name in &names.others {
        notes.push(format!(
            "‘{{{{{name}}}}}’ names no column; it stands for ‘{{{name}}}’"
        ));
    }
    let n_tasks = tasks.len();
    let mut not_judged: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in &file.rows {
        let mut names: Vec<&str> = row.not_judged.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (_, count) = not_judged.entry(name).or_insert((row.line, 0));
            *count += 1;
        }
    }
    for (name, (line, count)) in not_judged {
        let (uses, they) = if count == 1 {
            ("uses", "it isn’t")
        } else {
            ("use", "they aren’t")
        };
        notes.push(format!(
            "{count} of {n_tasks} tasks {uses} ‘{name}’, first on line {line}; {they} judged"
        ));
    }
    let n_open = file.rows.iter().zip(tasks);
    let n_open = n_open
        .filter(|(row, task)| task.checks.is_empty() && row.not_judged.is_empty())
        .count();
    match n_open {
        0 => {}
        1 if n_tasks > 1 => {
            notes.push(format!(
                "1 of {n_tasks} tasks expects nothing; it isn’t judged"
            ));
        }
        _ if n_open < n_tasks => notes.push(format!(
            "{n_open} of {n_tasks} tasks expect nothing; they aren’t judged"
        )),
        _ => {}
    }
    notes
}
