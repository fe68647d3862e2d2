//! Tests of lists of tasks: formats, templates, checks and notes.

mod files;
mod mistakes;

use super::*;

/// Reads a file that has no mistake.
fn read(name: &str, text: &str) -> TaskFile {
    TaskFile::read(name, text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Makes the tasks of a file, with a template or checks that have no mistake.
fn tasks(file: &TaskFile, template: Option<&str>, checks: &[&str]) -> TaskList {
    let checks: Vec<String> = checks.iter().map(|check| (*check).to_owned()).collect();
    let tasks = file.tasks(template, &checks);
    tasks.unwrap_or_else(|error| panic!("{error}"))
}

/// Makes the tasks of a file that needs neither a template nor checks.
fn own_tasks(name: &str, text: &str) -> TaskList {
    tasks(&read(name, text), None, &[])
}

fn texts(list: &TaskList) -> Vec<&str> {
    let texts = list.tasks.iter().map(|task| match &task.prompt {
        TaskPrompt::Text { text, .. } => text.as_str(),
        TaskPrompt::Messages { .. } => panic!("the prompt has messages"),
    });
    texts.collect()
}

fn lines(list: &TaskList) -> Vec<usize> {
    list.tasks.iter().map(|task| task.line).collect()
}

fn specs(task: &Task) -> Vec<String> {
    task.checks.iter().map(Check::spec).collect()
}

#[test]
fn columns_stand_in_single_or_double_braces() {
    let file = read("a.csv", "city,full name\nOslo,Kari {N}\n");
    for (template, expected) in [
        ("Where is {city}?", "Where is Oslo?"),
        ("{{city}}, {{ city }}", "Oslo, Oslo"),
        ("{full name}: {city}{city}", "Kari {N}: OsloOslo"),
        (
            r#"{"name": "{city}", "n": {}}"#,
            r#"{"name": "Oslo", "n": {}}"#,
        ),
        (r#"{"a": {"b": 1}}"#, r#"{"a": {"b": 1}}"#),
        ("{{{city}}} { city } {3} {a b}", "{Oslo} { city } {3} {a b}"),
        (r"\boxed{} \p{Greek} {", r"\boxed{} \p{Greek} {"),
        ("Fill {{blank}}", "Fill {blank}"),
    ] {
        assert_eq!(
            texts(&tasks(&file, Some(template), &[])),
            [expected],
            "{template}"
        );
    }
    let notes = tasks(&file, Some("{{blank}}"), &[]).notes;
    assert_eq!(
        notes,
        ["‘{{blank}}’ names no column; it stands for ‘{blank}’"]
    );
}

#[test]
fn checks_take_the_texts_of_columns_as_they_are() {
    let text = "q,answer,pattern\nA,\"x, \"\"y\"\" | z\",\\d{3}\nB,w,[a-z]\n";
    let file = read("a.csv", text);
    let list = tasks(
        &file,
        Some("{q}"),
        &[
            "choice: {answer} | none",
            r"regex: ^({pattern}|\p{Lu}{2})$",
            "max words: 9",
        ],
    );
    assert_eq!(
        specs(&list.tasks[0]),
        [
            r#"choice: "x, \"y\" | z" | none"#,
            r"regex: ^(\d{3}|\p{Lu}{2})$",
            "max words: 9"
        ]
    );
    assert_eq!(specs(&list.tasks[1])[0], "choice: w | none");
    assert!(list.tasks.iter().all(|task| task.is_judged));
    assert_eq!(
        list.tasks[1].expected_words(),
        "w | none; regex: ^([a-z]|\\p{Lu}{2})$; max words: 9"
    );
}

#[test]
fn the_files_own_checks_come_last() {
    let file = read("a.csv", "prompt,expected\nA,Oslo\nB,contains: b\nC,\n");
    let list = tasks(&file, None, &["max words: 5"]);
    assert_eq!(specs(&list.tasks[0]), ["max words: 5", "equals: Oslo"]);
    assert_eq!(specs(&list.tasks[1]), ["max words: 5", "contains: b"]);
    assert!(list.tasks[2].is_judged);
    assert!(list.notes.is_empty());
    let list = tasks(&file, None, &[]);
    assert!(!list.tasks[2].is_judged);
    assert_eq!(
        list.notes,
        ["1 of 3 tasks expects nothing; it isn’t judged"]
    );
    assert_eq!(list.tasks[0].expected_words(), "Oslo");
    assert_eq!(list.tasks[1].expected_words(), "contains: b");
    assert_eq!(list.tasks[2].expected_words(), "");
}

#[test]
fn a_template_replaces_the_files_own_prompts() {
    let file = read("a.csv", "prompt,system\nA,Be kind\nB, \n");
    let systems = |list: &TaskList| {
        let system = |task: &Task| match &task.prompt {
            TaskPrompt::Text { system, .. } => system.clone(),
            TaskPrompt::Messages { .. } => None,
        };
        list.tasks.iter().map(system).collect::<Vec<_>>()
    };
    let kind = Some("Be kind".to_owned());
    let own = tasks(&file, None, &[]);
    assert_eq!(texts(&own), ["A", "B"]);
    assert_eq!(systems(&own), [kind.clone(), None]);
    let list = tasks(&file, Some("Q: {prompt}"), &[]);
    assert_eq!(texts(&list), ["Q: A", "Q: B"]);
    assert_eq!(systems(&list), [kind, None]);
    let list = tasks(&file, Some("{system}! {prompt}"), &[]);
    assert_eq!(texts(&list), ["Be kind! A", " ! B"]);
    assert_eq!(systems(&list), [None, None]);
}

#[test]
fn a_prompt_is_shown_in_one_line() {
    let list = own_tasks("a.jsonl", "{\"prompt\": \"a\\n  b\"}\n");
    assert_eq!(list.tasks[0].prompt_words(), "a b");
    let messages = r#"{"messages": [{"role": "user", "content": "first"}, {"role": "user", "content": "last\n"}, {"role": "assistant", "content": "So"}]}"#;
    let list = own_tasks("a.jsonl", messages);
    assert_eq!(list.tasks[0].prompt_words(), "last");
    let long = own_tasks("a.txt", &"word ".repeat(10_000));
    assert!(long.tasks[0].prompt_words().chars().count() < 130);
}

#[test]
fn assertions_that_are_not_judged_are_counted() {
    let text = "q,__expected,__expected2\n\
        A,contains: a,llm-rubric: kind\n\
        B,equals: b,\n\
        C,llm-rubric: kind,grade: good\n\
        D,similar(0.8): d,\n\
        E,,\n";
    let file = read("a.csv", text);
    let list = tasks(&file, Some("{{q}}"), &[]);
    let judged: Vec<bool> = list.tasks.iter().map(|task| task.is_judged).collect();
    assert_eq!(judged, [false, true, false, false, false]);
    assert_eq!(specs(&list.tasks[0]), ["contains: a"]);
    assert_eq!(
        list.notes,
        [
            "2 of 5 tasks use ‘llm-rubric’, first on line 2; they aren’t judged",
            "1 of 5 tasks uses ‘similar’, first on line 5; it isn’t judged",
            "1 of 5 tasks expects nothing; it isn’t judged",
        ]
    );
}

#[test]
fn patterns_on_many_lines_take_bounded_memory() {
    use super::super::checks::Answer;
    use std::fmt::Write as _;

    let mut text = String::from("prompt,expected\n");
    for index in 0..20_000 {
        writeln!(text, "{index},\"regex: \\w{{50}} a,b\"").unwrap();
    }
    assert_eq!(own_tasks("a.csv", &text).tasks.len(), 20_000);
    let mut text = String::from("prompt,expected\n");
    for index in 0..300 {
        writeln!(text, "{index},regex: ^a{index}$").unwrap();
        writeln!(text, "{index},schema: {{\"const\": {index}}}").unwrap();
    }
    for (index, task) in own_tasks("a.csv", &text).tasks.iter().enumerate() {
        let number = index / 2;
        let (right, wrong) = match index % 2 {
            0 => (format!("a{number}"), "a"),
            _ => (number.to_string(), "-1"),
        };
        let judge = |text| {
            let is_complete = true;
            task.checks[0]
                .judge(Answer { text, is_complete })
                .is_right()
        };
        assert!(judge(&right) && !judge(wrong), "{right}");
    }
}
