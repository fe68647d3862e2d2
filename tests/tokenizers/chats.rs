//! Compares chat templates with Jinja2 as transformers configures it (`make_chats.py`), and tries
//! hostile ones.

use std::collections::BTreeMap;
use std::path::Path;

use quartet::engine::{ChatError, ChatTemplate, Message};
use quartet::generation::{ChatMessage, TemplateKwargs};
use quartet::interop::Messages;
use serde_json::Value;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tokenizers")
}

fn parse(source: &str) -> Result<ChatTemplate, ChatError> {
    let special = [("bos_token", "<s>"), ("eos_token", "</s>")];
    let special = special.map(|(name, text)| (name.to_owned(), text.to_owned()));
    ChatTemplate::parse(source, BTreeMap::from(special))
}

fn system(content: &str) -> Message {
    Message::System(content.to_owned())
}

fn user(content: &str) -> Message {
    Message::Other(ChatMessage::user(content))
}

/// Reads messages in the form of OpenAI's API.
fn chat_of(value: &Value) -> Vec<Message> {
    let read = Messages::parse(&value.to_string()).unwrap();
    let last = read.last.map(|last| read.tools.message(&last));
    let others = read.history.into_iter().chain(last);
    let system = read.system.into_iter().map(Message::System);
    system.chain(others.map(Message::Other)).collect()
}

/// Renders a chat with a single user message.
fn render_question(source: &str) -> Result<String, ChatError> {
    parse(source)?.render(&[user("Why?")], true, &TemplateKwargs::new())
}

