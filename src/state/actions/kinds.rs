//! The actions that hold the next token of a kind, and those that choose the kind.

use super::Shortcut;
use crate::analysis::token_kinds::TokenKind;
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, Command, Pane, Pin, ViewChange};

/// What the user can do with a kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindAction {
    /// Hold the next token of the chosen kind.
    Next,
    /// Hold the one before.
    Previous,
    /// Choose a kind; `None` for every token.
    Choose(Option<TokenKind>),
}

/// Returns the label of a kind; `None` for every token.
pub const fn kind_name(kind: Option<TokenKind>) -> &'static str {
    match kind {
        Some(kind) => kind.name(),
        None => "Every token",
    }
}

impl KindAction {
    /// Returns all of them, in the order of the palette.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let kinds = TokenKind::ALL.map(Some).into_iter();
        let choices = [None].into_iter().chain(kinds).map(Self::Choose);
        [Self::Next, Self::Previous].into_iter().chain(choices)
    }

    pub(super) fn name(self, state: &AppState) -> String {
        let (name, kind) = match self {
            Self::Next => ("Next token", state.view.kind.map(TokenKind::name)),
            Self::Previous => ("Previous token", state.view.kind.map(TokenKind::name)),
            Self::Choose(kind) => ("Step to", Some(kind_name(kind))),
        };
        kind.map_or_else(
            || name.to_owned(),
            |kind| format!("{name}: {}", kind.to_lowercase()),
        )
    }

    pub(super) fn shortcuts(self) -> Vec<Shortcut> {
        match self {
            Self::Next => vec![Shortcut::key("N")],
            Self::Previous => vec![Shortcut::key("N").shift()],
            Self::Choose(_) => Vec::new(),
        }
    }

    /// Steps in the text whose token is held, or else in the one that the dock shows.
    pub(super) fn command(self, state: &AppState) -> Result<Command, String> {
        let shown = state.shown_step();
        let pane = shown.and_then(|(place, _)| state.panes.get(place));
        let pane = pane.ok_or("Generate a text first");
        match self {
            Self::Next => next_of_kind(state, pane?, true),
            Self::Previous => next_of_kind(state, pane?, false),
            Self::Choose(kind) => Ok(Command::ChangeView(ViewChange::Kind(kind))),
        }
    }

    /// Like [`Action::command`](super::Action::command), in the text of this pane.
    pub fn command_in(self, pane: &Pane, state: &AppState) -> Result<Command, String> {
        match self {
            Self::Next => next_of_kind(state, pane, true),
            Self::Previous => next_of_kind(state, pane, false),
            Self::Choose(_) => self.command(state),
        }
    }
}

/// Returns the command that holds the next token of the chosen kind in a pane's text, or the one
/// before, or why there is none.
fn next_of_kind(state: &AppState, pane: &Pane, is_after: bool) -> Result<Command, String> {
    let kind = state.view.kind;
    let from = state.pin.filter(|_| state.pinned().is_some());
    let step = pane.kinds().next(kind, from.map(|pin| pin.step), is_after);
    let step = step.ok_or_else(|| {
        let rest = match (kind, is_after) {
            (Some(kind), _) if pane.kinds().count(Some(kind)).n == 0 => {
                return no_token_words(kind, pane);
            }
            (None, true) => "the last token",
            (None, false) => "the first token",
            (Some(_), true) => "the last one",
            (Some(_), false) => "the first one",
        };
        format!("This is {rest}")
    })?;
    Ok(Command::Pin(Pin {
        pane: pane.id,
        step,
    }))
}

/// "No token of D was forced".
pub fn no_token_words(kind: TokenKind, pane: &Pane) -> String {
    format!(
        "No token of {} {}",
        pane_letter(pane.place),
        kind.predicate()
    )
}

#[cfg(test)]
mod tests {
    use super::KindAction::{Choose, Next, Previous};
    use crate::analysis::token_kinds::TokenKind;
    use crate::state::tests::{asked, ready, write, written};
    use crate::state::{Action, AppState, Command, DockTab, Pin};

    fn run(state: &mut AppState, action: super::KindAction) -> Result<(), String> {
        let command = Action::OfKind(action).command(state)?;
        state.apply(command);
        Ok(())
    }

    fn held(state: &AppState) -> Option<(usize, usize)> {
        let pin = state.pin?;
        Some((state.place_of(pin.pane)?, pin.step))
    }

    #[test]
    fn stepping_holds_the_next_token_of_the_chosen_kind_in_the_held_text() {
        let mut state = ready();
        let pieces = [(" in", 0.6), (" fox", 0.02), (" a", 0.9), (" by", 0.01)];
        for id in asked(&state.apply(Command::GenerateAll)) {
            write(&mut state, id, &pieces);
        }
        state.review(|| true);
        let pane = state.panes[1].id;
        state.apply(Command::Unpin);
        state.apply(Command::Pin(Pin { pane, step: 0 }));
        run(&mut state, Choose(Some(TokenKind::Unlikely))).unwrap();
        assert_eq!(Action::OfKind(Next).name(&state), "Next token: unlikely");
        for step in [1, 3] {
            run(&mut state, Next).unwrap();
            assert_eq!(held(&state), Some((1, step)));
        }
        assert_eq!(run(&mut state, Next).unwrap_err(), "This is the last one");
        run(&mut state, Choose(Some(TokenKind::Forced))).unwrap();
        let none = "No token of B was forced";
        assert_eq!(run(&mut state, Previous).unwrap_err(), none);
        run(&mut state, Choose(None)).unwrap();
        run(&mut state, Previous).unwrap();
        assert_eq!(held(&state), Some((1, 2)));
    }

    #[test]
    fn without_a_held_token_stepping_begins_at_the_ends_of_the_shown_text() {
        let mut state = written();
        state.view.dock_tab = DockTab::Numbers;
        state.review(|| true);
        run(&mut state, Next).unwrap();
        assert_eq!(held(&state), Some((3, 0)));
        state.apply(Command::Unpin);
        run(&mut state, Previous).unwrap();
        assert_eq!(held(&state), Some((3, 2)));
        // Stepping leaves the tab as it is.
        assert_eq!(state.view.dock_tab, DockTab::Numbers);
        let error = run(&mut ready(), Next).unwrap_err();
        assert_eq!(error, "Generate a text first");
    }
}
