//! What a lesson sees of the state.

use super::LessonRun;
use crate::lab::Lab;
use crate::lessons::{Scene, TABS, TINTS};
use crate::state::{DockTab, Panes, Pin, Tint, ViewChoices};

impl LessonRun {
    /// Returns what the lesson sees, without the coins tossed by hand.
    pub(super) fn scene<'a>(
        &'a self,
        panes: &'a Panes,
        pin: Option<Pin>,
        view: &ViewChoices,
        lab: &'a Lab,
    ) -> Scene<'a> {
        let pinned = |pin: Pin| Some((panes.place_of(pin.pane)?, pin.step));
        Scene {
            chains: panes.by_place(|pane| Some(&pane.settings.chain)),
            cache: lab.cache.times(),
            tasks: lab.prompts.task_curve(),
            hand: None,
            prices: view.prices,
            curves: self.step().map_or(&[], |step| step.curves.as_slice()),
            texts: panes.generations(),
            pin: pin.and_then(pinned),
            tab: name_of_tab(view.dock_tab),
            tint: name_of_tint(view.tint),
        }
    }
}

/// Returns the tab with this lower-case name.
pub(super) fn tab_named(name: &str) -> Option<DockTab> {
    DockTab::ALL
        .into_iter()
        .find(|tab| name_of_tab(*tab) == name)
}

/// Returns the tint with this lower-case name.
pub(super) fn tint_named(name: &str) -> Option<Tint> {
    let is_named = |tint: &Tint| name_of_tint(*tint) == name;
    Tint::ALL.into_iter().find(is_named)
}

fn name_of_tint(tint: Tint) -> &'static str {
    let is_same = |name: &&&str| tint.name().eq_ignore_ascii_case(name);
    TINTS.iter().find(is_same).copied().unwrap_or_default()
}

fn name_of_tab(tab: DockTab) -> &'static str {
    let is_same = |name: &&&str| tab.name().eq_ignore_ascii_case(name);
    TABS.iter().find(is_same).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{TABS, TINTS, tab_named, tint_named};
    use crate::state::{DockTab, Tint};

    #[test]
    fn every_name_is_one_that_the_window_shows() {
        let tabs: Vec<DockTab> = TABS.into_iter().filter_map(tab_named).collect();
        assert_eq!(tabs, DockTab::ALL);
        let tints: Vec<Tint> = TINTS.into_iter().filter_map(tint_named).collect();
        assert_eq!(tints.len(), TINTS.len());
        assert_eq!(tints.len(), Tint::ALL.len());
    }
}
