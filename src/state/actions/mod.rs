//! Everything the user can do: one list that the keys, the menus, the command palette and the help
//! share.
//!
//! An [`Action`] has a name, a place and keys. Whether it is possible now, and which command it
//! runs, depend on the state. The list has one entry for each, with all of this.

mod conditions;
mod key_help;
mod kinds;
mod list;
mod of_pane;
mod palette;
mod registry;
mod runs;
mod shortcut;

pub use key_help::{KeyHelp, key_help};
pub use kinds::{KindAction, kind_name, no_token_words};
pub use list::Action;
pub use of_pane::{PaneAction, PaneMenuEntry};
pub use palette::{Palette, PaletteCommand, PaletteRow, PaletteRun, PaneSetting};
pub use shortcut::Shortcut;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Action;
    use crate::state::tests::{ready, written};
    use crate::state::{DockTab, Page};

    #[test]
    fn action_names_are_unique_within_their_place() {
        let state = written();
        let mut names = BTreeMap::new();
        for action in Action::all(&state) {
            let name = (action.name(&state), action.place());
            assert!(!name.0.is_empty(), "{action:?}");
            let other = names.insert(name.clone(), action);
            assert!(other.is_none(), "{name:?}: {action:?} and {other:?}");
        }
    }

    #[test]
    fn no_key_has_two_meanings_at_once() {
        // Escape ends what is in progress, whatever that is.
        let mut meanings = BTreeMap::new();
        for action in Action::all(&ready())
            .into_iter()
            .chain([Action::ShowPalette])
        {
            for shortcut in action.shortcuts() {
                let keys = shortcut.words(false);
                if keys == "Esc" {
                    continue;
                }
                let other = meanings.insert(keys.clone(), action);
                assert!(other.is_none(), "{keys}: {action:?} and {other:?}");
            }
        }
    }

    #[test]
    fn every_page_and_tab_has_a_key() {
        for page in Page::ALL {
            assert_eq!(Action::ShowPage(page).shortcuts().len(), 1);
        }
        let last = Action::ShowTab(DockTab::ALL[DockTab::ALL.len() - 1]);
        let words = format!("Alt {}", DockTab::ALL.len());
        assert_eq!(last.shortcuts()[0].words(false), words);
    }
}
