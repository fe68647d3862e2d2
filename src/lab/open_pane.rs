//! Shows what an experiment found as a new pane.

use crate::decoding::ChainConfig;
use crate::generation::{PaneModel, PromptText};
use crate::state::{AppState, Effect, MAX_PANES, Notice, Page};

/// A pane to add.
pub(super) struct NewPane {
    pub chain: ChainConfig,
    pub seed: u64,
    /// `None` for the main model.
    pub model: Option<PaneModel>,
}

impl NewPane {
    /// Returns a pane that uses the main model.
    pub(super) const fn new(chain: ChainConfig, seed: u64) -> Self {
        Self {
            chain,
            seed,
            model: None,
        }
    }
}

/// Adds a pane that continues this prompt, which becomes the window's, and shows it.
pub(super) fn open_prompt_with(
    state: &mut AppState,
    prompt: PromptText,
    pane: NewPane,
) -> Vec<Effect> {
    if prompt == state.prompt.to_text() || state.panes.len() >= MAX_PANES {
        return open_pane_with(state, pane);
    }
    state.prompt.text = prompt.text;
    state.prompt.set_form(prompt.form);
    let mut effects = state.prompt.tokenize(&state.models.main);
    effects.extend(open_pane_with(state, pane));
    effects
}

/// Adds a pane with these settings, writes its text, and shows it.
pub(super) fn open_pane_with(state: &mut AppState, pane: NewPane) -> Vec<Effect> {
    if state.panes.len() >= MAX_PANES {
        return state.notify(Notice::error(
            "No pane was added",
            format!("There are {MAX_PANES} panes already; remove one first"),
        ));
    }
    state.page = Page::Write;
    let Some(id) = state.push_pane(pane.chain, pane.seed) else {
        return Vec::new();
    };
    if let Some(added) = state.panes.iter_mut().find(|added| added.id == id) {
        added.settings.model = pane.model;
    }
    state.generate_one(id)
}