#[test]
fn each_template_renders_like_jinja2() {
    let fixture = std::fs::read(folder().join("chats.json")).unwrap();
    let fixture: Value = serde_json::from_slice(&fixture).unwrap();
    let templates = fixture["templates"].as_object().unwrap();
    assert_eq!(templates.len(), 11);
    for (name, cases) in templates {
        let file = folder().join(format!("templates/{name}.jinja"));
        let template = parse(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in cases.as_array().unwrap() {
            let chat = &fixture["chats"][case["chat"].as_str().unwrap()];
            let awaits_answer = case["awaits_answer"].as_bool().unwrap();
            let tools = chat
                .get("tools")
                .map(|tools| ("tools".to_owned(), tools.clone()));
            let variables = TemplateKwargs::from_iter(tools);
            let found = template.render(&chat_of(chat), awaits_answer, &variables);
            let place = format!("{name}, {}", case["chat"]);
            match (case["rendered"].as_str(), found) {
                (Some(expected), Ok(found)) => assert_eq!(found, expected, "{place}"),
                // transformers silently omits the system message; Quartet returns an error.
                (Some(_), Err(error)) => {
                    assert_eq!(
                        (name.as_str(), error),
                        ("signs", ChatError::SystemPromptIgnored)
                    );
                }
                (None, found) => {
                    let error = found.unwrap_err().to_string();
                    let reason = case["refused"].as_str().unwrap();
                    assert!(error.ends_with(reason), "{place}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_template_without_system_messages_reports_an_error() {
    let refuses =
        "{% if messages[0].role == 'system' %}{{ raise_exception('No system!') }}{% endif %}
        {{- messages[-1].content }}";
    let ignores =
        "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}";
    let chat = [system("Rhyme."), user("Why?")];
    for (source, sentence) in [
        (
            refuses,
            "the model’s chat template does not accept a system prompt: No system!",
        ),
        (
            ignores,
            "the model’s chat template ignores the system prompt; put its text into the prompt instead",
        ),
    ] {
        let template = parse(source).unwrap();
        let error = template
            .render(&chat, true, &TemplateKwargs::new())
            .unwrap_err();
        assert_eq!(error.to_string(), sentence);
        assert_eq!(
            template
                .render(&chat[1..], true, &TemplateKwargs::new())
                .unwrap(),
            "Why?"
        );
    }
}

#[test]
fn a_system_message_that_equals_the_templates_default_is_accepted() {
    let file = folder().join("templates/chatml.jinja");
    let template = parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    let question = user("Be of help. Why?");
    let default = template
        .render(
            std::slice::from_ref(&question),
            true,
            &TemplateKwargs::new(),
        )
        .unwrap();
    let explicit = [system("Be of help."), question.clone()];
    assert_eq!(
        template
            .render(&explicit, true, &TemplateKwargs::new())
            .unwrap(),
        default
    );

    let trims = "{% for m in messages %}{{ m.content | trim }}{% endfor %}";
    let blank = [system(" \n"), question.clone()];
    let rendered = parse(trims)
        .unwrap()
        .render(&blank, true, &TemplateKwargs::new());
    assert_eq!(rendered.unwrap(), "Be of help. Why?");

    let ignores = parse("{{ messages[-1].content }}").unwrap();
    let error = ignores
        .render(&explicit, true, &TemplateKwargs::new())
        .unwrap_err();
    assert_eq!(error, ChatError::SystemPromptIgnored);
}

#[test]
fn template_errors_name_the_line_and_the_reason() {
    for (source, sentence) in [
        (
            "{% for m in messages %}\n{{ m.content",
            "could not be understood on line 2: unexpected end of input",
        ),
        (
            "\n{% nonsense %}",
            "could not be understood on line 2: unknown statement nonsense",
        ),
        (
            "\n\n{{ raise_exception('Not like this') }}",
            "the model’s chat template rejects this chat: Not like this",
        ),
        (
            "{% macro m() %}\n{{ raise_exception('Deep') }}{% endmacro %}{{ m() }}",
            "the model’s chat template rejects this chat: Deep",
        ),
        (
            "a\n{{ tool.name.first }}",
            "failed on line 2: undefined value",
        ),
        (
            "\n{{ 1 + 'a' }}",
            "failed on line 2: tried to use + operator",
        ),
        (
            "{{ messages | nosuch }}",
            "line 1: filter nosuch is unknown",
        ),
        ("{{ nosuch() }}", "failed on line 1: nosuch is unknown"),
        ("{{ strftime_now('%!') }}", "failed on line 1: "),
        (
            "{{ x | tojson }}",
            "line 1: an undefined value cannot be converted to JSON",
        ),
        ("{% include 'other' %}", "failed on line 1: "),
    ] {
        let error = render_question(source).unwrap_err().to_string();
        assert!(error.contains(sentence), "{source:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn hostile_templates_end_with_an_error() {
    let endless = "ran for too long";
    let long = "x".repeat(2 << 20);
    let raw = "x".repeat(1 << 17);
    let raw =
        format!("{{% set x %}}{{% for i in range(99999) %}}{raw}{{% endfor %}}{{% endset %}}");
    for (source, sentence) in [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = b %}{% endfor %}{% endfor %}",
            endless,
        ),
        (
            "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
            "recursion limit exceeded",
        ),
        (
            "{% for m in messages recursive %}{{ loop(messages) }}{% endfor %}",
            "recursion limit exceeded",
        ),
        ("{{ 'x' * 99999999999 }}", "failed on line 1: "),
        ("{{ 'x' * 50000000 }}", "produced more than 16777216 bytes"),
        (
            "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
            "produced more than 16777216 bytes",
        ),
        (
            "{% set x %}{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}{% endset %}",
            "produced more than 16777216 bytes",
        ),
        (
            "{{ ['x' * 9999] * 9999999 }}",
            "produced more than 16777216 bytes",
        ),
        (
            "{{ (['x'] * 99999999) | tojson }}",
            "produced more than 16777216 bytes",
        ),
        (
            "{{ messages | tojson(indent=['x'] * 99999999) }}",
            "produced more than 16777216 bytes",
        ),
        (&raw, endless),
        (
            "{{ range(999999999) | list }}",
            "range has too many elements",
        ),
        (
            "{{ messages | tojson(indent=-1) }}",
            "tojson cannot indent by -1",
        ),
        (&long, "has 2097152 bytes, but at most 262144 are allowed"),
    ] {
        let error = render_question(source).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }
}

/// Tests the longest templates that are parsed, nested as deeply as possible.
#[test]
fn deeply_nested_expressions_do_not_overflow_the_stack() {
    const N_BYTES: usize = 262_144;
    for (start, repeated, end) in [
        ("{{ ", "-", "1 }}"),
        ("{{ ", "not ", "1 }}"),
        ("{{ 1", "~1", " }}"),
        ("{{ 1", "+1", " }}"),
        ("{{ 1", "**1", " }}"),
        ("{{ 1", "==1", " }}"),
        ("{{ 1", " and 1", " }}"),
        ("{{ 1", " if 1 else 1", " }}"),
        ("{{ x", ".b", " }}"),
        ("{{ x", "[0]", " }}"),
        ("{{ x", "()", " }}"),
        ("{{ x", "|upper", " }}"),
        ("{% if 1 %}", "{% elif 1 %}", "{% endif %}"),
        ("{{ ", "(", "1"),
        ("", "{% if 1 %}", ""),
    ] {
        let n_repeated = (N_BYTES - start.len() - end.len()) / repeated.len();
        let source = [start, &repeated.repeat(n_repeated), end].concat();
        // Whether it renders does not matter, but the program must survive.
        if let Err(error) = render_question(&source) {
            assert_ne!(error, ChatError::Panicked, "{repeated:?}");
        }
    }
}

#[test]
fn deeply_nested_values_do_not_overflow_the_stack() {
    let nested = "{% set ns = namespace(x=[]) %}{% for i in range(20000) %}{% set ns.x = [ns.x] %}{% endfor %}";
    assert_eq!(render_question(nested).unwrap(), "");
    for shown in ["{{ ns.x }}", "{{ ns.x | tojson }}"] {
        let error = render_question(&format!("{nested}{shown}")).unwrap_err();
        assert!(error.to_string().contains("too deep"), "{error}");
    }
}

#[test]
fn strftime_now_formats_the_current_date() {
    let date = render_question("{{ strftime_now('%d %b %Y') }}").unwrap();
    let parts: Vec<&str> = date.split(' ').collect();
    assert!(matches!(parts.as_slice(), [day, month, year]
        if day.len() == 2 && month.len() == 3 && year.starts_with("20")));
}

/// As in Jinja2, Python's `None` can't be iterated over, but an undefined name can.
#[test]
fn none_is_not_iterable() {
    let source = "{{ messages[0].content }} {{ [none is iterable, missing is iterable, \
                  'ab' is iterable, [1] is iterable, 3 is iterable] }}";
    let rendered = render_question(source).unwrap();
    assert_eq!(rendered, "Why? [False, True, True, True, False]");
}

#[test]
fn a_loop_over_none_fails_as_in_jinja2() {
    // transformers passes `None` if there are no tools.
    for source in [
        "{% for tool in tools %}{{ tool }}{% endfor %}",
        "{%- for a, b in (none if messages else []) if a -%}{% endfor %}",
    ] {
        let error = render_question(source).unwrap_err();
        let sentence = "'NoneType' object is not iterable";
        assert!(error.to_string().contains(sentence), "{error}");
    }
    let source = "{% for x in missing %}{% endfor %}{% for x in 'ab' if x != 'a' %}{{ x }}\
                  {{ loop.length }}{% endfor %}{% raw %}{% for x in tools %}{% endraw %}\
                  {{ messages[0].content }}";
    let rendered = render_question(source).unwrap();
    assert_eq!(rendered, "b1{% for x in tools %}Why?");
}
