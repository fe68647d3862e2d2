//! Conversations as the user has them: replies, versions, edits, and going back.

use std::sync::Arc;

use super::{ConversationCommand, EditScope, TurnAt};
use crate::generation::{
    ChatMessage, ChatSupport, ChatTools, FinishReason, Generation, OriginChange, PromptForm,
    PromptText, ToolCallName,
};
use crate::state::tests::{
    answer_waiting, answer_waiting_after, chat_written, loaded_with, written,
};
use crate::state::{
    AppState, BranchCommand, BranchTarget, Command, Effect, PaneId, Pin, PromptMode,
};
use crate::worker::{Event, GenerationId, Progress, Request};

/// What the engine is asked to write: each prompt with the ids of its texts.
fn asked(effects: &[Effect]) -> Vec<(PromptText, Vec<GenerationId>)> {
    let requests = effects.iter().filter_map(|effect| match effect {
        Effect::Send(Request::Generate { prompt, panes, .. }) => Some((prompt, panes)),
        _ => None,
    });
    requests
        .map(|(prompt, panes)| (prompt.clone(), panes.iter().map(|pane| pane.id).collect()))
        .collect()
}

/// Four panes that have answered "Hi" and then "Why?".
fn conversation() -> AppState {
    let mut state = chat_written("Hi", &[(" Hello", 0.5)]);
    reply(&mut state, "Why?", &[" so", " then", " well", " hm"]);
    state
}

fn reply(state: &mut AppState, message: &str, words: &[&str]) {
    state.prompt.text = message.to_owned();
    state.apply(Command::GenerateAll);
    answer_waiting(state, words);
}

fn apply(state: &mut AppState, command: ConversationCommand) -> Vec<Effect> {
    state.apply(Command::Conversation(command))
}

fn latest(state: &AppState, place: usize) -> &Generation {
    state.panes[place].latest().unwrap()
}

/// The messages and answers of a pane.
fn told(state: &AppState, place: usize) -> Vec<(String, String)> {
    let turns = latest(state, place).turns().into_iter();
    turns
        .map(|turn| (turn.prompt.text.clone(), turn.text()))
        .collect()
}

fn pair(message: &str, answer: &str) -> (String, String) {
    (message.to_owned(), answer.to_owned())
}

fn at(state: &AppState, place: usize, turn: usize) -> TurnAt {
    let pane = state.panes[place].id;
    TurnAt { pane, turn }
}

#[test]
fn a_message_goes_to_all_panes_each_after_its_own_turns() {
    let mut state = conversation();
    assert_eq!(
        told(&state, 1),
        [pair("Hi", " Hello"), pair("Why?", " then")]
    );
    state.prompt.text = "And now?".to_owned();
    let asked = asked(&state.apply(Command::GenerateAll));
    assert_eq!(asked.len(), 4, "the histories differ");
    let PromptForm::Chat(settings) = &asked[1].0.form else {
        panic!("a reply is a message");
    };
    let expected = [
        ChatMessage::user("Hi"),
        ChatMessage::assistant("Hello"),
        ChatMessage::user("Why?"),
        ChatMessage::assistant("then"),
    ];
    assert_eq!(settings.history, expected);
}

#[test]
fn panes_with_the_same_history_decode_together() {
    let mut state = chat_written("Hi", &[(" Hello", 0.5)]);
    assert!(state.is_replying());
    assert_eq!(state.prompt.text, "", "the message is on screen as a turn");
    state.prompt.text = "Why?".to_owned();
    let asked = asked(&state.apply(Command::GenerateAll));
    assert_eq!((asked.len(), asked[0].1.len()), (1, 4));
}

#[test]
fn a_raw_text_is_not_replied_to() {
    let mut state = written();
    state.prompt.mode = PromptMode::Chat;
    assert!(!state.is_replying());
}

#[test]
fn a_pane_can_be_left_out_or_answer_alone() {
    let mut state = conversation();
    let pane = state.panes[2].id;
    apply(&mut state, ConversationCommand::LeaveOut(pane, true));
    reply(&mut state, "And now?", &[" yes"]);
    let n_turns: Vec<usize> = state
        .panes
        .iter()
        .map(|pane| pane.latest().unwrap().n_turns())
        .collect();
    assert_eq!(n_turns, [3, 3, 2, 3]);
    state.prompt.text = "Only you".to_owned();
    state.apply(Command::Generate(pane));
    answer_waiting(&mut state, &[" me"]);
    assert_eq!(told(&state, 2).last(), Some(&pair("Only you", " me")));
    assert_eq!(latest(&state, 0).n_turns(), 3);
}

