//! Where panes that continue one prompt part.

use super::Generation;

/// How far panes agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fork {
    /// There are fewer than two texts to compare.
    NothingToCompare,
    /// As far as all of them have come, they are the same.
    Agree {
        /// How many tokens they share.
        n_shared: usize,
    },
    /// They part.
    Part {
        /// The index of the first step at which they differ.
        step: usize,
        /// The panes that took the same token there, by index; the first group holds the first pane.
        groups: Vec<Vec<usize>>,
    },
}

/// Finds the first step at which the generations differ.
///
/// A text that ended before parts where it ended only if another one goes on there; while it is
/// still being written it does not part yet.
pub fn first_fork(generations: &[Option<&Generation>]) -> Fork {
    let present: Vec<(usize, &Generation)> = generations
        .iter()
        .enumerate()
        .filter_map(|(index, generation)| generation.map(|generation| (index, generation)))
        .filter(|(_, generation)| !generation.steps.is_empty())
        .collect();
    if present.len() < 2 {
        return Fork::NothingToCompare;
    }
    let n_shared = present
        .iter()
        .map(|(_, generation)| generation.steps.len())
        .min()
        .unwrap_or(0);
    for step in 0..n_shared {
        let mut groups: Vec<(crate::decoding::TokenId, Vec<usize>)> = Vec::new();
        for (index, generation) in &present {
            let Some(token) = generation.steps.get(step).map(|step| step.token) else {
                continue;
            };
            match groups.iter_mut().find(|(other, _)| *other == token) {
                Some((_, group)) => group.push(*index),
                None => groups.push((token, vec![*index])),
            }
        }
        if groups.len() > 1 {
            let groups = groups.into_iter().map(|(_, group)| group).collect();
            return Fork::Part { step, groups };
        }
    }
    Fork::Agree { n_shared }
}
