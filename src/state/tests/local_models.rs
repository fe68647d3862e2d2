//! Tests of the models that other programs keep on this computer, and of names that are pasted into
//! the search field.

use std::path::PathBuf;

use super::models::open;
use super::{loaded, ready};
use crate::generation::Openness;
use crate::state::{AppState, Command, Effect, HubCommand, HubRowStatus, ModelsCommand, ModelsTab};
use crate::worker::{
    CachedModel, DownloadEvent, DownloadRequest, LocalModel, LocalModels, ModelFiles, ModelFormat,
    ModelProgram, Repository,
};

fn files(path: &str, quantization: &str) -> ModelFiles {
    ModelFiles {
        format: ModelFormat::Gguf,
        quantization: Some(quantization.to_owned()),
        n_bytes: Some(1_300_000_000),
        paths: vec![path.to_owned()],
        openness: Openness::default(),
    }
}

/// Returns a model that a program has at this path.
pub(crate) fn local(program: ModelProgram, name: &str, path: &str) -> LocalModel {
    LocalModel {
        program,
        folder: PathBuf::from("/home/fox").join(program.name()),
        folder_words: format!("~/{}", program.name()),
        name: name.to_owned(),
        path: PathBuf::from(path),
        model: files("it.gguf", "Q8_0"),
        n_params: None,
        also_in: Vec::new(),
    }
}

/// Returns models of three programs, one of which two of them have.
pub(crate) fn found() -> LocalModels {
    let ollama = LocalModel {
        n_params: Some(1_200_000_000),
        also_in: vec![ModelProgram::LmStudio],
        ..local(ModelProgram::Ollama, "llama3.2:1b", "/models/sha256-0")
    };
    LocalModels {
        models: vec![
            local(
                ModelProgram::HuggingFace,
                "fox/den-GGUF",
                "/hub/den-Q8_0.gguf",
            ),
            local(ModelProgram::LmStudio, "hole-Q4_0", "/lm/hole-Q4_0.gguf"),
            ollama,
        ],
        is_partial: false,
    }
}

fn groups(state: &AppState) -> Vec<(&'static str, String, Vec<String>)> {
    let groups = state.models.groups().into_iter();
    let words = groups.map(|group| {
        let names = group.rows.into_iter().map(|row| row.name);
        (group.title, group.folder, names.collect())
    });
    words.collect()
}

#[test]
fn the_dialog_looks_for_the_models_of_other_programs() {
    let mut state = ready();
    let effects = state.apply(Command::Models(ModelsCommand::ShowDialog));
    assert!(effects.contains(&Effect::FindModels));
    assert_eq!(state.models.n_local(), 1);
    assert!(
        state
            .models
            .search_words()
            .starts_with("Looking for models")
    );
    state.apply(Command::Models(ModelsCommand::Found(found())));
    assert_eq!(state.models.search_words(), "");
    assert_eq!(state.models.n_local(), 4);
    let group = |title: &'static str, folder: &str, name: &str| {
        (title, folder.to_owned(), vec![name.to_owned()])
    };
    let expected = [
        group("Quartet", "", "Quartet Stories"),
        group("Hugging Face cache", "~/Hugging Face cache", "den-Q8_0"),
        group("LM Studio", "~/LM Studio", "hole-Q4_0"),
        group("Ollama", "~/Ollama", "llama3.2:1b"),
    ];
    assert_eq!(groups(&state), expected);
    let last = state.models.rows().pop().unwrap();
    assert_eq!(last.also_in, ["LM Studio"]);
    assert_eq!(
        (last.n_params, last.n_bytes),
        (Some(1_200_000_000), Some(1_300_000_000))
    );
    assert_eq!(last.quantization, "Q8_0");
    let partial = LocalModels {
        is_partial: true,
        ..found()
    };
    state.apply(Command::Models(ModelsCommand::Found(partial)));
    assert!(
        state
            .models
            .search_words()
            .starts_with("Some folders were left out")
    );
}

