//! Tests of the prompt: its mode, how the model tokenizes it, and why it can't be used.

use super::{asked, loaded, loaded_with, ready, tokenized};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{
    ChatRecord, ChatSettings, ChatSupport, ChatTools, Piece, PromptRecord, PromptText, PromptToken,
    TemplateSwitch,
};
use crate::state::{AppState, Command, Effect, PromptMode, Settings};
use crate::worker::{Event, ModelSource, Progress, Request};

fn broken() -> ChatSupport {
    ChatSupport::Broken {
        error: "the model’s chat template could not be understood on line 3: unexpected `}`"
            .to_owned(),
    }
}

/// A state in chat mode whose model has this chat support.
fn chatting(chat: ChatSupport) -> AppState {
    let settings = Settings {
        prompt: "Hi".to_owned(),
        prompt_mode: PromptMode::Chat,
        system: "Be kind".to_owned(),
        ..Settings::default()
    };
    let (mut state, _) = AppState::new(settings, ModelSource::Embedded);
    state.on_event(loaded_with(chat));
    state
}

fn refused(prompt: PromptText, reason: &str) -> Event {
    Event::Tokenized {
        prompt,
        model: None,
        tokens: Err(reason.to_owned()),
    }
}

#[test]
fn a_chat_is_tokenized_and_answered_with_its_system_prompt() {
    let mut state = chatting(ChatSupport::ready());
    let prompt = PromptText::chat("Hi", "Be kind");
    let read = |prompt| {
        [Effect::Send(Request::Tokenize {
            prompt,
            model: None,
        })]
    };
    assert_eq!(state.apply(Command::PromptEdited), read(prompt.clone()));
    state.on_event(tokenized(prompt.clone(), 9));
    assert_eq!(state.blocking_reason(), None);
    let effects = state.apply(Command::GenerateAll);
    let [Effect::Send(Request::Generate { prompt: sent, .. })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(*sent, prompt);

    state.prompt.mode = PromptMode::Raw;
    let effects = state.apply(Command::PromptEdited);
    assert_eq!(effects, read(PromptText::raw("Hi")));
}

#[test]
fn an_empty_system_prompt_is_sent_on_request() {
    let mut state = chatting(ChatSupport::ready());
    let form = |system: Option<&str>| {
        let settings = system.map(ChatSettings::with_system);
        PromptText::chat_with("Hi", settings.unwrap_or_default())
    };
    assert_eq!(state.prompt.to_text(), form(Some("Be kind")));
    state.prompt.system.clear();
    assert_eq!(state.prompt.to_text(), form(None));
    state.prompt.sends_empty_system = true;
    assert_eq!(state.prompt.to_text(), form(Some("")));
    assert!(state.settings().sends_empty_system);
}

#[test]
fn the_switches_of_a_template_are_offered_in_chat_mode_and_sent() {
    let switches = vec![TemplateSwitch::EnableThinking];
    let mut state = chatting(ChatSupport::Ready {
        switches,
        tool_calls: None,
    });
    let shown = state.prompt.switches(&state.models.main);
    assert_eq!(shown, [TemplateSwitch::EnableThinking]);
    let variable = TemplateSwitch::EnableThinking.variable().to_owned();
    state.prompt.template_kwargs.insert(variable, false.into());
    let settings = ChatSettings {
        system: Some("Be kind".to_owned()),
        history: Vec::new(),
        tools: ChatTools::default(),
        kwargs: state.prompt.template_kwargs.clone(),
    };
    assert_eq!(
        state.prompt.to_text(),
        PromptText::chat_with("Hi", settings)
    );
    state.prompt.mode = PromptMode::Raw;
    assert!(state.prompt.switches(&state.models.main).is_empty());
    assert_eq!(state.prompt.to_text(), PromptText::raw("Hi"));
}

#[test]
fn mode_and_system_prompt_persist_across_restarts() {
    let mut state = chatting(ChatSupport::ready());
    let kwargs = [("enable_thinking".to_owned(), false.into())].into();
    state.prompt.template_kwargs = kwargs;
    let json = state.settings().to_json().unwrap();
    let settings = Settings::from_json(&json).settings;
    assert_eq!(settings.prompt_mode, PromptMode::Chat);
    assert_eq!(settings.system, "Be kind");
    assert_eq!(settings.template_kwargs, state.prompt.template_kwargs);
}

#[test]
fn an_answer_about_another_prompt_is_ignored() {
    for other in [
        PromptText::raw("Hi"),
        PromptText::chat("Hi", ""),
        PromptText::chat("Ho", "Be kind"),
    ] {
        let mut state = chatting(ChatSupport::ready());
        state.on_event(tokenized(other, 3));
        assert_eq!(state.prompt.length(&state.models.main), None);
    }
}

#[test]
fn the_last_token_count_stays_while_typing() {
    let mut state = ready();
    state.on_event(tokenized(state.prompt.text.as_str(), 10));
    state.prompt.text.push('!');
    state.apply(Command::PromptEdited);
    assert_eq!(
        state.prompt.length(&state.models.main).unwrap().n_tokens,
        10
    );
    state.prompt.text.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(state.prompt.length(&state.models.main), None);
}

#[test]
fn a_refused_prompt_does_not_block_its_edited_version() {
    let reason = "the model’s chat template does not accept a system prompt: no";
    let sentence = "The model’s chat template does not accept a system prompt: no";
    let mut state = chatting(ChatSupport::ready());
    state.on_event(refused(PromptText::chat("Hi", "Be kind"), reason));
    assert_eq!(state.blocking_reason().as_deref(), Some(sentence));
    state.prompt.system.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(state.blocking_reason(), None);
    let shown = state.prompt.refusal(&state.models.main);
    assert_eq!(
        shown.as_deref(),
        Some(sentence),
        "it stays visible until the answer arrives"
    );
    state.on_event(tokenized(PromptText::chat("Hi", ""), 4));
    assert_eq!(state.prompt.refusal(&state.models.main), None);
}

#[test]
fn a_model_without_chat_says_why_and_still_works_in_raw_mode() {
    let missing = "This model has no chat template; use raw mode instead";
    let on_line_3 = "The model’s chat template could not be understood on line 3: unexpected `}`";
    for (chat, sentence) in [(ChatSupport::Missing, missing), (broken(), on_line_3)] {
        let mut state = chatting(chat);
        assert_eq!(
            state.prompt.refusal(&state.models.main).as_deref(),
            Some(sentence)
        );
        assert_eq!(state.blocking_reason().as_deref(), Some(sentence));
        assert_eq!(state.apply(Command::PromptEdited), []);
        assert_eq!(state.apply(Command::GenerateAll), []);

        state.prompt.mode = PromptMode::Raw;
        state.apply(Command::PromptEdited);
        assert_eq!(state.prompt.refusal(&state.models.main), None);
        assert_eq!(asked(&state.apply(Command::GenerateAll)).len(), 4);
    }
}

#[test]
fn the_prompt_mode_stays_when_the_model_changes() {
    let mut state = chatting(ChatSupport::Missing);
    let prompt = PromptText::chat("Hi", "Be kind");
    let effects = state.on_event(loaded_with(ChatSupport::ready()));
    assert_eq!(
        effects,
        [Effect::Send(Request::Tokenize {
            prompt,
            model: None
        })]
    );
    state.prompt.mode = PromptMode::Raw;
    state.on_event(loaded_with(ChatSupport::ready()));
    assert_eq!(state.prompt.mode, PromptMode::Raw);
}

#[test]
fn chat_mode_asks_for_a_message() {
    let mut state = chatting(ChatSupport::ready());
    state.prompt.text.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(
        state.blocking_reason().as_deref(),
        Some("Type a message first")
    );
}

#[test]
fn a_message_or_another_mode_makes_the_output_stale() {
    let mut state = chatting(ChatSupport::ready());
    let ids = asked(&state.apply(Command::GenerateAll));
    let prompt = PromptRecord {
        text: "Hi".to_owned(),
        chat: Some(ChatRecord {
            settings: ChatSettings::with_system("Be kind"),
            rendered: "?Hi".to_owned(),
        }),
        ..generation(&[]).prompt.as_ref().clone()
    };
    let prompt = prompt.into();
    state.on_event(Event::Progress(Progress::Started { ids, prompt }));
    assert!(!state.output_is_stale());

    assert_eq!(
        state.prompt.text, "",
        "the message is part of the conversation"
    );

    let makes_stale: [fn(&mut AppState); 2] = [
        |state| state.prompt.mode = PromptMode::Raw,
        |state| state.prompt.text.push('!'),
    ];
    // They count for the next message.
    let counts_later: [fn(&mut AppState); 2] = [
        |state| state.prompt.system.clear(),
        |state| state.prompt.sends_empty_system = true,
    ];
    let is_stale_after = |change: fn(&mut AppState)| {
        let mut changed = state.clone();
        change(&mut changed);
        changed.output_is_stale()
    };
    assert!(makes_stale.into_iter().all(is_stale_after));
    assert!(!counts_later.into_iter().any(is_stale_after));
}

#[test]
fn the_prompt_is_copied_as_the_model_reads_it() {
    let mut state = ready();
    assert_eq!(state.apply(Command::CopyPrompt(None)), []);
    let token = |piece| PromptToken {
        id: TokenId(1),
        piece,
    };
    let pieces = [
        Piece::special("<s>"),
        Piece::text("5 "),
        Piece::text([0xE2, 0x82]),
        Piece::text([0xAC]),
    ];
    state.on_event(Event::Tokenized {
        prompt: state.prompt.to_text(),
        model: None,
        tokens: Ok(pieces.map(token).to_vec()),
    });
    let copied = state.apply(Command::CopyPrompt(None));
    assert_eq!(copied, [Effect::CopyText("<s>5 €".to_owned())]);
    state.prompt.text.push('!');
    assert_eq!(
        state.apply(Command::CopyPrompt(None)),
        [],
        "the prompt has changed"
    );
}

#[test]
fn the_prompt_is_tokenized_again_when_the_previous_model_returns() {
    let error = "there is not enough memory".to_owned();
    for end in [Event::LoadingCancelled, Event::ModelFailed { error }] {
        let mut state = ready();
        state.on_event(tokenized(state.prompt.text.as_str(), 10));
        state.apply(Command::LoadEmbeddedModel);
        state.prompt.text = "Then".to_owned();
        assert_eq!(state.apply(Command::PromptEdited), []);
        let prompt = PromptText::raw("Then");
        let read = Effect::Send(Request::Tokenize {
            prompt,
            model: None,
        });
        assert_eq!(state.on_event(end), [read]);
    }
}

#[test]
fn a_prompt_that_is_too_long_for_the_field_is_cut_and_says_so() {
    let settings = Settings {
        prompt: "fox ".repeat(1 << 20),
        ..Settings::default()
    };
    let (mut state, _) = AppState::new(settings, ModelSource::Embedded);
    state.on_event(loaded());
    assert!(state.prompt.text.len() < 300_000);
    let reason = state.blocking_reason().unwrap();
    assert!(reason.contains("at most 200,000 characters"), "{reason}");
    state.prompt.text.truncate(100_000);
    state.apply(Command::PromptEdited);
    assert_eq!(state.blocking_reason(), None);
}

#[test]
fn the_length_of_a_prompt_is_grouped_like_all_numbers() {
    let length = |n_tokens, n_max| crate::state::PromptLength { n_tokens, n_max }.to_string();
    assert_eq!(length(1, 2048), "1 token");
    let words = "9,743 tokens, but the model reads at most 2,048";
    assert_eq!(length(9743, 2048), words);
}
