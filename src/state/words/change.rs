//! Describes the difference between two snapshots of the settings, for the undo tooltip.

use crate::decoding::{ChainConfig, Selector, Stage};
use crate::generation::PaneSettings;
use crate::generation::formatting::pane_letter;
use crate::state::{Pane, PaneId};

/// Everything that undo restores: the panes with their settings, and the shared seed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Snapshot {
    /// The shared seed.
    pub seed: u64,
    /// The panes from left to right.
    pub panes: Vec<PaneSnapshot>,
}

/// A pane with its settings.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct PaneSnapshot {
    pub id: PaneId,
    pub place: usize,
    pub settings: PaneSettings,
}

impl PaneSnapshot {
    pub(in crate::state) fn of(pane: &Pane) -> Self {
        Self {
            id: pane.id,
            place: pane.place,
            settings: pane.settings.clone(),
        }
    }
}

/// A change to the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::state) struct Change {
    /// What changed: "top-p of D".
    pub label: String,
    /// Whether a value was dragged or typed. Consecutive changes of the same value are one undo
    /// step.
    is_value_edit: bool,
}

impl Change {
    /// Returns what changed, or `None` if the snapshots are equal.
    pub(in crate::state) fn between(before: &Snapshot, after: &Snapshot) -> Option<Self> {
        (before != after)
            .then(|| of_panes(before, after).unwrap_or_else(|| Self::action("several settings")))
    }

    /// Describes a new text in a pane.
    pub(in crate::state) fn of_text(pane: PaneId, now: &Snapshot) -> Self {
        let pane = now.panes.iter().find(|other| other.id == pane);
        let letter = pane.map(|pane| pane_letter(pane.place));
        Self::action(format!("text of {}", letter.unwrap_or_default()))
    }

    /// Describes new texts in several panes, or none in any.
    pub(in crate::state) fn of_texts() -> Self {
        Self::action("texts of several panes")
    }

    /// Returns whether this change belongs to the same undo step as `earlier`.
    pub(in crate::state) fn continues(&self, earlier: &Self) -> bool {
        self.is_value_edit && self == earlier
    }

    fn action(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            is_value_edit: false,
        }
    }

    fn value_edit(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            is_value_edit: true,
        }
    }
}

/// Returns the change if a few words can describe it.
fn of_panes(before: &Snapshot, after: &Snapshot) -> Option<Change> {
    if before.panes == after.panes {
        return Some(Change::value_edit("the shared seed"));
    }
    if before.seed != after.seed {
        return None;
    }
    let (added, removed) = (missing_in(before, after), missing_in(after, before));
    match (added.as_slice(), removed.as_slice()) {
        ([place], []) => Some(Change::action(format!(
            "pane {} added",
            pane_letter(*place)
        ))),
        ([], [place]) => Some(Change::action(format!(
            "pane {} removed",
            pane_letter(*place)
        ))),
        ([], []) => of_one_pane(before, after),
        _ => None,
    }
}

/// Returns the places in `there` of the panes that are missing in `here`.
fn missing_in(here: &Snapshot, there: &Snapshot) -> Vec<usize> {
    let is_here = |id: PaneId| here.panes.iter().any(|other| other.id == id);
    let missing = there.panes.iter().filter(|pane| !is_here(pane.id));
    missing.map(|pane| pane.place).collect()
}

fn of_one_pane(before: &Snapshot, after: &Snapshot) -> Option<Change> {
    let pairs = before.panes.iter().zip(&after.panes);
    let mut changed = pairs.filter(|(before, after)| before != after);
    let (old, new) = changed.next()?;
    (old.id == new.id && changed.next().is_none())
        .then(|| of_settings(&old.settings, &new.settings, &pane_letter(new.place)))
}

