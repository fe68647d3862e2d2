//! Tests of how models compute: device, precision, KV cache type and threads.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::models::{inspected, models, outline, path, rows};
use super::ready;
use crate::state::{AppState, Effect, ModelRowStatus, ModelStatus, ModelsCommand, Settings};
use crate::worker::{
    CacheType, ComputeChoice, CpuThreads, DeviceChoice, Devices, Event, InputBits, ModelSource,
    Precision, Request,
};

#[test]
fn devices_are_listed_chosen_and_saved_and_a_missing_one_is_reported() {
    let mut state = ready();
    assert_eq!(state.models.device_rows(), []);
    let list = Effect::Send(Request::ListDevices);
    let effects = models(&mut state, ModelsCommand::ShowDialog);
    assert!(effects.contains(&list));
    let mut devices = cpu_only();
    state.on_event(Event::DevicesListed(devices.clone()));
    let names = |state: &AppState| -> Vec<(String, bool)> {
        let rows = state.models.device_rows().into_iter();
        rows.map(|row| (row.name, row.chosen)).collect()
    };
    assert_eq!(names(&state), [("CPU".to_owned(), true)]);
    assert!(state.models.device_words().contains("no GPU support"));
    assert_eq!(state.models.precision_rows(), []);

    devices.build_supports_gpus = true;
    devices.choices.push(DeviceChoice::Cuda(0));
    state.on_event(Event::DevicesListed(devices));
    let choose = state.models.device_rows()[2].command.clone();
    let use_it = Effect::Send(Request::SetCompute(ComputeChoice {
        device: DeviceChoice::Cuda(0),
        ..ComputeChoice::default()
    }));
    assert_eq!(state.apply(choose).first(), Some(&use_it));
    assert_eq!(names(&state)[2], ("CUDA 0".to_owned(), true));
    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    let (_, effects) = AppState::new(settings, ModelSource::Embedded);
    assert_eq!(effects[0], use_it);

    let choose = state.models.precision_rows()[2].command.clone();
    let use_it = Effect::Send(Request::SetCompute(ComputeChoice {
        device: DeviceChoice::Cuda(0),
        precision: Precision::Bf16,
        ..ComputeChoice::default()
    }));
    assert_eq!(state.apply(choose).first(), Some(&use_it));
    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    let (_, effects) = AppState::new(settings, ModelSource::Embedded);
    assert_eq!(effects[0], use_it);
    let on_cpu = ComputeChoice {
        device: DeviceChoice::Cpu,
        ..ComputeChoice::default()
    };
    models(&mut state, ModelsCommand::SetCompute(on_cpu));
    assert_eq!(state.models.precision_rows(), []);
    assert!(state.models.device_words().contains("f32"));
    assert!(state.models.device_words().ends_with("rounded to 16 bits"));

    state.on_event(Event::DeviceUnavailable {
        name: "CUDA 0".to_owned(),
        reason: "no driver".to_owned(),
    });
    let words = "CUDA 0 is not available, so models run on the CPU: no driver";
    assert_eq!(state.models.device_words(), words);
}

#[test]
fn inputs_are_rounded_to_16_bits_unless_the_user_prefers_speed() {
    let mut state = ready();
    assert_eq!(state.models.inputs_rows(), []);
    state.on_event(Event::DevicesListed(cpu_only()));
    let chosen = |state: &AppState| state.models.inputs_rows().iter().position(|row| row.chosen);
    assert_eq!(chosen(&state), Some(1));
    let in_bytes = state.models.inputs_rows()[2].command.clone();
    let use_it = Effect::Send(Request::SetCompute(ComputeChoice {
        inputs: InputBits::Eight,
        ..ComputeChoice::default()
    }));
    assert_eq!(state.apply(in_bytes).first(), Some(&use_it));
    assert_eq!(chosen(&state), Some(2));
    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    assert_eq!(settings.compute.inputs, InputBits::Eight);
}

