//! The pages as Markdown files for the documentation.

use std::fmt::Write as _;

use super::picture::TEXT;
use super::{ADVICE, Page, Picture, Subject, before};
use crate::generation::formatting::percent;

/// The widest bar, in characters.
const WIDEST: f64 = 24.0;

impl Page {
    /// Returns the page as Markdown.
    #[must_use]
    pub fn markdown(self) -> String {
        let mut page = format!("# {}\n\n{}\n", self.name(), self.help());
        let mut add = |words: &str| {
            page.push('\n');
            page.push_str(words);
            page.push('\n');
        };
        add(&format!("    {}", self.formula()));
        let numbers = self.numbers();
        if !numbers.is_empty() {
            add(&list(numbers.iter().map(String::as_str)));
        }
        if let Some(picture) = self.picture() {
            add(&picture_markdown(&picture));
        }
        add("## Ties and limits");
        add(&list(self.edges().iter().copied()));
        let engines = self.engines();
        let tools = self.tools();
        if matches!(self.subject, Subject::Filter(_)) {
            add("## Engines");
            if engines.is_empty() {
                add("None of the engines whose order Quartet knows has it.");
            } else {
                add(self.engines_markdown().trim_end());
            }
        } else if !tools.is_empty() {
            add("## Tools");
            add(&format!(
                "Quartet writes it for {}, and reads it back.",
                tools.join(", ")
            ));
        }
        add("## Source");
        add(&format!("{}.", self.source().trim_end_matches('.')));
        let lessons = self.lessons();
        if !lessons.is_empty() {
            let titles = lessons.iter().map(|lesson| format!("*{}*", lesson.title));
            let titles: Vec<String> = titles.collect();
            add(&format!("In the lessons: {}.", titles.join(", ")));
        }
        page
    }

    fn engines_markdown(self) -> String {
        let mut table = "| engine | place | default | its names | looks at | read at |\n\
             | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for engine in self.engines() {
            let names = match engine.names.as_str() {
                "" => String::new(),
                names => format!("`{}`", names.replace(", ", "`, `")),
            };
            writeln!(
                table,
                "| {} | {} | {} | {names} | {} | {} |",
                engine.engine,
                engine.place,
                engine.default,
                engine.window.unwrap_or_default(),
                engine.read_at
            )
            .ok();
        }
        table
    }

    /// Returns the list of all pages, with the advice, as Markdown.
    #[must_use]
    pub fn index_markdown() -> String {
        let mut index = "# Filters and draws\n\n\
             A page for each, generated from the code: what it computes, what it does to ten \
             candidates, what happens at ties and limits, which engines have it, and its paper.\n\
             The pictures are computed by the filters and the draws themselves.\n\
             All start from the same distribution"
            .to_owned();
        let parts = before().map(|(word, prob)| format!("‘{word}’ {}", percent(prob)));
        let parts: Vec<String> = parts.collect();
        write!(
            index,
            ", {}, after the text ‘{TEXT}’.\n\n| page | what it does |\n| --- | --- |\n",
            parts.join(", ")
        )
        .ok();
        for page in Self::all() {
            let (name, id, help) = (page.name(), page.id(), page.help());
            writeln!(index, "| [{name}]({id}.md) | {help} |").ok();
        }
        for advice in ADVICE {
            write!(index, "\n## {}\n\n{}\n\n", advice.symptom, advice.cause).ok();
            for remedy in advice.remedies {
                let settings = match (remedy.preset, remedy.settings) {
                    (Some(name), _) => format!("The preset **{name}**: "),
                    (None, "") => String::new(),
                    (None, settings) => format!("`{settings}`: "),
                };
                writeln!(index, "- {settings}{}", remedy.words).ok();
            }
        }
        index
    }
}

fn picture_markdown(picture: &Picture) -> String {
    let mut text = format!("    {}\n\n", picture.caption);
    for bar in &picture.bars {
        let after = bar.after.map_or_else(|| "-".to_owned(), percent);
        let line = format!(
            "    {:<7}{:>6}  {:<24}{:>8}  {}",
            bar.word,
            percent(bar.before),
            blocks(bar.before),
            after,
            blocks(bar.after.unwrap_or_default()),
        );
        // Writing to a string can't fail.
        writeln!(text, "{}", line.trim_end()).ok();
    }
    text.truncate(text.trim_end().len());
    text
}

fn list<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
    lines.join("\n")
}

/// Returns a bar for a probability, without a fraction of a block.
#[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
fn blocks(prob: f64) -> String {
    let n = (prob * WIDEST).round() as usize;
    "█".repeat(n)
}