fn of_settings(before: &PaneSettings, after: &PaneSettings, pane: &str) -> Change {
    if before.model != after.model {
        let same = PaneSettings {
            model: after.model.clone(),
            ..before.clone()
        };
        let what = if same == *after { "model" } else { "settings" };
        return Change::action(format!("{what} of {pane}"));
    }
    match (before.chain == after.chain, before.seed == after.seed) {
        (true, true) => Change::value_edit(format!("name of {pane}")),
        (true, false) => Change::value_edit(format!("seed of {pane}")),
        (false, true) => of_chain(&before.chain, &after.chain, pane)
            .unwrap_or_else(|| Change::action(format!("settings of {pane}"))),
        (false, false) => Change::action(format!("settings of {pane}")),
    }
}

fn of_chain(before: &ChainConfig, after: &ChainConfig, pane: &str) -> Option<Change> {
    if before.grammar != after.grammar {
        let others = ChainConfig {
            grammar: after.grammar.clone(),
            ..before.clone()
        };
        return (others == *after).then(|| Change::value_edit(format!("grammar of {pane}")));
    }
    if before.stages == after.stages {
        return of_selector(before.selector, after.selector, pane);
    }
    if before.selector != after.selector {
        return None;
    }
    let (before, after) = (before.stages.as_slice(), after.stages.as_slice());
    let n_equal = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (before.get(n_equal..)?, after.get(n_equal..)?);
    match (before, after) {
        ([], [stage]) => Some(stage_action(stage, "added to", pane)),
        ([stage], []) => Some(stage_action(stage, "removed from", pane)),
        (before, [stage, rest @ ..]) if before == rest => {
            Some(stage_action(stage, "added to", pane))
        }
        ([stage, rest @ ..], after) if after == rest => {
            Some(stage_action(stage, "removed from", pane))
        }
        ([old, old_rest @ ..], [new, new_rest @ ..]) if old_rest == new_rest => {
            of_stage(old, new, pane)
        }
        _ => moved_stage(before, after).map(|stage| stage_action(stage, "moved in", pane)),
    }
}

fn of_stage(before: &Stage, after: &Stage, pane: &str) -> Option<Change> {
    if before.filter == after.filter {
        let action = if after.enabled {
            "unmuted in"
        } else {
            "muted in"
        };
        return Some(stage_action(after, action, pane));
    }
    let same_kind = before.filter.name() == after.filter.name();
    (same_kind && before.enabled == after.enabled).then(|| {
        let name = sentence_case(after.filter.name());
        Change::value_edit(format!("{name} of {pane}"))
    })
}

/// Returns the stage that moved, if that is the only change. Both slices start at the first
/// difference.
fn moved_stage<'a>(before: &'a [Stage], after: &[Stage]) -> Option<&'a Stage> {
    for index in 1..before.len() {
        let mut first_moved_back = before.to_vec();
        first_moved_back.get_mut(..=index)?.rotate_left(1);
        if first_moved_back == after {
            return before.first();
        }
        let mut moved_to_front = before.to_vec();
        moved_to_front.get_mut(..=index)?.rotate_right(1);
        if moved_to_front == after {
            return before.get(index);
        }
    }
    None
}

fn of_selector(before: Selector, after: Selector, pane: &str) -> Option<Change> {
    if before == after {
        return None;
    }
    let same_kind = before.name() == after.name();
    Some(if same_kind {
        Change::value_edit(format!("{} of {pane}", sentence_case(after.name())))
    } else {
        Change::action(format!("draw of {pane}"))
    })
}

fn stage_action(stage: &Stage, action: &str, pane: &str) -> Change {
    Change::action(format!(
        "{} {action} {pane}",
        sentence_case(stage.filter.name())
    ))
}

