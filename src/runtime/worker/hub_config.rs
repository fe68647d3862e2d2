//! Connects the Hub with the engine, which decides what opens.

use crate::engine::{check_remote, folder_openness, gguf_openness};
use crate::hub::{HubConfig, Openable};

/// Returns the Hub's usual configuration: the engine decides what opens.
pub fn hub_config() -> HubConfig {
    HubConfig {
        openable: Openable {
            folder: folder_openness,
            gguf: gguf_openness,
            check: check_remote,
        },
        ..HubConfig::default()
    }
}