#[test]
fn a_quantized_cache_needs_less_memory() {
    let mut state = ready();
    state.on_event(Event::DevicesListed(cpu_only()));
    let chosen = |state: &AppState| state.models.cache_rows().iter().position(|row| row.chosen);
    assert_eq!(chosen(&state), Some(0));
    let in_half = state.models.cache_rows()[1].command.clone();
    let use_it = Effect::Send(Request::SetCompute(ComputeChoice {
        cache: CacheType::F16,
        ..ComputeChoice::default()
    }));
    assert_eq!(state.apply(in_half).first(), Some(&use_it));
    assert_eq!(chosen(&state), Some(1));
    models(&mut state, ModelsCommand::Open(path("large.gguf")));
    state.on_event(inspected("large.gguf", Ok(outline(4_800_000_000))));
    let warning = "Needs 5.0 GB of memory, but only 3.9 GB is free".to_owned();
    assert_eq!(
        rows(&state)[1].1,
        ModelRowStatus::NeedsConfirmation { warning }
    );
    models(&mut state, ModelsCommand::CancelOpening);
    let in_bytes = state.models.cache_rows()[2].command.clone();
    state.apply(in_bytes);
    models(&mut state, ModelsCommand::Open(path("large.gguf")));
    state.on_event(inspected("large.gguf", Ok(outline(4_800_000_000))));
    let warning = "Needs 4.9 GB of memory, but only 3.9 GB is free".to_owned();
    assert_eq!(
        rows(&state)[1].1,
        ModelRowStatus::NeedsConfirmation { warning }
    );
    let elsewhere = ComputeChoice {
        device: DeviceChoice::Cuda(0),
        ..ComputeChoice::default()
    };
    models(&mut state, ModelsCommand::SetCompute(elsewhere));
    assert_eq!(state.models.cache_rows(), []);
    models(&mut state, ModelsCommand::Open(path("large.gguf")));
    let effects = state.on_event(inspected("large.gguf", Ok(outline(4_800_000_000))));
    let source = ModelSource::Path(path("large.gguf"));
    assert_eq!(effects, [Effect::Send(Request::LoadModel(source))]);
}

fn cpu_only() -> Devices {
    Devices {
        choices: vec![DeviceChoice::Cpu],
        build_supports_gpus: false,
        launcher_reason: None,
        cpu_threads: CpuThreads {
            n_default: NonZeroUsize::new(4).unwrap(),
            n_max: NonZeroUsize::new(8).unwrap(),
        },
    }
}

#[test]
fn a_launcher_that_chose_the_cpu_says_why() {
    let mut state = ready();
    state.on_event(Event::DevicesListed(cpu_only()));
    assert_eq!(state.models.device_words(), "This build has no GPU support");
    state.on_event(Event::DevicesListed(Devices {
        launcher_reason: Some("NVIDIA’s driver is not installed".to_owned()),
        ..cpu_only()
    }));
    let words = "Models run on the CPU: NVIDIA’s driver is not installed";
    assert_eq!(state.models.device_words(), words);
}

#[test]
fn a_model_that_fails_on_a_gpu_is_offered_on_the_cpu() {
    let mut state = ready();
    let pane = state.panes[0].clone();
    let run_on = |state: &mut AppState, device: &str| {
        let ModelStatus::Ready(model) = &mut state.models.main else {
            panic!("the model is ready");
        };
        Arc::make_mut(&mut model.info).device = device.to_owned();
    };
    run_on(&mut state, "CPU with a q8 cache");
    assert_eq!(state.models.cpu_instead(&pane), None);
    run_on(&mut state, "CUDA 0 in bf16");
    let effects = state.apply(state.models.cpu_instead(&pane).unwrap());
    let on_cpu = ComputeChoice {
        device: DeviceChoice::Cpu,
        ..ComputeChoice::default()
    };
    let load = Effect::Send(Request::LoadModel(ModelSource::Embedded));
    assert_eq!(
        effects.first(),
        Some(&Effect::Send(Request::SetCompute(on_cpu)))
    );
    assert_eq!(effects.last(), Some(&load));
}

#[test]
fn the_thread_count_is_independent_of_the_device_and_saved() {
    let mut state = ready();
    assert_eq!(state.models.thread_choice(), None);
    state.on_event(Event::DevicesListed(cpu_only()));
    let chosen = |state: &AppState| {
        let choice = state.models.thread_choice().unwrap();
        (choice.n_threads.get(), choice.is_default)
    };
    assert_eq!(chosen(&state), (4, true));

    state.apply(state.models.device_rows()[0].command.clone());
    let three = state.models.with_threads(NonZeroUsize::new(3));
    let use_them = Effect::Send(Request::SetCompute(ComputeChoice {
        device: DeviceChoice::Cpu,
        n_threads: NonZeroUsize::new(3),
        ..ComputeChoice::default()
    }));
    assert_eq!(state.apply(three).first(), Some(&use_them));
    assert_eq!(chosen(&state), (3, false));
    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    let (_, effects) = AppState::new(settings, ModelSource::Embedded);
    assert_eq!(effects[0], use_them);

    state.apply(state.models.with_threads(NonZeroUsize::new(99)));
    assert_eq!(chosen(&state), (8, false), "this machine has only 8");
    state.apply(state.models.with_threads(None));
    assert_eq!(chosen(&state), (4, true));
}
