//! The tree of all texts that continue one prompt: those that the panes show, and those kept.

use std::borrow::Cow;

use crate::analysis::{TreeLine, TreeText, text_tree};
use crate::generation::formatting::{counted, pane_letter};
use crate::generation::{ByteSize, Generation, GenerationId};
use crate::state::{Branches, MemoryLimits, Panes};

/// The maximum length of the text that a row shows, in bytes.
const MAX_WORD_BYTES: usize = 160;

/// The same for the sentence that screen readers speak.
const MAX_SPOKEN_BYTES: usize = 32;

/// The rows of the Branches tab, one per text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchTree {
    pub rows: Vec<BranchRow>,
    /// The row of the selected text.
    pub selected: Option<usize>,
    key: TreeKey,
}

/// One text of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRow {
    pub id: GenerationId,
    /// The position of the pane that shows it, or `None` if no pane does.
    pub place: Option<usize>,
    /// The row of the text that it branches off from; `None` for the first row.
    pub parent: Option<usize>,
    /// How many tokens it shares with that text.
    pub fork: usize,
    pub n_tokens: usize,
    /// Its first words after the fork.
    pub words: String,
    /// What created it: "seed 43".
    pub origin: Option<String>,
    /// Describes the row to screen readers.
    pub sentence: String,
}

/// What the tree depends on. The tree is rebuilt when this changes.
#[derive(Debug, Clone, Default, PartialEq)]
struct TreeKey {
    revision: u64,
    shown: Vec<Option<(GenerationId, usize)>>,
    shown_turn: Option<usize>,
    selected: Option<usize>,
}

/// A text of the tree before it gets a row.
struct Listed<'a> {
    place: Option<usize>,
    /// The id of the text that is shown with it: the last turn of its conversation.
    id: GenerationId,
    /// How many turns follow.
    n_later: usize,
    text: Cow<'a, Generation>,
}

impl BranchTree {
    /// Returns the path of rows from the first one to the selected text, in that order.
    pub fn path(&self) -> Vec<usize> {
        let parent = |row: &usize| self.rows.get(*row)?.parent;
        let mut path: Vec<usize> = std::iter::successors(self.selected, parent).collect();
        path.reverse();
        path
    }
}

impl Branches {
    /// Computes the tree of the texts with the selected pane's prompt as it is now, even if it is
    /// not on screen.
    pub fn current_tree(&self, panes: &Panes, selected: Option<usize>) -> BranchTree {
        self.new_tree(panes, self.tree_key(panes, selected))
    }

    /// Describes the tree's size: "7 texts · 2.1 of 256 MB", or only "4 texts" if panes show all of
    /// them.
    pub fn size_words(&self, memory: MemoryLimits) -> String {
        let n_texts = match self.tree.rows.len() {
            1 => "1 text".to_owned(),
            n => format!("{n} texts"),
        };
        let limit = ByteSize(memory.kept_bytes() as u64);
        let used = ByteSize(self.kept.n_bytes() as u64);
        let memory = used.of(limit);
        match (self.kept.n_dropped(), used.0) {
            (0, 0) => n_texts,
            (0, _) => format!("{n_texts} · {memory}"),
            (n, _) => format!("{n_texts} · {memory} · {n} dropped"),
        }
    }

    /// Brings the tree up to date.
    pub(in crate::state) fn update_tree(&mut self, panes: &Panes, selected: Option<usize>) {
        let key = self.tree_key(panes, selected);
        if key != self.tree.key {
            self.tree = self.new_tree(panes, key);
        }
    }

    fn tree_key(&self, panes: &Panes, selected: Option<usize>) -> TreeKey {
        let shown = panes.iter().map(|pane| {
            let text = pane.latest()?;
            Some((text.lineage.id, text.steps.len()))
        });
        TreeKey {
            shown_turn: panes.shown_turn(),
            revision: self.kept.revision(),
            shown: shown.collect(),
            selected,
        }
    }

    fn new_tree(&self, panes: &Panes, key: TreeKey) -> BranchTree {
        let listed = self.listed_texts(panes, key.selected);
        let texts: Vec<TreeText> = listed.iter().map(Listed::tree_text).collect();
        let lines = text_tree(&texts);
        let rows: Vec<BranchRow> = lines
            .iter()
            .filter_map(|line| row(&listed, &lines, *line))
            .collect();
        let is_selected = |row: &BranchRow| row.place.is_some() && row.place == key.selected;
        BranchTree {
            selected: rows.iter().position(is_selected),
            rows,
            key,
        }
    }

