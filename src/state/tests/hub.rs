//! Tests of the Hub's models: searching, listing, downloading, pausing and opening them.

use std::path::PathBuf;

use super::ready;
use crate::generation::{ByteSize, Openness};
use crate::state::models::hub::DownloadStage;
use crate::state::{
    AppState, Command, Effect, HubCommand, HubRow, HubRowStatus, ModelsCommand, ModelsTab,
};
use crate::worker::{
    CachedModel, DownloadEvent, DownloadPhase, DownloadProgress, DownloadRequest, DownloadTarget,
    ModelFiles, ModelFormat, ModelSource, PartialDownload, Repository, Request,
};

const NAME: &str = "someone/Tiny-GGUF";

fn hub(state: &mut AppState, command: HubCommand) -> Vec<Effect> {
    state.apply(Command::Hub(command))
}

fn event(state: &mut AppState, event: DownloadEvent) -> Vec<Effect> {
    hub(state, HubCommand::Event(event))
}

fn file(quantization: &str, n_bytes: Option<u64>) -> ModelFiles {
    ModelFiles {
        format: ModelFormat::Gguf,
        quantization: Some(quantization.to_owned()),
        n_bytes,
        paths: vec![format!("tiny-{quantization}.gguf")],
        openness: Openness::Unknown,
    }
}

fn repository(n_bytes: Option<u64>) -> Repository {
    Repository {
        name: NAME.to_owned(),
        n_downloads: 1_234,
        n_likes: 5,
        license: Some("mit".to_owned()),
        is_gated: false,
        changed_at: None,
        n_params: None,
        base_models: vec!["fox/base".to_owned()],
        openness: Openness::Unknown,
        models: vec![file("Q4_K_M", n_bytes), file("Q8_0", n_bytes)],
    }
}

fn wanted() -> DownloadTarget {
    DownloadTarget {
        repository: NAME.to_owned(),
        file: Some("tiny-Q8_0.gguf".to_owned()),
    }
}

/// A state in which a search found a repository, whose files are shown.
fn expanded() -> AppState {
    let mut state = ready();
    state.models.hub.query = " tiny ".to_owned();
    let search = DownloadRequest::Search {
        query: "tiny".to_owned(),
        n_max: 30,
    };
    assert_eq!(hub(&mut state, HubCommand::Search), [Effect::Hub(search)]);
    assert_eq!(state.models.hub.tab, ModelsTab::HuggingFace);
    let found = DownloadEvent::Found {
        query: "tiny".to_owned(),
        repositories: Ok(vec![repository(None)]),
    };
    event(&mut state, found);
    let HubRowStatus::Repository { toggle, .. } = state.models.hub.found_rows()[0].status.clone()
    else {
        unreachable!("a repository was found");
    };
    let files = DownloadRequest::Files {
        repository: NAME.to_owned(),
    };
    assert_eq!(state.apply(toggle), [Effect::Hub(files)]);
    let listed = DownloadEvent::FilesListed {
        repository: NAME.to_owned(),
        found: Ok(repository(Some(484_000_000))),
    };
    event(&mut state, listed);
    state
}

/// The row of the wanted file.
fn row(state: &AppState) -> HubRow {
    state.models.hub.found_rows()[2].clone()
}

#[test]
fn nothing_is_sent_to_the_hub_before_a_query_is_typed() {
    let mut state = ready();
    assert!(state.models.hub.search_words().0.contains("press Enter"));
    assert_eq!(hub(&mut state, HubCommand::Search), []);
    assert_eq!(state.models.hub.found_rows(), []);
    assert!(!state.recommended_rows().is_empty());
}

#[test]
fn a_recommended_model_shows_the_memory_that_it_takes_with_the_current_panes() {
    let mut state = ready();
    let facts = |state: &AppState| state.recommended_rows()[0].facts.clone();
    let four = facts(&state);
    // 145 MB of weights; 30 layers with 3 key-value heads of dimension 64 in f32; 49,152 tokens in
    // the vocabulary and in each chain.
    assert_eq!(state.panes.len(), 4);
    assert!(four.contains("of memory"), "{four}");
    state.limits.max_new_tokens = 2_000;
    let n_tokens = state.longest_text();
    let n_cache_bytes = 4 * n_tokens as u64 * 30 * 3 * 2 * 64 * 4;
    let n_bytes = 145_000_000 + n_cache_bytes + 49_152 * (240 + 4 * 90);
    let longer = facts(&state);
    assert!(
        longer.contains(&format!("{} of memory", ByteSize(n_bytes))),
        "{longer}"
    );
    assert_ne!(longer, four);
}

