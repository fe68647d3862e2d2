//! Tests of opened runs and the history.

use super::{asked, ready, text, write, written};
use crate::export::json::{RunFile, RunHeader};
use crate::generation::testing::generation;
use crate::generation::{FinishReason, Generation, PaneSettings};
use crate::state::{
    AppState, BranchCommand, Command, Effect, FolderCommand, FolderKind, FuturesCommand,
    HistoryLimits, KeptRun, MAX_PANES, Notice, Page, PathPurpose, Pin, RunCommand, RunRequest,
};

pub(super) fn run(state: &mut AppState, command: RunCommand) -> Vec<Effect> {
    state.apply(Command::Run(command))
}

fn requests(effects: &[Effect]) -> Vec<&RunRequest> {
    let requests = effects.iter().filter_map(|effect| match effect {
        Effect::Runs(request) => Some(request),
        _ => None,
    });
    requests.collect()
}

fn file(panes: Vec<Generation>) -> RunFile {
    RunFile {
        header: RunHeader {
            finished_at: Some(7),
            ..RunHeader::default()
        },
        panes,
        ..RunFile::default()
    }
}

pub(super) fn open(state: &mut AppState, panes: Vec<Generation>) -> Vec<Effect> {
    let read = RunCommand::Read {
        name: "fox.quartet.json".to_owned(),
        run: Ok(Box::new(file(panes))),
    };
    run(state, read)
}

fn kept(file: &str, prompt: &str, finished_at: u64) -> KeptRun {
    KeptRun {
        file: file.to_owned(),
        kept_at: finished_at,
        n_bytes: 1_000_000,
        pinned: false,
        held: None,
        summary: Ok(crate::export::RunSummary {
            prompt: prompt.to_owned(),
            model: format!("Model {prompt}"),
            finished_at: Some(finished_at),
            ..Default::default()
        }),
    }
}

#[test]
fn a_run_that_was_stopped_by_opening_another_is_kept_once_it_is_back() {
    let mut state = written();
    let pane = state.panes[0].id;
    for ends_first in [false, true] {
        let id = asked(&state.apply(Command::Generate(pane)))[0];
        if ends_first {
            write(&mut state, id, &[(" in", 0.6)]);
        }
        open(&mut state, vec![generation(&[(" the", 0.5)])]);
        let effects = run(&mut state, RunCommand::Close);
        let is_kept = requests(&effects)
            .iter()
            .any(|request| matches!(request, RunRequest::Keep { .. }));
        assert_eq!(is_kept, !ends_first);
    }
}

#[test]
fn an_opened_run_is_shown_as_it_was_and_closing_it_brings_back_the_rest() {
    let mut state = written();
    let before = state.clone();
    let mut other = generation(&[(" fox", 0.25), ("</s>", 0.5)]);
    other.config.seed = 7;
    open(
        &mut state,
        vec![other.clone(), generation(&[(" the", 0.5)])],
    );
    assert_eq!(state.panes.len(), 2);
    let shown = state.panes[0].generation().unwrap();
    other.lineage = shown.lineage;
    assert_eq!(shown, &other);
    let ids = state.generations().into_iter().flatten();
    let ids: Vec<_> = ids.map(|text| text.lineage.id).collect();
    assert_ne!(ids[0], ids[1], "each text of the tree has its own id");
    assert_eq!((state.seed, state.panes[1].settings.seed), (7, Some(42)));
    assert_eq!(state.prompt.text, "Once there was");
    assert_eq!(state.runs.opened.as_ref().unwrap().name, "fox.quartet.json");
    // Settings that are saved meanwhile are not those of the run.
    assert_eq!(state.settings(), before.settings());
    run(&mut state, RunCommand::Close);
    assert_eq!(state.runs.opened, None);
    assert_eq!(
        (&state.panes, &state.prompt.text),
        (&before.panes, &before.prompt.text)
    );
    assert_eq!(state.settings(), before.settings());
}

#[test]
fn an_opened_run_needs_no_model_and_is_not_continued() {
    let (mut state, _) = AppState::new(
        crate::state::Settings::default(),
        crate::worker::ModelSource::Embedded,
    );
    open(
        &mut state,
        vec![generation(&[(" the", 0.5), (" fox", 0.25)])],
    );
    assert_eq!(text(&state, 0), " the fox");
    assert_eq!(state.shown_step(), Some((0, 1)));
    let reason = state.blocking_reason().unwrap();
    assert!(reason.starts_with("Close this run"), "{reason}");
    assert_eq!(asked(&state.apply(Command::GenerateAll)), []);
    assert!(!state.can_continue(&state.panes[0]));
}

