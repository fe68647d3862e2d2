//! `quartet server` and `--server`: describes a server, and runs panes on its model.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::console;
use super::count::count;
use super::failure::Failure;
use super::hosts::Hosts;
use super::interrupt::Interrupt;
use super::pane_models::{index_of, letter_and_value};
use super::pane_run::SIGNAL_PAUSE;
use crate::generation::ModelInfo;
use crate::generation::formatting::grouped;
use crate::worker::{
    KeySource, SampledBy, ServerConfig, ServerEvent, ServerInfo, ServerKind, ServerRequest,
    ServerWorker,
};

/// The arguments of `quartet server`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The server’s address: <http://127.0.0.1:8080>
    #[arg(value_name = "ADDRESS")]
    address: String,

    #[command(flatten)]
    details: Details,

    /// Print everything as JSON instead
    #[arg(long)]
    json: bool,
}

/// The arguments of commands whose panes can run on a server.
#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// Run the panes on the model of this server (llama-server, vLLM, Ollama, or any with OpenAI’s
    /// completions API): <http://127.0.0.1:8080>. The prompt and the texts are sent to it
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["model", "draft_model"])]
    server: Option<String>,

    /// A server for one pane: the letter of the pane, and the server’s address. Repeat it for more
    /// panes; the other panes run on --server or on this computer, at the same time. The options
    /// below apply to all servers
    #[arg(
        long = "pane-server",
        value_name = "PANE=ADDRESS",
        value_parser = pane_server
    )]
    pane_servers: Vec<PaneServer>,

    #[command(flatten)]
    details: Details,

    /// Let the server’s own sampler choose the tokens, with the settings that it supports. By
    /// default, Quartet’s chain chooses from the probabilities that the server reports, which takes
    /// one request per token
    #[arg(long)]
    server_sampler: bool,
}

/// A pane's own server, as written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PaneServer {
    /// "B".
    letter: String,
    address: String,
}

fn pane_server(argument: &str) -> Result<PaneServer, String> {
    let Some((letter, address)) = letter_and_value(argument) else {
        return Err(
            "expected the letter of a pane and an address, such as B=http://127.0.0.1:8080"
                .to_owned(),
        );
    };
    Ok(PaneServer {
        letter,
        address: address.trim().to_owned(),
    })
}

/// More tokens than any vocabulary has.
const N_MAX_PROBS: u64 = 4_000_000;

const SECONDS_PER_DAY: u64 = 86_400;

/// How to connect to a server and what to request from it.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "the fields are named after their options, all of which concern the server"
)]
struct Details {
    /// The kind of server: llama-server, vllm, ollama or openai; by default Quartet detects it
    #[arg(long, value_name = "KIND")]
    server_kind: Option<ServerKind>,

    /// The model on the server; by default the first that it lists
    #[arg(long, value_name = "NAME")]
    server_model: Option<String>,

    /// The environment variable that holds the server’s key
    #[arg(long, value_name = "VARIABLE")]
    server_key_env: Option<String>,

    /// How many log-probabilities to request for each token; by default 128 from llama-server, 20
    /// from vLLM and Ollama, 5 from others
    #[arg(long, value_name = "N", value_parser = count::<u32>(1..=N_MAX_PROBS))]
    server_probs: Option<u32>,

    /// How many seconds the server may take to get on, that is, to send a token or 64 KiB of a long
    /// response, whatever else it sends; by default 120
    #[arg(long, value_name = "SECONDS", value_parser = count::<u32>(1..=SECONDS_PER_DAY))]
    server_timeout: Option<u32>,
}

impl Details {
    fn config(&self, address: &str, sampled_by: SampledBy) -> Result<ServerConfig, Failure> {
        let key = self.server_key_env.clone().map(KeySource::Variable);
        if let Some(Err(error)) = key.as_ref().map(KeySource::key) {
            return Err(Failure::usage(error.to_string()));
        }
        let defaults = ServerConfig::at(address);
        let timeout = self.server_timeout.map(u64::from);
        Ok(ServerConfig {
            kind: self.server_kind,
            model: self.server_model.clone(),
            key,
            sampled_by,
            n_probs: self.server_probs.map(|n_probs| n_probs as usize),
            timeout: timeout.map_or(defaults.timeout, Duration::from_secs),
            ..defaults
        })
    }

    /// Returns the first option that is given.
    fn first_option(&self) -> Option<&'static str> {
        let options = [
            ("--server-kind", self.server_kind.is_some()),
            ("--server-model", self.server_model.is_some()),
            ("--server-key-env", self.server_key_env.is_some()),
            ("--server-probs", self.server_probs.is_some()),
            ("--server-timeout", self.server_timeout.is_some()),
        ];
        let mut options = options.into_iter();
        options
            .find(|(_, is_given)| *is_given)
            .map(|(name, _)| name)
    }
}

