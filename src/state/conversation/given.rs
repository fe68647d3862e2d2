//! Reads a conversation whose answers are to be scored from a text.

use crate::analysis::GivenConversation;
use crate::generation::ChatSettings;
use crate::interop::{Messages, MessagesError};
use crate::state::capitalize;

/// Reads a conversation from a text. `None` for a text that is no list of messages; an error for one
/// whose answers can't be scored.
pub(in crate::state) fn read_conversation(text: &str) -> Option<Result<GivenConversation, String>> {
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let messages = match Messages::parse(text) {
        Ok(messages) => messages,
        Err(MessagesError::NotJson { .. } | MessagesError::NoList) => return None,
        Err(error) => return Some(Err(capitalize(&error.to_string()))),
    };
    let settings = ChatSettings {
        system: messages.system,
        tools: messages.tools,
        ..ChatSettings::default()
    };
    let read = GivenConversation::of(settings, &messages.history);
    Some(read.map_err(|error| capitalize(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use crate::generation::{ChatMessage, ChatSupport, FinishReason, PromptForm};
    use crate::interop::Messages;
    use crate::state::tests::{loaded_with, ready, write_more};
    use crate::state::{AppState, Command, Effect, ScoreCommand, ScoreReadiness};
    use crate::worker::{Event, GenerationId, Progress, Request};

    fn score(state: &mut AppState, command: ScoreCommand) -> Vec<Effect> {
        state.apply(Command::Score(command))
    }

    /// The answer that is scored, with how many messages come before its message.
    fn asked(effects: &[Effect]) -> Option<(GenerationId, String, usize)> {
        effects.iter().find_map(|effect| {
            let Effect::Send(Request::ScoreAnswer {
                prompt,
                answer,
                panes,
                ..
            }) = effect
            else {
                return None;
            };
            let PromptForm::Chat(settings) = &prompt.form else {
                panic!("{prompt:?}");
            };
            Some((panes[0].id, answer.content.clone(), settings.history.len()))
        })
    }

    /// Lets the engine score an answer.
    fn read(
        state: &mut AppState,
        id: GenerationId,
        answer: &str,
        reason: FinishReason,
    ) -> Vec<Effect> {
        let prompt = std::sync::Arc::clone(
            &crate::generation::testing::answer_to("Hi", Vec::new(), &[]).prompt,
        );
        let ids = vec![id];
        state.on_event(Event::Progress(Progress::Started { ids, prompt }));
        write_more(state, id, &[(answer, 0.5)]);
        state.on_event(Event::Progress(Progress::Finished { id, reason }))
    }

    fn conversation() -> String {
        let turn = |message, answer| [ChatMessage::user(message), ChatMessage::assistant(answer)];
        let messages = Messages {
            history: [turn("Hi", "Hello"), turn("Why?", "So")].concat(),
            last: Some("Bye".to_owned()),
            ..Messages::default()
        };
        messages.to_json()
    }

    fn opened(text: &str) -> (AppState, ScoreReadiness) {
        let mut state = ready();
        state.on_event(loaded_with(ChatSupport::ready()));
        score(&mut state, ScoreCommand::OpenWith(text.to_owned()));
        let dialog = state.dialogs.score.as_ref().unwrap();
        let readiness = dialog.readiness(&state.panes, &state.models);
        (state, readiness)
    }

    #[test]
    fn the_answers_of_a_conversation_are_scored_one_after_the_other() {
        let (mut state, readiness) = opened(&conversation());
        assert_eq!(readiness, ScoreReadiness::Answers { n: 2 });
        let effects = score(&mut state, ScoreCommand::Run);
        let (id, answer, n_before) = asked(&effects).unwrap();
        assert_eq!((answer.as_str(), n_before), ("Hello", 0));
        let effects = read(&mut state, id, " Hello", FinishReason::Scored);
        let (id, answer, n_before) = asked(&effects).unwrap();
        assert_eq!((answer.as_str(), n_before), ("So", 2));
        assert!(state.is_running());
        let effects = read(&mut state, id, " So", FinishReason::Scored);
        assert_eq!(asked(&effects), None);
        assert!(!state.is_running());
        let pane = state.panes.iter().find(|pane| pane.has_turns()).unwrap();
        assert_eq!(pane.latest().unwrap().n_turns(), 2);
    }

    #[test]
    fn a_stop_leaves_the_other_answers_unscored() {
        let (mut state, _) = opened(&conversation());
        let (id, ..) = asked(&score(&mut state, ScoreCommand::Run)).unwrap();
        let effects = read(&mut state, id, " Hel", FinishReason::Cancelled);
        assert_eq!(asked(&effects), None);
        assert!(!state.is_running());
    }

    #[test]
    fn what_is_no_conversation_is_a_text_or_says_why() {
        for text in ["Once upon a time", "[sic] a text", "{}", "[1, 2"] {
            assert_eq!(super::read_conversation(text), None, "{text}");
        }
        let roles = r#"[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]"#;
        for (text, words) in [
            (
                r#"[{"role": "user", "content": "a"}]"#,
                "no answer to score",
            ),
            (r#"[{"role": "poet", "content": "a"}]"#, "Message 1 is by"),
            (roles, "At message 2, user and assistant"),
        ] {
            let (_, readiness) = opened(text);
            let ScoreReadiness::Impossible(reason) = readiness else {
                panic!("{text}: {readiness:?}");
            };
            assert!(reason.contains(words), "{reason}");
        }
    }
}
