//! Tests chat mode with a model that has a chat template.

use std::collections::BTreeMap;

use crate::scripted::ScriptedLm;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use quartet::engine::{ChatTemplate, EngineError, LoadedModel};
use quartet::state::{AppState, PromptMode, Settings};

use super::{DEFAULT_SIZE, Window, generate, is_loaded, open, press, settings, wait};

/// Puts "!" before a system prompt and "?" before a message.
const TEMPLATE: &str = "{% for message in messages %}\
    {% if message.role == 'user' %}?{{ message.content }}{{ sign }}\
    {% else %}!{{ message.content }}{% endif %}\
    {% endfor %}:";

/// Opens a window whose model has this chat template, or none.
fn window(mode: PromptMode, system: &str, template: Option<&'static str>) -> Window {
    let settings = Settings {
        prompt_mode: mode,
        system: system.to_owned(),
        ..settings(8)
    };
    let mut window = open(settings, DEFAULT_SIZE, move |_| chat_model(template));
    wait(&mut window, "the model", is_loaded);
    window
}

fn chat_model(template: Option<&str>) -> Result<LoadedModel, EngineError> {
    let signs = BTreeMap::from([("sign".to_owned(), "</s>".to_owned())]);
    let mut model = ScriptedLm::babbling(512).into_loaded()?;
    model.chat = template.map(|template| ChatTemplate::parse(template, signs));
    Ok(model)
}

fn state_of(window: &Window) -> &AppState {
    window.state().state()
}

#[test]
fn a_message_is_answered_and_its_rendered_prompt_shown() {
    let mut window = window(PromptMode::Raw, "", Some(TEMPLATE));
    press(&mut window, "Chat");
    let field = window.get_by_role_and_label(Role::MultilineTextInput, "System prompt");
    field.focus();
    window.step();
    window
        .get_by_role_and_label(Role::MultilineTextInput, "System prompt")
        .type_text("Be kind");
    let n_tokens = "!Be kind?A fox".len() + 2;
    wait(&mut window, "the tokens", |state| {
        state
            .prompt
            .tokens()
            .is_some_and(|tokens| tokens.len() == n_tokens)
    });
    press(&mut window, &format!("{n_tokens} tokens"));
    let text = window.get_by_label("!Be kind?A fox</s>:").rect();
    window.hover_at(text.min + egui::vec2(6.0, 10.0));
    window.run_steps(3);
    let id = state_of(&window).prompt.tokens().unwrap()[0].id;
    window.get_by_label(&format!("token 1 · id {id}"));
    window.get_by_label("Copy the prompt as the model reads it");
    window.key_press(egui::Key::Escape);
    window.run_steps(3);

    generate(&mut window);
    let state = state_of(&window);
    let prompt = &state.panes.get(0).unwrap().generation().unwrap().prompt;
    assert_eq!(prompt.text, "A fox");
    let chat = prompt.chat.as_ref().unwrap();
    assert_eq!(chat.rendered, "!Be kind?A fox</s>:");
    assert!(!state.output_is_stale());
    assert_eq!(state.prompt.text, "", "the field is free for a reply");
    assert_eq!(
        window.get_all_by_label("A fox").count(),
        4,
        "one in each pane"
    );
    window.get_by_label("Turn 1 of pane D");
    press(&mut window, "Raw");
    assert!(state_of(&window).output_is_stale());
}

#[test]
fn a_chat_template_error_is_shown_below_the_prompt_and_raw_mode_still_works() {
    let cases: [(&'static str, &str, &str); 2] = [
        (
            "{% if messages[0].role == 'system' %}{{ raise_exception('none here') }}{% endif %}:",
            "Be kind",
            "The model’s chat template does not accept a system prompt: none here",
        ),
        ("a\n{% endfor %}", "", "on line 2"),
    ];
    for (template, system, sentence) in cases {
        let mut window = window(PromptMode::Chat, system, Some(template));
        wait(&mut window, "the error", |state| {
            state.prompt.refusal(&state.models.main).is_some()
        });
        assert_eq!(window.get_all_by_label_contains(sentence).count(), 1);
        let generate = window.get_by_label("Generate");
        assert!(generate.accesskit_node().is_disabled());
        press(&mut window, "Use raw");
        // The error stays visible until the new prompt has been tokenized.
        wait(&mut window, "the count", |state| {
            state.prompt.refusal(&state.models.main).is_none()
        });
        assert!(state_of(&window).blocking_reason().is_none());
        assert!(window.query_by_label_contains(sentence).is_none());
    }
}

#[test]
fn a_model_without_a_chat_template_works_in_raw_mode_only() {
    let raw = window(PromptMode::Raw, "", None);
    let chat = raw.get_by_label("Chat");
    assert!(chat.accesskit_node().is_disabled());

    let mut window = window(PromptMode::Chat, "", None);
    window.get_by_label("This model has no chat template; use raw mode instead");
    press(&mut window, "Use raw");
    generate(&mut window);
}
