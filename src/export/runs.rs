//! Grouping generations into runs: the same prompt continued by the same model.

use crate::generation::Generation;

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
        let pane = (letters(index), generation);
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

/// Returns the letters of the generation at this index: A to Z, then AA, AB and so on.
pub(super) fn letters(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match (index / 26).checked_sub(1) {
        Some(before) => letters(before) + &last.to_string(),
        None => last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn letters_continue_after_z() {
        let shown = [0, 3, 25, 26, 51, 52, 701, 702].map(letters);
        assert_eq!(shown, ["A", "D", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