#[test]
fn an_answer_is_given_again_with_the_next_seed_and_both_are_kept() {
    let mut state = conversation();
    let at = at(&state, 1, 1);
    let seed = latest(&state, 1).config.seed;
    let effects = apply(&mut state, ConversationCommand::Again(at));
    let [(prompt, ids)] = asked(&effects).try_into().unwrap();
    assert_eq!((prompt.text.as_str(), ids.len()), ("Why?", 1));
    answer_waiting(&mut state, &[" because"]);
    let again = latest(&state, 1);
    assert_eq!(again.config.seed, seed + 1);
    let origin = again.lineage.origin.unwrap();
    assert_eq!((origin.position, origin.change), (0, OriginChange::Seed));
    let versions = state.branches.versions(&state.panes[1], 1);
    assert_eq!(versions.len(), 2);
    let show = ConversationCommand::ShowVersion(at.pane, versions[0]);
    apply(&mut state, show);
    assert_eq!(
        told(&state, 1),
        [pair("Hi", " Hello"), pair("Why?", " then")]
    );
    assert_eq!(state.branches.versions(&state.panes[1], 1), versions);
    state.apply(Command::Undo);
    assert_eq!(told(&state, 1)[1], pair("Why?", " because"));
    state.apply(Command::Undo);
    assert_eq!(told(&state, 1)[1], pair("Why?", " then"));
    state.apply(Command::Redo);
    assert_eq!(told(&state, 1)[1], pair("Why?", " because"));
}

#[test]
fn after_a_change_of_settings_the_seed_stays() {
    let mut state = conversation();
    let seed = latest(&state, 1).config.seed;
    let chain = state.panes[2].settings.chain.clone();
    state.panes[1].settings.set_chain(chain);
    let at = at(&state, 1, 1);
    apply(&mut state, ConversationCommand::Again(at));
    answer_waiting(&mut state, &[" because"]);
    let again = latest(&state, 1);
    assert_eq!(again.config.seed, seed);
    assert_eq!(again.lineage.origin.unwrap().change, OriginChange::Settings);
}

#[test]
fn an_edited_message_is_answered_and_the_later_turns_stay_in_branches() {
    let mut state = conversation();
    reply(&mut state, "And now?", &[" yes"]);
    let at = at(&state, 0, 1);
    apply(&mut state, ConversationCommand::Edit(Some(at)));
    let edit = state.branches.message.as_mut().unwrap();
    assert_eq!(edit.text, "Why?");
    edit.text = "Why not?".to_owned();
    apply(&mut state, ConversationCommand::FinishEdit(EditScope::Pane));
    answer_waiting(&mut state, &[" right"]);
    let edited = [pair("Hi", " Hello"), pair("Why not?", " right")];
    assert_eq!(told(&state, 0), edited);
    assert_eq!(latest(&state, 1).n_turns(), 3, "only one pane was asked");
    state.apply(Command::Undo);
    assert_eq!(told(&state, 0).last(), Some(&pair("And now?", " yes")));
    state.apply(Command::Redo);
    assert_eq!(told(&state, 0), edited);
}

#[test]
fn an_edited_message_can_go_to_all_panes() {
    let mut state = conversation();
    let edit = ConversationCommand::Edit(Some(at(&state, 0, 0)));
    apply(&mut state, edit);
    state.branches.message.as_mut().unwrap().text = "Hey".to_owned();
    let scope = ConversationCommand::FinishEdit(EditScope::AllPanes);
    let effects = apply(&mut state, scope);
    let [(prompt, ids)] = asked(&effects).try_into().unwrap();
    assert_eq!((prompt.text.as_str(), ids.len()), ("Hey", 4));
    answer_waiting(&mut state, &[" Hm"]);
    assert_eq!(told(&state, 3), [pair("Hey", " Hm")]);
    // One undo step for all of them.
    state.apply(Command::Undo);
    for place in 0..4 {
        assert_eq!(latest(&state, place).n_turns(), 2, "{place}");
    }
}

#[test]
fn a_new_conversation_can_be_undone() {
    let mut state = conversation();
    apply(&mut state, ConversationCommand::New);
    assert!(state.panes.iter().all(|pane| pane.latest().is_none()));
    assert!(!state.is_replying());
    assert_eq!(state.prompt.history, []);
    state.apply(Command::Undo);
    assert_eq!(told(&state, 3)[1], pair("Why?", " hm"));
    state.apply(Command::Redo);
    assert!(state.panes.iter().all(|pane| pane.latest().is_none()));
}

