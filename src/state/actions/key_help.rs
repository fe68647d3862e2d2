//! The table of keys in the help and in `assets/docs/KEYS.md`, built from the actions and from the
//! few keys that only one widget handles.

use super::{Action, Shortcut};
use crate::state::{DockTab, HelpTab, Page, SettingsTab};

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHelp {
    /// "Ctrl ↵", "1–9, 0".
    pub keys: String,
    pub words: &'static str,
}

/// The keys of a row.
enum Keys {
    /// The usual keys of these actions.
    Of(Vec<Action>),
    /// From the keys of the first action to those of the last.
    From(Action, Action),
    /// All keys of an action.
    AllOf(Action),
    Written(&'static str),
}

/// Returns the table, with keys as the window shows them.
pub fn key_help(is_mac: bool) -> Vec<KeyHelp> {
    table(|shortcut| shortcut.words(is_mac))
}

fn table(words: impl Fn(Shortcut) -> String) -> Vec<KeyHelp> {
    let first = |action: &Action| action.shortcuts().first().map(|shortcut| words(*shortcut));
    let rows = rows().into_iter().map(|(keys, sentence)| {
        let keys = match keys {
            Keys::Of(actions) => {
                let mut keys: Vec<String> = actions.iter().filter_map(&first).collect();
                keys.dedup();
                keys.join(", ")
            }
            Keys::From(from, to) => {
                let ends: Vec<String> = [from, to].iter().filter_map(&first).collect();
                ends.join(" … ")
            }
            Keys::AllOf(action) => {
                let keys: Vec<String> = action.shortcuts().into_iter().map(&words).collect();
                keys.join(" or ")
            }
            Keys::Written(keys) => keys.to_owned(),
        };
        KeyHelp {
            keys,
            words: sentence,
        }
    });
    rows.collect()
}

fn rows() -> Vec<(Keys, &'static str)> {
    use Keys::{From, Of, Written};
    let [first_tab, .., last_tab] = DockTab::ALL;
    let pages = Page::ALL.map(Action::ShowPage);
    let mut rows = vec![
        (Of(vec![Action::ShowPalette]), "find any action by its name"),
        (
            Of(vec![Action::Generate]),
            "generate; in step mode, keep running",
        ),
        (
            Of(vec![Action::Stop, Action::Unpin, Action::CloseRun]),
            "stop all panes, unpin the token, close an opened run, or leave a lesson",
        ),
        (
            Of(vec![Action::DrawFutures]),
            "draw what could follow the pinned token, or the prompt",
        ),
        (Written("← →"), "previous or next token"),
        (Written("↑ ↓"), "the same position in another pane"),
        (
            Of(vec![Action::Continue]),
            "continue differently from the pinned token (also a right-click on a token)",
        ),
        (
            Of(vec![Action::Step, Action::StepBack]),
            "in step mode: generate one token, or take it back",
        ),
        (
            Written("1–9, 0"),
            "in step mode: pick the next token by hand, or type it (0 in the Loop tab)",
        ),
        (
            Written("↑ ↓ ← →"),
            "in Branches: move between texts, to the parent, to the first branch; Enter shows a \
             text, Delete removes it",
        ),
        (Of(pages.to_vec()), "the pages, from left to right"),
        (
            Written("↑ ↓ ← → Enter, Esc"),
            "in Lab: select a cell, open it as a pane, stop what is running",
        ),
        (Written("1–4, 0"), "in the blind test: pick a text, or none"),
        (
            From(Action::ShowTab(first_tab), Action::ShowTab(last_tab)),
            "the tabs below the texts",
        ),
        (Of(vec![Action::OpenRun]), "open a run file"),
        (
            Of(vec![Action::VerifyRun]),
            "verify an opened run, or the selected run in History",
        ),
        (
            Written("↑ ↓ Enter, F2, Delete"),
            "in History: select and open, rename, delete a run",
        ),
        (
            Written("↑ ↓ Enter"),
            "in Lessons: select a lesson, start it or resume it",
        ),
        (
            Written("← →, 1–9, Backspace, Enter"),
            "in a lesson: change the prediction (Shift for larger steps), choose, undo, go on",
        ),
    ];
    rows.extend(later_rows());
    rows
}

fn later_rows() -> Vec<(Keys, &'static str)> {
    use Keys::{AllOf, Of, Written};
    let sizes = vec![
        Action::EnlargeText,
        Action::ReduceText,
        Action::ResetTextSize,
    ];
    vec![
        (Of(vec![Action::Undo]), "undo a settings change"),
        (AllOf(Action::Redo), "redo it"),
        (Of(vec![Action::Score]), "score the text in the clipboard"),
        (Written("↑ ↓"), "on a stage’s handle: move the stage"),
        (
            Written("← →, Delete"),
            "on a slider: change a number, reset it to neutral (also a double-click)",
        ),
        (Of(sizes), "larger, smaller or normal text"),
        (
            Of(vec![Action::ShowSettings(SettingsTab::Appearance)]),
            "settings",
        ),
        (Of(vec![Action::ShowHelp(HelpTab::Keys)]), "help"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Shortcut, key_help, table};

    #[test]
    fn every_row_names_keys_and_what_they_do() {
        for row in key_help(false) {
            assert!(!row.keys.is_empty(), "{}", row.words);
        }
        let palette = &key_help(true)[0];
        assert_eq!(palette.keys, "Cmd K");
    }

    #[test]
    fn the_documentation_has_the_same_table() {
        let documentation = include_str!("../../../assets/docs/KEYS.md");
        let rows = table(|shortcut: Shortcut| shortcut.spelled(false));
        let expected: Vec<String> = rows
            .iter()
            .map(|row| format!("| {} | {} |", row.keys, row.words))
            .collect();
        let missing = expected
            .iter()
            .any(|row| !documentation.contains(row.as_str()));
        assert!(
            !missing,
            "assets/docs/KEYS.md needs:\n{}",
            expected.join("\n")
        );
    }
}
