//! Tests of the models dialog through its accessible controls.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::generation::{
    Conversion, Implementation, MemoryNeed, ModelOutline, ModelSource, Openness,
};
use crate::state::tests::local_models::found;
use crate::state::tests::{
    CacheType, CpuThreads, DeviceChoice, Devices, DownloadEvent, Event, InputBits, ModelFiles,
    ModelFormat, PartialDownload, Precision, Repository, ready,
};
use crate::state::{Command, ModelRowStatus, ModelStatus, ModelsCommand, ModelsTab};
use crate::ui::testing::{Window, key, press, window_of};

fn window() -> Window {
    window_of(vec2(1280.0, 800.0), ready())
}

/// Opens a window and the dialog.
fn dialog() -> Window {
    let mut window = window();
    window.get_by_label_contains("Model: ").click();
    window.run_steps(4);
    press(&mut window, "Models…");
    window.run_steps(2);
    assert!(window.state().models.dialog_open);
    window
}

/// A dropped file, as the system delivers it.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("tests don't read the file".to_owned())
    }
}

#[test]
fn the_model_button_opens_the_dialog_and_escape_closes_it() {
    let mut window = dialog();
    for name in [
        "Open a file…",
        "Open a folder…",
        "Search Hugging Face",
        "In use",
    ] {
        window.get_by_label(name);
    }
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!window.state().models.dialog_open);
    assert!(window.query_by_label("Open a file…").is_none());
}

#[test]
fn each_tab_shows_its_models_and_a_search_switches_to_its_tab() {
    let mut window = dialog();
    press(&mut window, "Recommended");
    window.get_by_label("Download Qwen3 0.6B");
    press(&mut window, "Hugging Face");
    window.get_by_label("Type a name above and press Enter. Quartet stays offline until you do.");
    press(&mut window, "On this computer");
    let field = window.get_by_label("Search Hugging Face");
    field.focus();
    field.type_text("tiny");
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().models.hub.tab, ModelsTab::HuggingFace);
    window.get_by_label("Searching for ‘tiny’");
    let found = DownloadEvent::Found {
        query: "tiny".to_owned(),
        repositories: Err("no network".to_owned()),
    };
    let found = crate::state::HubCommand::Event(found);
    window.state_mut().apply(Command::Hub(found));
    window.run_steps(2);
    window.get_by_label("No network");
}

/// A search result with this mark.
fn result(name: &str, openness: Openness) -> Repository {
    Repository {
        name: name.to_owned(),
        n_downloads: 1_234,
        n_likes: 5,
        license: Some("mit".to_owned()),
        is_gated: false,
        changed_at: None,
        n_params: Some(600_000_000),
        base_models: vec!["fox/base".to_owned()],
        models: vec![ModelFiles {
            format: ModelFormat::Gguf,
            quantization: Some("Q8_0".to_owned()),
            n_bytes: None,
            paths: vec!["tiny-Q8_0.gguf".to_owned()],
            openness: openness.clone(),
        }],
        openness,
    }
}

#[test]
fn models_of_other_programs_are_listed_under_their_program() {
    let mut window = dialog();
    window.get_by_label("Looking for models of other programs");
    let found = ModelsCommand::Found(found());
    window.state_mut().apply(Command::Models(found));
    window.run_steps(3);
    for label in [
        "Hugging Face cache",
        "LM Studio",
        "~/LM Studio",
        "Ollama",
        "llama3.2:1b",
        "1.2 B · Q8_0 · 1.3 GB · also in LM Studio",
        "4",
    ] {
        window.get_by_label(label);
    }
    assert!(
        window
            .query_by_label("Looking for models of other programs")
            .is_none()
    );
    // Its row may lie below the visible part of the list.
    window.get_by_label("Open llama3.2:1b").scroll_to_me();
    window.run_steps(8);
    press(&mut window, "Open llama3.2:1b");
    let rows = window.state().models.rows();
    let opening = rows.iter().find(|row| row.name == "llama3.2:1b").unwrap();
    assert_eq!(opening.status, ModelRowStatus::Inspecting);
}

#[test]
fn a_pasted_name_is_understood_by_the_search_field() {
    let mut window = dialog();
    let field = window.get_by_label("Search Hugging Face");
    field.focus();
    field.type_text("https://huggingface.co/fox/tiny-GGUF/blob/main/tiny-Q8_0.gguf");
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("Listing files");
    let event = DownloadEvent::FilesListed {
        repository: "fox/tiny-GGUF".to_owned(),
        found: Ok(result("fox/tiny-GGUF", Openness::Opens)),
    };
    let event = crate::state::HubCommand::Event(event);
    window.state_mut().apply(Command::Hub(event));
    window.run_steps(2);
    window.get_by_label("Download tiny-Q8_0.gguf");
}

