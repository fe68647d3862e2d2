//! Tests of the user's own presets, and of why panes with the same parameters diverge.

use std::path::PathBuf;

use super::{asked, ready, write};
use crate::analysis::dialects::{Numbers, in_order_of};
use crate::decoding::ChainConfig;
use crate::decoding::dialect::Dialect;
use crate::generation::PaneSettings;
use crate::interop::presets::OwnPreset;
use crate::state::{
    AppState, Command, Document, Effect, PathPurpose, PresetCommand, PresetsDocument,
    divergence_reasons, divergence_reasons_of,
};

fn names(state: &AppState) -> Vec<&str> {
    let names = state.presets.iter().map(|preset| preset.name.as_str());
    names.collect()
}

fn save(state: &mut AppState, place: usize, name: &str) {
    let id = state.panes[place].id;
    state.apply(Command::Preset(PresetCommand::Save(id, name.to_owned())));
}

#[test]
fn settings_are_saved_as_a_preset_across_restarts() {
    let mut state = ready();
    save(&mut state, 3, " Poems ");
    save(&mut state, 0, "");
    assert_eq!(names(&state), ["Poems"]);
    assert_eq!(state.presets[0].chain, state.panes[3].settings.chain);
    assert_eq!(state.settings().presets, state.presets);
    assert!(state.notices.is_empty());
}

#[test]
fn replacing_or_deleting_a_preset_can_be_undone() {
    let mut state = ready();
    for (place, name) in [(0, "One"), (1, "Two"), (2, "Three")] {
        save(&mut state, place, name);
    }
    let kept = state.presets.clone();
    save(&mut state, 3, "Two");
    assert_eq!(state.presets[1].chain, state.panes[3].settings.chain);
    let undo = state.notices.remove(0).actions.remove(0);
    assert_eq!(undo.label, "Undo");
    state.apply(undo.command);
    assert_eq!(state.presets, kept);

    state.apply(Command::Preset(PresetCommand::Delete("Two".to_owned())));
    assert_eq!(names(&state), ["One", "Three"]);
    let undo = state.notices.remove(0).actions.remove(0);
    state.apply(undo.command.clone());
    assert_eq!(state.presets, kept);
    state.apply(undo.command);
    assert_eq!(names(&state), ["One", "Two 2", "Two", "Three"]);
}

#[test]
fn a_preset_is_renamed_unless_the_name_is_taken() {
    let mut state = ready();
    save(&mut state, 0, "One");
    save(&mut state, 1, "Two");
    for (from, to, expected) in [
        ("One", "Two", ["One", "Two"]),
        ("One", " ", ["One", "Two"]),
        ("None", "Three", ["One", "Two"]),
        ("One", " First ", ["First", "Two"]),
    ] {
        state.apply(Command::Preset(PresetCommand::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        }));
        assert_eq!(names(&state), expected);
    }
}

#[test]
fn imported_presets_are_added_to_the_existing_ones() {
    let mut state = ready();
    save(&mut state, 0, "Poems");
    let path = PathBuf::from("presets.json");
    let effects = state.apply(Command::PathGiven(PathPurpose::Presets, path.clone()));
    assert_eq!(effects, [Effect::ReadPresets(path.clone())]);

    let preset = |name: &str| OwnPreset {
        name: name.to_owned(),
        chain: ChainConfig::sampled([]),
    };
    let import = |presets| {
        let path = path.clone();
        Command::Preset(PresetCommand::Import { path, presets })
    };
    state.apply(import(Ok(vec![preset("Poems"), preset("Prose")])));
    assert_eq!(names(&state), ["Poems", "Poems 2", "Prose"]);
    assert_eq!(state.presets[0].chain, ChainConfig::greedy());
    let notice = state.notices.remove(0);
    assert_eq!(notice.title, "Imported 2 presets");
    assert_eq!(notice.body, "‘Poems’ was imported as ‘Poems 2’");

    state.apply(import(Err("this is not a file of presets".to_owned())));
    let notice = state.notices.remove(0);
    assert!(notice.body.starts_with("This is not a file of presets\n"));
    assert_eq!(names(&state).len(), 3);
}

#[test]
fn presets_are_exported_like_any_other_document() {
    let mut state = ready();
    let document = Document::new(PresetsDocument);
    let purpose = PathPurpose::Save(document.clone());
    let path = PathBuf::from("quartet-presets.json");
    let effects = state.apply(Command::PathGiven(purpose, path.clone()));
    assert_eq!(effects, [Effect::Save(document, path)]);
}

#[test]
fn panes_with_the_same_parameters_say_why_they_diverge() {
    let mut state = ready();
    let own = "temp 1.5, top-p 0.9".parse::<PaneSettings>().unwrap().chain;
    for (pane, dialect) in state.panes.iter_mut().zip([
        None,
        Some(Dialect::OpenAi),
        Some(Dialect::Vllm),
        Some(Dialect::Ollama),
    ]) {
        pane.settings.chain = in_order_of(dialect, Numbers::Kept, &own).chain;
    }
    let ids = asked(&state.apply(Command::GenerateAll));
    assert!(divergence_reasons(&state).is_empty());
    for (id, last) in ids.into_iter().zip([" house", " house", " little", " fox"]) {
        write(&mut state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
    }
    // A, B and C apply equivalent chains, so the engine is not why C diverges.
    let reasons = divergence_reasons_of(&state, 0);
    assert_eq!(
        reasons,
        [
            "A and D: Ollama applies top-k 40 by default; Quartet does not.",
            "A and D: Temperature comes before top-p in Quartet but after it in Ollama, where it \
             sees unscaled probabilities; so Quartet keeps more tokens.",
        ]
    );
    assert_eq!(divergence_reasons(&state).len(), 3);
    state.seed = 7;
    let again = state.panes[3].id;
    let ids = asked(&state.apply(Command::Generate(again)));
    write(&mut state, ids[0], &[(" in", 0.6), (" the", 0.9)]);
    assert!(divergence_reasons_of(&state, 0).is_empty());
}
