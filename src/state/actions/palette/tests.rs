//! What the palette finds, in which order, and what it does.

use super::{Palette, PaletteCommand, PaletteRow, PaletteRun, PaneSetting};
use crate::decoding::FilterKind;
use crate::state::tests::{ready, written};
use crate::state::{
    Action, AppState, Command, DockTab, Page, Pin, PromptMode, RunCommand, RunSetting,
};

fn found(query: &str, state: &AppState) -> Vec<PaletteRow> {
    let palette = Palette {
        query: query.to_owned(),
        ..Palette::default()
    };
    palette.rows(state)
}

fn names(query: &str, state: &AppState) -> Vec<String> {
    let rows = found(query, state).into_iter();
    rows.map(|row| row.name).collect()
}

#[test]
fn the_beginnings_of_words_find_an_action() {
    let state = written();
    for (query, name) in [
        ("gen", "Generate"),
        ("xray", "X-ray"),
        ("th dark", "Theme: Dark"),
        ("tint rank", "Tint: Rank"),
        ("dup c", "Duplicate C"),
        ("HIST", "History"),
        ("json run", "Export the run as JSON…"),
        ("stability", "Stability"),
        ("by hand", "By hand"),
    ] {
        let rows = names(query, &state);
        assert_eq!(rows.first().map(String::as_str), Some(name), "{query}");
    }
    assert!(found("zzzz", &state).is_empty());
    assert!(found("thdark", &state).is_empty(), "scattered letters");
    assert_eq!(found("", &state).len(), Action::all(&state).len());
}

#[test]
fn settings_presets_pages_and_lessons_are_found_by_their_words() {
    let state = ready();
    for (query, first, also) in [
        ("min-p", "Min-p", "Min-p: formula, engines, paper"),
        ("temperature", "Temperature", "Dynamic temperature"),
        ("JSON", "Grammar: any JSON", "Grammar: JSON Schema"),
        (
            "beam",
            "Beam search",
            "Beam search: formula, engines, paper",
        ),
        ("penalty", "Repetition penalty", "Frequency penalty"),
        ("grammar", "Grammar: any JSON", "Grammar: GBNF grammar"),
        ("drafts", "Drafts: prompt lookup", "Drafts: second model"),
        ("creative", "Creative", "Creative"),
        ("chat", "Chat mode", "Chat mode"),
        ("seed", "Seed", "Seed of all panes…"),
    ] {
        let names = names(query, &state);
        assert_eq!(names.first().map(String::as_str), Some(first), "{query}");
        assert!(names.iter().any(|name| name == also), "{query}: {names:?}");
    }
    let lessons = found("temperature", &state);
    let is_lesson = |row: &PaletteRow| matches!(row.run, PaletteRun::Action(Action::TakeLesson(_)));
    assert!(lessons.iter().any(is_lesson));
    // What other programs call a setting finds it too.
    for (query, name) in [
        ("repeat_penalty", "Repetition penalty"),
        ("nucleus", "Top-p"),
    ] {
        assert!(
            names(query, &state).iter().any(|found| found == name),
            "{query}"
        );
    }
}

#[test]
fn every_setting_is_found_by_its_name() {
    let state = ready();
    for setting in PaneSetting::all() {
        let mut rows = found(&setting.name(), &state).into_iter();
        let runs = PaletteRun::Setting(setting);
        assert!(rows.any(|row| row.run == runs), "{}", setting.name());
    }
}

#[test]
fn rows_of_a_pane_are_about_the_chosen_one() {
    let mut state = written();
    let ids: Vec<_> = state.panes.iter().map(|pane| pane.id).collect();
    let mut palette = Palette {
        query: "duplicate".to_owned(),
        ..Palette::default()
    };
    let first = |palette: &Palette, state: &AppState| palette.rows(state)[0].name.clone();
    assert_eq!(first(&palette, &state), "Duplicate A");
    state.apply(Command::Pin(Pin {
        pane: ids[3],
        step: 0,
    }));
    assert_eq!(first(&palette, &state), "Duplicate D");
    palette.pane = Some(ids[1]);
    assert_eq!(first(&palette, &state), "Duplicate B");
    assert_eq!(palette.rows(&state).len(), 1);
}

#[test]
fn what_is_not_possible_comes_last_and_says_why() {
    let state = ready();
    let rows = found("", &state);
    let first_blocked = rows.iter().position(|row| row.blocked.is_some()).unwrap();
    let (possible, blocked) = rows.split_at(first_blocked);
    assert!(possible.iter().all(|row| row.blocked.is_none()));
    assert!(blocked.iter().all(|row| row.blocked.is_some()));
    let stop = PaletteRun::Action(Action::Stop);
    let stop = rows.iter().find(|row| row.run == stop).unwrap();
    assert_eq!(stop.blocked.as_deref(), Some("Nothing is running"));
}

#[test]
fn an_action_runs_on_its_page() {
    let mut state = written();
    state.apply(Command::Run(RunCommand::ShowPage(Page::History)));
    state.apply(Command::Palette(PaletteCommand::Open));
    let run = PaletteCommand::Run(Action::ShowTab(DockTab::Loop));
    state.apply(Command::Palette(run));
    assert!(state.dialogs.palette.is_none());
    assert_eq!(
        (state.page, state.view.dock_tab),
        (Page::Write, DockTab::Loop)
    );
}

#[test]
fn a_setting_opens_the_editor_and_a_preset_changes_the_pane() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let pane = state.panes[2].id;
    let setting = PaneSetting::Filter(FilterKind::MinP);
    state.apply(Command::Palette(PaletteCommand::Edit(pane, setting)));
    let asked = state.dialogs.chain_to_edit.unwrap();
    assert_eq!((asked.pane, asked.setting), (pane, Some(setting)));
    assert_eq!(state.page, Page::Write);

    let PaletteRun::Preset(chain) = found("creative", &state)[0].run.clone() else {
        panic!("the first row is no preset");
    };
    let preset = PaletteCommand::UsePreset(pane, chain.clone());
    state.apply(Command::Palette(preset));
    assert_eq!(state.panes[2].settings.chain, chain);
    state.apply(Command::Undo);
    assert_ne!(state.panes[2].settings.chain, chain);
}

#[test]
fn modes_and_shared_settings_are_actions() {
    let mut state = ready();
    let raw = Action::SetPromptMode(PromptMode::Raw);
    state.prompt.mode = PromptMode::Chat;
    state.apply(Command::Palette(PaletteCommand::Run(raw)));
    assert_eq!(state.prompt.mode, PromptMode::Raw);
    let limit = Action::EditRunSetting(RunSetting::TokenLimit);
    state.apply(Command::Palette(PaletteCommand::Run(limit)));
    let asked = state.dialogs.run_setting_to_edit;
    assert_eq!(asked, Some(RunSetting::TokenLimit));
}

#[test]
fn every_possible_action_can_be_run() {
    let actions = Action::all(&written());
    for action in actions {
        let mut state = written();
        state.apply(Command::Palette(PaletteCommand::Run(action)));
        assert!(state.dialogs.palette.is_none(), "{action:?}");
    }
}