#[test]
fn search_results_say_what_opens_and_what_does_not() {
    let mut window = dialog();
    press(&mut window, "Hugging Face");
    window.state_mut().models.hub.query = "tiny".to_owned();
    window
        .state_mut()
        .apply(Command::Hub(crate::state::HubCommand::Search));
    let not_yet = Openness::NotYet {
        reason: "MLX weights of 4 bits".to_owned(),
    };
    let found = DownloadEvent::Found {
        query: "tiny".to_owned(),
        repositories: Ok(vec![
            result("fox/tiny-GGUF", Openness::Opens),
            result("fox/eye-GGUF", Openness::OpensAsTextOnly),
            result("fox/quiet-GGUF", Openness::Unknown),
            result("fox/tiny-4bit", not_yet),
        ]),
    };
    let found = crate::state::HubCommand::Event(found);
    window.state_mut().apply(Command::Hub(found));
    window.run_steps(2);
    for label in [
        "opens",
        "opens as text only",
        "unknown",
        "not yet",
        "MLX weights of 4 bits. The same model as GGUF:",
        "Show files fox/tiny-GGUF",
    ] {
        window.get_by_label(label);
    }
    assert!(window.query_by_label("Show files fox/tiny-4bit").is_none());
    press(&mut window, "Show fox/tiny-4bit as GGUF");
    window.get_by_label("Hide files fox/tiny-GGUF");
}

#[test]
fn a_download_from_an_earlier_session_is_listed_above_the_results() {
    let mut window = dialog();
    let kept = PartialDownload {
        repository: "fox/tiny".to_owned(),
        n_bytes: 291_000_000,
    };
    let listed = DownloadEvent::CachedListed {
        models: Ok(Vec::new()),
        kept: vec![kept],
    };
    let listed = crate::state::HubCommand::Event(listed);
    window.state_mut().apply(Command::Hub(listed));
    press(&mut window, "Hugging Face");
    window.get_by_label("Paused. 291 MB downloaded; it resumes from there.");
    window.get_by_label("Discard fox/tiny");
    press(&mut window, "Resume fox/tiny");
    window.get_by_label("Pause fox/tiny");
}

#[test]
fn a_load_can_be_cancelled_from_the_top_bar_or_from_its_row() {
    let mut window = window();
    window.state_mut().apply(Command::LoadEmbeddedModel);
    window
        .state_mut()
        .on_event(Event::ModelLoading { fraction: 0.46 });
    window.run_steps(2);
    window.get_by_label("Cancel loading");
    press(&mut window, "Model: Loading 46 %");
    press(&mut window, "Models…");
    window.get_by_label("Cancel Quartet Stories");
    window.state_mut().on_event(Event::LoadingCancelled);
    window.run_steps(2);
    assert!(window.query_by_label("Cancel loading").is_none());
}

#[test]
fn unloading_the_model_disables_generate() {
    let mut window = dialog();
    assert_ne!(window.query_all_by_label("Ready").count(), 0);
    press(&mut window, "Unload Quartet Stories");
    window.state_mut().on_event(Event::ModelUnloaded);
    window.run_steps(2);
    window.get_by_label("Open Quartet Stories");
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Model: No model");
    window.get_by_label("No model is open");
    assert_eq!(window.query_all_by_label("Ready").count(), 0);
    let generate = window.get_by_label("Generate");
    assert!(generate.accesskit_node().is_disabled());
}

#[test]
fn a_model_with_limited_features_says_so_in_the_top_bar_and_in_its_row() {
    let mut state = ready();
    if let ModelStatus::Ready(model) = &mut state.models.main {
        Arc::make_mut(&mut model.info).implementation = Implementation::CandleTransformers;
    }
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.get_by_label_contains("candle-transformers").click();
    window.run_steps(4);
    press(&mut window, "Models…");
    window.get_by_label_contains("panes decode one at a time");
}

