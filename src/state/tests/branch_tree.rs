//! Tests of the tree of texts: what is kept, going back, removing, and the memory limit.

use super::{asked, text, write, written};
use crate::decoding::TokenId;
use crate::export::json::{self, Form, RunHeader};
use crate::generation::{Generation, GenerationId};
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, DockTab, Effect, Pin, RunCommand,
};
use crate::worker::Request;

const WORDS: [&str; 5] = [" the", " a", " little", " house", " fox"];

/// Branches a pane's text in place by hand, and lets it write these pieces. Returns the new text.
fn branch(state: &mut AppState, from: Pin, pieces: &[(&str, f64)]) -> Generation {
    let id = request(
        state,
        BranchCommand::Branch {
            from,
            change: BranchChange::Tokens(vec![TokenId(5)]),
            target: BranchTarget::InPlace,
        },
    );
    write(state, id, pieces);
    state.pane(from.pane).unwrap().generation().unwrap().clone()
}

fn request(state: &mut AppState, command: BranchCommand) -> GenerationId {
    let effects = state.apply(Command::Branch(command));
    let [Effect::Send(Request::Continue { panes, .. })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    panes[0].id
}

fn apply(state: &mut AppState, command: BranchCommand) {
    assert_eq!(state.apply(Command::Branch(command)), []);
}

/// The sentences of the tree's rows.
fn rows(state: &mut AppState) -> Vec<String> {
    state.view.dock_tab = DockTab::Branches;
    state.review(|| true);
    let rows = state.branches.tree.rows.iter();
    rows.map(|row| row.sentence.clone()).collect()
}

#[test]
fn the_tree_lists_every_text_with_its_fork_and_origin() {
    let mut state = written();
    let four = [
        "First text: in a house, 3 tokens, seed 42, in pane A",
        "Branch at token 3 of A: cottage, 3 tokens, seed 42, in pane B",
    ];
    let rows_before = rows(&mut state);
    assert_eq!(rows_before[..2], four);
    assert_eq!(rows_before.len(), 4);

    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    branch(&mut state, from, &[(" fox", 0.1), (".", 0.5)]);
    let expected = "Branch at token 2 of line 1: fox., 3 tokens, ‘fox’ by hand, seed 42, in pane A";
    let after = rows(&mut state);
    assert_eq!(
        after[0],
        "First text: in a house, 3 tokens, Top-p, seed 42".replace("Top-p", "Greedy")
    );
    assert!(after.contains(&expected.to_owned()), "{after:#?}");
    let tree = &state.branches.tree;
    let path: Vec<&str> = tree
        .path()
        .iter()
        .map(|row| tree.rows[*row].words.as_str())
        .collect();
    assert_eq!(path, ["in a house", "fox."]);
}

#[test]
fn two_hundred_branches_of_four_texts_can_all_be_shown_again_exactly_as_they_were() {
    let mut state = written();
    // Longer texts, so that there are many positions.
    let pieces: Vec<(&str, f64)> = (0..40).map(|n| (WORDS[n % 5], 0.3)).collect();
    state.prompt.text = "Another prompt".to_owned();
    for id in asked(&state.apply(Command::GenerateAll)) {
        write(&mut state, id, &pieces);
    }
    state.memory.kept_megabytes = 4;
    let mut all: Vec<Generation> = state.generations().into_iter().flatten().cloned().collect();
    let mut number = 12_345_u64;
    let mut random = |n: usize| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (number >> 33) as usize % n
    };
    for _ in 0..200 {
        let place = random(4);
        let pane = &state.panes[place];
        let n_steps = pane.generation().unwrap().steps.len();
        let from = Pin {
            pane: pane.id,
            step: random(n_steps),
        };
        let n_new = 1 + random(12);
        all.push(branch(&mut state, from, &pieces[..n_new]));
    }
    assert_eq!(state.branches.kept.n_dropped(), 0);
    assert!(state.branches.kept.n_bytes() <= 4_000_000);
    for expected in &all {
        apply(&mut state, BranchCommand::ShowText(expected.lineage.id));
        let (_, shown, _) = state.pinned().unwrap();
        assert_eq!(shown, expected);
        assert!(state.branches.kept.n_bytes() <= 4_000_000);
    }
    assert_eq!(state.branches.kept.texts().len(), 200);
}

#[test]
fn a_text_comes_back_with_the_settings_that_generated_it() {
    let mut state = written();
    let pane = state.panes[1].id;
    let before = state.panes[1].clone();
    let from = Pin { pane, step: 1 };
    let id = request(
        &mut state,
        BranchCommand::Branch {
            from,
            change: BranchChange::AnotherSeed,
            target: BranchTarget::InPlace,
        },
    );
    write(&mut state, id, &[(" fox", 0.1)]);
    assert_eq!(state.panes[1].settings.seed, Some(43));
    let branched = state.panes[1].generation().unwrap().lineage.id;

    let first = before.generation().unwrap().lineage.id;
    apply(&mut state, BranchCommand::ShowText(first));
    assert_eq!(state.panes[1].settings, before.settings);
    assert_eq!(state.panes[1].status, before.status);
    state.review(|| true);
    assert_eq!(state.panes[1].what_ifs(), None);
    apply(&mut state, BranchCommand::ShowText(branched));
    assert_eq!(state.panes[1].settings.seed, Some(43));
    assert_eq!(text(&state, 1), " in fox");
}

