//! How models compute: which devices, how many threads and which numbers can be
//! chosen, and what is to be said about it.

use std::num::NonZeroUsize;

use crate::state::{AppState, Command, Effect, ModelsCommand};
use crate::worker::{CacheType, ComputeChoice, DeviceChoice, Precision, Request};

/// A device, a precision or a type of cache that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    /// What it is called.
    pub name: String,
    /// What there is to know of it, in a few words.
    pub hint: &'static str,
    /// Whether models are loaded for it, or in it.
    pub chosen: bool,
    /// What chooses it.
    pub command: Command,
}

/// With how many threads the next model computes on the processor, and what else can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadChoice {
    /// So many.
    pub n_threads: NonZeroUsize,
    /// At most so many.
    pub n_max: NonZeroUsize,
    /// Whether nobody asked for another number.
    pub is_usual: bool,
}

impl AppState {
    /// What the user can choose from; nothing until the devices are known.
    pub fn device_rows(&self) -> Vec<DeviceRow> {
        let Some(devices) = &self.models.devices else {
            return Vec::new();
        };
        let mut choices = devices.choices.clone();
        if choices.len() > 1 {
            choices.insert(0, DeviceChoice::Best);
        }
        let only = choices.len() == 1;
        let chosen = |choice| only || choice == self.models.compute.device;
        choices
            .into_iter()
            .map(|choice| DeviceRow {
                name: choice.name(),
                hint: "",
                chosen: chosen(choice),
                command: self.with_device(choice),
            })
            .collect()
    }

    /// In which numbers models can compute where they are to; nothing where there is no choice, as on
    /// the processor.
    pub fn precision_rows(&self) -> Vec<DeviceRow> {
        if !self.computes_elsewhere() {
            return Vec::new();
        }
        let row = |precision: Precision| DeviceRow {
            name: precision.name().to_owned(),
            hint: precision.hint(),
            chosen: precision == self.models.compute.precision,
            command: self.with_precision(precision),
        };
        Precision::ALL.map(row).into()
    }

    /// As what keys and values can be kept on the processor; nothing where models are to compute elsewhere.
    pub fn cache_rows(&self) -> Vec<DeviceRow> {
        if self.models.devices.is_none() || self.computes_elsewhere() {
            return Vec::new();
        }
        let compute = self.models.compute;
        let row = |cache: CacheType| DeviceRow {
            name: cache.name().to_owned(),
            hint: cache.hint(),
            chosen: cache == compute.cache,
            command: choosing(ComputeChoice { cache, ..compute }),
        };
        CacheType::ALL.map(row).into()
    }

    /// What is to be said about the devices: what is missing, or what there is to know.
    pub fn device_words(&self) -> String {
        if let Some(missing) = &self.models.device_missing {
            return missing.clone();
        }
        match &self.models.devices {
            None => String::new(),
            Some(devices) if !devices.build_knows_accelerators => {
                "This build runs on the processor only; see the README.".to_owned()
            }
            Some(devices) if devices.choices.len() == 1 => {
                "This build knows a GPU, but none answers.".to_owned()
            }
            Some(_) if !self.computes_elsewhere() => {
                "Computes in f32; products with quantised weights round their inputs to 8 bits."
                    .to_owned()
            }
            Some(_) => "Counts for the next model that is opened.".to_owned(),
        }
    }

    /// How many threads can be chosen, once that is known.
    pub fn thread_choice(&self) -> Option<ThreadChoice> {
        let threads = self.models.devices.as_ref()?.cpu_threads;
        let wanted = self.models.compute.n_threads;
        Some(ThreadChoice {
            n_threads: threads.granted(wanted),
            n_max: threads.n_max,
            is_usual: wanted.is_none(),
        })
    }

    /// What lets the next model compute with so many threads; with the usual number where none is given.
    pub fn with_threads(&self, n_threads: Option<NonZeroUsize>) -> Command {
        let compute = self.models.compute;
        choosing(ComputeChoice {
            n_threads,
            ..compute
        })
    }

    fn with_precision(&self, precision: Precision) -> Command {
        let compute = self.models.compute;
        choosing(ComputeChoice {
            precision,
            ..compute
        })
    }

    fn with_device(&self, device: DeviceChoice) -> Command {
        let compute = self.models.compute;
        choosing(ComputeChoice { device, ..compute })
    }

    pub(in crate::state) fn compute_with(&mut self, choice: ComputeChoice) -> Vec<Effect> {
        // The engine looks for the device again, and says so if it is still not to be had.
        self.models.device_missing = None;
        self.models.compute = choice;
        vec![Effect::Send(Request::ComputeWith(choice))]
    }

    /// Whether the next model gets memory that is not the machine's; graphics processors of Apple share it.
    pub(in crate::state) fn has_memory_elsewhere(&self) -> bool {
        let is_cuda = |choice: &DeviceChoice| matches!(choice, DeviceChoice::Cuda(_));
        let devices = self.models.devices.as_ref();
        match self.models.compute.device {
            DeviceChoice::Best => {
                devices.is_some_and(|devices| devices.choices.iter().any(is_cuda))
            }
            device => is_cuda(&device) && self.models.device_missing.is_none(),
        }
    }

    /// Whether the next model computes on something else than the processor.
    pub(in crate::state) fn computes_elsewhere(&self) -> bool {
        let has_accelerator = self
            .models
            .devices
            .as_ref()
            .is_some_and(|devices| devices.choices.len() > 1);
        match self.models.compute.device {
            DeviceChoice::Best => has_accelerator,
            DeviceChoice::Cpu => false,
            DeviceChoice::Cuda(_) | DeviceChoice::Metal(_) => self.models.device_missing.is_none(),
        }
    }

    /// Tells a new engine how to compute, where it would not compute so anyway.
    pub(in crate::state) fn compute_request(&self) -> Option<Effect> {
        let choice = self.models.compute;
        let is_usual = choice == ComputeChoice::default();
        (!is_usual).then_some(Effect::Send(Request::ComputeWith(choice)))
    }

    pub(in crate::state) fn on_device_missing(&mut self, name: &str, reason: &str) {
        let words = format!("{name} is not to be had, so models run on the processor: {reason}");
        self.models.device_missing = Some(words);
    }
}

/// What lets the next model compute like this.
const fn choosing(choice: ComputeChoice) -> Command {
    Command::Models(ModelsCommand::ComputeWith(choice))
}