#[test]
fn the_settings_of_a_run_can_be_used() {
    let mut state = ready();
    let mut other = generation(&[(" fox", 0.25)]);
    other.config.limits.max_new_tokens = 17;
    open(&mut state, vec![other]);
    run(&mut state, RunCommand::UseSettings);
    assert_eq!((state.panes.len(), state.limits.max_new_tokens), (1, 17));
    assert_eq!(state.settings().panes[0].name, "Top-p");
    assert_eq!(state.blocking_reason(), None);
}

#[test]
fn opening_another_run_keeps_what_the_first_one_hides() {
    let mut state = written();
    let before = state.panes.clone();
    open(&mut state, vec![generation(&[(" the", 0.5)])]);
    open(&mut state, vec![generation(&[(" fox", 0.5)])]);
    assert_eq!(text(&state, 0), " fox");
    run(&mut state, RunCommand::Close);
    assert_eq!(state.panes, before);
}

#[test]
fn a_text_that_is_being_generated_is_stopped_and_kept() {
    let mut state = ready();
    state.apply(Command::GenerateAll);
    let effects = open(&mut state, vec![generation(&[(" the", 0.5)])]);
    assert!(!effects.is_empty(), "the engine must stop");
    run(&mut state, RunCommand::Close);
    assert!(!state.is_running());
}

#[test]
fn a_run_that_cannot_be_read_changes_nothing() {
    let mut state = written();
    let before = state.panes.clone();
    let read = RunCommand::Read {
        name: "fox.json".to_owned(),
        run: Err("this is not a Quartet run file".to_owned()),
    };
    run(&mut state, read);
    assert_eq!(state.panes, before);
    assert_eq!(state.notices[0].title, "fox.json can’t be opened");
    open(&mut state, Vec::new());
    assert!(state.runs.opened.is_none());
    assert_eq!(state.notices[0].body, "It has no texts");
}

#[test]
fn a_run_with_more_texts_than_panes_shows_the_first_ones() {
    let mut state = ready();
    open(
        &mut state,
        vec![generation(&[(" the", 0.5)]); MAX_PANES + 2],
    );
    assert_eq!(state.panes.len(), MAX_PANES);
    assert_eq!(state.notices[0].title, "Showing the first 8 of 10 texts");
}

#[test]
fn a_finished_run_is_kept_once_and_a_new_run_next_to_it() {
    let mut state = ready();
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let ids = asked(&state.apply(Command::GenerateAll));
        for (index, id) in ids.iter().enumerate() {
            let effects = finish(&mut state, *id);
            let kept = requests(&effects);
            assert_eq!(kept.len(), usize::from(index + 1 == ids.len()));
            numbers.extend(kept.into_iter().map(|request| match request {
                RunRequest::Keep { number, .. } => *number,
                other => panic!("{other:?}"),
            }));
        }
    }
    assert_eq!(numbers.len(), 2);
    assert_ne!(numbers[0], numbers[1]);
}

/// Lets a pane generate one token and finish. Returns the effects of the end.
fn finish(state: &mut AppState, id: crate::worker::GenerationId) -> Vec<Effect> {
    use crate::generation::FinishReason;
    use crate::worker::{Event, Progress};

    let text = generation(&[(" the", 0.5)]);
    state.on_event(Event::Progress(Progress::Started {
        ids: vec![id],
        prompt: text.prompt,
    }));
    state.on_event(Event::Progress(Progress::Stepped {
        id,
        step: Box::new(text.steps[0].clone()),
    }));
    let reason = FinishReason::MaxTokens;
    state.on_event(Event::Progress(Progress::Finished { id, reason }))
}

#[test]
fn the_history_is_read_when_its_page_is_first_shown() {
    let mut state = ready();
    let effects = run(&mut state, RunCommand::ShowPage(Page::History));
    assert_eq!(requests(&effects), [&RunRequest::List]);
    run(
        &mut state,
        RunCommand::Listed(Ok(vec![kept("a", "fox", 1)])),
    );
    run(&mut state, RunCommand::ShowPage(Page::Write));
    let effects = run(&mut state, RunCommand::ShowPage(Page::History));
    assert_eq!(effects, []);
}

#[test]
fn runs_are_found_by_text_and_model() {
    let mut state = ready();
    let runs = vec![kept("b", "The Wolf", 2), kept("a", "The fox", 1)];
    run(&mut state, RunCommand::Listed(Ok(runs)));
    let files = |state: &AppState| -> Vec<String> {
        let found = state.runs.history.found();
        found.into_iter().map(|run| run.file.clone()).collect()
    };
    assert_eq!(files(&state), ["b", "a"]);
    state.runs.history.search = " wolf".to_owned();
    assert_eq!(files(&state), ["b"]);
    state.runs.history.search.clear();
    state.runs.history.model = Some("Model The fox".to_owned());
    assert_eq!(files(&state), ["a"]);
    assert_eq!(state.runs.history.models().len(), 2);
    let words = state.runs.history.size_words(HistoryLimits::default());
    assert_eq!(words, "2 runs, 2.0 of 200 MB");
}

