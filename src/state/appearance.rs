//! How the window looks: the size of its text, the typeface of generated text, and the changes that
//! keys and the command palette make.

use serde::{Deserialize, Serialize};

use super::{BranchesView, DockTab, ThemeChoice, Tint, ViewChoices};
use crate::analysis::token_kinds::TokenKind;
use crate::lab::LabTab;

/// The size of all text, as a percentage of the normal size. Everything else grows with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(from = "u16", into = "u16")]
pub struct TextSize(u16);

impl TextSize {
    /// All sizes, from the smallest.
    pub const ALL: [Self; 8] = [
        Self(80),
        Self(90),
        Self(100),
        Self(110),
        Self(125),
        Self(150),
        Self(175),
        Self(200),
    ];

    /// Returns the size in percent.
    pub const fn percent(self) -> u16 {
        self.0
    }

    /// Returns the size as a factor: 1 is the normal size.
    pub fn factor(self) -> f32 {
        f32::from(self.0) / 100.0
    }

    /// Returns the next larger size, or the largest.
    #[must_use]
    pub fn larger(self) -> Self {
        let larger = Self::ALL.into_iter().find(|size| *size > self);
        larger.unwrap_or(self)
    }

    /// Returns the next smaller size, or the smallest.
    #[must_use]
    pub fn smaller(self) -> Self {
        let smaller = Self::ALL.into_iter().rev().find(|size| *size < self);
        smaller.unwrap_or(self)
    }
}

impl Default for TextSize {
    fn default() -> Self {
        Self(100)
    }
}

impl From<u16> for TextSize {
    /// Clamps the size to the range that can be chosen.
    fn from(percent: u16) -> Self {
        Self(percent.clamp(80, 200))
    }
}

impl From<TextSize> for u16 {
    fn from(size: TextSize) -> Self {
        size.0
    }
}

/// The typeface of the prompt and of generated text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingFont {
    #[default]
    Serif,
    Sans,
    Mono,
}

impl ReadingFont {
    /// All typefaces, in menu order.
    pub const ALL: [Self; 3] = [Self::Serif, Self::Sans, Self::Mono];

    /// Returns the name of the bundled typeface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serif => "Literata",
            Self::Sans => "Inter",
            Self::Mono => "JetBrains Mono",
        }
    }
}

/// A change to how the window shows things. Widgets edit the same values in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ViewChange {
    /// Show a tab of the dock.
    Tab(DockTab),
    /// Show why the pinned token was chosen.
    Why,
    /// Show a view of the Branches tab.
    Branches(BranchesView),
    /// Show a tab of the Lab page.
    Lab(LabTab),
    Tint(Tint),
    /// Step by a kind of token; `None` for every token.
    Kind(Option<TokenKind>),
    /// Show or hide spaces and line breaks.
    Marks(bool),
    Theme(ThemeChoice),
    TextSize(TextSize),
}

impl ViewChoices {
    /// Returns the change that shows why a token was chosen when it is pressed in a text: X-ray
    /// opens in place of Plots or a folded dock. Other tabs follow by themselves.
    pub fn on_press(&self, dock_is_open: bool) -> Option<ViewChange> {
        let follows = match self.dock_tab {
            DockTab::Plots => self.keeps_plots,
            _ => dock_is_open,
        };
        (!follows).then_some(ViewChange::Why)
    }

    /// Changes how the window shows things, apart from the tab of the Lab.
    pub(super) fn change(&mut self, change: ViewChange) {
        match change {
            ViewChange::Tab(tab) => {
                self.dock_tab = tab;
                self.dock_open = Some(true);
            }
            ViewChange::Why => {
                self.dock_tab = DockTab::Xray;
                self.dock_open = Some(true);
            }
            ViewChange::Branches(branches) => {
                self.branches = branches;
                self.dock_tab = DockTab::Branches;
                self.dock_open = Some(true);
            }
            ViewChange::Lab(_) => {}
            ViewChange::Tint(tint) => self.tint = tint,
            ViewChange::Kind(kind) => self.kind = kind,
            ViewChange::Marks(shown) => self.show_marks = shown,
            ViewChange::Theme(theme) => self.theme = theme,
            ViewChange::TextSize(size) => self.text_size = size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TextSize;

    #[test]
    fn text_grows_and_shrinks_step_by_step_between_limits() {
        let size = TextSize::default();
        assert_eq!(size.larger().percent(), 110);
        assert_eq!(size.smaller().percent(), 90);
        assert_eq!(TextSize::from(999).larger().percent(), 200);
        assert_eq!(TextSize::from(1).smaller().percent(), 80);
        // A size that can't be chosen, from a file that was edited by hand.
        assert_eq!(TextSize::from(130).larger().percent(), 150);
        assert_eq!(TextSize::from(130).smaller().percent(), 125);
    }
}
