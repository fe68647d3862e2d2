//! Tests of the formats of files, without mistakes.

use super::super::{Role, TaskPrompt};
use super::{lines, own_tasks, read, specs, tasks, texts};

fn messages(list: &super::TaskList, index: usize) -> Vec<(Role, &str)> {
    let TaskPrompt::Messages { messages, .. } = &list.tasks[index].prompt else {
        panic!("no messages");
    };
    let pairs = messages
        .iter()
        .map(|message| (message.role, message.content.as_str()));
    pairs.collect()
}

#[test]
fn the_format_follows_from_the_name_and_the_content() {
    let object = "{\"prompt\": \"a\"}\n";
    let list = "[{\"prompt\": \"a\"}]";
    let csv = "prompt,expected\na,b\n";
    let cases = [
        ("a.txt", object, "Plain lines"),
        ("a.csv", csv, "CSV"),
        ("a.TSV", "prompt\texpected\na\tb\n", "CSV"),
        ("a.jsonl", object, "JSON Lines"),
        ("a.ndjson", object, "JSON Lines"),
        ("a.json", list, "JSON"),
        ("a.jsonl", list, "JSON"),
        ("a.json", object, "JSON Lines"),
        ("-", object, "JSON Lines"),
        ("-", list, "JSON"),
        ("-", csv, "CSV"),
        ("-", "a, b\nc\n", "Plain lines"),
        ("-", "[1] is a number\n", "Plain lines"),
        ("-", "prompt\na\n", "Plain lines"),
        ("prompts", "a,__expected\nb,c\n", "CSV"),
    ];
    for (name, text, expected) in cases {
        assert_eq!(read(name, text).format_name(), expected, "{name}: {text}");
    }
}

#[test]
fn each_line_with_words_is_a_prompt() {
    let list = own_tasks("a.txt", "\u{feff}Once upon\r\n\n  \n The fox \nlast");
    assert_eq!(texts(&list), ["Once upon", " The fox ", "last"]);
    assert_eq!(lines(&list), [1, 4, 5]);
    assert!(list.tasks.iter().all(|task| !task.is_judged));
    assert!(list.notes.is_empty());
    assert!(read("a.txt", "a").has_prompts());
}

#[test]
fn csv_is_read_as_spreadsheets_write_it() {
    let text =
        "\u{feff}prompt;expected;\r\n\"a;\r\n\"\"b\"\"\";x\";\r\n\r\nc;\"contains: å\";\r\n;;\r\n";
    let list = own_tasks("a.csv", text);
    assert_eq!(texts(&list), ["a;\r\n\"b\"", "c"]);
    assert_eq!(lines(&list), [2, 5]);
    assert_eq!(specs(&list.tasks[0]), ["equals: x\""]);
    assert_eq!(specs(&list.tasks[1]), ["contains: å"]);
    for text in [
        "prompt,x\na,b",
        "prompt\tx\na\tb\n",
        "prompt;x\ra;b\r",
        " prompt ,x\na,b",
    ] {
        let file = read("a.csv", text);
        assert_eq!(file.columns, ["prompt", "x"], "{text}");
        assert_eq!(texts(&tasks(&file, None, &[])), ["a"], "{text}");
        assert_eq!(lines(&tasks(&file, None, &[])), [2], "{text}");
    }
    let list = own_tasks("a.csv", "prompt\na\n\nb\n");
    assert_eq!((texts(&list), lines(&list)), (vec!["a", "b"], vec![2, 4]));
}

#[test]
fn the_prompt_is_the_first_known_column() {
    for (header, expected) in [
        ("input,question,prompt", "c"),
        ("input,question,x", "b"),
        ("x,y,input", "c"),
    ] {
        let list = own_tasks("a.csv", &format!("{header}\na,b,c\n"));
        assert_eq!(texts(&list), [expected], "{header}");
    }
    assert!(!read("a.csv", "x\na\n").has_prompts());
}

#[test]
fn the_columns_of_promptfoo_have_their_meaning() {
    let text = "question,expected,system,__expected,__expected2,__prefix,__suffix,__description,\
        __threshold,__config:__expected:threshold\n\
        Who?,Kari,s,equals: {{expected}},\"contains-any: {{ expected }}, {{x}}\",Q: , (short),d,0.5,1\n";
    let file = read("a.csv", text);
    assert_eq!(file.columns, ["question", "expected", "system"]);
    let list = tasks(&file, Some("{{question}}"), &[]);
    let text = "Q: Who? (short)".to_owned();
    let system = None;
    assert_eq!(list.tasks[0].prompt, TaskPrompt::Text { text, system });
    assert_eq!(
        specs(&list.tasks[0]),
        ["equals: Kari", "contains-any: Kari, {{x}}"]
    );
    assert_eq!(
        list.notes,
        [
            "‘__threshold’ isn’t read: all checks of a task must hold",
            "‘__config:__expected:threshold’ isn’t read: no check has a threshold",
        ]
    );
    let notes = own_tasks("a.csv", "prompt,_expected\na,b\n").notes;
    assert_eq!(
        notes,
        ["‘_expected’ is a variable; an assertion has two underscores"]
    );
    assert_eq!(
        texts(&own_tasks("a.csv", "prompt,__expected\na,b\n")),
        ["a"]
    );
}

