//! The tree of futures: what they share, and where they diverge.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::decoding::TokenId;

/// Tokens that several futures share from a fork to the next one, or the rest of a single future.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FutureBranch {
    pub tokens: Vec<TokenId>,
    /// How many futures pass through it, at least 1.
    pub n: usize,
    /// Whether the pane's own text passes through it, as far as that text goes.
    pub is_own: bool,
    /// How these futures continue, the most frequent first. Empty if all of them end here.
    pub children: Vec<Self>,
}

impl FutureBranch {
    /// Returns how many futures end with this branch's last token.
    pub fn n_ended(&self) -> usize {
        self.n - self.children.iter().map(|child| child.n).sum::<usize>()
    }
}

/// Returns the first branches of the tree of these texts, the most frequent first; ties keep the
/// order in which they were drawn. `own` is how the pane's own text continues.
pub fn future_tree(texts: &[&[TokenId]], own: &[TokenId]) -> Vec<FutureBranch> {
    let mut by_token: BTreeMap<TokenId, (usize, Vec<&[TokenId]>)> = BTreeMap::new();
    for (index, text) in texts.iter().enumerate() {
        if let Some(first) = text.first() {
            let (_, group) = by_token.entry(*first).or_insert((index, Vec::new()));
            group.push(text);
        }
    }
    let mut groups: Vec<(usize, Vec<&[TokenId]>)> = by_token.into_values().collect();
    groups.sort_by_key(|(first, group)| (Reverse(group.len()), *first));
    groups
        .into_iter()
        .map(|(_, group)| branch(&group, own))
        .collect()
}

/// Builds the branch of these texts, which all begin with the same token.
fn branch(texts: &[&[TokenId]], own: &[TokenId]) -> FutureBranch {
    let first = texts.first().copied().unwrap_or_default();
    let n_shared = texts
        .iter()
        .map(|text| common_prefix_len(first, text))
        .min()
        .unwrap_or(0);
    let tokens = first.get(..n_shared).unwrap_or_default();
    let rest: Vec<&[TokenId]> = texts
        .iter()
        .filter_map(|text| text.get(n_shared..))
        .collect();
    let n_own = common_prefix_len(tokens, own);
    let is_own = n_own > 0 && n_own == own.len().min(n_shared);
    let own = own.get(n_shared..).filter(|_| is_own);
    FutureBranch {
        tokens: tokens.to_vec(),
        n: texts.len(),
        is_own,
        children: future_tree(&rest, own.unwrap_or_default()),
    }
}

fn common_prefix_len(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::{FutureBranch, future_tree};
    use crate::decoding::TokenId;

    /// One line per branch: depth, tokens, number of futures, and a star for the pane's own text.
    fn outline(branches: &[FutureBranch], depth: usize, lines: &mut Vec<String>) {
        for branch in branches {
            let ids: Vec<String> = branch.tokens.iter().map(ToString::to_string).collect();
            let own = if branch.is_own { "*" } else { "" };
            lines.push(format!("{depth}: {} × {}{own}", ids.join(" "), branch.n));
            outline(&branch.children, depth + 1, lines);
        }
    }

    fn tree(texts: &[&[u32]], own: &[u32]) -> Vec<String> {
        let ids = |ids: &[u32]| ids.iter().copied().map(TokenId).collect::<Vec<_>>();
        let texts: Vec<Vec<TokenId>> = texts.iter().map(|text| ids(text)).collect();
        let texts: Vec<&[TokenId]> = texts.iter().map(Vec::as_slice).collect();
        let mut lines = Vec::new();
        outline(&future_tree(&texts, &ids(own)), 0, &mut lines);
        lines
    }

    #[test]
    fn shared_runs_are_one_branch_and_frequent_ones_come_first() {
        let texts: [&[u32]; 5] = [&[9, 1, 1], &[5, 6, 7], &[5, 6, 8], &[4, 4], &[5, 6, 7]];
        assert_eq!(
            tree(&texts, &[5, 6, 8, 3]),
            [
                "0: 5 6 × 3*",
                "1: 7 × 2",
                "1: 8 × 1*",
                "0: 9 1 1 × 1",
                "0: 4 4 × 1",
            ]
        );
    }

    #[test]
    fn a_text_that_ends_inside_another_ends_a_branch() {
        let texts: [&[u32]; 3] = [&[1, 2], &[1, 2, 3], &[1, 2]];
        assert_eq!(tree(&texts, &[]), ["0: 1 2 × 3", "1: 3 × 1"]);
        let ids = [TokenId(1), TokenId(2), TokenId(3)];
        let found = future_tree(&[&ids[..2], &ids[..]], &ids[..1]);
        assert_eq!(found[0].n_ended(), 1);
        assert!(found[0].is_own && !found[0].children[0].is_own);
    }
}
