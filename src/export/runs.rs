//! Grouping generations into runs: the same prompt continued by the same model.

use crate::generation::Generation;
use crate::generation::formatting::pane_letter;

/// Generations that can be compared because the same model read the same tokens for all of them.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The first of them, as the source of the shared model and prompt.
    pub first: &'a Generation,
    /// Each generation with its letter, as on screen: A is the first pane.
    pub panes: Vec<(String, &'a Generation)>,
}

/// Groups the generations into runs, ordered by their first generation.
pub(super) fn runs<'a>(panes: &[Option<&'a Generation>]) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for (index, generation) in panes.iter().enumerate() {
        let Some(generation) = *generation else {
            continue;
        };
        let pane = (pane_letter(index), generation);
        match runs.iter_mut().find(|run| same_run(run.first, generation)) {
            Some(run) => run.panes.push(pane),
            None => runs.push(Run {
                first: generation,
                panes: vec![pane],
            }),
        }
    }
    runs
}

/// Whether two generations continue the same prompt with the same model. Prefill times may differ,
/// because a pane that was run again finds its prompt in the KV cache.
pub(super) fn same_run(a: &Generation, b: &Generation) -> bool {
    let (first, second) = (&a.prompt, &b.prompt);
    a.model == b.model
        && first.text == second.text
        && first.chat == second.chat
        && first.tokens == second.tokens
}
