//! Messages go through the chat template of a scripted model.

use std::collections::BTreeMap;

use crate::scripted::ScriptedLm;
use quartet::engine::{ChatTemplate, EngineError, LoadedModel};
use quartet::generation::{ChatMessage, ChatSupport, FinishReason, PromptText};
use quartet::worker::{Event, ModelSource, Progress, Request};

use crate::worker::{Harness, TALE, describe, greedy};

/// A model with a chat template.
fn chat_model() -> Result<LoadedModel, EngineError> {
    let template = "{% for message in messages %}\
        {% if message.role == 'user' %}?{{ message.content }}{{ end }}{% else %}!{{ message.content }}{% endif %}\
        {% endfor %}{% if add_generation_prompt %}:{% endif %}";
    let special_tokens = BTreeMap::from([("end".to_owned(), "</s>".to_owned())]);
    let mut model = ScriptedLm::reciting(64, "?Hi</s>:Hello").into_loaded()?;
    model.chat = Some(ChatTemplate::parse(template, special_tokens));
    Ok(model)
}

#[test]
fn a_message_is_answered_through_the_chat_template() {
    let mut harness = Harness::with_loader(|_, _| chat_model().map(Some));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    let is_loaded = |event: &Event| matches!(event, Event::ModelLoaded { chat, .. } if *chat == ChatSupport::ready());
    harness.until(is_loaded);

    let prompt = PromptText::chat("Hi", "");
    harness.worker.send(Request::Tokenize {
        prompt: prompt.clone(),
        model: None,
    });
    assert_eq!(describe(&harness.next()), r#""Hi" is Ok("?|H|i|[</s>]|:")"#);

    harness.worker.send(Request::Generate {
        prompt,
        panes: vec![greedy(1, 1)],
        n_detail_bytes: 0,
    });
    harness.until(|event| matches!(event, Event::Progress(Progress::Prefilling { .. })));
    let Event::Progress(Progress::Started { prompt, .. }) = harness.next() else {
        panic!("expected the panes to start after prefill");
    };
    assert_eq!(prompt.text, "Hi");
    let chat = prompt.chat.as_ref().expect("the prompt is a chat");
    assert_eq!(
        (chat.settings.system.as_deref(), chat.rendered.as_str()),
        (None, "?Hi</s>:")
    );
    assert_eq!(prompt.tokens.len(), 5);

    harness.worker.send(Request::Tokenize {
        prompt: PromptText::chat("Hi", "Be kind"),
        model: None,
    });
    let events = harness.until(|event| matches!(event, Event::Tokenized { .. }));
    let answer = r#""Hi" is Ok("!|B|e| |k|i|n|d|?|H|i|[</s>]|:")"#;
    assert_eq!(events.last().unwrap(), answer);
}

#[test]
fn a_model_without_a_chat_template_says_so_and_still_continues_texts() {
    let sentence = "this model has no chat template; it can only continue a text";
    let mut harness = Harness::with_model(|| ScriptedLm::reciting(64, TALE));
    let prompt = PromptText::chat("Hi", "");
    harness.worker.send(Request::Tokenize {
        prompt: prompt.clone(),
        model: None,
    });
    assert_eq!(
        describe(&harness.next()),
        format!("\"Hi\" is Err({sentence:?})")
    );
    harness.worker.send(Request::Generate {
        prompt,
        panes: vec![greedy(1, 1)],
        n_detail_bytes: 0,
    });
    assert_eq!(
        describe(&harness.next()),
        format!("1 finished: Stopped: {sentence}")
    );
    harness.generate("Once", [greedy(2, 1)]);
    assert!(harness.until_finished(2).iter().any(|event| event == "2  "));
}

#[test]
fn an_answer_is_scored_up_to_the_token_that_ends_it() {
    let template = "{% for message in messages %}\
        {{ '?' if message.role == 'user' else ':' }}{{ message.content }}{{ end }}\
        {% endfor %}{% if add_generation_prompt %}:{% endif %}";
    let mut harness = Harness::with_loader(move |_, _| {
        let special_tokens = BTreeMap::from([("end".to_owned(), "</s>".to_owned())]);
        let mut model = ScriptedLm::reciting(64, "?Hi</s>:Hello").into_loaded()?;
        model.chat = Some(ChatTemplate::parse(template, special_tokens));
        Ok(Some(model))
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    harness.worker.send(Request::ScoreAnswer {
        prompt: PromptText::chat("Hi", ""),
        answer: ChatMessage::assistant("Hello"),
        panes: vec![greedy(1, 1)],
        n_detail_bytes: 0,
    });
    let Event::Progress(Progress::Started { prompt, .. }) = harness.next() else {
        panic!("the answer is read");
    };
    assert_eq!((prompt.text.as_str(), prompt.tokens.len()), ("Hi", 5));
    let mut pieces = Vec::new();
    let finish = loop {
        match harness.next() {
            Event::Progress(Progress::Stepped { step, .. }) => {
                assert!(step.trace.draw.is_given());
                pieces.push(step.piece.to_string());
            }
            Event::Progress(Progress::Finished { reason, .. }) => break reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pieces, ["H", "e", "l", "l", "o", "</s>"]);
    assert_eq!(finish, FinishReason::Scored);
}
