//! Chat templates that would use up all memory or never end affect only the helper process that
//! renders them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quartet::engine::{ChatError, ChatTemplate, Message, render_templates_with};
use quartet::generation::{ChatMessage, TemplateKwargs};

fn render(source: &str) -> Result<String, ChatError> {
    render_templates_with(PathBuf::from(env!("CARGO_BIN_EXE_quartet")));
    let chat = [
        Message::System("Rhyme. \u{1F98A}".to_owned()),
        Message::Other(ChatMessage::user("Why?\n")),
    ];
    let special = BTreeMap::from([("bos_token".to_owned(), "<s>".to_owned())]);
    ChatTemplate::parse(source, special)?.render(&chat, true, &TemplateKwargs::new())
}

#[test]
fn the_helper_process_renders_and_reports_errors_as_this_process_does() {
    let lists = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}";
    let expected = "<s>[system]Rhyme. \u{1F98A}[user]Why?\n";
    assert_eq!(render(lists).unwrap(), expected);
    let reason = "No!".to_owned();
    assert_eq!(
        render("{{ raise_exception('No!') }}"),
        Err(ChatError::Rejected { reason })
    );
    assert_eq!(
        render("{{ messages[-1].content }}"),
        Err(ChatError::SystemPromptIgnored)
    );
}

#[test]
fn a_template_that_uses_up_all_memory_ends_with_an_error() {
    let doubled = |step: &str| {
        format!(
            "{{% set ns = namespace(x='xxxxxxxx', y=[1]) %}}\
             {{% for i in range(60) %}}{step}{{% endfor %}}"
        )
    };
    for source in [
        "{{ '%90000000000d'|format(1) }}".to_owned(),
        "{{ '%.2000000000f'|format(1.5) }}".to_owned(),
        "{{ '{:>2000000000}'.format(1) }}".to_owned(),
        "{{ 'x\\ny' | indent(2000000000) }}".to_owned(),
        "{{ [1] | batch(2000000000, 0) | length }}".to_owned(),
        "{{ [1] | slice(2000000000) | length }}".to_owned(),
        doubled("{% set ns.x = ns.x ~ ns.x %}"),
        doubled("{% set ns.x = ns.x + ns.x %}"),
        doubled("{% set ns.x = [ns.x, ns.x] | join %}"),
        doubled("{% set ns.x = ns.x | replace('x', 'xxxxxxxx') %}"),
    ] {
        let error = render(&source).unwrap_err().to_string();
        let known = ["memory", "bytes", "too long", "failed", "crashed"];
        assert!(known.iter().any(|word| error.contains(word)), "{error}");
    }
}

#[test]
fn a_template_that_never_ends_is_stopped() {
    let nested = "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}\
                  {% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}";
    for used in [
        "{{ ns.x == ns.y }}",
        "{{ [ns.x, ns.y] | sort | length }}",
        "{{ ns.x in [ns.y] }}",
    ] {
        let error = render(&format!("{nested}{used}")).unwrap_err();
        assert_eq!(error, ChatError::OutOfTime, "{used}");
    }
}
