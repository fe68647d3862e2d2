//! How models compute: the choice of device, precision, KV cache type, rounding of inputs and
//! thread count.

use std::num::NonZeroUsize;

use crate::generation::ModelInfo;
use crate::state::{Command, Effect, Models, ModelsCommand, Pane, ReadyModel};
use crate::worker::{CacheType, ComputeChoice, DeviceChoice, InputBits, Precision, Request};

/// A menu row: a device, a precision, a KV cache type or a rounding of inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    pub name: String,
    /// A short remark beside the name; may be empty.
    pub hint: &'static str,
    /// Whether the next model uses it.
    pub chosen: bool,
    /// Chooses it.
    pub command: Command,
}

/// The number of CPU threads of the next model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadChoice {
    pub n_threads: NonZeroUsize,
    pub n_max: NonZeroUsize,
    /// Whether this is the default rather than the user's choice.
    pub is_default: bool,
}

impl Models {
    /// Returns the devices to choose from; empty until they are known.
    pub fn device_rows(&self) -> Vec<DeviceRow> {
        let Some(devices) = &self.devices else {
            return Vec::new();
        };
        let mut choices = devices.choices.clone();
        if choices.len() > 1 {
            choices.insert(0, DeviceChoice::Best);
        }
        let only = choices.len() == 1;
        let chosen = |choice| only || choice == self.compute.device;
        choices
            .into_iter()
            .map(|choice| DeviceRow {
                name: choice.name(),
                hint: match choice {
                    DeviceChoice::Best => "the GPU, or the CPU for small models",
                    _ => "",
                },
                chosen: chosen(choice),
                command: self.with_device(choice),
            })
            .collect()
    }

    /// Returns the precisions to choose from; empty on the CPU, which offers no choice.
    pub fn precision_rows(&self) -> Vec<DeviceRow> {
        if !self.uses_gpu() {
            return Vec::new();
        }
        let row = |precision: Precision| DeviceRow {
            name: precision.name().to_owned(),
            hint: precision.hint(),
            chosen: precision == self.compute.precision,
            command: self.with_precision(precision),
        };
        Precision::ALL.map(row).into()
    }

    /// Returns the KV cache types to choose from; empty on a GPU, which offers no choice.
    pub fn cache_rows(&self) -> Vec<DeviceRow> {
        if self.devices.is_none() || self.uses_gpu() {
            return Vec::new();
        }
        let compute = self.compute;
        let row = |cache: CacheType| DeviceRow {
            name: cache.name().to_owned(),
            hint: cache.hint(),
            chosen: cache == compute.cache,
            command: choose(ComputeChoice { cache, ..compute }),
        };
        CacheType::ALL.map(row).into()
    }

    /// Returns the roundings of inputs to choose from; empty on a GPU, which offers no choice.
    pub fn inputs_rows(&self) -> Vec<DeviceRow> {
        if self.devices.is_none() || self.uses_gpu() {
            return Vec::new();
        }
        let compute = self.compute;
        let row = |inputs: InputBits| DeviceRow {
            name: format!("{} bits", inputs.name()),
            hint: inputs.hint(),
            chosen: inputs == compute.inputs,
            command: choose(ComputeChoice { inputs, ..compute }),
        };
        InputBits::ALL.map(row).into()
    }

    /// Returns a sentence about the devices; may be empty.
    pub fn device_words(&self) -> String {
        if let Some(missing) = &self.device_missing {
            return missing.clone();
        }
        match &self.devices {
            None => String::new(),
            Some(devices) if !devices.build_supports_gpus => match &devices.launcher_reason {
                Some(reason) => format!("Models run on the CPU: {reason}"),
                None => "This build has no GPU support".to_owned(),
            },
            Some(devices) if devices.choices.len() == 1 => {
                "Built with GPU support, but no GPU was found".to_owned()
            }
            Some(_) if !self.uses_gpu() => {
                let bits = self.compute.inputs.name();
                format!("Computes in f32; inputs rounded to {bits} bits")
            }
            Some(_) => "Applies to the next model you open".to_owned(),
        }
    }

