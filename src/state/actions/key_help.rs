//! The table of keys in the help and in `assets/docs/KEYS.md`, built from the actions and from the
//! few keys that only one widget handles.

use super::{Action, KindAction, Shortcut};
use crate::state::{DockTab, HelpTab, Page, SettingsTab};

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHelp {
    /// "Ctrl ↵", "1–9, 0".
    pub keys: String,
    pub words: &'static str,
}

/// How a row of the table is made.
enum Row {
    /// The usual keys of these actions. The first says what they do.
    Of(Vec<Action>),
    /// From the keys of the first action, which says what they do, to those of the last.
    From(Action, Action),
    /// All keys of an action.
    AllOf(Action),
    /// Keys that only one widget handles, and what they do there.
    Written(&'static str, &'static str),
}

/// Returns the table, with keys as the window shows them.
pub fn key_help(is_mac: bool) -> Vec<KeyHelp> {
    table(|shortcut| shortcut.words(is_mac))
}

fn table(words: impl Fn(Shortcut) -> String) -> Vec<KeyHelp> {
    let usual = |action: &Action| action.shortcuts().first().map(|shortcut| words(*shortcut));
    let help = |action: Option<&Action>| action.and_then(|action| action.help());
    let rows = rows().into_iter().map(|row| match row {
        Row::Of(actions) => {
            let mut keys: Vec<String> = actions.iter().filter_map(&usual).collect();
            keys.dedup();
            (keys.join(", "), help(actions.first()))
        }
        Row::From(from, to) => {
            let ends: Vec<String> = [from, to].iter().filter_map(&usual).collect();
            (ends.join(" … "), from.help())
        }
        Row::AllOf(action) => {
            let keys: Vec<String> = action.shortcuts().into_iter().map(&words).collect();
            (keys.join(" or "), action.help())
        }
        Row::Written(keys, sentence) => (keys.to_owned(), Some(sentence)),
    });
    rows.map(|(keys, words)| KeyHelp {
        keys,
        words: words.unwrap_or_default(),
    })
    .collect()
}

fn rows() -> Vec<Row> {
    use Row::{AllOf, From, Of, Written};
    let [first_tab, .., last_tab] = DockTab::ALL;
    vec![
        Of(vec![Action::ShowPalette]),
        Of(vec![Action::Generate]),
        Of(vec![Action::Stop, Action::Unpin, Action::CloseRun]),
        Of(vec![Action::DrawFutures]),
        Written("← →", "previous or next token"),
        Of([KindAction::Next, KindAction::Previous]
            .map(Action::OfKind)
            .to_vec()),
        Written("↑ ↓", "the same position in another pane"),
        Written("F6", "the next pane’s text (Shift F6: the one before)"),
        Of(vec![Action::Continue]),
        Of(vec![Action::EditText]),
        Of(vec![Action::AnswerAgain]),
        Of([false, true].map(Action::ShowNeighboringTurn).to_vec()),
        Of(vec![Action::NewConversation]),
        Of(vec![Action::Step, Action::StepBack]),
        Written(
            "1–9, 0",
            "in step mode: pick the next token by hand, or type it (0 in the Loop tab)",
        ),
        Written(
            "↑ ↓ ← →",
            "in Branches: move between texts, to the parent, to the first branch; Enter shows a \
             text, Delete removes it",
        ),
        Of(Page::ALL.map(Action::ShowPage).to_vec()),
        Written(
            "↑ ↓ ← → Enter, Esc",
            "in Lab: select a cell, open it as a pane, stop what is running",
        ),
        Written("1–4, 0", "in the blind test: pick a text, or none"),
        From(Action::ShowTab(first_tab), Action::ShowTab(last_tab)),
        Of(vec![Action::ShowModels]),
        Of(vec![Action::OpenRun]),
        Of(vec![Action::VerifyRun]),
        Written(
            "↑ ↓ Enter, F2, Delete",
            "in History: select and open, rename, delete a run",
        ),
        Written(
            "↑ ↓ Enter",
            "in Lessons: select a lesson, start it or resume it",
        ),
        Written(
            "← →, 1–9, Backspace, Enter",
            "in a lesson: change the prediction (Shift for larger steps), choose, undo, go on",
        ),
        Written(
            "F2",
            "rename the pane of the focused text or the pinned token",
        ),
        Of(vec![Action::Undo]),
        AllOf(Action::Redo),
        Of(vec![Action::Score]),
        Written("↑ ↓", "on a stage’s handle: move the stage"),
        Written(
            "← →, Delete",
            "on a slider: change a number, reset it to neutral (also a double-click)",
        ),
        Of(vec![
            Action::EnlargeText,
            Action::ReduceText,
            Action::ResetTextSize,
        ]),
        Of(vec![Action::ShowSettings(SettingsTab::Appearance)]),
        Of(vec![Action::ShowHelp(HelpTab::Keys)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Action, Shortcut, key_help, table};
    use crate::state::tests::ready;

    #[test]
    fn every_row_names_keys_and_what_they_do() {
        for row in key_help(false) {
            assert!(!row.keys.is_empty(), "{}", row.words);
            assert!(!row.words.is_empty(), "{}", row.keys);
        }
        let palette = &key_help(true)[0];
        assert_eq!(palette.keys, "Cmd K");
    }

    #[test]
    fn every_action_with_a_row_is_in_the_table() {
        let rows = key_help(false);
        for action in Action::all(&ready())
            .into_iter()
            .chain([Action::ShowPalette])
        {
            if let Some(words) = action.help() {
                let is_listed = rows.iter().any(|row| row.words == words);
                assert!(is_listed, "{action:?}: {words}");
            }
        }
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
