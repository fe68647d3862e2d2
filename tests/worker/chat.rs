//! A message on its way through the chat template of a scripted model, and back as events.

use std::collections::BTreeMap;

use quartet::engine::scripted::ScriptedLm;
use quartet::engine::{ChatTemplate, EngineError, LoadedModel};
use quartet::generation::{ChatSupport, PromptText};
use quartet::worker::{Event, ModelSource, Request};

use crate::{Desk, TALE, greedy, words};

/// A model that has learned to answer, with a chat template that takes a system text only in front.
fn talking() -> Result<LoadedModel, EngineError> {
    let template = "{% for message in messages %}\
        {% if message.role == 'user' %}?{{ message.content }}{{ sign }}{% else %}!{{ message.content }}{% endif %}\
        {% endfor %}{% if add_generation_prompt %}:{% endif %}";
    let signs = BTreeMap::from([("sign".to_owned(), "</s>".to_owned())]);
    let mut model = ScriptedLm::reciting(64, "?Hi</s>:Hello").into_loaded()?;
    model.chat = Some(ChatTemplate::parse(template, signs));
    Ok(model)
}

#[test]
fn a_message_is_answered_through_the_chat_template() {
    let mut desk = Desk::open(|_, _| talking().map(Some));
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    let is_loaded = |event: &Event| matches!(event, Event::ModelLoaded { chat, .. } if *chat == ChatSupport::Ready);
    desk.until(is_loaded);

    let prompt = PromptText::chat("Hi", "");
    desk.worker.send(Request::Tokenize {
        prompt: prompt.clone(),
    });
    assert_eq!(words(&desk.next()), r#""Hi" is Ok("?|H|i|[</s>]|:")"#);

    desk.worker.send(Request::Generate {
        prompt,
        panes: vec![greedy(1, 1)],
    });
    desk.until(|event| matches!(event, Event::Reading { .. }));
    let Event::Started { prompt, .. } = desk.next() else {
        panic!("the panes start once the prompt is read");
    };
    assert_eq!(prompt.text, "Hi");
    let chat = prompt.chat.as_ref().expect("it was a chat");
    assert_eq!(
        (chat.system.as_str(), chat.rendered.as_str()),
        ("", "?Hi</s>:")
    );
    assert_eq!(prompt.tokens.len(), 5);

    desk.worker.send(Request::Tokenize {
        prompt: PromptText::chat("Hi", "Be kind"),
    });
    let events = desk.until(|event| matches!(event, Event::Tokenized { .. }));
    let answer = r#""Hi" is Ok("!|B|e| |k|i|n|d|?|H|i|[</s>]|:")"#;
    assert_eq!(events.last().unwrap(), answer);
}

#[test]
fn a_model_that_cannot_be_talked_to_says_so_and_goes_on_with_texts() {
    let sentence = "this model has no chat template; without one it only continues a text";
    let mut desk = Desk::with(|| ScriptedLm::reciting(64, TALE));
    let prompt = PromptText::chat("Hi", "");
    desk.worker.send(Request::Tokenize {
        prompt: prompt.clone(),
    });
    assert_eq!(words(&desk.next()), format!("\"Hi\" is Err({sentence:?})"));
    desk.worker.send(Request::Generate {
        prompt,
        panes: vec![greedy(1, 1)],
    });
    assert_eq!(
        words(&desk.next()),
        format!("1 finished: Stopped: {sentence}")
    );
    desk.generate("Once", [greedy(2, 1)]);
    assert!(desk.until_finished(2).iter().any(|event| event == "2  "));
}
