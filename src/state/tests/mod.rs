//! Tests of the state: commands and events in, state and effects out.

mod branch_tree;
mod branches;
mod by_hand;
mod compute;
mod futures;
mod hub;
pub(crate) mod lesson_kinds;
pub(crate) mod lessons;
mod letters;
pub(crate) mod listening;
pub(crate) mod local_models;
mod models;
mod outside;
mod pace;
mod pane_models;
mod panes;
mod paste;
mod presets;
mod prompt;
mod read_along;
mod recording;
mod reopening;
mod run_end;
mod runs;
mod score;
pub(crate) mod servers;
mod undo;
mod verification;
mod what_if;
mod writing;

use std::sync::Arc;

use super::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, Effect, Pin, PromptMode, Settings,
};
use crate::analysis::messages_after;
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{
    ChatRecord, ChatSettings, ChatSupport, FinishReason, Generation, ModelInfo, Piece,
    PromptRecord, PromptText, PromptToken, Vocabulary,
};
pub(crate) use crate::worker::Request;
pub(crate) use crate::worker::{
    CacheType, CpuThreads, DeviceChoice, Devices, DownloadEvent, Event, InputBits, JobUpdate,
    ModelFiles, ModelFormat, OtherWay, PartialDownload, Precision, Repository,
};
use crate::worker::{GenerationId, JobData, ModelSource, PaneModelUpdate, Progress};

/// A state whose model is loaded.
pub(crate) fn ready() -> AppState {
    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    state.on_event(loaded());
    state
}

pub(super) fn loaded() -> Event {
    loaded_with(ChatSupport::Missing)
}

/// The event of a model that was loaded, with this chat support.
pub(crate) fn loaded_with(chat: ChatSupport) -> Event {
    let generation = generation(&[]);
    Event::ModelLoaded {
        info: generation.model,
        vocabulary: generation.vocabulary,
        chat,
        recommended_sampling: None,
        load_warning: None,
        second: None,
    }
}

/// What is reported of a pane's own model when it has been loaded.
pub(crate) fn pane_model_loaded(
    info: ModelInfo,
    vocabulary: Arc<Vocabulary>,
    chat: ChatSupport,
) -> PaneModelUpdate {
    PaneModelUpdate::Loaded {
        info: Arc::new(info),
        vocabulary,
        chat,
        recommended_sampling: None,
        load_warning: None,
    }
}

/// The engine's answer that a prompt has this many tokens.
pub(crate) fn tokenized(prompt: impl Into<PromptText>, n_tokens: usize) -> Event {
    let token = PromptToken {
        id: TokenId(7),
        piece: Piece::text("a"),
    };
    Event::Tokenized {
        prompt: prompt.into(),
        model: None,
        tokens: Ok(vec![token; n_tokens]),
    }
}

/// The ids of the generations that a command requested.
pub(crate) fn asked(effects: &[Effect]) -> Vec<GenerationId> {
    effects
        .iter()
        .flat_map(|effect| match effect {
            Effect::Send(Request::Generate { panes, .. }) => panes.clone(),
            _ => Vec::new(),
        })
        .map(|pane| pane.id)
        .collect()
}

/// The ids of the texts that a command requested to continue.
pub(crate) fn continued(effects: &[Effect]) -> Vec<GenerationId> {
    let panes = effects.iter().flat_map(|effect| match effect {
        Effect::Send(Request::Continue { panes, .. }) => panes.clone(),
        _ => Vec::new(),
    });
    panes.map(|pane| pane.id).collect()
}

/// Lets a pane generate these tokens and finish.
pub(crate) fn write(state: &mut AppState, id: GenerationId, pieces: &[(&str, f64)]) {
    begin(state, id, pieces);
    finish(state, id);
}

/// Lets a pane begin its text with these tokens.
pub(crate) fn begin(state: &mut AppState, id: GenerationId, pieces: &[(&str, f64)]) {
    let prompt = Arc::new(PromptRecord {
        text: state.prompt.text.clone(),
        ..PromptRecord::clone(&generation(pieces).prompt)
    });
    let ids = vec![id];
    state.on_event(Event::Progress(Progress::Started { ids, prompt }));
    write_more(state, id, pieces);
}

