//! The prompt: a text to continue or a message to answer, and how the model reads it.

use super::{asked, loaded_with, ready, tokenized};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{ChatRecord, ChatSupport, Piece, PromptRecord, PromptText, PromptToken};
use crate::state::{AppState, Command, Effect, PromptMode, Settings};
use crate::worker::{Event, ModelSource, Progress, Request};

fn broken() -> ChatSupport {
    ChatSupport::Broken {
        error: "the model's chat template could not be understood in line 3: unexpected `}`"
            .to_owned(),
    }
}

/// A window in chat mode whose model can be talked to, or can't.
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
        tokens: Err(reason.to_owned()),
    }
}

#[test]
fn a_chat_is_read_and_answered_with_its_system_text() {
    let mut state = chatting(ChatSupport::Ready);
    let prompt = PromptText::chat("Hi", "Be kind");
    let read = |prompt| [Effect::Send(Request::Tokenize { prompt })];
    assert_eq!(state.apply(Command::PromptEdited), read(prompt.clone()));
    state.on_event(tokenized(prompt.clone(), 9));
    assert_eq!(state.complaint(), None);
    let effects = state.apply(Command::GenerateAll);
    let is_it = |effect: &Effect| matches!(effect, Effect::Send(Request::Generate { prompt: sent, .. }) if *sent == prompt);
    assert!(is_it(&effects[0]), "{effects:?}");

    state.prompt_mode = PromptMode::Raw;
    let effects = state.apply(Command::PromptEdited);
    assert_eq!(effects, read(PromptText::raw("Hi")));
}

#[test]
fn mode_and_system_text_are_there_again_at_the_next_start() {
    let state = chatting(ChatSupport::Ready);
    let json = state.settings().to_json().unwrap();
    let settings = Settings::from_json(&json).settings;
    assert_eq!(settings.prompt_mode, PromptMode::Chat);
    assert_eq!(settings.system, "Be kind");
}

#[test]
fn an_answer_about_another_prompt_is_passed_over() {
    for other in [
        PromptText::raw("Hi"),
        PromptText::chat("Hi", ""),
        PromptText::chat("Ho", "Be kind"),
    ] {
        let mut state = chatting(ChatSupport::Ready);
        state.on_event(tokenized(other, 3));
        assert_eq!(state.prompt_length(), None);
    }
}

#[test]
fn the_last_count_stays_while_one_types() {
    let mut state = ready();
    state.on_event(tokenized(state.prompt.as_str(), 10));
    state.prompt.push('!');
    state.apply(Command::PromptEdited);
    assert_eq!(state.prompt_length().unwrap().n_tokens, 10);
    state.prompt.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(state.prompt_length(), None);
}

#[test]
fn what_was_refused_is_not_held_against_a_text_that_was_written_since() {
    let reason = "the model's chat template does not accept a system prompt: no";
    let sentence = "The model's chat template does not accept a system prompt: no";
    let mut state = chatting(ChatSupport::Ready);
    state.on_event(refused(PromptText::chat("Hi", "Be kind"), reason));
    assert_eq!(state.complaint().as_deref(), Some(sentence));
    state.system.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(state.complaint(), None);
    let shown = state.prompt_refusal();
    assert_eq!(
        shown.as_deref(),
        Some(sentence),
        "it stays in sight until the answer is there"
    );
    state.on_event(tokenized(PromptText::chat("Hi", ""), 4));
    assert_eq!(state.prompt_refusal(), None);
}

#[test]
fn a_model_that_cannot_be_talked_to_says_why_and_still_writes_raw() {
    let missing = "This model has no chat template, it only continues texts";
    let in_line_3 = "The model's chat template could not be understood in line 3: unexpected `}`";
    for (chat, sentence) in [(ChatSupport::Missing, missing), (broken(), in_line_3)] {
        let mut state = chatting(chat);
        assert_eq!(state.prompt_refusal().as_deref(), Some(sentence));
        assert_eq!(state.complaint().as_deref(), Some(sentence));
        assert_eq!(state.apply(Command::PromptEdited), []);
        assert_eq!(state.apply(Command::GenerateAll), []);

        state.prompt_mode = PromptMode::Raw;
        state.apply(Command::PromptEdited);
        assert_eq!(state.prompt_refusal(), None);
        assert_eq!(asked(&state.apply(Command::GenerateAll)).len(), 4);
    }
}

#[test]
fn another_model_is_asked_in_the_mode_that_was_chosen() {
    let mut state = chatting(ChatSupport::Missing);
    let prompt = PromptText::chat("Hi", "Be kind");
    let effects = state.on_event(loaded_with(ChatSupport::Ready));
    assert_eq!(effects, [Effect::Send(Request::Tokenize { prompt })]);
    state.prompt_mode = PromptMode::Raw;
    state.on_event(loaded_with(ChatSupport::Ready));
    assert_eq!(state.prompt_mode, PromptMode::Raw);
}

#[test]
fn an_empty_message_is_asked_for_by_its_name() {
    let mut state = chatting(ChatSupport::Ready);
    state.prompt.clear();
    state.apply(Command::PromptEdited);
    assert_eq!(state.complaint().as_deref(), Some("Write a message first"));
}

#[test]
fn another_mode_system_text_or_message_makes_generating_news() {
    let mut state = chatting(ChatSupport::Ready);
    let ids = asked(&state.apply(Command::GenerateAll));
    let prompt = PromptRecord {
        text: "Hi".to_owned(),
        chat: Some(ChatRecord {
            system: "Be kind".to_owned(),
            rendered: "?Hi".to_owned(),
        }),
        ..generation(&[]).prompt.as_ref().clone()
    };
    let prompt = prompt.into();
    state.on_event(Event::Progress(Progress::Started { ids, prompt }));
    assert!(!state.generating_is_news());

    let changes: [fn(&mut AppState); 3] = [
        |state| state.prompt_mode = PromptMode::Raw,
        |state| state.system.clear(),
        |state| state.prompt.push('!'),
    ];
    for change in changes {
        let mut changed = state.clone();
        change(&mut changed);
        assert!(changed.generating_is_news());
    }
}

#[test]
fn the_prompt_is_copied_as_the_model_reads_it() {
    let mut state = ready();
    assert_eq!(state.apply(Command::CopyPrompt), []);
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
        prompt: state.prompt_text(),
        tokens: Ok(pieces.map(token).to_vec()),
    });
    let copied = state.apply(Command::CopyPrompt);
    assert_eq!(copied, [Effect::CopyText("<s>5 €".to_owned())]);
    state.prompt.push('!');
    assert_eq!(state.apply(Command::CopyPrompt), [], "that was another one");
}

#[test]
fn a_model_that_is_there_again_is_asked_about_what_was_written_meanwhile() {
    let error = "there is not enough memory".to_owned();
    for end in [Event::LoadingCancelled, Event::ModelFailed { error }] {
        let mut state = ready();
        state.on_event(tokenized(state.prompt.as_str(), 10));
        state.apply(Command::LoadEmbeddedModel);
        state.prompt = "Then".to_owned();
        assert_eq!(state.apply(Command::PromptEdited), []);
        let prompt = PromptText::raw("Then");
        let read = Effect::Send(Request::Tokenize { prompt });
        assert_eq!(state.on_event(end), [read]);
    }
}