#[test]
fn a_model_that_was_opened_before_stays_with_its_program() {
    let mut state = ready();
    state.apply(Command::Models(ModelsCommand::Found(found())));
    for name in ["sha256-0", "own.gguf"] {
        open(&mut state, name);
        state.on_event(loaded());
    }
    let groups = groups(&state);
    let titles: Vec<&str> = groups.iter().map(|(title, ..)| *title).collect();
    let expected = [
        "Quartet",
        "Opened before",
        "Hugging Face cache",
        "LM Studio",
        "Ollama",
    ];
    assert_eq!(titles, expected);
    assert_eq!(groups[1].2.len(), 1);
    assert_eq!(state.models.n_local(), 5);
}

/// Types into the search field and presses Enter.
fn search(state: &mut AppState, text: &str) -> Vec<Effect> {
    text.clone_into(&mut state.models.hub.query);
    state.apply(Command::Hub(HubCommand::Search))
}

fn listed(state: &mut AppState, repository: &str, found: Result<Vec<ModelFiles>, String>) {
    let found = found.map(|models| Repository {
        name: repository.to_owned(),
        n_downloads: 0,
        n_likes: 0,
        license: None,
        is_gated: false,
        changed_at: None,
        n_params: None,
        base_models: Vec::new(),
        models,
        openness: Openness::Opens,
    });
    let repository = repository.to_owned();
    let event = DownloadEvent::FilesListed { repository, found };
    state.apply(Command::Hub(HubCommand::Event(event)));
}

#[test]
fn a_pasted_name_shows_the_file_that_it_names_first() {
    let repository = "fox/den-GGUF";
    for (text, first) in [
        ("fox/den-GGUF:q8_0", "den-Q8_0.gguf"),
        ("hf.co/fox/den-GGUF:Q4_0", "den-Q4_0.gguf"),
        (
            "https://huggingface.co/fox/den-GGUF/blob/main/den-Q8_0.gguf",
            "den-Q8_0.gguf",
        ),
        (
            "https://huggingface.co/fox/den-GGUF/tree/main",
            "den-Q4_0.gguf",
        ),
    ] {
        let mut state = ready();
        let effects = search(&mut state, text);
        let request = DownloadRequest::Files {
            repository: repository.to_owned(),
        };
        assert_eq!(effects, [Effect::Hub(request)], "{text}");
        assert_eq!(state.models.hub.tab, ModelsTab::HuggingFace);
        let models = vec![
            files("den-Q4_0.gguf", "Q4_0"),
            files("den-Q8_0.gguf", "Q8_0"),
        ];
        listed(&mut state, repository, Ok(models));
        let names: Vec<String> = state
            .models
            .hub
            .found_rows()
            .into_iter()
            .map(|row| row.name)
            .collect();
        assert_eq!(names[..2], [repository, first], "{text}");
        assert_eq!(names.len(), 3, "the others follow");
    }
    let mut state = ready();
    let effects = search(&mut state, "small stories");
    assert!(matches!(
        effects[..],
        [Effect::Hub(DownloadRequest::Search { .. })]
    ));
}

#[test]
fn a_downloaded_model_can_be_opened_by_its_name_while_offline() {
    let mut state = ready();
    let cached = CachedModel {
        repository: "fox/den-GGUF".to_owned(),
        model: files("den-Q8_0.gguf", "Q8_0"),
        path: PathBuf::from("/hub/den-Q8_0.gguf"),
    };
    let event = DownloadEvent::CachedListed {
        models: Ok(vec![cached]),
        kept: Vec::new(),
    };
    state.apply(Command::Hub(HubCommand::Event(event)));
    search(&mut state, "fox/den-GGUF:Q8_0");
    let offline = "Quartet is offline because HF_HUB_OFFLINE is set".to_owned();
    listed(&mut state, "fox/den-GGUF", Err(offline));
    let rows = state.models.hub.found_rows();
    let open = Command::Models(ModelsCommand::Open("/hub/den-Q8_0.gguf".into()));
    assert_eq!(rows[1].status, HubRowStatus::Downloaded { open });
    assert!(state.models.hub.search_words().1, "the reason is shown too");
}