    /// Returns the thread count, once the devices are known.
    pub fn thread_choice(&self) -> Option<ThreadChoice> {
        let threads = self.devices.as_ref()?.cpu_threads;
        let wanted = self.compute.n_threads;
        Some(ThreadChoice {
            n_threads: threads.granted(wanted),
            n_max: threads.n_max,
            is_default: wanted.is_none(),
        })
    }

    /// Returns the command that sets the thread count; `None` restores the default.
    pub fn with_threads(&self, n_threads: Option<NonZeroUsize>) -> Command {
        let compute = self.compute;
        choose(ComputeChoice {
            n_threads,
            ..compute
        })
    }

    fn with_precision(&self, precision: Precision) -> Command {
        let compute = self.compute;
        choose(ComputeChoice {
            precision,
            ..compute
        })
    }

    fn with_device(&self, device: DeviceChoice) -> Command {
        let compute = self.compute;
        choose(ComputeChoice { device, ..compute })
    }

    pub(in crate::state) fn compute_with(&mut self, choice: ComputeChoice) -> Vec<Effect> {
        // The engine looks for the device again, and reports if it is still missing.
        self.device_missing = None;
        self.compute = choice;
        vec![Effect::Send(Request::SetCompute(choice))]
    }

    /// Returns whether the next model is loaded into dedicated GPU memory. Apple GPUs share the
    /// machine's memory.
    pub(in crate::state) fn uses_gpu_memory(&self) -> bool {
        let is_cuda = |choice: &DeviceChoice| matches!(choice, DeviceChoice::Cuda(_));
        let devices = self.devices.as_ref();
        match self.compute.device {
            DeviceChoice::Best => {
                devices.is_some_and(|devices| devices.choices.iter().any(is_cuda))
            }
            device => is_cuda(&device) && self.device_missing.is_none(),
        }
    }

    /// Returns whether the next model computes on a GPU.
    pub(in crate::state) fn uses_gpu(&self) -> bool {
        let has_accelerator = self
            .devices
            .as_ref()
            .is_some_and(|devices| devices.choices.len() > 1);
        match self.compute.device {
            DeviceChoice::Best => has_accelerator,
            DeviceChoice::Cpu => false,
            DeviceChoice::Cuda(_) | DeviceChoice::Metal(_) => self.device_missing.is_none(),
        }
    }

    /// Returns the command that loads the pane's model on the CPU after a failure, or `None` if it
    /// did not run on a GPU of this machine.
    pub fn cpu_instead(&self, pane: &Pane) -> Option<Command> {
        let on_gpu = |model: &ReadyModel| !model.info.device.starts_with(DeviceChoice::CPU_NAME);
        let fails_on_gpu = pane.settings.model.is_none() && self.main.ready().is_some_and(on_gpu);
        let source = self.source.clone();
        fails_on_gpu.then_some(Command::Models(ModelsCommand::LoadOnCpu(source)))
    }

    /// Returns the request that tells a new engine how to compute, unless the default applies.
    pub(in crate::state) fn compute_request(&self) -> Option<Effect> {
        let choice = self.compute;
        let is_default = choice == ComputeChoice::default();
        (!is_default).then_some(Effect::Send(Request::SetCompute(choice)))
    }

    pub(in crate::state) fn on_device_missing(&mut self, name: &str, reason: &str) {
        let sentence = format!("{name} is not available, so models run on the CPU: {reason}");
        self.device_missing = Some(sentence);
    }
}

/// Returns the number formats of a recorded run, with the defaults for those it does not state.
pub fn recorded_formats(model: &ModelInfo) -> ComputeChoice {
    let recorded = &model.provenance;
    let mut caches = CacheType::ALL.into_iter();
    let cache = caches.find(|cache| cache.name() == recorded.cache);
    let mut inputs = InputBits::ALL.into_iter();
    let inputs = inputs.find(|inputs| model.device.ends_with(inputs.phrase()));
    let mut precisions = Precision::ALL.into_iter();
    let precision = precisions.find(|precision| precision.name() == recorded.precision);
    ComputeChoice {
        precision: precision.unwrap_or_default(),
        cache: cache.unwrap_or_default(),
        inputs: inputs.unwrap_or_default(),
        ..ComputeChoice::default()
    }
}

const fn choose(choice: ComputeChoice) -> Command {
    Command::Models(ModelsCommand::SetCompute(choice))
}