/// Returns a name as spelled within a sentence: "top-p". An abbreviation keeps its capitals.
fn sentence_case(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let is_word = letters
        .clone()
        .next()
        .is_some_and(|second| !second.is_uppercase());
    if is_word {
        first.into_iter().chain(letters).collect()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, PaneSnapshot, Snapshot};
    use crate::decoding::filters::{MinP, Temperature, TopK, TopP, Xtc};
    use crate::decoding::selector::MirostatV2;
    use crate::decoding::{ChainConfig, Filter, Selector};
    use crate::generation::PaneSettings;
    use crate::state::PaneId;

    type Edit<'a> = &'a dyn Fn(&mut PaneSettings);

    const TEMPERATURE: Filter = Filter::Temperature(Temperature { temperature: 0.7 });
    const TOP_K: Filter = Filter::TopK(TopK { k: 40 });
    const MIN_P: Filter = Filter::MinP(MinP { p: 0.05 });

    const fn top_p(p: f32) -> Filter {
        Filter::TopP(TopP { p })
    }

    fn base() -> PaneSettings {
        PaneSettings::from(ChainConfig::sampled([TEMPERATURE, TOP_K, top_p(0.9)]))
    }

    const fn pane(id: u32, place: usize, settings: PaneSettings) -> PaneSnapshot {
        PaneSnapshot {
            id: PaneId(id),
            place,
            settings,
        }
    }

    fn label(change: impl Fn(&mut PaneSettings)) -> Option<String> {
        let snapshot = |settings: PaneSettings| Snapshot {
            seed: 42,
            panes: vec![pane(5, 0, base()), pane(9, 1, settings)],
        };
        let mut changed = base();
        change(&mut changed);
        Change::between(&snapshot(base()), &snapshot(changed)).map(|change| change.label)
    }

    #[test]
    fn a_change_of_one_pane_is_described() {
        let xtc = Filter::Xtc(Xtc {
            probability: 0.5,
            threshold: 0.1,
        });
        let mirostat = Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 });
        let cases: [(Edit<'_>, Option<&str>); 13] = [
            (&|_| {}, None),
            (&|pane| pane.name = "Mine".into(), Some("name of B")),
            (&|pane| pane.seed = Some(7), Some("seed of B")),
            (
                &|pane| pane.chain.stages[2].filter = top_p(0.95),
                Some("top-p of B"),
            ),
            (
                &|pane| pane.chain.stages[1].enabled = false,
                Some("top-k muted in B"),
            ),
            (
                &|pane| pane.chain.stages.push(xtc.clone().into()),
                Some("XTC added to B"),
            ),
            (
                &|pane| pane.chain.stages.insert(1, MIN_P.into()),
                Some("min-p added to B"),
            ),
            (
                &|pane| {
                    pane.chain.stages.remove(0);
                },
                Some("temperature removed from B"),
            ),
            (
                &|pane| pane.chain.stages.rotate_left(1),
                Some("temperature moved in B"),
            ),
            (
                &|pane| pane.chain.stages.rotate_right(1),
                Some("top-p moved in B"),
            ),
            (&|pane| pane.chain.selector = mirostat, Some("draw of B")),
            (
                &|pane| *pane = PaneSettings::from(ChainConfig::greedy()),
                Some("settings of B"),
            ),
            (&|pane| pane.chain.stages.reverse(), Some("settings of B")),
        ];
        for (change, expected) in cases {
            assert_eq!(label(change).as_deref(), expected);
        }
    }

    #[test]
    fn added_and_removed_panes_are_described_by_their_letter() {
        let snapshot = |seed, ids: &[u32]| Snapshot {
            seed,
            panes: (0..)
                .zip(ids)
                .map(|(place, id)| pane(*id, place, base()))
                .collect(),
        };
        for (before, after, expected) in [
            (
                snapshot(1, &[1, 2]),
                snapshot(1, &[1, 3, 2]),
                "pane B added",
            ),
            (snapshot(1, &[1, 2]), snapshot(1, &[1]), "pane B removed"),
            (
                snapshot(1, &[1, 2]),
                snapshot(2, &[1, 2]),
                "the shared seed",
            ),
            (snapshot(1, &[1, 2]), snapshot(1, &[3]), "several settings"),
        ] {
            let change = Change::between(&before, &after).unwrap();
            assert_eq!(change.label, expected);
        }
    }
}