#[test]
fn other_settings_continue_from_the_same_tokens() {
    let mut state = written();
    let pane = state.panes[3].id;
    let chain = state.panes[1].settings.chain.clone();
    state.apply(Command::SetChain(pane, chain.clone()));
    let from = Pin { pane, step: 2 };
    let change = BranchChange::Settings;
    let target = BranchTarget::InPlace;
    let id = request(
        &mut state,
        BranchCommand::Branch {
            from,
            change,
            target,
        },
    );
    write(&mut state, id, &[(" fox", 0.1)]);
    let branched = state.panes[3].generation().unwrap();
    assert_eq!(branched.config.chain, chain);
    assert_eq!(branched.origin_words(), Some(chain.to_string()));
}

#[test]
fn a_run_keeps_the_texts_it_replaces_unless_it_repeats_them() {
    let mut state = written();
    let again = |state: &mut AppState, last: &str| {
        for id in asked(&state.apply(Command::GenerateAll)) {
            write(state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
        }
    };
    again(&mut state, " house");
    assert_eq!(state.branches.kept.texts().len(), 0, "the same settings");
    state.seed = 7;
    again(&mut state, " fox");
    assert_eq!(state.branches.kept.texts().len(), 4, "another seed");
    assert_eq!(rows(&mut state).len(), 8);
    state.seed = 8;
    again(&mut state, " fox");
    assert_eq!(
        state.branches.kept.texts().len(),
        7,
        "greedy ignores the seed, so its text was only repeated"
    );
}

#[test]
fn a_new_prompt_begins_a_new_tree() {
    let mut state = written();
    state.seed = 7;
    let ids = asked(&state.apply(Command::GenerateAll));
    for id in ids {
        write(&mut state, id, &[(" in", 0.6)]);
    }
    assert_eq!(state.branches.kept.texts().len(), 4);
    let mut other = crate::generation::testing::generation(&[(" a", 0.5)]);
    std::sync::Arc::make_mut(&mut other.prompt).tokens = vec![TokenId(4)];
    for id in asked(&state.apply(Command::GenerateAll)) {
        let progress = crate::worker::Progress::Started {
            ids: vec![id],
            prompt: std::sync::Arc::clone(&other.prompt),
        };
        state.on_event(crate::worker::Event::Progress(progress));
    }
    assert_eq!(state.branches.kept.texts().len(), 0);
}

#[test]
fn a_removed_text_can_be_brought_back() {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    let before = state.panes[0].generation().unwrap().clone();
    let shown = branch(&mut state, from, &[(" fox", 0.1)]).lineage.id;
    apply(&mut state, BranchCommand::RemoveText(shown));
    assert_eq!(rows(&mut state).len(), 5, "a pane shows it, so it stays");

    apply(&mut state, BranchCommand::RemoveText(before.lineage.id));
    assert_eq!(rows(&mut state).len(), 4);
    let undo = state.notices[0].actions[0].clone();
    assert_eq!(undo.label, "Undo");
    state.apply(undo.command);
    assert!(state.notices.is_empty());
    assert_eq!(rows(&mut state).len(), 5);
    apply(&mut state, BranchCommand::ShowText(before.lineage.id));
    assert_eq!(state.panes[0].generation(), Some(&before));
}

#[test]
fn a_lower_limit_drops_texts_and_says_so() {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    for _ in 0..3 {
        branch(&mut state, from, &[(" fox", 0.1)]);
    }
    rows(&mut state);
    let words = state.branches.size_words(state.memory);
    assert!(words.starts_with("7 texts · "), "{words}");
    assert!(words.ends_with(" of 256 MB"), "{words}");
    state.memory.kept_megabytes = 0;
    rows(&mut state);
    let words = state.branches.size_words(state.memory);
    assert!(words.ends_with(" · 3 dropped"), "{words}");
}

#[test]
fn an_opened_run_shows_the_tree_that_was_saved() {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    branch(&mut state, from, &[(" fox", 0.1), (".", 0.5)]);
    branch(&mut state, from, &[(" the", 0.1)]);
    let saved = rows(&mut state);
    assert_eq!(saved.len(), 6);
    let run = state.run_texts().into_run(RunHeader::default());
    let bytes = json::write_run(&run, Form::default());
    let open = |state: &mut AppState| {
        let read = RunCommand::Read {
            name: "fox".to_owned(),
            run: Ok(Box::new(json::read(&bytes).unwrap())),
        };
        state.apply(Command::Run(read));
    };
    let mut other = written();
    open(&mut other);
    assert_eq!(rows(&mut other), saved);
    open(&mut other);
    assert_eq!(rows(&mut other), saved);
    // Opening and saving again produces the same file, and so does continuing with the run.
    let again = |state: &AppState| {
        let run = state.run_texts().into_run(RunHeader::default());
        json::write_run(&run, Form::default())
    };
    assert!(again(&other) == bytes);
    other.apply(Command::Run(RunCommand::UseSettings));
    assert!(again(&other) == bytes);
}