#[test]
fn json_has_prompts_messages_and_checks() {
    let json = r#"{"prompt": "a", "expect": "contains: b", "n": 3, "ok": true, "none": null, "list": [1]}

{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], "expect": ["Oslo", "max words: 3"]}
{"question": "q", "system": "s", "expect": ["llm-rubric: kind"]}
{"messages": [{"role": "assistant", "content": "a"}], "system": "s", "expect": null}
"#;
    let file = read("a.jsonl", json);
    let mut columns = file.columns.clone();
    columns.sort_unstable();
    assert_eq!(
        columns,
        ["expect", "n", "ok", "prompt", "question", "system"]
    );
    let list = tasks(&file, None, &[]);
    assert_eq!(lines(&list), [1, 3, 4, 5]);
    assert_eq!(specs(&list.tasks[0]), ["contains: b"]);
    assert_eq!(messages(&list, 1), [(Role::System, "s"), (Role::User, "u")]);
    assert_eq!(specs(&list.tasks[1]), ["equals: Oslo", "max words: 3"]);
    let (text, system) = ("q".to_owned(), Some("s".to_owned()));
    assert_eq!(list.tasks[2].prompt, TaskPrompt::Text { text, system });
    assert_eq!(
        messages(&list, 3),
        [(Role::System, "s"), (Role::Assistant, "a")]
    );
    let array = json
        .trim()
        .replace("}\n\n{", "},\n\n{")
        .replace("}\n{", "},\n{");
    let array = read("a.json", &format!("\n[\n{array}\n]\n"));
    let of_array = tasks(&array, None, &[]);
    assert_eq!(lines(&of_array), [3, 5, 6, 7]);
    for (one, other) in list.tasks.iter().zip(&of_array.tasks) {
        assert_eq!((&one.prompt, &one.checks), (&other.prompt, &other.checks));
    }
    let first = read("b.jsonl", json.lines().next().unwrap());
    let filled = tasks(&first, Some("{n} {ok} {prompt}"), &[]);
    assert_eq!(texts(&filled), ["3 true a"]);
}

#[test]
fn the_samples_of_openai_evals_are_read() {
    let text = r#"{"input": [{"role": "system", "content": "s"}, {"role": "system", "name": "example_user", "content": "1+1"}, {"role": "system", "name": "example_assistant", "content": "2"}, {"role": "user", "content": "2+2"}], "ideal": "4"}
{"input": "Capital of Norway?", "ideal": ["Oslo", "The capital, Oslo"]}
"#;
    let list = own_tasks("a.jsonl", text);
    assert_eq!(
        messages(&list, 0),
        [
            (Role::System, "s"),
            (Role::User, "1+1"),
            (Role::Assistant, "2"),
            (Role::User, "2+2")
        ]
    );
    assert_eq!(specs(&list.tasks[0]), ["starts-with: 4"]);
    assert_eq!(
        specs(&list.tasks[1]),
        [r#"starts-with-any: Oslo, "The capital, Oslo""#]
    );
    let note = "‘ideal’ is judged as by ‘Match’ of OpenAI’s evals: the answer starts with it";
    assert_eq!(list.notes, [note]);
}

#[test]
fn assertions_of_promptfoo_in_json_are_named() {
    let text = "{\"prompt\": \"a\", \"assert\": [{\"type\": \"equals\", \"value\": \"b\"}]}";
    let list = own_tasks("a.jsonl", text);
    assert!(!list.tasks[0].is_judged);
    assert_eq!(
        list.notes,
        ["1 of 1 tasks uses ‘assert’, first on line 1; it isn’t judged"]
    );
}

#[test]
fn a_task_can_ask_for_the_answer_to_a_tools_result() {
    let call = r#"{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}"#;
    let line = format!(
        r#"{{"messages": [{{"role": "user", "content": "Rain?"}}, {{"role": "assistant", "content": null, "tool_calls": [{call}]}}, {{"role": "tool", "content": "no", "tool_call_id": "c1"}}], "tools": [{{"type": "function"}}]}}"#
    );
    let list = own_tasks("a.jsonl", &line);
    let TaskPrompt::Messages { messages, tools } = &list.tasks[0].prompt else {
        panic!("no messages");
    };
    assert_eq!(tools.len(), 1);
    assert_eq!(messages[1].content, "");
    assert_eq!(messages[1].tool_calls[0]["id"], "c1");
    assert_eq!(messages[2].role, Role::Tool);
    assert_eq!(messages[2].call.tool_call_id.as_deref(), Some("c1"));
}