#[test]
fn a_search_shows_repositories_and_the_files_of_one() {
    let state = expanded();
    let rows = state.models.hub.found_rows();
    assert_eq!(rows[0].facts, "mit · Q4_K_M, Q8_0");
    assert_eq!(rows[0].n_downloads, Some(1_234));
    assert_eq!(rows.len(), 3);
    assert_eq!(row(&state).facts, "Q8_0 · 484 MB");
    let size = "484 MB".to_owned();
    let download = Command::Hub(HubCommand::Download(wanted()));
    let available = HubRowStatus::Available { size, download };
    assert_eq!(row(&state).status, available);
}

#[test]
fn a_url_lists_the_files_of_its_repository() {
    let mut state = ready();
    state.models.hub.query = format!("https://huggingface.co/{NAME}");
    let files = DownloadRequest::Files {
        repository: NAME.to_owned(),
    };
    assert_eq!(hub(&mut state, HubCommand::Search), [Effect::Hub(files)]);
    let missing = DownloadEvent::FilesListed {
        repository: NAME.to_owned(),
        found: Err("there is no such model".to_owned()),
    };
    event(&mut state, missing);
    let words = "There is no such model".to_owned();
    assert_eq!(state.models.hub.search_words(), (words, true));
}

#[test]
fn a_late_answer_to_an_older_search_is_ignored() {
    let mut state = ready();
    for query in ["old", "new"] {
        state.models.hub.query = query.to_owned();
        hub(&mut state, HubCommand::Search);
    }
    let late = DownloadEvent::Found {
        query: "old".to_owned(),
        repositories: Ok(vec![repository(None)]),
    };
    event(&mut state, late);
    assert_eq!(state.models.hub.found_rows(), []);
    assert_eq!(state.models.hub.search_words().0, "Searching for ‘new’");
}

#[test]
fn a_download_shows_its_progress_and_can_be_opened_when_done() {
    let mut state = expanded();
    let effects = hub(&mut state, HubCommand::Download(wanted()));
    assert_eq!(effects, [Effect::Hub(DownloadRequest::Download(wanted()))]);
    let progress = DownloadProgress {
        stage: DownloadPhase::Receiving,
        file: "tiny-Q8_0.gguf".to_owned(),
        n_bytes: 291_000_000,
        n_bytes_total: 484_000_000,
        bytes_per_second: Some(12_400_000.0),
        seconds_left: Some(16),
    };
    event(
        &mut state,
        DownloadEvent::Progress {
            wanted: wanted(),
            progress,
        },
    );
    let HubRowStatus::Downloading {
        words, left, pause, ..
    } = row(&state).status
    else {
        unreachable!("it is downloading");
    };
    assert_eq!(words, "291 of 484 MB  12 MB/s");
    assert_eq!(left, "about 16 s left");
    assert_eq!(
        state.apply(pause),
        [Effect::Hub(DownloadRequest::Pause(wanted()))]
    );
    let path = PathBuf::from("/cache/tiny.gguf");
    let done = DownloadEvent::Done {
        wanted: wanted(),
        path: path.clone(),
    };
    let cached = Effect::Hub(DownloadRequest::Cached);
    assert_eq!(event(&mut state, done), [cached]);
    let HubRowStatus::Downloaded { open } = row(&state).status else {
        unreachable!("it is downloaded");
    };
    let inspect = Effect::Send(Request::Inspect(ModelSource::Path(path)));
    assert_eq!(state.apply(open).last(), Some(&inspect));
    assert_eq!(state.models.hub.tab, ModelsTab::OnThisComputer);
}

#[test]
fn an_interrupted_download_says_why_and_can_be_resumed_or_discarded() {
    let mut state = expanded();
    state.apply(Command::Models(ModelsCommand::ShowDialog));
    hub(&mut state, HubCommand::Download(wanted()));
    let failed = DownloadEvent::Failed {
        wanted: wanted(),
        reason: "no connection".to_owned(),
        n_bytes_kept: 291_000_000,
    };
    event(&mut state, failed.clone());
    let HubRowStatus::Interrupted {
        words,
        resume,
        discard,
        ..
    } = row(&state).status
    else {
        unreachable!("it has failed");
    };
    assert_eq!(
        words,
        "No connection. 291 MB downloaded; it resumes from there."
    );
    assert!(state.notices.is_empty(), "the error is shown once");
    let again = Effect::Hub(DownloadRequest::Download(wanted()));
    assert_eq!(state.apply(resume), [again]);
    let cancel = Effect::Hub(DownloadRequest::Cancel(wanted()));
    assert_eq!(state.apply(discard), [cancel]);
    event(&mut state, DownloadEvent::Cancelled { wanted: wanted() });
    assert!(matches!(row(&state).status, HubRowStatus::Available { .. }));

    state.apply(Command::Models(ModelsCommand::CloseDialog));
    event(&mut state, failed);
    assert_eq!(state.notices[0].body, "No connection");
}

