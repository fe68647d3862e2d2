//! The lists of tasks that come with Quartet.

use super::StopAt;

/// A list of tasks that comes with Quartet.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its label in the menu.
    pub name: &'static str,
    /// The models that it suits.
    pub suits: &'static str,
    pub file: &'static str,
    pub text: &'static str,
    /// Empty if the file has its own prompts.
    pub template: &'static str,
    /// What a right answer is, besides what the file says.
    pub checks: &'static [&'static str],
    /// The maximum number of tokens of an answer.
    pub n_tokens: usize,
    pub stop: StopAt,
}

/// The lists that come with Quartet, in menu order.
pub const EXAMPLES: [Example; 4] = [
    Example {
        name: "Stories",
        suits: "The built-in model",
        file: "stories.csv",
        text: include_str!("../../../../assets/tasks/stories.csv"),
        template: "{start}",
        checks: &[r#"equals: " {word}""#],
        n_tokens: 8,
        stop: StopAt::Punctuation,
    },
    Example {
        name: "Facts and arithmetic",
        suits: "Models that know facts; a raw prompt",
        file: "facts.csv",
        text: include_str!("../../../../assets/tasks/facts.csv"),
        template: include_str!("../../../../assets/tasks/facts-prompt.txt").trim_ascii_end(),
        checks: &[r#"equals: " {answer}""#],
        n_tokens: 12,
        stop: StopAt::LineBreak,
    },
    Example {
        name: "Reviews",
        suits: "Models that read English; a raw prompt",
        file: "sentiment.csv",
        text: include_str!("../../../../assets/tasks/sentiment.csv"),
        template: include_str!("../../../../assets/tasks/sentiment-prompt.txt").trim_ascii_end(),
        checks: &[r#"equals: " {label}""#],
        n_tokens: 6,
        stop: StopAt::LineBreak,
    },
    Example {
        name: "Sentences to JSON",
        suits: "Chat models",
        file: "extraction.jsonl",
        text: include_str!("../../../../assets/tasks/extraction.jsonl"),
        template: "",
        checks: &[],
        n_tokens: 120,
        stop: StopAt::AsInWrite,
    },
];

#[cfg(test)]
mod tests {
    use super::super::prepared::PreparedTasks;
    use super::super::{PromptsTab, TaskSource};
    use super::EXAMPLES;

    fn prepared(index: usize) -> PreparedTasks {
        let mut tab = PromptsTab::default();
        tab.use_source(TaskSource::Example(index));
        tab.form.tasks().unwrap().clone()
    }

    #[test]
    fn every_list_has_thirty_different_tasks_that_are_judged() {
        for (index, example) in EXAMPLES.iter().enumerate() {
            let (name, prepared) = (example.name, prepared(index));
            let tasks = &prepared.tasks;
            assert_eq!(tasks.len(), 30, "{name}");
            assert!(tasks.iter().all(|task| task.is_judged), "{name}");
            assert_eq!(prepared.notes, Vec::<String>::new(), "{name}");
            assert_eq!(prepared.refusal, None, "{name}");
            assert_eq!(prepared.is_exact, !example.checks.is_empty(), "{name}");
            for (index, task) in tasks.iter().enumerate() {
                let is_repeated = tasks
                    .iter()
                    .take(index)
                    .any(|other| other.prompt == task.prompt);
                assert!(!is_repeated, "{name}, line {}", task.line);
            }
        }
    }

    #[test]
    fn a_template_ends_where_the_answer_begins() {
        for example in EXAMPLES {
            let has_space = example.template.ends_with(char::is_whitespace);
            assert!(!has_space, "{}", example.name);
        }
    }
}
