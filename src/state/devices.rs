//! Where models compute: what can be chosen, and what is to be said about it.

use super::{AppState, Command, Effect, ModelsCommand};
use crate::worker::{DeviceChoice, Request};

/// A device that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    /// What it is called.
    pub name: String,
    /// Whether models are loaded for it.
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
                chosen: chosen(choice),
                command: Command::Models(ModelsCommand::UseDevice(choice)),
            })
            .collect()
    }

    /// What is to be said about the devices: what is missing, or what there is to know.
    pub fn device_words(&self) -> String {
        if let Some(missing) = &self.models.device_missing {
            return missing.clone();
        }
        match &self.models.devices {
            None => String::new(),
            Some(devices) if !devices.build_knows_accelerators => {
                "This build runs on the processor only; the README says how to build for a GPU."
                    .to_owned()
            }
            Some(devices) if devices.choices.len() == 1 => {
                "This build knows a GPU, but none answers.".to_owned()
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

    /// Tells a new engine which device is wanted, where it would not take that one anyway.
    pub(super) fn device_request(&self) -> Option<Effect> {
        let choice = self.models.device;
        (choice != DeviceChoice::Best).then_some(Effect::Send(Request::UseDevice(choice)))
    }

    pub(super) fn on_device_missing(&mut self, name: &str, reason: &str) {
        let words = format!("{name} is not to be had, so models run on the processor: {reason}");
        self.models.device_missing = Some(words);
    }
}
