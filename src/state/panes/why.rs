//! The explanation of the step that the dock shows, with the search for the smallest change.

use super::pane::PaneId;
use crate::analysis::{SmallestChange, Why, smallest_change_words};
use crate::state::{Panes, TextMark};

/// The search for the smallest change at one step of one text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct WhySearch {
    pane: PaneId,
    step: usize,
    /// Marks the text up to and including the step.
    mark: TextMark,
    search: SmallestChange,
}

impl WhySearch {
    /// Explains a step. Returns the explanation, and the sentence about the smallest change as far
    /// as the search has come.
    pub(in crate::state) fn explain(
        known: Option<&Self>,
        panes: &Panes,
        (place, step): (usize, usize),
    ) -> Option<(Why, String)> {
        let why = Why::of(&panes.generations(), place, step)?;
        let pane = panes.get(place)?;
        let generation = pane.generation()?;
        if generation.steps.get(step)?.trace.raw.head.is_empty() {
            return None;
        }
        let change = match known.filter(|known| known.pane == pane.id && known.step == step) {
            Some(known) => smallest_change_words(generation, &known.search),
            None => smallest_change_words(generation, &SmallestChange::new(generation, step)?),
        };
        Some((why, change))
    }

    /// Continues the search of a step, or begins it, while `has_time` returns true. Returns whether
    /// there is nothing left to search.
    pub(in crate::state) fn update(
        current: &mut Option<Self>,
        panes: &Panes,
        shown: Option<(usize, usize)>,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        *current = shown.and_then(|shown| Self::of(current.take(), panes, shown));
        match current {
            Some(current) => current.search.advance(has_time),
            None => true,
        }
    }

    /// Returns the search of a step: the one in progress, or a new one.
    fn of(known: Option<Self>, panes: &Panes, (place, step): (usize, usize)) -> Option<Self> {
        let pane = panes.get(place)?;
        let generation = pane.generation()?;
        let known = known.filter(|known| {
            known.pane == pane.id && known.step == step && known.mark.is_beginning_of(generation)
        });
        match known {
            Some(known) => Some(known),
            None => Some(Self {
                pane: pane.id,
                step,
                mark: TextMark::of(generation, step + 1),
                search: SmallestChange::new(generation, step)?,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::state::tests::written;
    use crate::state::{AppState, Command, DockTab, Effect, Pin};

    fn explaining() -> AppState {
        let mut state = written();
        state.view.dock_tab = DockTab::Xray;
        state
    }

    #[test]
    fn the_shown_step_is_explained_and_its_search_continues_from_frame_to_frame() {
        let mut state = explaining();
        let (why, change) = state.why().unwrap();
        assert_eq!(why.title, "Why ‘cottage’?");
        assert_eq!(change, "Looking for the smallest change, 0 %");
        // A frame without time to spare continues later.
        assert!(!state.review(|| false));
        assert!(state.review(|| true));
        let (_, change) = state.why().unwrap();
        assert!(
            change.starts_with("Smallest change: temperature"),
            "{change}"
        );

        let pane = state.panes[0].id;
        state.apply(Command::Pin(Pin { pane, step: 2 }));
        state.review(|| true);
        let (why, change) = state.why().unwrap();
        assert_eq!(why.title, "Why ‘house’?");
        assert!(!change.starts_with("Looking"), "{change}");
        assert!(
            why.others.contains("B, C and D take ‘cottage’"),
            "{}",
            why.others
        );
    }

    #[test]
    fn the_explanation_is_copied_with_the_smallest_change() {
        let mut state = explaining();
        let effects = state.apply(Command::CopyWhy);
        let [Effect::CopyText(text)] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Why ‘cottage’?");
        assert!(lines[1].starts_with("The model ranked it"), "{text}");
        assert!(lines[2].starts_with("Smallest change: "), "{text}");
    }

    #[test]
    fn without_a_text_there_is_nothing_to_explain() {
        let mut state = crate::state::tests::ready();
        state.view.dock_tab = DockTab::Xray;
        assert!(state.review(|| true));
        assert_eq!(state.why(), None);
        assert_eq!(state.apply(Command::CopyWhy), []);
    }
}
