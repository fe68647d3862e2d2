//! What was changed between two moments, in the few words that the tooltip of undo says.

use crate::decoding::{ChainConfig, Selector, Stage};
use crate::generation::PaneSettings;
use crate::state::PaneId;
use crate::state::app_state::letter;

/// All that undo brings back: the panes with their settings, and the seed that they share.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Snapshot {
    /// The seed of the panes that have none of their own.
    pub seed: u64,
    /// The panes from left to right.
    pub panes: Vec<(PaneId, PaneSettings)>,
}

/// A change of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::state) struct Change {
    /// What was changed: "top-p of D".
    pub words: String,
    /// Whether it is a value that is dragged or typed, so that many such changes are one step.
    is_value: bool,
}

impl Change {
    /// What was changed, or nothing where both are the same.
    pub(in crate::state) fn between(before: &Snapshot, after: &Snapshot) -> Option<Self> {
        (before != after)
            .then(|| of_panes(before, after).unwrap_or_else(|| Self::act("several settings")))
    }

    /// Whether this goes on where `earlier` was, so that both are one step.
    pub(in crate::state) fn continues(&self, earlier: &Self) -> bool {
        self.is_value && self == earlier
    }

    fn act(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            is_value: false,
        }
    }

    fn value(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            is_value: true,
        }
    }
}

/// The change where it can be told in a few words.
fn of_panes(before: &Snapshot, after: &Snapshot) -> Option<Change> {
    if before.panes == after.panes {
        return Some(Change::value("the shared seed"));
    }
    if before.seed != after.seed {
        return None;
    }
    let (added, removed) = (lacking(before, after), lacking(after, before));
    match (added.as_slice(), removed.as_slice()) {
        ([place], []) => Some(Change::act(format!("pane {} added", letter(*place)))),
        ([], [place]) => Some(Change::act(format!("pane {} removed", letter(*place)))),
        ([], []) => of_one_pane(before, after),
        _ => None,
    }
}

/// The places in `there` of the panes that `here` has not.
fn lacking(here: &Snapshot, there: &Snapshot) -> Vec<usize> {
    let is_here = |id: PaneId| here.panes.iter().any(|(other, _)| *other == id);
    let places = there.panes.iter().enumerate();
    places
        .filter(|(_, (id, _))| !is_here(*id))
        .map(|(place, _)| place)
        .collect()
}

fn of_one_pane(before: &Snapshot, after: &Snapshot) -> Option<Change> {
    let pairs = before.panes.iter().zip(&after.panes).enumerate();
    let mut changed = pairs.filter(|(_, (before, after))| before != after);
    let (place, ((old_id, old), (new_id, new))) = changed.next()?;
    (old_id == new_id && changed.next().is_none()).then(|| of_settings(old, new, letter(place)))
}

fn of_settings(before: &PaneSettings, after: &PaneSettings, pane: char) -> Change {
    match (before.chain == after.chain, before.seed == after.seed) {
        (true, true) => Change::value(format!("name of {pane}")),
        (true, false) => Change::value(format!("seed of {pane}")),
        (false, true) => of_chain(&before.chain, &after.chain, pane)
            .unwrap_or_else(|| Change::act(format!("settings of {pane}"))),
        (false, false) => Change::act(format!("settings of {pane}")),
    }
}

fn of_chain(before: &ChainConfig, after: &ChainConfig, pane: char) -> Option<Change> {
    if before.stages == after.stages {
        return of_selector(before.selector, after.selector, pane);
    }
    if before.selector != after.selector {
        return None;
    }
    let (before, after) = (before.stages.as_slice(), after.stages.as_slice());
    let n_same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (before.get(n_same..)?, after.get(n_same..)?);
    match (before, after) {
        ([], [one]) => Some(named(one, "added to", pane)),
        ([one], []) => Some(named(one, "removed from", pane)),
        (before, [one, rest @ ..]) if before == rest => Some(named(one, "added to", pane)),
        ([one, rest @ ..], after) if after == rest => Some(named(one, "removed from", pane)),
        ([old, old_rest @ ..], [new, new_rest @ ..]) if old_rest == new_rest => {
            of_stage(old, new, pane)
        }
        _ => moved(before, after).map(|stage| named(stage, "moved in", pane)),
    }
}

fn of_stage(before: &Stage, after: &Stage, pane: char) -> Option<Change> {
    if before.filter == after.filter {
        let what = if after.enabled {
            "unmuted in"
        } else {
            "muted in"
        };
        return Some(named(after, what, pane));
    }
    let same_kind = before.filter.name() == after.filter.name();
    (same_kind && before.enabled == after.enabled).then(|| {
        let name = sentence_case(after.filter.name());
        Change::value(format!("{name} of {pane}"))
    })
}

/// The stage that went to another place, where that is all that happened. Both begin with the first
/// difference.
fn moved<'a>(before: &'a [Stage], after: &[Stage]) -> Option<&'a Stage> {
    let is = |stages: &[Stage]| stages == after;
    for at in 1..before.len() {
        let mut later = before.to_vec();
        later.get_mut(..=at)?.rotate_left(1);
        if is(&later) {
            return before.first();
        }
        let mut earlier = before.to_vec();
        earlier.get_mut(..=at)?.rotate_right(1);
        if is(&earlier) {
            return before.get(at);
        }
    }
    None
}

fn of_selector(before: Selector, after: Selector, pane: char) -> Option<Change> {
    if before == after {
        return None;
    }
    let same_kind = before.name() == after.name();
    Some(if same_kind {
        Change::value(format!("{} of {pane}", sentence_case(after.name())))
    } else {
        Change::act(format!("draw of {pane}"))
    })
}

fn named(stage: &Stage, what: &str, pane: char) -> Change {
    Change::act(format!(
        "{} {what} {pane}",
        sentence_case(stage.filter.name())
    ))
}

/// A name in the middle of a sentence: "top-p"; what is an abbreviation stays as it is.
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
    use super::{Change, Snapshot};
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

    fn words(change: impl Fn(&mut PaneSettings)) -> Option<String> {
        let snapshot = |settings: PaneSettings| Snapshot {
            seed: 42,
            panes: vec![(PaneId(5), base()), (PaneId(9), settings)],
        };
        let mut changed = base();
        change(&mut changed);
        Change::between(&snapshot(base()), &snapshot(changed)).map(|change| change.words)
    }

    #[test]
    fn a_change_of_one_pane_is_told_by_what_it_was() {
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
            assert_eq!(words(change).as_deref(), expected);
        }
    }

    #[test]
    fn panes_that_come_and_go_are_told_by_their_letter() {
        let snapshot = |seed, ids: &[u32]| Snapshot {
            seed,
            panes: ids.iter().map(|id| (PaneId(*id), base())).collect(),
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
            assert_eq!(change.words, expected);
        }
    }
}