/// Lets a pane that is writing add these tokens.
pub(crate) fn write_more(state: &mut AppState, id: GenerationId, pieces: &[(&str, f64)]) {
    for step in generation(pieces).steps {
        let step = Box::new(step);
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
}

/// Lets a pane that is writing reach its limit.
pub(crate) fn finish(state: &mut AppState, id: GenerationId) {
    let reason = FinishReason::MaxTokens;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
}

/// Delivers what a job reports.
pub(crate) fn report(state: &mut AppState, id: GenerationId, value: impl JobData) -> Vec<Effect> {
    update_job(state, id, JobUpdate::reported(value))
}

/// Delivers an update of a job.
pub(crate) fn update_job(state: &mut AppState, id: GenerationId, update: JobUpdate) -> Vec<Effect> {
    state.on_event(Event::Job { id, update })
}

/// Returns the id and the plan of a request for a job of this experiment.
pub(crate) fn planned<T: Clone + 'static>(effect: &Effect) -> Option<(GenerationId, T)> {
    match effect {
        Effect::Send(Request::RunJob { id, plan, .. }) => Some((*id, plan.get::<T>()?.clone())),
        _ => None,
    }
}

/// Delivers the tokens of a text.
pub(crate) fn deliver_tokens(state: &mut AppState, text: &str, tokens: Vec<PromptToken>) {
    let prompt = PromptText::raw(text);
    state.on_event(Event::Tokenized {
        prompt,
        model: None,
        tokens: Ok(tokens),
    });
}

pub(crate) fn text(state: &AppState, place: usize) -> String {
    let generation = state.panes[place].generation();
    generation.map_or_else(String::new, Generation::text)
}

/// A state with four texts; the first diverges at the third token. Nothing is pinned.
pub(crate) fn written() -> AppState {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    for (id, last) in ids
        .into_iter()
        .zip([" house", " cottage", " cottage", " cottage"])
    {
        write(&mut state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
    }
    state.apply(Command::Unpin);
    state.notices.clear();
    state
}

/// A state in which all panes have answered this message with these tokens.
pub(crate) fn chat_written(message: &str, pieces: &[(&str, f64)]) -> AppState {
    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    state.on_event(loaded_with(ChatSupport::ready()));
    state.prompt.mode = PromptMode::Chat;
    state.prompt.text = message.to_owned();
    let ids = asked(&state.apply(Command::GenerateAll));
    let prompt = Arc::new(PromptRecord {
        text: message.to_owned(),
        chat: Some(ChatRecord {
            settings: ChatSettings::default(),
            rendered: message.to_owned(),
        }),
        ..PromptRecord::clone(&generation(pieces).prompt)
    });
    let started = Progress::Started {
        ids: ids.clone(),
        prompt,
    };
    state.on_event(Event::Progress(started));
    for id in ids {
        write_more(&mut state, id, pieces);
        let reason = FinishReason::EndOfText;
        state.on_event(Event::Progress(Progress::Finished { id, reason }));
    }
    state
}

/// Lets the panes that wait for an answer give it: each the next of these words.
pub(crate) fn answer_waiting(state: &mut AppState, words: &[&str]) {
    answer_waiting_after(state, &ChatSettings::default(), words);
}

/// Like [`answer_waiting`], for conversations that begin with given messages.
pub(crate) fn answer_waiting_after(state: &mut AppState, given: &ChatSettings, words: &[&str]) {
    let waiting = state.panes.iter().filter_map(|pane| {
        let asked = pane.pending_turn()?;
        let settings = match asked.before {
            Some(before) => ChatSettings {
                history: messages_after(before),
                ..ChatSettings::default()
            },
            None => given.clone(),
        };
        Some((pane.status.running()?, asked.message.to_owned(), settings))
    });
    let waiting: Vec<_> = waiting.collect();
    for ((id, message, settings), word) in waiting.into_iter().zip(words.iter().cycle()) {
        let base = generation(&[(" a", 0.5)]).prompt;
        let (n_before, n_chars) = (settings.history.len(), message.len());
        let prompt = Arc::new(PromptRecord {
            text: message.clone(),
            chat: Some(ChatRecord {
                settings,
                rendered: message,
            }),
            // A longer history and a longer message have more tokens.
            tokens: base.tokens.repeat(n_before + n_chars),
            ..PromptRecord::clone(&base)
        });
        let ids = vec![id];
        state.on_event(Event::Progress(Progress::Started { ids, prompt }));
        write_more(state, id, &[(word, 0.5)]);
        let reason = FinishReason::EndOfText;
        state.on_event(Event::Progress(Progress::Finished { id, reason }));
    }
}

/// Like [`written`], but the first text branches off in place at its second token: " fox ran".
pub(crate) fn branched() -> AppState {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    let effects = state.apply(Command::Branch(BranchCommand::Branch {
        from,
        change: BranchChange::Tokens(vec![TokenId(5)]),
        target: BranchTarget::InPlace,
    }));
    let [Effect::Send(Request::Continue { panes, .. })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let id = panes[0].id;
    write(&mut state, id, &[(" fox", 0.1), (" ran", 0.3)]);
    state
}
