//! The notice in a pane about its server.

use egui::Ui;

use super::pane_model::{Kind, ModelNotice};
use crate::generation::{PaneModel, ServedModel};
use crate::state::{AppState, Command, Pane, PaneModelCommand, ServerCommand, ServerStatus};

/// Draws a notice if the user should know or do something about the pane's server. Returns whether
/// it did.
pub(super) fn server_notice_ui(
    ui: &mut Ui,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> bool {
    let Some(served) = server_of(pane, state) else {
        return false;
    };
    let decline = PaneModelCommand::Decline(PaneModel::Server(served.clone()));
    let decline = Command::PaneModel(decline);
    match state.models.servers.status(served) {
        // If its text failed, the pane itself says so.
        Some(ServerStatus::Failed { error }) if pane.status.failure().is_none() => {
            let again = PaneModelCommand::Choose(pane.id, Some(PaneModel::Server(served.clone())));
            let actions = [
                ("Try again", Command::PaneModel(again)),
                ("Servers…", Command::Server(ServerCommand::Show)),
                ("Use the main model", decline),
            ];
            ModelNotice::new(Kind::Error, error).show(ui, &actions, commands);
        }
        Some(ServerStatus::Connecting) if pane.status.running().is_none() => {
            let words = format!("Connecting to {}", served.host());
            ModelNotice::new(Kind::Plain, &words).show(ui, &[("Cancel", decline)], commands);
        }
        // Here too, a pane whose text failed needs no second notice.
        _ if served.own_sampler
            && !pane.server_notes.is_empty()
            && pane.status.failure().is_none() =>
        {
            let words = pane.server_notes.join(". ");
            let chain = ServedModel {
                own_sampler: false,
                ..served.clone()
            };
            let chain = PaneModelCommand::Choose(pane.id, Some(PaneModel::Server(chain)));
            let hide = Command::Server(ServerCommand::HideNotes(pane.id));
            let actions = [
                ("Hide", hide),
                ("Use Quartet’s chain", Command::PaneModel(chain)),
            ];
            ModelNotice::new(Kind::Plain, &words).show(ui, &actions, commands);
        }
        _ => return false,
    }
    true
}

/// Returns whether the pane's server can't be used.
pub(super) fn has_server_failed(pane: &Pane, state: &AppState) -> bool {
    let status = server_of(pane, state).and_then(|served| state.models.servers.status(served));
    matches!(status, Some(ServerStatus::Failed { .. }))
}

fn server_of<'a>(pane: &'a Pane, state: &AppState) -> Option<&'a ServedModel> {
    state.models.chosen(&pane.settings)?.served()
}