#[test]
fn a_deleted_run_can_be_brought_back_until_the_notice_is_closed() {
    let mut state = ready();
    let runs = vec![kept("b", "wolf", 2), kept("a", "fox", 1)];
    run(&mut state, RunCommand::Listed(Ok(runs)));
    let effects = run(&mut state, RunCommand::Delete("b".to_owned()));
    assert_eq!(requests(&effects), [&RunRequest::Delete("b".to_owned())]);
    assert_eq!(state.runs.history.selected.as_deref(), Some("a"));
    let gone = RunCommand::Changed {
        file: "b".to_owned(),
        run: None,
    };
    run(&mut state, gone);
    assert_eq!(state.runs.history.found().len(), 1);
    let undo = state.notices[0].actions[0].command.clone();
    let effects = state.apply(undo);
    assert_eq!(requests(&effects), [&RunRequest::Restore("b".to_owned())]);
    let back = RunCommand::Changed {
        file: "b".to_owned(),
        run: Some(kept("b", "wolf", 2)),
    };
    run(&mut state, back);
    assert_eq!(state.runs.history.found()[0].file, "b");
    assert!(state.notices.is_empty());
}

#[test]
fn deleted_runs_are_brought_back_one_by_one_the_last_first() {
    let mut state = ready();
    let runs = vec![kept("b", "wolf", 2), kept("a", "fox", 1)];
    run(&mut state, RunCommand::Listed(Ok(runs)));
    assert!(run(&mut state, RunCommand::UndoDelete).is_empty());
    for file in ["a", "b"] {
        run(&mut state, RunCommand::Delete(file.to_owned()));
        let gone = RunCommand::Changed {
            file: file.to_owned(),
            run: None,
        };
        run(&mut state, gone);
    }
    for (file, prompt) in [("b", "wolf"), ("a", "fox")] {
        let effects = run(&mut state, RunCommand::UndoDelete);
        assert_eq!(requests(&effects), [&RunRequest::Restore(file.to_owned())]);
        let back = RunCommand::Changed {
            file: file.to_owned(),
            run: Some(kept(file, prompt, 2)),
        };
        run(&mut state, back);
    }
    assert!(run(&mut state, RunCommand::UndoDelete).is_empty());
    assert_eq!(state.runs.history.found().len(), 2);
}

#[test]
fn a_run_is_renamed_and_an_empty_name_clears_its_title() {
    let mut state = ready();
    run(
        &mut state,
        RunCommand::Listed(Ok(vec![kept("a", "fox", 1)])),
    );
    for (typed, title) in [(" My fox ", Some("My fox")), ("  ", None)] {
        run(&mut state, RunCommand::BeginRename("a".to_owned()));
        let (_, name) = state.runs.history.renaming.as_mut().unwrap();
        assert_eq!(name, "fox");
        typed.clone_into(name);
        let effects = run(&mut state, RunCommand::Rename);
        let wanted = RunRequest::Rename {
            file: "a".to_owned(),
            title: title.map(str::to_owned),
        };
        assert_eq!(requests(&effects), [&wanted]);
    }
}

#[test]
fn the_panes_of_a_run_keep_their_names() {
    let mut state = ready();
    let mut named = generation(&[(" the", 0.5)]);
    named.name = "Mine".to_owned();
    open(&mut state, vec![named]);
    let settings: &PaneSettings = &state.panes[0].settings;
    assert_eq!(settings.name, "Mine");
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids, []);
    run(&mut state, RunCommand::Close);
    let ids = asked(&state.apply(Command::GenerateAll));
    write(&mut state, ids[0], &[(" a", 0.5)]);
    assert_eq!(text(&state, 0), " a");
}

#[test]
fn opening_a_run_keeps_the_tree_of_the_texts_that_it_hides() {
    let mut state = super::branched();
    let before = state.branches.kept.clone();
    open(&mut state, vec![generation(&[(" the", 0.5)])]);
    assert_eq!(state.branches.kept.texts(), []);
    run(&mut state, RunCommand::Close);
    assert_eq!(state.branches.kept, before);
}

