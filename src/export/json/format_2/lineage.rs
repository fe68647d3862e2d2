//! How a file's texts branched, and the texts that no pane showed.

use serde::{Deserialize, Serialize};

use super::pane::Pane;
use super::shares::Shares;
use super::turns::Turns;
use crate::export::json::{Branch, ParseError};
use crate::generation::{Generation, GenerationId, Lineage, Origin, OriginChange};

/// A text's place in the tree of the file's texts.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LineageEntry {
    /// Numbers the texts of the file from 1, the oldest first.
    id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<OriginEntry>,
}

/// How a text branched from its parent.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginEntry {
    /// The parent's id, or 0 if the file does not have it.
    parent: u64,
    position: usize,
    change: Change,
    /// How many tokens were picked by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_tokens: Option<usize>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    ByHand,
    Settings,
    Seed,
    Message,
}

/// A text that no pane showed when the file was saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BranchEntry {
    /// The index in `panes` of the pane that last showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pane: Option<usize>,
    /// The steps that it shares with an earlier text; its own steps follow them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shares: Option<Shares>,
    text: Pane,
}

/// Returns the place of each text in the tree, or `None` for each if there are only panes, and none
/// of them branched. Texts are numbered by age, which is the order of their ids.
pub(super) fn lineages(texts: &[&Generation], only_panes: bool) -> Vec<Option<LineageEntry>> {
    let has_origin = |text: &&Generation| text.lineage.origin.is_some();
    if only_panes && !texts.iter().any(has_origin) {
        return vec![None; texts.len()];
    }
    let mut by_age: Vec<usize> = (0..texts.len()).collect();
    by_age.sort_by_key(|place| texts.get(*place).map(|text| text.lineage.id));
    let age_of = |place: usize| by_age.iter().position(|other| *other == place);
    let number = |place: usize| age_of(place).map_or(0, |age| age as u64 + 1);
    let number_of = |id: GenerationId| {
        let place = texts.iter().position(|text| text.lineage.id == id);
        place.map_or(0, number)
    };
    let texts = texts.iter().enumerate();
    let entries = texts.map(|(place, text)| {
        Some(LineageEntry {
            id: number(place),
            origin: text.lineage.origin.map(|origin| OriginEntry {
                parent: number_of(origin.parent),
                position: origin.position,
                change: match origin.change {
                    OriginChange::ByHand { .. } => Change::ByHand,
                    OriginChange::Settings => Change::Settings,
                    OriginChange::Seed => Change::Seed,
                    OriginChange::Message => Change::Message,
                },
                n_tokens: match origin.change {
                    OriginChange::ByHand { n_tokens } => Some(n_tokens),
                    OriginChange::Settings | OriginChange::Seed | OriginChange::Message => None,
                },
            }),
        })
    });
    entries.collect()
}

impl LineageEntry {
    pub(super) fn into_lineage(self) -> Lineage {
        let origin = self.origin.map(|origin| Origin {
            parent: GenerationId(origin.parent),
            position: origin.position,
            change: match origin.change {
                Change::ByHand => OriginChange::ByHand {
                    n_tokens: origin.n_tokens.unwrap_or(1),
                },
                Change::Settings => OriginChange::Settings,
                Change::Seed => OriginChange::Seed,
                Change::Message => OriginChange::Message,
            },
        });
        Lineage {
            id: GenerationId(self.id),
            origin,
        }
    }
}

impl BranchEntry {
    /// Creates an entry. `of` returns the text's pane entry without this many first steps.
    pub(super) fn of(
        branch: &Branch,
        earlier: &[&Generation],
        of: impl FnOnce(usize) -> Pane,
    ) -> Self {
        let shares = Shares::of(&branch.text, earlier);
        Self {
            pane: branch.pane,
            shares,
            text: of(shares.map_or(0, |shares| shares.n_steps)),
        }
    }

    /// Converts the entry to a branch. `into` converts its text; `turns`, `panes` and `branches`
    /// contain all earlier texts.
    pub(super) fn into_branch(
        self,
        turns: &Turns,
        panes: &[Generation],
        branches: &[Branch],
        into: impl FnOnce(Pane) -> Result<Generation, ParseError>,
    ) -> Result<Branch, ParseError> {
        if self.pane.is_some_and(|pane| pane >= panes.len()) {
            return Err(ParseError::damaged("a branch belongs to a missing pane"));
        }
        let mut text = into(self.text)?;
        if let Some(shares) = self.shares {
            let branches = branches.iter().map(|other| &other.text);
            let earlier = turns.iter().chain(panes).chain(branches);
            if !shares.restore(&mut text, earlier) {
                return Err(ParseError::damaged("a branch shares missing steps"));
            }
        }
        Ok(Branch {
            pane: self.pane,
            text,
        })
    }
}
