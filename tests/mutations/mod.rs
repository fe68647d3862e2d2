//! The mutation test: every field of a run file is changed, one at a time, and each change must be
//! refused when the file is read, or reported as a contradiction or by a replay, or be on the list of
//! what verification does not cover.

pub(crate) mod author;
mod changes;
mod kinds;
mod report;
mod uncovered;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;

use quartet::export::json::{self, Form, RunFile};
use quartet::generation::{Generation, Implementation, turns_before};
use serde_json::Value;

use crate::mutations::changes::{Change, each_change};
use crate::mutations::kinds::{Kind, WriteKind, kinds};
use crate::mutations::report::report;
use crate::mutations::uncovered::{UNCOVERED, UNCOVERED_IN_BRANCHES, UNCOVERED_OVER_SERVERS};

/// How a change was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Noticed {
    Refused,
    Contradiction,
    Replay,
    Nowhere,
}

/// The changes that were not noticed, by the list that they must be on and the field.
type Unnoticed = BTreeMap<(List, String), Vec<String>>;

/// A list of fields that are not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Panes,
    Branches,
    Servers,
}

impl List {
    const fn fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Panes => &UNCOVERED,
            Self::Branches => &UNCOVERED_IN_BRANCHES,
            Self::Servers => &UNCOVERED_OVER_SERVERS,
        }
    }

    fn names(self, field: &str) -> bool {
        self.fields().iter().any(|(listed, _)| *listed == field)
    }
}

fn notice(change: &Change, kind: &mut Kind) -> Noticed {
    let Ok(run) = json::read(&change.bytes) else {
        return Noticed::Refused;
    };
    if !json::contradictions_of(&change.bytes, &run).is_empty() {
        return Noticed::Contradiction;
    }
    if report(&replayed(&run), &mut kind.authors).is_some() {
        return Noticed::Replay;
    }
    Noticed::Nowhere
}

/// Returns the texts that are generated again: those of the panes, and the turns before them.
fn replayed(run: &RunFile) -> Vec<Generation> {
    let turns = turns_before(&run.panes).into_iter();
    let turns = turns.map(|turn| (**turn.answer).clone());
    run.panes.iter().cloned().chain(turns).collect()
}

/// Fails if anything is reported about the run as it was written.
fn check_unchanged(bytes: &[u8], kind: &mut Kind) {
    let name = kind.name;
    let run = json::read(bytes).unwrap();
    let found = json::contradictions_of(bytes, &run);
    assert!(found.is_empty(), "{name}: {found:#?}");
    assert_eq!(report(&replayed(&run), &mut kind.authors), None, "{name}");
    for text in &replayed(&run) {
        let is_served = text.model.implementation == Implementation::Server;
        let mut hashes = text.steps.iter().map(|step| step.logits_hash.is_some());
        assert!(hashes.all(|is_some| is_some != is_served), "{name}");
    }
}

/// Changes each field of a run. Returns what was not noticed.
fn check_kind(mut kind: Kind) -> Unnoticed {
    let bytes = json::write_run(&kind.run, Form::default());
    check_unchanged(&bytes, &mut kind);
    let is_served = kind.run.panes[0].model.implementation == Implementation::Server;
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let mut unnoticed = Unnoticed::new();
    each_change(&document, &mut |change| {
        let noticed = notice(change, &mut kind);
        if noticed != Noticed::Nowhere {
            return;
        }
        // A turn has the same fields as a pane, and otherwise a branch too.
        let in_turn = change.field.strip_prefix("turns.text.");
        let in_branch = change.field.strip_prefix("branches.text.");
        let field = in_turn
            .or(in_branch)
            .map_or_else(|| change.field.clone(), |field| format!("panes.{field}"));
        let own = match in_branch {
            Some(_) => List::Branches,
            None if is_served => List::Servers,
            None => List::Panes,
        };
        let list = if List::Panes.names(&field) {
            List::Panes
        } else {
            own
        };
        let what = format!("{}: {}", kind.name, change.what);
        unnoticed.entry((list, field)).or_default().push(what);
    });
    unnoticed
}

/// Checks the kinds that are left, one after another.
fn check_kinds(left: &Mutex<Vec<WriteKind>>, unnoticed: &Mutex<Unnoticed>) {
    loop {
        let Some(write) = left.lock().unwrap().pop() else {
            return;
        };
        let found = check_kind(write());
        let mut all = unnoticed.lock().unwrap();
        for (field, changes) in found {
            all.entry(field).or_default().extend(changes);
        }
    }
}

#[test]
fn no_change_of_a_run_file_goes_unnoticed() {
    const N_THREADS: usize = 2;
    let left = Mutex::new(kinds());
    let unnoticed: Mutex<Unnoticed> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            let check = || check_kinds(&left, &unnoticed);
            thread::Builder::new().spawn_scoped(scope, check).unwrap();
        }
    });
    let unnoticed = unnoticed.into_inner().unwrap();
    let surprising: Vec<_> = unnoticed
        .iter()
        .filter(|((list, field), _)| !list.names(field))
        .collect();
    let known: BTreeSet<(List, &str)> = unnoticed
        .keys()
        .map(|(list, field)| (*list, field.as_str()))
        .collect();
    let lists = [List::Panes, List::Branches, List::Servers];
    let listed = lists
        .into_iter()
        .flat_map(|list| list.fields().iter().map(move |(field, _)| (list, *field)));
    let needless: Vec<_> = listed.filter(|field| !known.contains(field)).collect();
    assert!(
        surprising.is_empty() && needless.is_empty(),
        "not noticed: {surprising:#?}\nlisted, but noticed: {needless:?}"
    );
}

#[test]
fn the_documentation_explains_why_each_field_is_not_covered() {
    let document = include_str!("../../assets/docs/VERIFY.md");
    let mut reasons: BTreeSet<&str> = BTreeSet::new();
    for list in [List::Panes, List::Branches, List::Servers] {
        let fields = list.fields();
        assert!(fields.is_sorted(), "{list:?}");
        reasons.extend(fields.iter().map(|(_, reason)| *reason));
    }
    let list = document.split("## What is not covered").nth(1).unwrap();
    let list = list.split("\n## ").next().unwrap();
    let titles: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**: "))
        .map(|(title, _)| title)
        .collect();
    assert_eq!(titles, reasons);
}