impl ServerArguments {
    /// Returns where each of the panes runs. Fails if only details are given, or if a pane that
    /// does not exist is named.
    pub(crate) fn hosts(&self, n_panes: usize) -> Result<Hosts, Failure> {
        if self.server.is_none() && self.pane_servers.is_empty() {
            let sampler = self.server_sampler.then_some("--server-sampler");
            return match sampler.or_else(|| self.details.first_option()) {
                Some(option) => Err(Failure::usage(format!(
                    "{option} needs --server ADDRESS or --pane-server PANE=ADDRESS"
                ))),
                None => Ok(Hosts {
                    servers: Vec::new(),
                    of_panes: vec![None; n_panes],
                }),
            };
        }
        let mut addresses = vec![self.server.as_deref(); n_panes];
        for (index, PaneServer { letter, address }) in self.pane_servers.iter().enumerate() {
            let mut before = self.pane_servers.iter().take(index);
            if before.any(|other| other.letter == *letter) {
                return Err(Failure::usage(format!(
                    "--pane-server names pane {letter} twice, but a pane runs on one server"
                )));
            }
            let pane = index_of(letter, n_panes, "--pane-server")?;
            if let Some(server) = addresses.get_mut(pane) {
                *server = Some(address);
            }
        }
        self.hosts_at(&addresses)
    }

    /// Returns the hosts of panes that run at these addresses, or on this computer.
    fn hosts_at(&self, addresses: &[Option<&str>]) -> Result<Hosts, Failure> {
        let sampled_by = if self.server_sampler {
            SampledBy::Server
        } else {
            SampledBy::Chain
        };
        let mut hosts = Hosts::default();
        let mut known: Vec<&str> = Vec::new();
        for address in addresses {
            let server = address.map(|address| {
                let found = known.iter().position(|other| *other == address);
                found.unwrap_or_else(|| {
                    known.push(address);
                    known.len() - 1
                })
            });
            hosts.of_panes.push(server);
        }
        for address in known {
            hosts
                .servers
                .push(self.details.config(address, sampled_by)?);
        }
        Ok(hosts)
    }
}

/// Runs `quartet server`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = arguments
        .details
        .config(&arguments.address, SampledBy::Chain)?;
    let mut worker = ServerWorker::start(config, || {});
    let interrupt = Interrupt::catch();
    let (server, _, n_probs) = connected(&mut worker, &interrupt)?;
    if arguments.json {
        return console::print_json_line(&server_json(&server, n_probs));
    }
    console::print(table(&server, n_probs).as_bytes())
}

fn server_json(server: &ServerInfo, n_probs: usize) -> Value {
    json!({
        "kind": server.kind.name(),
        "version": server.version,
        "host": server.host,
        "model": server.model,
        "architecture": server.architecture,
        "n_params": server.n_params,
        "quantization": server.quantization,
        "n_vocab": server.n_vocab,
        "n_context": server.n_context,
        "n_slots": server.n_slots,
        "has_chat_template": server.has_chat_template,
        "n_probs": n_probs,
        "has_token_ids": server.kind.has_ids(),
    })
}

/// Connects, and waits until the server has described itself.
pub(crate) fn connected(
    worker: &mut ServerWorker,
    interrupt: &Interrupt,
) -> Result<(Arc<ServerInfo>, Arc<ModelInfo>, usize), Failure> {
    worker.send(ServerRequest::Connect);
    loop {
        if interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        match worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(ServerEvent::Connected {
                server,
                model,
                n_probs,
            })) => return Ok((server, model, n_probs)),
            Some(Some(ServerEvent::ConnectFailed { error })) => return Err(Failure::run(error)),
            Some(Some(ServerEvent::Panicked { message })) => {
                return Err(Failure::run(format!(
                    "Quartet failed unexpectedly: {message}"
                )));
            }
            Some(_) => {}
            None => return Err(Failure::run("the connection ended unexpectedly")),
        }
    }
}

fn table(server: &ServerInfo, n_probs: usize) -> String {
    let count = |n: Option<usize>, unit: &str| match n {
        Some(n) => format!("{} {unit}", grouped(n as f64)),
        None => "not reported".to_owned(),
    };
    let kind = format!("{} {}", server.kind.name(), server.version);
    let model = format!("{} {}", server.model, server.quantization);
    let mut rows = vec![
        ("Server", format!("{} at {}", kind.trim(), server.host)),
        ("Model", model.trim().to_owned()),
        ("Vocabulary", count(server.n_vocab, "tokens")),
        ("Context", count(server.n_context, "tokens")),
        (
            "Per token",
            format!(
                "{} log-probabilities, {}",
                grouped(n_probs as f64),
                if server.kind.has_ids() {
                    "with token ids"
                } else {
                    "without token ids"
                }
            ),
        ),
    ];
    if let Some(n_slots) = server.n_slots {
        rows.push(("Texts", format!("{n_slots} at the same time")));
    }
    if server.has_chat_template {
        rows.push((
            "Chat",
            "renders messages; as ChatML if the model has no template".to_owned(),
        ));
    }
    rows.extend(
        server
            .remarks()
            .into_iter()
            .map(|remark| ("Note", format!("{remark}."))),
    );
    let mut table = String::new();
    for (title, text) in rows {
        // Writing to a string can't fail.
        writeln!(table, "{title:<13}{text}").ok();
    }
    table
}
