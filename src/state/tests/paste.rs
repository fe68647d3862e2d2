//! Tests of copying settings to other tools and pasting them back.

use super::ready;
use crate::interop::tools::{Tool, import_settings};
use crate::state::{AppState, Command, Effect, PasteCommand};

fn paste(state: &mut AppState, place: usize, text: &str) {
    let id = state.panes[place].id;
    state.apply(Command::Paste(PasteCommand::Open(id)));
    if let Some(paste) = &mut state.dialogs.paste {
        text.clone_into(&mut paste.text);
    }
    state.apply(Command::Paste(PasteCommand::Edited));
}

#[test]
fn settings_are_copied_in_the_format_of_each_tool() {
    for tool in Tool::ALL {
        let mut state = ready();
        let id = state.panes[3].id;
        let effects = state.apply(Command::CopySettings(id, tool));
        let [Effect::CopyText(text)] = effects.as_slice() else {
            panic!("{tool:?}: {effects:?}");
        };
        assert_eq!(import_settings(text, None).unwrap().tool, tool, "{text}");
        let notice = &state.notices[0];
        assert!(
            notice
                .title
                .starts_with(&format!("Copied as {}", tool.name()))
        );
        // A notice about unsupported settings stays until it is closed.
        assert_eq!(notice.body.is_empty(), notice.actions.is_empty());
    }
}

#[test]
fn pasted_settings_are_parsed_while_typing_and_then_applied() {
    let mut state = ready();
    paste(&mut state, 1, " ");
    assert_eq!(state.dialogs.paste.as_ref().unwrap().read, None);
    state.apply(Command::Paste(PasteCommand::Apply));
    assert!(state.dialogs.paste.is_some());

    paste(&mut state, 1, "llama-cli --temp 0.5 --seed 7 -n 99");
    let read = state.dialogs.paste.clone().unwrap().read.unwrap().unwrap();
    assert_eq!(read.tool, Tool::LlamaCpp);
    state.apply(Command::Paste(PasteCommand::Apply));
    assert_eq!(state.dialogs.paste, None);
    let settings = &state.panes[1].settings;
    assert_eq!(settings.chain, read.chain);
    assert_eq!(settings.seed, Some(7));
    assert_eq!(state.limits.max_new_tokens, 200);
}

#[test]
fn the_shared_token_limit_is_pasted_only_on_request() {
    let mut state = ready();
    paste(&mut state, 0, "llama-cli --temp 0.5 -n 99");
    if let Some(paste) = &mut state.dialogs.paste {
        paste.limits_too = true;
    }
    state.apply(Command::Paste(PasteCommand::Apply));
    assert_eq!(state.limits.max_new_tokens, 99);
}

#[test]
fn text_that_cannot_be_parsed_changes_nothing() {
    let mut state = ready();
    let before = state.settings();
    paste(&mut state, 0, "once upon a time");
    assert!(
        state
            .dialogs
            .paste
            .as_ref()
            .unwrap()
            .read
            .as_ref()
            .unwrap()
            .is_err()
    );
    state.apply(Command::Paste(PasteCommand::Apply));
    assert!(state.dialogs.paste.is_some());
    state.apply(Command::Paste(PasteCommand::Close));
    assert_eq!(state.dialogs.paste, None);
    assert_eq!(state.settings(), before);
}
