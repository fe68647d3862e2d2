//! Runs as plain text: each prompt with its continuation, under the pane's letter and settings, or each
//! turn of its conversation.

use super::finish_date::finish_words;
use super::runs::runs;
use super::{FileFacts, notes, settings_words};
use crate::generation::Generation;

/// Renders the texts.
pub(super) fn render(panes: &[Option<&Generation>], facts: FileFacts) -> String {
    let finished = facts.finished_at.and_then(finish_words);
    let mut page = finished.map_or_else(String::new, |words| words + "\n");
    for run in runs(panes) {
        for (letter, generation) in &run.panes {
            if !page.is_empty() {
                page.push('\n');
            }
            let (name, settings) = (generation.name.as_str(), settings_words(generation));
            let seed = generation.config.seed;
            let title = format!("{letter} · {name} · {settings} · seed {seed}");
            // The title is one line, even if the name has line breaks.
            page.push_str(&title.replace(['\n', '\r'], " "));
            page.push_str("\n\n");
            if generation.previous_turn.is_some() {
                push_turns(&mut page, generation, facts);
                continue;
            }
            page.push_str(&generation.prompt.text);
            page.push_str(&facts.text_of(generation));
            page.push('\n');
            push_notes(&mut page, generation, facts);
        }
    }
    page
}

/// Appends each turn: its number, the message, and the answer.
fn push_turns(page: &mut String, last: &Generation, facts: FileFacts) {
    for (number, turn) in (1_usize..).zip(last.turns()) {
        if number > 1 {
            page.push('\n');
        }
        let (number, message) = (number.to_string(), &turn.prompt.text);
        page.extend(["Turn ", &number, "\n\n", message, "\n\n"]);
        page.push_str(facts.text_of(turn).trim_start());
        page.push('\n');
        push_notes(page, turn, facts);
    }
}

fn push_notes(page: &mut String, text: &Generation, facts: FileFacts) {
    for words in notes(text, facts) {
        page.push_str(&format!("\n{words}\n").replace('\r', " "));
    }
}

#[cfg(test)]
mod tests {
    use super::{FileFacts, render};
    use crate::generation::testing::generation;

    #[test]
    fn each_text_follows_its_prompt_under_its_pane() {
        let text = generation(&[(" a", 0.5), (" fox", 0.5), ("</s>", 0.5)]);
        let facts = FileFacts {
            finished_at: Some(1_700_000_000),
            ..FileFacts::default()
        };
        assert_eq!(
            render(&[None, Some(&text), Some(&text)], facts),
            "Finished 2023-11-14 22:13 UTC\n\n\
             B · Top-p · T 0.7 · seed 42\n\nOnce there was a fox\n\n\
             C · Top-p · T 0.7 · seed 42\n\nOnce there was a fox\n"
        );
    }
}
