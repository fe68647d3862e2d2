//! Which generations belong together: those of one model that continue one prompt.

use crate::generation::Generation;

/// Generations that may be compared, because one model read the same tokens for all of them.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// Any of them, for the model and the prompt that they share.
    pub first: &'a Generation,
    /// Each with its number, counted from 1 over all that is exported.
    pub panes: Vec<(usize, &'a Generation)>,
}

/// Puts the generations into runs, in the order in which each first occurs.
pub(super) fn runs<'a>(generations: &[&'a Generation]) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for (index, generation) in generations.iter().enumerate() {
        let pane = (index + 1, *generation);
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

/// Whether two generations continue one prompt by one model. How long it took to read the prompt
/// is not asked: a pane that ran again alone found it in the cache.
pub(super) fn same_run(a: &Generation, b: &Generation) -> bool {
    let (first, second) = (&a.prompt, &b.prompt);
    a.model == b.model
        && first.text == second.text
        && first.chat == second.chat
        && first.tokens == second.tokens
}
