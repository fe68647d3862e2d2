//! What tells the prompts of a list apart: not the examples and the questions that a template repeats.

use crate::lab::prompts::figures::tasks::{Role, Task, TaskPrompt};

/// The maximum length of what is shown of a prompt, in bytes.
const N_SHOWN: usize = 240;

/// How much of each prompt all of them share: whole lines, or up to a colon, at the start, and whole
/// lines at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SharedText {
    n_before: usize,
    n_after: usize,
}

impl SharedText {
    pub(super) fn of(tasks: &[Task]) -> Self {
        let mut texts = tasks.iter().map(text);
        let Some(first) = texts.next() else {
            return Self::default();
        };
        let (mut before, mut after) = (first, first);
        let mut n = 1;
        for text in texts {
            n += 1;
            let n_same = equal(before.chars().zip(text.chars()));
            before = before.get(..n_same).unwrap_or_default();
            let n_same = equal(after.chars().rev().zip(text.chars().rev()));
            after = after.get(after.len() - n_same..).unwrap_or_default();
        }
        if n < 2 {
            return Self::default();
        }
        let colon = before.rfind(": ").map(|index| index + 2);
        let line = before.rfind('\n').map(|index| index + 1);
        let end = after.find('\n').map(|index| after.len() - index);
        Self {
            n_before: colon.max(line).unwrap_or(0),
            n_after: end.unwrap_or(0),
        }
    }

    /// Returns the beginning of what only this task asks, in one line.
    pub(super) fn words(self, task: &Task) -> String {
        let text = text(task);
        let end = text.len().saturating_sub(self.n_after);
        let own = text.get(self.n_before..end).unwrap_or(text);
        let own = if own.trim().is_empty() { text } else { own };
        let own = own.trim_start();
        let shown = own.get(..own.floor_char_boundary(N_SHOWN));
        let words = shown.unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the number of bytes of the characters that are equal at the start.
fn equal(pairs: impl Iterator<Item = (char, char)>) -> usize {
    let same = pairs.take_while(|(a, b)| a == b);
    same.map(|(a, _)| a.len_utf8()).sum()
}

/// Returns the prompt, or the last message of the user.
fn text(task: &Task) -> &str {
    match &task.prompt {
        TaskPrompt::Text { text, .. } => text,
        TaskPrompt::Messages { messages, .. } => {
            let mut users = messages.iter().rev();
            let last = users.find(|message| message.role == Role::User);
            last.or(messages.last()).map_or("", |last| &last.content)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SharedText;
    use crate::lab::prompts::figures::tasks::{Task, TaskFile};

    fn words(template: &str, rows: &[&str]) -> Vec<String> {
        let table = format!("q\n{}\n", rows.join("\n"));
        let file = TaskFile::read("tasks.csv", &table).unwrap();
        let tasks: Vec<Task> = file.tasks(Some(template), &[]).unwrap().tasks;
        let shared = SharedText::of(&tasks);
        tasks.iter().map(|task| shared.words(task)).collect()
    }

    #[test]
    fn what_a_template_repeats_is_left_out() {
        let template = "Q: What is 1 + 1?\nA: 2\nQ: {q}\nA:";
        let rows = ["What is red?", "What is blue?"];
        assert_eq!(words(template, &rows), rows);
        assert_eq!(
            words("Question: {q} Answer:", &rows)[0],
            "What is red? Answer:"
        );
        let lines = ["The red fox", "The red owl"];
        assert_eq!(words("{q}", &lines), lines);
        assert_eq!(
            words("{q}", &["the same", "the same"]),
            ["the same", "the same"]
        );
    }
}
