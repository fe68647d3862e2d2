//! A new lesson file, with the setup of a window and an example step.

use super::lesson::Setup;

/// Returns a lesson file for a teacher to continue. `tab` is the dock's tab at the beginning.
pub fn draft(setup: &Setup, tab: &str, stop: Option<&str>, any_model: bool) -> String {
    let Setup {
        prompt,
        panes,
        seed,
        tokens,
        chat,
        ..
    } = setup;
    let panes: Vec<String> = panes
        .iter()
        .map(|pane| format!("    {},\n", quoted(&pane.to_string())))
        .collect();
    let chat = if *chat { "chat = true\n" } else { "" };
    let stop = stop.map(|stop| format!(", {}", quoted(&format!("stop: {stop}"))));
    format!(
        r#"# A lesson for Quartet.
# `quartet lesson check FILE` reports the line of a mistake, and `quartet lesson rehearse FILE`
# takes the lesson and prints its texts. assets/lessons/README.md describes the format.
format = 1
id = "my-lesson"
title = "My lesson"
summary = "What it is about, in one line"
minutes = 4
any_model = {any_model}
ending = "What to remember, and what to show someone."

[setup]
prompt = {}
{chat}panes = [
{}]
seed = {seed}
tokens = {tokens}
acts = [{}{}]

# A step is predict, do, see, why. Repeat it as often as you need.
[[step]]
see = "It has {{A.tokens}} tokens, and it ended because of: {{A.end}}."
why = "Say in two or three sentences why this happened."
more = "A longer text for those who read on."

[step.predict]
ask = "Will the text of pane A reach the token limit?"
[[step.predict.choice]]
text = "Yes"
when = ["A.end == \"token limit\""]
[[step.predict.choice]]
text = "No, it will end earlier"
when = ["A.end != \"token limit\""]

[step.do]
text = "Press Generate."
ring = "generate"
check = ["A.finished"]
solve = ["generate"]
"#,
        quoted(prompt),
        panes.concat(),
        quoted(&format!("tab {tab}")),
        stop.unwrap_or_default(),
    )
}

/// Quotes a text. JSON and TOML escape the same characters, except that TOML also escapes the
/// delete character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::draft;
    use crate::lessons::lesson::Setup;
    use crate::lessons::{Act, Lesson};

    #[test]
    fn a_draft_is_a_lesson_with_the_same_setup() {
        let panes = [
            "temp 0.7, name \"Say \\\"hi\\\"\"",
            "top-k 40, seed 3",
            "grammar regex \"[a-z]+\"",
        ];
        let setup = Setup {
            chat: true,
            prompt: "\"Hello\",\nsaid \u{7f}the {fox} \\ \u{1f98a}".to_owned(),
            panes: panes.map(|pane| pane.parse().unwrap()).to_vec(),
            seed: 7,
            tokens: 60,
            acts: Vec::new(),
        };
        let source = draft(&setup, "x-ray", Some("\n\n"), true);
        let lesson = Lesson::from_toml(&source).unwrap();
        assert!(lesson.any_model);
        let acts = vec![Act::Tab("x-ray"), Act::Stop("\n\n".to_owned())];
        assert_eq!(lesson.setup, Setup { acts, ..setup });
    }
}