#[test]
fn an_earlier_turn_can_be_shown_and_branched() {
    let mut state = conversation();
    apply(&mut state, ConversationCommand::ShowTurn(Some(0)));
    let pane: PaneId = state.panes[1].id;
    assert_eq!(state.panes[1].generation().unwrap().text(), " Hello");
    let from = Pin { pane, step: 0 };
    state.apply(Command::Pin(from));
    let (_, shown, _) = state.pinned().unwrap();
    assert_eq!(shown.text(), " Hello");
    let effects = state.apply(Command::Branch(BranchCommand::Branch {
        from,
        change: crate::state::BranchChange::AnotherSeed,
        target: BranchTarget::InPlace,
    }));
    let [Effect::Send(Request::Continue { panes, prompt })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(prompt.text, "Hi");
    let (ids, prompt) = (vec![panes[0].id], Arc::clone(prompt));
    let started = Progress::Started { ids, prompt };
    let id = panes[0].id;
    state.on_event(Event::Progress(started));
    crate::state::tests::write_more(&mut state, id, &[(" Oh", 0.5)]);
    let reason = FinishReason::EndOfText;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
    assert_eq!(told(&state, 1), [pair("Hi", " Oh")]);
    state.apply(Command::Undo);
    assert_eq!(told(&state, 1)[1], pair("Why?", " then"));
}

#[test]
fn the_views_follow_the_last_turn_until_another_is_chosen() {
    let mut state = conversation();
    assert_eq!(state.panes.shown_turn(), None);
    apply(&mut state, ConversationCommand::ShowTurn(Some(1)));
    assert_eq!(state.panes.shown_turn(), None, "that is the last one");
    apply(&mut state, ConversationCommand::ShowTurn(Some(0)));
    reply(&mut state, "And now?", &[" yes"]);
    assert_eq!(state.panes.shown_turn(), None);
}

#[test]
fn the_oldest_turn_is_left_out_on_request() {
    let mut state = conversation();
    let pane = state.panes[0].id;
    apply(&mut state, ConversationCommand::LeaveOutOldest(pane));
    state.prompt.text = "And now?".to_owned();
    let effects = state.apply(Command::GenerateAll);
    let first = &asked(&effects)[0].0;
    let PromptForm::Chat(settings) = &first.form else {
        panic!("a reply is a message");
    };
    let left = [ChatMessage::user("Why?"), ChatMessage::assistant("so")];
    assert_eq!(settings.history, left);
    assert_eq!(state.panes[0].n_to_leave_out, 0, "only the next message");
}

#[test]
fn a_refused_message_is_kept_and_can_be_answered_later() {
    let mut state = chat_written("Hi", &[(" Hello", 0.5)]);
    state.prompt.text = "Why?".to_owned();
    let effects = state.apply(Command::GenerateAll);
    let id = asked(&effects)[0].1[0];
    let reason = FinishReason::failed("the context is full");
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
    let pane = &state.panes[0];
    assert_eq!(pane.pending_turn().unwrap().message, "Why?");
    assert!(state.can_leave_out_oldest(pane));
    let effects = state.apply(Command::Generate(pane.id));
    let [(prompt, _)] = asked(&effects).try_into().unwrap();
    assert_eq!(prompt.text, "Why?");
}

#[test]
fn only_the_beginning_of_a_conversation_is_saved_with_the_settings() {
    let mut state = conversation();
    assert_eq!(state.prompt.history.len(), 4, "it counts the fullest pane");
    assert_eq!(state.settings().chat_history, []);
    apply(&mut state, ConversationCommand::New);
    assert_eq!(state.settings().chat_history, []);
}

#[test]
fn a_file_of_messages_opens_as_a_conversation() {
    let mut state = conversation();
    let messages = crate::interop::Messages {
        system: Some("Be brief".to_owned()),
        history: vec![ChatMessage::user("Hi"), ChatMessage::assistant("Hello")],
        tools: ChatTools::default(),
        last: Some("Who are you?".to_owned()),
    };
    let name = "chat.json".to_owned();
    let read = |messages| {
        let name = name.clone();
        Command::Run(crate::state::RunCommand::MessagesRead { name, messages })
    };
    state.apply(read(Ok(messages)));
    assert!(state.panes.iter().all(|pane| pane.latest().is_none()));
    assert_eq!(state.prompt.text, "Who are you?");
    assert_eq!(state.prompt.system, "Be brief");
    let asked = asked(&state.apply(Command::GenerateAll));
    let PromptForm::Chat(settings) = &asked[0].0.form else {
        panic!("the message is answered");
    };
    assert_eq!((asked.len(), settings.history.len()), (1, 2));
    // The answers follow the given messages.
    answer_waiting_after(&mut state, settings, &[" me"]);
    assert_eq!(state.settings().chat_history.len(), 2);
    state.apply(read(Err("message 3 has no role".to_owned())));
    let notice = state.notices.iter().next().unwrap();
    assert_eq!(notice.title, "chat.json can’t be opened");
}

#[test]
fn a_tools_result_is_answered_and_the_next_message_is_the_users() {
    let mut state = conversation();
    let call = ToolCallName {
        tool_call_id: Some("call_1".to_owned()),
        name: None,
    };
    let messages = crate::interop::Messages {
        system: None,
        history: vec![ChatMessage::user("Rain?"), ChatMessage::assistant("")],
        last: Some("no".to_owned()),
        tools: ChatTools {
            definitions: vec!["weather".into()],
            answered_call: Some(call.clone()),
        },
    };
    state.apply(Command::Run(crate::state::RunCommand::MessagesRead {
        name: "agent.json".to_owned(),
        messages: Ok(messages),
    }));
    assert_eq!(state.settings().chat_tools, state.prompt.tools);
    let asked = asked(&state.apply(Command::GenerateAll));
    let PromptForm::Chat(settings) = &asked[0].0.form else {
        panic!("the result is answered");
    };
    let result = settings.message(&asked[0].0.text);
    assert_eq!(result, ChatMessage::tool("no", call));
    answer_waiting_after(&mut state, settings, &[" Dry"]);
    let begun = [
        &settings.history[..],
        &[result, ChatMessage::assistant("Dry")],
    ];
    state.prompt.text = "And tomorrow?".to_owned();
    let asked = self::asked(&state.apply(Command::GenerateAll));
    let PromptForm::Chat(settings) = &asked[0].0.form else {
        panic!("the reply is answered");
    };
    assert_eq!(settings.history, begun.concat());
    assert_eq!(
        settings.tools.definitions,
        [serde_json::Value::from("weather")]
    );
    let reply = settings.message(&asked[0].0.text);
    assert_eq!(reply, ChatMessage::user("And tomorrow?"));
    answer_waiting(&mut state, &[" yes"]);
    assert_eq!(latest(&state, 0).n_left_out(), 0);
    assert_eq!(latest(&state, 0).n_turns(), 2);
}

#[test]
fn a_conversation_of_the_history_goes_on_with_its_settings() {
    let state = conversation();
    let run = state.run_texts().into_run(state.run_header());
    let mut other = crate::state::tests::ready();
    other.on_event(loaded_with(ChatSupport::ready()));
    other.apply(Command::Run(crate::state::RunCommand::Read {
        name: "old".to_owned(),
        run: Ok(Box::new(run)),
    }));
    assert!(!other.is_replying(), "an opened run is only shown");
    assert!(other.panes[1].has_turns());
    other.apply(Command::Run(crate::state::RunCommand::UseSettings));
    assert!(other.is_replying());
    assert_eq!(other.prompt.text, "");
    reply(&mut other, "And now?", &[" yes"]);
    assert_eq!(latest(&other, 1).n_turns(), 3);
    // The turns got new ids when the file was opened.
    let ids: Vec<GenerationId> = latest(&other, 1)
        .turns()
        .iter()
        .map(|turn| turn.lineage.id)
        .collect();
    assert!(ids.is_sorted_by(|before, after| before < after), "{ids:?}");
}

#[test]
fn an_edited_message_that_is_refused_can_be_edited_further() {
    let mut state = conversation();
    let at = at(&state, 1, 1);
    apply(&mut state, ConversationCommand::Edit(Some(at)));
    state.branches.message.as_mut().unwrap().text = "Why not?".to_owned();
    let effects = apply(&mut state, ConversationCommand::FinishEdit(EditScope::Pane));
    let id = asked(&effects)[0].1[0];
    let reason = FinishReason::failed("the context is full");
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
    let edit = state.branches.message.as_ref().unwrap();
    assert_eq!((edit.at, edit.text.as_str()), (at, "Why not?"));
    assert_eq!(state.panes[1].pending_turn(), None);
    assert_eq!(told(&state, 1)[1], pair("Why?", " then"));
}
