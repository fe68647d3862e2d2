//! The tree of texts: which text branches off from which, where, and in what order they are listed.

use crate::decoding::TokenId;
use crate::generation::{GenerationId, Lineage};

/// One text, as the tree sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeText {
    pub lineage: Lineage,
    pub tokens: Vec<TokenId>,
}

/// One line of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLine {
    /// The index of its text in the list from which the tree was built.
    pub text: usize,
    /// The line from which it branches off, or `None` for the first line.
    pub parent: Option<usize>,
    /// How many tokens it shares with that line.
    pub fork: usize,
}

/// Returns the lines of the tree of these texts, which continue one prompt.
///
/// A branch is attached to its parent. A text that was generated from the prompt, or whose parent
/// is gone, is attached to the older text with which it shares the most tokens. The children of a
/// text are listed with the latest fork first, so that no line crosses another.
pub fn text_tree(texts: &[TreeText]) -> Vec<TreeLine> {
    let mut by_age: Vec<usize> = (0..texts.len()).collect();
    by_age.sort_by_key(|index| texts.get(*index).map(|text| text.lineage.id));
    let mut links: Vec<Link> = Vec::new();
    for &index in &by_age {
        if let Some(text) = texts.get(index) {
            let link = link(texts, &links, index, text);
            links.push(link);
        }
    }
    let mut lines = Vec::new();
    for root in links.iter().filter(|link| link.parent.is_none()) {
        push_lines(&links, *root, None, &mut lines);
    }
    lines
}

/// A text and the text that it is attached to.
#[derive(Debug, Clone, Copy)]
struct Link {
    text: usize,
    id: GenerationId,
    parent: Option<GenerationId>,
    fork: usize,
}

/// Finds the older text that a text is attached to.
fn link(texts: &[TreeText], older: &[Link], index: usize, text: &TreeText) -> Link {
    let find = |id: GenerationId| older.iter().find(|link| link.id == id);
    let by_origin = || {
        let origin = text.lineage.origin?;
        find(origin.parent).map(|parent| (parent, origin.position))
    };
    let by_tokens = || {
        let shared = |link: &Link| {
            let other = texts.get(link.text).map(|text| text.tokens.as_slice());
            n_shared(other.unwrap_or_default(), &text.tokens)
        };
        // The oldest of those that share equally many tokens.
        let with_shared = older.iter().rev().map(|link| (link, shared(link)));
        with_shared.max_by_key(|(_, n_shared)| *n_shared)
    };
    let mut attached = by_origin().or_else(by_tokens);
    // Before its own fork, the parent's tokens are those of the grandparent.
    while let Some((parent, fork)) = attached
        && fork < parent.fork
        && let Some(grandparent) = parent.parent.and_then(find)
    {
        attached = Some((grandparent, fork));
    }
    Link {
        text: index,
        id: text.lineage.id,
        parent: attached.map(|(parent, _)| parent.id),
        fork: attached.map_or(0, |(_, fork)| fork.min(text.tokens.len())),
    }
}

fn n_shared(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Lists a text and its descendants.
fn push_lines(links: &[Link], link: Link, parent: Option<usize>, lines: &mut Vec<TreeLine>) {
    let line = lines.len();
    lines.push(TreeLine {
        text: link.text,
        parent,
        fork: link.fork,
    });
    let mut children: Vec<Link> = links
        .iter()
        .filter(|other| other.parent == Some(link.id))
        .copied()
        .collect();
    children.sort_by_key(|child| std::cmp::Reverse(child.fork));
    for child in children {
        push_lines(links, child, Some(line), lines);
    }
}

#[cfg(test)]
mod tests {
    use super::{TreeText, text_tree};
    use crate::decoding::TokenId;
    use crate::generation::{GenerationId, Lineage, Origin, OriginChange};

    /// A text whose tokens are the letters of a word; `origin` is its parent and the fork.
    fn text(id: u64, word: &str, origin: Option<(u64, usize)>) -> TreeText {
        let origin = origin.map(|(parent, position)| Origin {
            parent: GenerationId(parent),
            position,
            change: OriginChange::Seed,
        });
        TreeText {
            lineage: Lineage {
                id: GenerationId(id),
                origin,
            },
            tokens: word.bytes().map(|byte| TokenId(byte.into())).collect(),
        }
    }

    /// The lines as (id, the parent's line, fork).
    fn lines(texts: &[TreeText]) -> Vec<(u64, Option<usize>, usize)> {
        let lines = text_tree(texts)
            .into_iter()
            .map(|line| (texts[line.text].lineage.id.0, line.parent, line.fork));
        lines.collect()
    }

    #[test]
    fn texts_of_one_prompt_fork_where_they_diverge() {
        let texts = [
            text(1, "in a hollow", None),
            text(2, "in a town with Ginger", None),
            text(3, "in a town with Max", None),
            text(4, "in a nest", None),
        ];
        let expected = [
            (1, None, 0),
            (2, Some(0), 5),
            (3, Some(1), 15),
            (4, Some(0), 5),
        ];
        assert_eq!(lines(&texts), expected);
    }

    #[test]
    fn branches_are_attached_to_their_parents_with_the_latest_fork_first() {
        let texts = [
            text(9, "in a nesb", Some((4, 8))),
            text(4, "in a nest of hay", None),
            text(7, "in a hole", Some((4, 5))),
            text(8, "in a nest of clay", Some((4, 13))),
        ];
        let expected = [
            (4, None, 0),
            (8, Some(0), 13),
            (9, Some(0), 8),
            (7, Some(0), 5),
        ];
        assert_eq!(lines(&texts), expected);
    }

    #[test]
    fn a_branch_before_its_parents_own_fork_is_attached_to_the_grandparent() {
        let texts = [
            text(1, "abcdef", None),
            text(2, "abcdxx", Some((1, 4))),
            text(3, "abyyyy", Some((2, 2))),
        ];
        let expected = [(1, None, 0), (2, Some(0), 4), (3, Some(0), 2)];
        assert_eq!(lines(&texts), expected);
    }

    #[test]
    fn a_text_whose_parent_is_gone_is_attached_to_the_most_similar_one() {
        let texts = [
            text(1, "abcdef", None),
            text(2, "abxdef", None),
            text(5, "abcdyz", Some((3, 1))),
        ];
        assert_eq!(
            lines(&texts),
            [(1, None, 0), (5, Some(0), 4), (2, Some(0), 2)]
        );
        assert_eq!(lines(&[]), []);
    }
}