#[test]
fn cached_models_can_be_opened_without_a_download() {
    let mut state = expanded();
    let path = PathBuf::from("/cache/tiny-Q8_0.gguf");
    let cached = CachedModel {
        repository: NAME.to_owned(),
        model: file("Q8_0", Some(484_000_000)),
        path: path.clone(),
    };
    let models = Ok(vec![cached]);
    let kept = Vec::new();
    event(&mut state, DownloadEvent::CachedListed { models, kept });
    let rows = state.models.rows();
    let last = rows.last().unwrap();
    assert_eq!((last.name.as_str(), &last.path), ("tiny-Q8_0", &Some(path)));
    assert_eq!(last.n_bytes, Some(484_000_000));
    assert!(matches!(
        row(&state).status,
        HubRowStatus::Downloaded { .. }
    ));
}

#[test]
fn a_download_from_an_earlier_session_can_be_resumed_or_discarded() {
    let mut state = ready();
    let kept = vec![PartialDownload {
        repository: NAME.to_owned(),
        n_bytes: 291_000_000,
    }];
    let listed = |kept| DownloadEvent::CachedListed {
        models: Ok(Vec::new()),
        kept,
    };
    event(&mut state, listed(kept));
    let rows = state.models.hub.kept_rows();
    let HubRowStatus::Interrupted {
        words,
        resume,
        discard,
        ..
    } = rows[0].status.clone()
    else {
        unreachable!("it was not finished");
    };
    assert_eq!((rows.len(), rows[0].name.as_str()), (1, NAME));
    assert_eq!(words, "Paused. 291 MB downloaded; it resumes from there.");

    let any_file = DownloadTarget {
        repository: NAME.to_owned(),
        file: None,
    };
    let download = Effect::Hub(DownloadRequest::Download(any_file.clone()));
    assert_eq!(state.apply(resume).first(), Some(&download));
    let [row] = state.models.hub.kept_rows().try_into().unwrap();
    assert!(matches!(row.status, HubRowStatus::Downloading { .. }));

    let cancel = Effect::Hub(DownloadRequest::Cancel(any_file.clone()));
    assert_eq!(state.apply(discard).first(), Some(&cancel));
    let cancelled = DownloadEvent::Cancelled { wanted: any_file };
    let list_again = Effect::Hub(DownloadRequest::Cached);
    assert_eq!(event(&mut state, cancelled), [list_again]);
    event(&mut state, listed(Vec::new()));
    assert_eq!(state.models.hub.kept_rows(), []);
}

#[test]
fn a_safetensors_folder_is_downloaded_as_a_whole() {
    let folder = ModelFiles {
        format: ModelFormat::Safetensors,
        quantization: None,
        n_bytes: Some(900_000_000),
        paths: vec!["config.json".to_owned(), "model.safetensors".to_owned()],
        openness: Openness::Unknown,
    };
    let mut state = expanded();
    let mut found = repository(Some(484_000_000));
    found.models.push(folder.clone());
    let listed = DownloadEvent::FilesListed {
        repository: NAME.to_owned(),
        found: Ok(found),
    };
    event(&mut state, listed);
    let status = |state: &AppState| state.models.hub.found_rows()[3].status.clone();
    let wanted = DownloadTarget {
        repository: NAME.to_owned(),
        file: Some("safetensors".to_owned()),
    };
    let size = "900 MB".to_owned();
    let download = Command::Hub(HubCommand::Download(wanted));
    let available = HubRowStatus::Available { size, download };
    assert_eq!(status(&state), available);

    let cached = CachedModel {
        repository: NAME.to_owned(),
        model: folder,
        path: PathBuf::from("/cache/tiny"),
    };
    let (models, kept) = (Ok(vec![cached]), Vec::new());
    event(&mut state, DownloadEvent::CachedListed { models, kept });
    assert!(matches!(status(&state), HubRowStatus::Downloaded { .. }));
}

#[test]
fn a_resumed_download_is_listed_while_the_files_of_its_repository_are_shown() {
    let mut state = expanded();
    let any_file = DownloadTarget {
        file: None,
        ..wanted()
    };
    hub(&mut state, HubCommand::Download(any_file));
    let [row] = state.models.hub.kept_rows().try_into().unwrap();
    assert!(matches!(row.status, HubRowStatus::Downloading { .. }));
}

