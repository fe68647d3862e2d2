//! A server that the user added, as the settings keep it.

use serde::{Deserialize, Serialize};

use crate::generation::ServedModel;
use crate::worker::ServerKind;

/// A server that the user added. Its key is never stored, only the name of the environment variable
/// that holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AddedServer {
    pub address: String,
    /// The name of the model on the server, or `None` for the first one that it lists.
    pub model: Option<String>,
    /// `None` to detect it.
    pub kind: Option<ServerKind>,
    /// The environment variable that holds the key; empty if there is none.
    pub key_variable: String,
    /// How many log-probabilities to ask for at each token; `None` for the default.
    pub n_probs: Option<usize>,
}

impl AddedServer {
    /// Returns the model that a pane must choose to use it.
    pub fn served(&self, own_sampler: bool) -> ServedModel {
        ServedModel {
            address: self.address.clone(),
            model: self.model.clone(),
            own_sampler,
        }
    }

    /// Returns whether a pane that chose this uses the server.
    pub fn serves(&self, served: &ServedModel) -> bool {
        self.address == served.address && self.model == served.model
    }
}
