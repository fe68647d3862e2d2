//! Writing the answer to a request again under other settings.

use crate::decoding::ChainConfig;
use crate::generation::{Generation, PaneSettings, Steps};
use crate::state::branches::Extension;
use crate::state::{AppState, Effect, Pane, PaneId};

/// Keeps the text of the opened request as it was asked, and writes three more from the same prompt
/// with the same coins: greedy, with the settings that the user changed, if any, or else top-p, and
/// pure sampling. The model reads the prompt once for all three.
pub(in crate::state) fn write_again(state: &mut AppState) -> Vec<Effect> {
    let Some(first) = state.panes.first() else {
        return Vec::new();
    };
    let is_possible = state.opened_request().is_some() && state.models.main.ready().is_some();
    let Some(text) = first.latest().filter(|_| is_possible).cloned() else {
        return Vec::new();
    };
    let (id, settings) = (first.id, first.settings.clone());
    let mut effects = state.use_settings_of_run();
    let others = state.panes.iter().map(|pane| pane.id);
    for other in others.filter(|other| *other != id).collect::<Vec<PaneId>>() {
        effects.extend(state.remove_pane(other));
    }
    let changed = (settings.chain != text.config.chain).then_some(settings.chain);
    if let Some(pane) = state.panes.pane_mut(id) {
        "As asked".clone_into(&mut pane.settings.name);
        pane.settings.chain = text.config.chain.clone();
    }
    let mut requests = Vec::new();
    for other in others_of(&text.config.chain, changed) {
        let pane = state.next_pane_id();
        let model = settings.model.clone();
        state
            .panes
            .push(Pane::new(pane, PaneSettings { model, ..other }));
        let unwritten = Generation {
            steps: Steps::default(),
            ..text.clone()
        };
        requests.extend(state.extension_request(pane, unwritten, Extension::default()));
    }
    effects.extend(state.send_continuations(requests));
    effects
}

/// Returns the settings of the other panes. All keep to the grammar of the request.
fn others_of(asked: &ChainConfig, changed: Option<ChainConfig>) -> [PaneSettings; 3] {
    let [greedy, pure, _, top_p] = PaneSettings::classics();
    let third = changed.map_or(top_p, |chain| PaneSettings {
        name: "What if".to_owned(),
        ..PaneSettings::from(chain)
    });
    [greedy, third, pure].map(|mut settings| {
        let grammar = &mut settings.chain.grammar;
        *grammar = grammar.take().or_else(|| asked.grammar.clone());
        settings
    })
}