#[test]
fn a_panic_of_the_download_thread_is_reported_and_downloads_can_be_resumed() {
    let mut state = expanded();
    hub(&mut state, HubCommand::Download(wanted()));
    let progress = DownloadProgress {
        stage: DownloadPhase::Receiving,
        file: "tiny-Q8_0.gguf".to_owned(),
        n_bytes: 291_000_000,
        n_bytes_total: 484_000_000,
        bytes_per_second: None,
        seconds_left: None,
    };
    let progressed = DownloadEvent::Progress {
        wanted: wanted(),
        progress,
    };
    event(&mut state, progressed);
    let message = "out of range".to_owned();
    event(&mut state, DownloadEvent::Panicked { message });
    assert!(state.notices[0].body.contains("out of range"));
    assert_eq!(
        state.models.hub.downloads[0].stage,
        DownloadStage::Failed("The download stopped unexpectedly".to_owned(), 291_000_000)
    );
    let downloads = hub(&mut state, HubCommand::Download(wanted()));
    assert_eq!(downloads.len(), 1);
}

#[test]
fn a_download_keeps_a_row_when_its_repository_is_collapsed() {
    let mut state = expanded();
    hub(&mut state, HubCommand::Download(wanted()));
    assert_eq!(state.models.hub.kept_rows(), []);
    hub(&mut state, HubCommand::ToggleFiles(NAME.to_owned()));
    let [row] = state.models.hub.kept_rows().try_into().unwrap();
    assert_eq!(
        (row.name.as_str(), row.facts.as_str()),
        (NAME, "tiny-Q8_0.gguf")
    );
    assert!(matches!(row.status, HubRowStatus::Downloading { .. }));
    let done = DownloadEvent::Done {
        wanted: wanted(),
        path: PathBuf::from("/cache/tiny.gguf"),
    };
    event(&mut state, done);
    assert_eq!(state.models.hub.kept_rows(), []);
}

/// A repository that does not open, with this many models.
fn refused(name: &str, models: Vec<ModelFiles>) -> Repository {
    Repository {
        name: name.to_owned(),
        models,
        openness: Openness::NotYet {
            reason: "MLX weights of 4 bits".to_owned(),
        },
        ..repository(None)
    }
}

#[test]
fn a_result_that_does_not_open_says_why_and_shows_the_same_model_as_gguf() {
    let mut state = ready();
    state.models.hub.query = "tiny".to_owned();
    hub(&mut state, HubCommand::Search);
    let mut other = refused("fox/other", Vec::new());
    other.base_models.clear();
    let found = DownloadEvent::Found {
        query: "tiny".to_owned(),
        repositories: Ok(vec![
            repository(None),
            refused("fox/tiny-4bit", Vec::new()),
            other,
        ]),
    };
    event(&mut state, found);
    let rows = state.models.hub.found_rows();
    assert_eq!(rows[0].openness, Some(Openness::Unknown));
    assert_eq!(rows[1].facts, "MLX weights of 4 bits");
    let show = Command::Hub(HubCommand::ToggleFiles(NAME.to_owned()));
    let show_gguf = Some(show.clone());
    assert_eq!(rows[1].status, HubRowStatus::NotYet { show_gguf });
    assert_eq!(rows[2].status, HubRowStatus::NotYet { show_gguf: None });
    let files = DownloadRequest::Files {
        repository: NAME.to_owned(),
    };
    assert_eq!(state.apply(show), [Effect::Hub(files)]);
}

#[test]
fn a_refused_download_marks_its_file_or_is_a_notice() {
    let refused = DownloadEvent::Refused {
        wanted: wanted(),
        reason: "this model has AWQ weights\nfox/tiny/config.json".to_owned(),
    };
    let mut state = expanded();
    state.apply(Command::Models(ModelsCommand::ShowDialog));
    hub(&mut state, HubCommand::Download(wanted()));
    event(&mut state, refused.clone());
    assert_eq!(row(&state).status, HubRowStatus::NotYet { show_gguf: None });
    assert_eq!(row(&state).facts, "This model has AWQ weights");
    assert!(state.notices.is_empty(), "the reason is shown once");

    let mut state = expanded();
    event(&mut state, refused);
    assert!(
        state.notices[0]
            .body
            .starts_with("This model has AWQ weights")
    );
}

#[test]
fn a_repository_without_a_model_that_was_opened_by_its_url_says_why() {
    let mut state = ready();
    state.models.hub.query = format!("https://huggingface.co/{NAME}");
    hub(&mut state, HubCommand::Search);
    let listed = DownloadEvent::FilesListed {
        repository: NAME.to_owned(),
        found: Ok(refused(NAME, Vec::new())),
    };
    event(&mut state, listed);
    let rows = state.models.hub.found_rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].status, HubRowStatus::NotYet { show_gguf: None });
}