#[test]
fn the_texts_of_a_run_whose_settings_are_used_get_their_own_ids() {
    let mut state = ready();
    let texts = [" the", " a"].map(|piece| generation(&[(piece, 0.5)]));
    open(&mut state, texts.to_vec());
    run(&mut state, RunCommand::UseSettings);
    let id = |place: usize| state.panes[place].generation().unwrap().lineage.id;
    assert_ne!(id(0), id(1));
    assert_ne!(id(0), texts[0].lineage.id);
}

#[test]
fn each_text_of_an_opened_run_has_its_own_row() {
    let mut state = written();
    let texts = [" the", " a", " one"].map(|piece| generation(&[(piece, 0.5)]));
    open(&mut state, texts.to_vec());
    let mut ids: Vec<_> = state
        .generations()
        .iter()
        .flatten()
        .map(|text| text.lineage.id)
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    for (place, id) in ids.into_iter().enumerate() {
        state.apply(Command::Branch(BranchCommand::ShowText(id)));
        assert_eq!(state.shown_step(), Some((place, 0)), "its pane is selected");
    }
}

#[test]
fn futures_make_room_for_an_opened_run_and_come_back() {
    let mut state = written();
    let pane = state.panes[3].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    let effects = state.apply(Command::Futures(FuturesCommand::Draw));
    assert_eq!(effects.len(), 1);
    let id = state.futures.runs()[0].id();
    let effects = open(&mut state, vec![generation(&[(" the", 0.5)])]);
    let stop = Effect::Send(crate::worker::Request::StopJob(id));
    assert!(effects.contains(&stop), "{effects:?}");
    assert_eq!(state.futures.runs(), []);
    run(&mut state, RunCommand::Close);
    assert_eq!(state.futures.runs()[0].id(), id);
    assert!(!state.futures.is_drawing());
}

#[test]
fn an_opened_run_says_how_exact_what_if_is() {
    use crate::decoding::Detail;

    let words = |text: Generation| {
        let mut state = ready();
        open(&mut state, vec![text]);
        state.runs.opened.unwrap().what_if_words
    };
    let mut text = generation(&[(" the", 0.5)]);
    let trace = std::sync::Arc::make_mut(&mut text.steps[0].trace);
    trace.raw.n_candidates = 1 << 20;
    let n_head = trace.raw.head.len();
    let bounded = format!("the file has the top {n_head} tokens of each step");
    assert!(words(text.clone()).contains(&bounded), "{}", words(text));
    let trace = std::sync::Arc::make_mut(&mut text.steps[0].trace);
    trace.raw.detail = Detail::Whole(vec![0.0; 8].into());
    assert!(words(text).starts_with("What-if is exact"));
}

#[test]
fn a_run_that_cannot_be_saved_is_reported_and_kept_in_another_folder() {
    let mut state = written();
    let error = "No space left on device\n/data/runs".to_owned();
    run(
        &mut state,
        RunCommand::NotKept {
            error: error.clone(),
        },
    );
    state.notify(Notice::done("Saved"));
    state.notify(Notice::hint("Look"));
    assert_eq!(state.runs.history.unkept.as_ref(), Some(&error));
    let notice = state
        .notices
        .iter()
        .find(|notice| notice.body == error)
        .unwrap();
    let choose = Command::AskPath(PathPurpose::Folder(FolderKind::Runs));
    assert_eq!(notice.actions[0].command, choose);
    let tried = FolderCommand::Tried {
        kind: FolderKind::Runs,
        folder: "/elsewhere".into(),
        error: None,
    };
    let effects = state.apply(Command::Folder(tried));
    assert_eq!(effects[0], Effect::UseFolder(FolderKind::Runs));
    let is_kept = |request: &&RunRequest| matches!(request, RunRequest::Keep { .. });
    assert!(requests(&effects).iter().any(is_kept), "{effects:?}");
    assert_eq!(state.runs.history.unkept, None);
}

#[test]
fn closing_the_window_keeps_what_is_not_in_the_history() {
    let mut state = written();
    assert_eq!(state.close(), [], "finished runs are in the history");
    let pane = state.panes[0].id;
    let id = asked(&state.apply(Command::Generate(pane)))[0];
    super::begin(&mut state, id, &[(" in", 0.6)]);
    for opens_another in [false, true] {
        let mut state = state.clone();
        if opens_another {
            open(&mut state, vec![generation(&[(" the", 0.5)])]);
        }
        let effects = state.close();
        assert_eq!(requests(&effects).len(), 1, "{effects:?}");
        let text = state.panes[0].generation().unwrap();
        let finish = if opens_another {
            FinishReason::Cancelled
        } else {
            FinishReason::Interrupted
        };
        assert_eq!(text.finish, Some(finish));
    }
}