#[test]
fn precision_can_be_chosen_only_if_there_is_a_choice() {
    let mut window = dialog();
    let mut devices = Devices {
        choices: vec![DeviceChoice::Cpu],
        build_supports_gpus: true,
        launcher_reason: None,
        cpu_threads: CpuThreads {
            n_default: NonZeroUsize::MIN,
            n_max: NonZeroUsize::MIN,
        },
    };
    let listed = Event::DevicesListed(devices.clone());
    window.state_mut().on_event(listed);
    window.run_steps(2);
    assert!(window.query_by_label("Precision").is_none());
    press(&mut window, "KV cache");
    press(&mut window, "f16");
    assert_eq!(window.state().models.compute.cache, CacheType::F16);
    press(&mut window, "Inputs");
    press(&mut window, "8 bits");
    assert_eq!(window.state().models.compute.inputs, InputBits::Eight);
    devices.choices.push(DeviceChoice::Cuda(0));
    window.state_mut().on_event(Event::DevicesListed(devices));
    window.run_steps(2);
    press(&mut window, "Precision");
    press(&mut window, "bf16");
    assert_eq!(window.state().models.compute.precision, Precision::Bf16);
}

#[test]
fn a_warning_about_memory_can_be_overridden() {
    let mut window = window();
    let path = PathBuf::from("/models/large.gguf");
    let open = ModelsCommand::Open(path.clone());
    window.state_mut().apply(Command::Models(open));
    let outline = ModelOutline {
        name: "large".to_owned(),
        architecture: "llama".to_owned(),
        implementation: Implementation::Quartet,
        n_params: 5_000_000_000,
        quantization: "IQ4_XS".to_owned(),
        formats: Vec::new(),
        n_context: 100,
        n_file_bytes: 2_700_000_000,
        n_step_bytes: 0,
        memory: MemoryNeed {
            n_weight_bytes: 5_200_000_000,
            n_cache_bytes_per_token: 0,
            n_state_bytes: 0,
            keeps_checkpoints: false,
            n_vocab: 0,
        },
        experts: None,
        conversion: Some(Conversion {
            formats: vec![("IQ4_XS".to_owned(), "Q8_0".to_owned())],
            n_file_bytes: 2_700_000_000,
            n_memory_bytes: 5_200_000_000,
            n_secs: 9,
        }),
        head_dim: None,
        load_warning: None,
    };
    window.state_mut().on_event(Event::Inspected {
        source: ModelSource::Path(path),
        found: Ok(Box::new(outline)),
        n_free_bytes: 3_900_000_000,
    });
    window.run_steps(3);
    window.get_by_label(
        "Needs 5.2 GB of memory, but only 3.9 GB is free. Converts IQ4_XS to Q8_0 while loading: \
         5.2 GB of memory instead of 2.7 GB, in about 9 s",
    );
    window.get_by_label("Cancel large");
    press(&mut window, "Open anyway large");
    assert!(
        window.state().models.main.ready().is_none(),
        "it is loading"
    );
}

#[test]
fn dragged_files_show_a_hint_and_only_one_can_be_dropped() {
    let mut window = window();
    let hovered = egui::HoveredFile::default();
    window.input_mut().hovered_files.push(hovered);
    window.run_steps(2);
    window.get_by_label("Drop a model here to open it");
    let input = window.input_mut();
    input.hovered_files.clear();
    for name in ["/a.gguf", "/b.gguf"] {
        input.dropped_files.push(Arc::new(Dropped(name.into())));
    }
    window.run_steps(3);
    window.get_by_label("The dropped items were not opened");
    assert!(
        window
            .query_by_label("Drop a model here to open it")
            .is_none()
    );
}

#[test]
fn the_thread_count_can_be_changed_and_reset() {
    let mut state = ready();
    let count = |n| NonZeroUsize::new(n).unwrap();
    state.on_event(Event::DevicesListed(Devices {
        choices: vec![DeviceChoice::Cpu],
        build_supports_gpus: false,
        launcher_reason: None,
        cpu_threads: CpuThreads {
            n_default: count(4),
            n_max: count(8),
        },
    }));
    state.apply(Command::Models(ModelsCommand::ShowDialog));
    let mut window = window_of(vec2(1280.0, 800.0), state);
    press(&mut window, "Threads");
    window.get_by_label("of 8 available");
    window.get_by_label("Number of threads").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::ArrowUp);
    let n_threads = |window: &Window| window.state().models.thread_choice().unwrap().n_threads;
    assert_eq!(n_threads(&window), count(5));
    press(&mut window, "One per core");
    assert_eq!(n_threads(&window), count(4));
}