    /// Returns the texts with the prompt of the text at `selected`. Of a conversation, those are the
    /// turns with this prompt, whatever follows them.
    fn listed_texts<'a>(&'a self, panes: &'a Panes, selected: Option<usize>) -> Vec<Listed<'a>> {
        let reference = selected.and_then(|place| panes.get(place)?.generation());
        let Some(reference) = reference else {
            return Vec::new();
        };
        let shown = panes.placed().filter_map(|(place, pane)| {
            let latest = pane.latest()?;
            let turn = turn_like(latest, reference)?;
            Some(Listed {
                place: Some(place),
                id: latest.lineage.id,
                n_later: n_later(latest, turn),
                text: Cow::Borrowed(turn),
            })
        });
        let kept = self.kept.texts().iter().filter_map(|kept| {
            let head = kept.head();
            let turn = turn_like(head, reference)?;
            let is_last = std::ptr::eq(turn, head);
            Some(Listed {
                place: None,
                id: kept.id(),
                n_later: n_later(head, turn),
                text: if is_last {
                    Cow::Owned(kept.generation())
                } else {
                    Cow::Borrowed(turn)
                },
            })
        });
        shown.chain(kept).collect()
    }
}

/// Returns the turn of a conversation that continues the same prompt as `reference`.
fn turn_like<'a>(latest: &'a Generation, reference: &Generation) -> Option<&'a Generation> {
    latest
        .turns_back()
        .find(|turn| turn.shares_prompt_with(reference))
}

/// Returns how many turns follow this one.
fn n_later(latest: &Generation, turn: &Generation) -> usize {
    let turns = latest.turns_back();
    turns
        .take_while(|later| !std::ptr::eq(*later, turn))
        .count()
}

impl Listed<'_> {
    fn tree_text(&self) -> TreeText {
        TreeText {
            lineage: self.text.lineage,
            tokens: self.text.steps.iter().map(|step| step.token).collect(),
        }
    }
}

fn row(listed: &[Listed<'_>], lines: &[TreeLine], line: TreeLine) -> Option<BranchRow> {
    let Listed {
        place,
        id,
        n_later,
        text,
    } = listed.get(line.text)?;
    let parent_place = line
        .parent
        .and_then(|parent| listed.get(lines.get(parent)?.text)?.place);
    let without_origin = || {
        let words = format!("{}, seed {}", text.name, text.config.seed);
        place.is_none().then_some(words)
    };
    let origin = text.origin_words().or_else(without_origin);
    let later = (*n_later > 0).then(|| counted(*n_later, "later turn"));
    let origin = match (origin, later) {
        (Some(origin), Some(later)) => Some(format!("{origin}, {later}")),
        (origin, later) => origin.or(later),
    };
    Some(BranchRow {
        id: *id,
        place: *place,
        parent: line.parent,
        fork: line.fork,
        n_tokens: text.steps.len(),
        words: text.words_from(line.fork, MAX_WORD_BYTES),
        sentence: sentence(text, line, [*place, parent_place], origin.as_deref()),
        origin,
    })
}

/// "Branch at token 4 of D: hollow tree, 124 tokens, seed 42, ‘hollow’ by hand".
fn sentence(
    text: &Generation,
    line: TreeLine,
    [place, parent_place]: [Option<usize>; 2],
    origin: Option<&str>,
) -> String {
    let fork = line.fork + 1;
    let start = match (line.parent, parent_place) {
        (None, _) => "First text".to_owned(),
        (Some(_), Some(place)) => format!("Branch at token {fork} of {}", pane_letter(place)),
        (Some(parent), None) => format!("Branch at token {fork} of line {}", parent + 1),
    };
    let words = match text.words_from(line.fork, MAX_SPOKEN_BYTES) {
        words if words.is_empty() => "the same text".to_owned(),
        words => words,
    };
    let n_tokens = match text.steps.len() {
        1 => "1 token".to_owned(),
        n => format!("{n} tokens"),
    };
    let mut parts = vec![format!("{start}: {words}"), n_tokens];
    match origin {
        Some(origin) if origin.contains("seed ") => parts.push(origin.to_owned()),
        Some(origin) => parts.extend([origin.to_owned(), format!("seed {}", text.config.seed)]),
        None => parts.push(format!("seed {}", text.config.seed)),
    }
    parts.extend(place.map(|place| format!("in pane {}", pane_letter(place))));
    parts.join(", ")
}
