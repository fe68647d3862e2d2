//! The servers in the models dialog and in the menus of panes.

use super::{AddedServer, ReadyServer, ServerStatus, Servers};
use crate::generation::formatting::{grouped, pane_letter};
use crate::generation::{GenerationConfig, PaneModel, ServedModel};
use crate::state::{Models, Pane, PaneModelRow, Panes};
use crate::worker::not_applied;

/// A server in the models dialog.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRow {
    pub added: AddedServer,
    /// The model, or the server if it has not answered yet.
    pub name: String,
    /// "llama-server b1 at 127.0.0.1:8080".
    pub facts: String,
    /// `None` if it has not been contacted since the window was opened.
    pub status: Option<ServerStatus>,
    /// What to expect from this kind of server, one sentence each.
    pub remarks: Vec<&'static str>,
}

/// The two ways to generate text with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerUse {
    QuartetsChain,
    OwnSampler,
}

impl ServerUse {
    /// Both ways, in menu order.
    pub const ALL: [Self; 2] = [Self::QuartetsChain, Self::OwnSampler];

    /// Returns the label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuartetsChain => "Quartet’s chain",
            Self::OwnSampler => "Its own sampler",
        }
    }

    /// Returns a sentence that explains it.
    pub const fn help(self) -> &'static str {
        match self {
            Self::QuartetsChain => {
                "Quartet asks for the most likely tokens of each step, and its own chain chooses \
                 among them. One request per token"
            }
            Self::OwnSampler => {
                "The server’s sampler writes the text with those of the pane’s settings that it \
                 supports. One request per text"
            }
        }
    }

    /// Returns the model that a pane must choose to use the server in this way.
    pub fn served(self, added: &AddedServer) -> ServedModel {
        added.served(self == Self::OwnSampler)
    }
}

/// Says what chooses the tokens.
const fn way_words(own_sampler: bool) -> &'static str {
    if own_sampler {
        "its own sampler"
    } else {
        "Quartet’s chain"
    }
}

impl Servers {
    /// Returns the servers that the user added.
    pub fn rows(&self) -> Vec<ServerRow> {
        let row = |added: &AddedServer| {
            let served = added.served(false);
            let status = self.connections.status(&served).cloned();
            let (facts, remarks) = match &status {
                Some(ServerStatus::Ready(ready)) => (facts(ready), ready.server.remarks()),
                _ => (unknown_facts(added), Vec::new()),
            };
            ServerRow {
                name: self.name_of(&served),
                added: added.clone(),
                facts,
                status,
                remarks,
            }
        };
        self.added.iter().map(row).collect()
    }

    /// Returns what is known about a server, or `None` if it has not been contacted since the
    /// window was opened.
    pub fn status(&self, served: &ServedModel) -> Option<&ServerStatus> {
        self.connections.status(served)
    }

    /// Returns the name of the model, or of the server if it has not answered yet.
    fn name_of(&self, served: &ServedModel) -> String {
        // Each way of using it has its own connection.
        let ways = [false, true].map(|own_sampler| ServedModel {
            own_sampler,
            ..served.clone()
        });
        let mut ready = ways.iter();
        let ready = ready.find_map(|way| self.connections.ready(way));
        let known = ready.map(|ready| ready.model.info.name.clone());
        let named = known.or_else(|| served.model.clone());
        let name = named.unwrap_or_else(|| served.host().to_owned());
        let stem = name.strip_suffix(".gguf").map(str::to_owned);
        stem.unwrap_or(name)
    }

    /// Returns the short name of a pane's model on a server: "stories · its own sampler ·
    /// 127.0.0.1:8080".
    pub(in crate::state) fn words(&self, served: &ServedModel) -> String {
        let name = self.name_of(served);
        // The usual way goes without saying.
        let way = served.own_sampler.then(|| way_words(true));
        let host = Some(served.host()).filter(|host| *host != name);
        let parts = [Some(&*name), way, host].into_iter();
        parts.flatten().collect::<Vec<_>>().join(" · ")
    }

    /// Returns the servers in a pane's menu, each in both ways, and the one that the pane uses.
    pub(in crate::state) fn rows_of_pane(&self, own: Option<&PaneModel>) -> Vec<PaneModelRow> {
        let added = self.added.iter();
        let added = added.flat_map(|added| ServerUse::ALL.map(|way| way.served(added)));
        let mut all: Vec<ServedModel> = added.collect();
        if let Some(PaneModel::Server(served)) = own
            && !all.contains(served)
        {
            all.push(served.clone());
        }
        let row = |served: ServedModel| {
            let (name, host) = (self.name_of(&served), served.host());
            let way = way_words(served.own_sampler);
            let facts = if name == host {
                way.to_owned()
            } else {
                format!("{host}, {way}")
            };
            let model = PaneModel::Server(served);
            PaneModelRow {
                name,
                facts,
                is_chosen: own == Some(&model),
                model: Some(model),
            }
        };
        all.into_iter().map(row).collect()
    }
}

impl Models {
    /// Returns which of a pane's settings its server's own sampler does not apply, or applies
    /// differently. They are known once the server has answered.
    pub fn not_applied(&self, pane: &Pane, config: &GenerationConfig) -> Vec<String> {
        let served = self.chosen(&pane.settings);
        let served = served.and_then(PaneModel::served);
        let status = served
            .filter(|served| served.own_sampler)
            .and_then(|served| self.servers.status(served));
        match status {
            Some(ServerStatus::Ready(ready)) => not_applied(&ready.server, config),
            _ => Vec::new(),
        }
    }

    /// Says which panes send their texts where, or returns `None` if none does.
    pub fn servers_in_use_words(&self, panes: &Panes) -> Option<String> {
        let sentences: Vec<String> = panes
            .placed()
            .filter_map(|(place, pane)| {
                let served = self.chosen(&pane.settings)?.served()?;
                let (letter, host) = (pane_letter(place), served.host());
                Some(format!(
                    "Pane {letter} sends its prompt and its text to {host}."
                ))
            })
            .collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

fn facts(ready: &ReadyServer) -> String {
    let server = &ready.server;
    let kind = format!("{} {}", server.kind.name(), server.version);
    let mut facts = vec![format!("{} at {}", kind.trim(), server.host)];
    if let Some(n_context) = server.n_context {
        facts.push(format!("context {}", grouped(n_context as f64)));
    }
    let n_probs = grouped(ready.n_probs as f64);
    facts.push(format!("{n_probs} log-probs"));
    facts.join(" · ")
}

fn unknown_facts(added: &AddedServer) -> String {
    let host = added.served(false).host().to_owned();
    match added.kind {
        Some(kind) => format!("{} at {host}", kind.name()),
        None => host,
    }
}
