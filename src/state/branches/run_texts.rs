//! The texts of a run, handed over to be saved.

use std::collections::BTreeSet;

use super::{KeptText, KeptTexts};
use crate::export::json::{Branch, RunFile, RunHeader, unless_in_order};
use crate::generation::{Generation, GenerationId, Lineage, Origin, change_turns, turns_before};
use crate::state::{PaneId, PaneStatus, Panes};

/// All texts of a run. It shares their steps, so it takes microseconds to create and to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTexts {
    panes: Vec<ShownText>,
    /// The texts that no pane shows.
    kept: Vec<KeptText>,
}

impl RunTexts {
    /// Creates a run from texts that panes show.
    #[cfg(test)]
    pub(crate) fn shown(texts: Vec<Generation>) -> Self {
        let panes = texts.into_iter().enumerate();
        Self {
            panes: panes
                .map(|(place, text)| ShownText {
                    pane: PaneId(place as u32),
                    place,
                    text,
                })
                .collect(),
            kept: Vec::new(),
        }
    }

    pub(in crate::state) fn of(panes: &Panes, kept: &KeptTexts) -> Self {
        let panes = panes.iter().filter(|pane| pane.has_text());
        let panes: Vec<ShownText> = panes
            .filter_map(|pane| {
                Some(ShownText {
                    pane: pane.id,
                    place: pane.place,
                    text: pane.latest()?.clone(),
                })
            })
            .collect();
        let kept = kept.texts().iter().filter(|kept| {
            let mut shown = panes.iter();
            shown.any(|shown| shown.text.is_related_to(kept.head()))
        });
        Self {
            kept: kept.cloned().collect(),
            panes,
        }
    }

    /// Leaves out the texts that these panes showed last.
    pub(in crate::state) fn without(mut self, left_out: &BTreeSet<PaneId>) -> Self {
        self.panes.retain(|shown| !left_out.contains(&shown.pane));
        self.kept.retain(|kept| !left_out.contains(&kept.home));
        self
    }

    /// Returns the places of the panes that have a text.
    pub(in crate::state) fn places(panes: &Panes) -> Vec<usize> {
        let panes = panes.placed().filter(|(_, pane)| pane.has_text());
        panes.map(|(place, _)| place).collect()
    }

    /// Arranges the texts for a file. Copies kept texts, so call it on a background thread.
    pub fn into_run(self, header: RunHeader) -> RunFile {
        let homes: Vec<PaneId> = self.panes.iter().map(|shown| shown.pane).collect();
        let places = self.panes.iter().map(|shown| shown.place).collect();
        let panes = self.panes.into_iter().map(|shown| shown.text).collect();
        let kept = self.kept.iter();
        let branches = kept.map(|kept| Branch {
            pane: homes.iter().position(|home| *home == kept.home),
            text: kept.generation(),
        });
        RunFile {
            header,
            branches: branches.collect(),
            panes,
            places: unless_in_order(places),
            contradiction: None,
        }
    }
}

/// A text that a pane shows.
#[derive(Debug, Clone, PartialEq)]
struct ShownText {
    pane: PaneId,
    /// The place of the pane.
    place: usize,
    text: Generation,
}

/// Renumbers the texts of a file: its branches, those that are already in these panes, and the turns
/// before them.
pub(in crate::state) fn renumber(
    branches: &mut [Branch],
    homes: &[PaneId],
    panes: &mut Panes,
    last_id: &mut u64,
) {
    let mut texts: Vec<&mut Generation> = texts(panes, homes, branches).collect();
    let turns = turns_before(texts.iter().map(|text| &**text)).into_iter();
    let of_turns = turns.map(|turn| turn.answer.lineage);
    let mut lineages: Vec<Lineage> = of_turns.collect();
    let n_turns = lineages.len();
    lineages.extend(texts.iter().map(|text| text.lineage));
    let lineages = numbered_anew(&lineages, last_id);
    let (of_turns, of_texts) = lineages.split_at(n_turns);
    change_turns(&mut texts, |index, turn| {
        turn.lineage = of_turns.get(index).copied().unwrap_or_default();
    });
    for (text, lineage) in texts.into_iter().zip(of_texts) {
        text.lineage = *lineage;
    }
}

/// Returns these places in the tree with new ids in the same order, above all ids so far.
fn numbered_anew(lineages: &[Lineage], last_id: &mut u64) -> Vec<Lineage> {
    let ids = lineages.iter().map(|lineage| lineage.id);
    let mut old: Vec<(GenerationId, usize)> = ids.zip(0..).collect();
    // Older texts have lower ids. Every text gets its own, even if the file does not say so.
    old.sort_unstable();
    let first = *last_id + 1;
    let new = |is_it: &dyn Fn(&(GenerationId, usize)) -> bool| {
        let age = old.iter().position(is_it);
        age.map_or_else(GenerationId::default, |age| {
            GenerationId(first + age as u64)
        })
    };
    *last_id += old.len() as u64;
    let lineages = lineages.iter().enumerate();
    lineages
        .map(|(index, lineage)| Lineage {
            id: new(&|(_, other)| *other == index),
            origin: lineage.origin.map(|origin| Origin {
                parent: new(&|(id, _)| *id == origin.parent),
                ..origin
            }),
        })
        .collect()
}

fn texts<'a>(
    panes: &'a mut Panes,
    homes: &'a [PaneId],
    branches: &'a mut [Branch],
) -> impl Iterator<Item = &'a mut Generation> {
    let shown = panes.iter_mut().filter(|pane| homes.contains(&pane.id));
    let shown = shown.filter_map(|pane| match &mut pane.status {
        PaneStatus::Finished(text) => Some(text),
        _ => None,
    });
    shown.chain(branches.iter_mut().map(|branch| &mut branch.text))
}
