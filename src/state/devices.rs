//! Where models compute: what can be chosen, and what is to be said about it.

use super::models::Models;
use super::{AppState, Command, Effect, ModelsCommand};
use crate::worker::{DeviceChoice, Precision, Request};

/// A device or a precision that can be chosen.
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
        let chosen = |choice| only || choice == self.models.device;
        choices
            .into_iter()
            .map(|choice| DeviceRow {
                name: choice.name(),
                hint: "",
                chosen: chosen(choice),
                command: Command::Models(ModelsCommand::UseDevice(choice)),
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
            chosen: precision == self.models.precision,
            command: Command::Models(ModelsCommand::UsePrecision(precision)),
        };
        Precision::ALL.map(row).into()
    }

    /// What is to be said about the devices: what is missing, or what there is to know.
    pub fn device_words(&self) -> String {
        if let Some(missing) = &self.models.device_missing {
            return missing.clone();
        }
        match &self.models.devices {
            None => String::new(),
            Some(devices) if !devices.build_knows_accelerators => {
                "This build runs on the processor only, in f32; the README says how to build for a GPU."
                    .to_owned()
            }
            Some(devices) if devices.choices.len() == 1 => {
                "This build knows a GPU, but none answers.".to_owned()
            }
            Some(_) if !self.computes_elsewhere() => {
                "The processor computes in f32, from weights as they are stored.".to_owned()
            }
            Some(_) => "Counts for the next model that is opened.".to_owned(),
        }
    }

    /// With how many threads the processor computes, once that is known.
    pub fn n_cpu_threads(&self) -> Option<usize> {
        Some(self.models.devices.as_ref()?.n_cpu_threads)
    }

    /// Whether the next model gets memory that is not the machine's.
    pub(super) fn computes_elsewhere(&self) -> bool {
        let has_accelerator = self
            .models
            .devices
            .as_ref()
            .is_some_and(|devices| devices.choices.len() > 1);
        match self.models.device {
            DeviceChoice::Best => has_accelerator,
            DeviceChoice::Cpu => false,
            DeviceChoice::Cuda(_) | DeviceChoice::Metal(_) => self.models.device_missing.is_none(),
        }
    }

    /// Tells a new engine which device and precision are wanted, where it would not take those anyway.
    pub(super) fn device_requests(&self) -> Vec<Effect> {
        let Models {
            device, precision, ..
        } = self.models;
        let mut effects = Vec::new();
        if device != DeviceChoice::Best {
            effects.push(Effect::Send(Request::UseDevice(device)));
        }
        if precision != Precision::default() {
            effects.push(Effect::Send(Request::UsePrecision(precision)));
        }
        effects
    }

    pub(super) fn on_device_missing(&mut self, name: &str, reason: &str) {
        let words = format!("{name} is not to be had, so models run on the processor: {reason}");
        self.models.device_missing = Some(words);
    }
}
