//! Shows what an experiment found as a new pane.

use crate::decoding::ChainConfig;
use crate::generation::PromptText;
use crate::state::{AppState, Effect, MAX_PANES, Notice, Page};

/// Adds a pane that continues this prompt, which becomes the window's, and shows it.
pub(super) fn open_prompt_with(
    state: &mut AppState,
    prompt: PromptText,
    chain: ChainConfig,
    seed: u64,
) -> Vec<Effect> {
    if prompt == state.prompt.to_text() || state.panes.len() >= MAX_PANES {
        return open_pane_with(state, chain, seed);
    }
    state.prompt.text = prompt.text;
    state.prompt.set_form(prompt.form);
    let mut effects = state.prompt.tokenize(&state.models.main);
    effects.extend(open_pane_with(state, chain, seed));
    effects
}

/// Adds a pane with these settings, writes its text, and shows it.
pub(super) fn open_pane_with(state: &mut AppState, chain: ChainConfig, seed: u64) -> Vec<Effect> {
    if state.panes.len() >= MAX_PANES {
        return state.notify(Notice::error(
            "No pane was added",
            format!("There are {MAX_PANES} panes already; remove one first"),
        ));
    }
    state.page = Page::Write;
    match state.push_pane(chain, seed) {
        Some(id) => state.generate_one(id),
        None => Vec::new(),
    }
}
