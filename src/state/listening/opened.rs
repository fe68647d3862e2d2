//! The request that the opened run answers: what the program sent, and what a change would have done.

use serde_json::Value;

use crate::generation::PromptRecord;
use crate::interop::api::RecordedRequest;
use crate::state::{AppState, Effect, Notice, Pane, RunCommand};

/// The port in a copied command while the endpoint is closed.
const USUAL_PORT: u16 = 8080;

/// Applies a command about the request of the opened run.
pub(in crate::state) fn of_request(state: &mut AppState, command: RunCommand) -> Vec<Effect> {
    match command {
        RunCommand::ShowRequestAs(view) => {
            if let Some(opened) = &mut state.runs.opened {
                opened.request_view = view;
            }
        }
        RunCommand::SetRequestField { name, value } => set_field(state, name, value),
        RunCommand::CopyRequest => return copy_as_curl(state),
        _ => {}
    }
    Vec::new()
}

/// Changes a field, and lets the first pane ask what the text would have been.
fn set_field(state: &mut AppState, name: String, value: Value) {
    let runs = &mut state.runs;
    let (Some(opened), Some(model)) = (&mut runs.opened, runs.listening.model()) else {
        return;
    };
    let Some(request) = &opened.header.request else {
        return;
    };
    opened.request_fields.insert(name, value);
    match request.chain_with(opened.request_fields.clone(), model) {
        Ok(chain) => {
            opened.field_error = None;
            if let Some(first) = state.panes.first().map(|pane| pane.id) {
                state.panes.set_chain(first, chain);
            }
        }
        Err(error) => opened.field_error = Some(error.to_string()),
    }
}

/// Copies a command that sends the request again.
fn copy_as_curl(state: &mut AppState) -> Vec<Effect> {
    let text = state.panes.first().and_then(Pane::latest);
    let prompt = text.map(|text| &*text.prompt);
    let (Some(request), Some(prompt)) = (state.opened_request(), prompt) else {
        return Vec::new();
    };
    let address = state.runs.listening.address();
    let port = address.map_or(USUAL_PORT, |address| address.port());
    let command = curl(request, prompt, port);
    state.notices.notify(Notice::done("Command copied"));
    vec![Effect::CopyText(command)]
}

fn curl(request: &RecordedRequest, prompt: &PromptRecord, port: u16) -> String {
    let path = request.target.split_whitespace().last().unwrap_or_default();
    let body = Value::Object(request.body(prompt)).to_string();
    // A shell takes everything between single quotes as it is.
    let quoted = body.replace('\'', r"'\''");
    format!("curl http://127.0.0.1:{port}{path} -d '{quoted}'")
}
