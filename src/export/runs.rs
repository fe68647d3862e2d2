//! Grouping generations into runs: the same prompt continued by the same model. Conversations belong
//! together if they begin so.

use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, ModelInfo, PromptRecord};

/// Generations that can be compared because the same model read the same tokens for all of them.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The first of them, as the source of the shared model.
    pub first: &'a Generation,
    /// Each generation with its letter, as on screen: A is the first pane.
    pub panes: Vec<(String, &'a Generation)>,
}

impl Run<'_> {
    /// Returns the prompt that all continue, or the one with which their conversations begin.
    pub(super) fn prompt(&self) -> &PromptRecord {
        let first = self.first.turn(0).unwrap_or(self.first);
        &first.prompt
    }

    /// Returns how many turns the longest conversation has: 1 if there are none before the texts.
    pub(super) fn n_turns(&self) -> usize {
        let panes = self.panes.iter().map(|(_, pane)| pane.n_turns());
        panes.max().unwrap_or(1)
    }

    /// Returns every second model of the run, with the letters of the panes that used it.
    pub(super) fn second_models(&self) -> Vec<(&ModelInfo, Vec<&str>)> {
        let mut models: Vec<(&ModelInfo, Vec<&str>)> = Vec::new();
        for (letter, pane) in &self.panes {
            let Some(second) = pane.second_model.as_deref() else {
                continue;
            };
            match models.iter_mut().find(|(known, _)| *known == second) {
                Some((_, letters)) => letters.push(letter),
                None => models.push((second, vec![letter])),
            }
        }
        models
    }
}

/// Groups the generations into runs, ordered by their first generation.
pub(super) fn runs<'a>(panes: &[Option<&'a Generation>]) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for (index, generation) in panes.iter().enumerate() {
        let Some(generation) = *generation else {
            continue;
        };
        let pane = (pane_letter(index), generation);
        match runs
            .iter_mut()
            .find(|run| begin_alike(run.first, generation))
        {
            Some(run) => run.panes.push(pane),
            None => runs.push(Run {
                first: generation,
                panes: vec![pane],
            }),
        }
    }
    runs
}

/// Returns whether two generations continue the same prompt, or conversations that begin so, with the
/// same model.
fn begin_alike(a: &Generation, b: &Generation) -> bool {
    let firsts = a.turn(0).zip(b.turn(0));
    a.model == b.model && firsts.is_some_and(|(a, b)| same_run(a, b))
}

/// Returns whether two generations continue the same prompt with the same model. Prefill times may
/// differ, because a pane that was run again finds its prompt in the KV cache.
pub(super) fn same_run(a: &Generation, b: &Generation) -> bool {
    let (first, second) = (&a.prompt, &b.prompt);
    a.model == b.model
        && first.text == second.text
        && first.chat == second.chat
        && first.tokens == second.tokens
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::runs;
    use crate::export::{FileFacts, csv, html, jsonl, markdown};
    use crate::generation::testing::generation;

    #[test]
    fn every_export_names_the_second_model() {
        let plain = generation(&[(" fox", 0.5)]);
        let mut text = plain.clone();
        let mut small = (*text.model).clone();
        small.name = "Small".to_owned();
        small.sha256 = "2fb47323aa".to_owned();
        text.second_model = Some(Arc::new(small));
        let panes = [Some(&plain), Some(&text), Some(&text)];
        let found = runs(&panes);
        assert_eq!(found[0].second_models()[0].1, ["B", "C"]);
        let page = markdown::render(&panes, FileFacts::default());
        let line = "Second model of B and C: **Small** (SHA-256 2fb47323aa).";
        assert!(page.contains(line), "{page}");
        let page = html::render(&panes, &[], None);
        assert!(page.contains("Second model of B and C <strong>Small</strong>"));
        let table = csv::render(&panes, FileFacts::default());
        let table = String::from_utf8(table).unwrap();
        let rows: Vec<&str> = table.lines().collect();
        assert!(
            rows[0].ends_with(",second_model,finished_at")
                && rows[1].ends_with(",,")
                && rows[2].ends_with(",Small,")
        );
        let lines = jsonl::render(&panes, FileFacts::default());
        assert_eq!(lines.matches("\"second_model\":\"Small\"").count(), 2);
    }
}
