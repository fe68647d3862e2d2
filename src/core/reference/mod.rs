//! The reference: a page for each filter and each way to draw, generated from their specs, and what
//! to do about a text that goes wrong.
//!
//! Every picture is computed by the filter or the selector itself. This module knows nothing about
//! windows and files.

mod advice;
mod engines;
mod markdown;
mod picture;

pub use self::advice::{ADVICE, Advice, Remedy};
pub use self::engines::EngineUse;
pub use self::picture::{Bar, Picture, before};

use crate::decoding::{Filter, FilterKind, FilterSpec, Selector, SelectorSpec};
use crate::lessons::{Act, Lesson, built_in};

/// What a page describes.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    Filter(FilterKind),
    /// The selector at its usual values.
    Draw(Selector),
}

/// A page of the reference.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    pub subject: Subject,
}

impl Page {
    /// Returns all pages: the filters, the common ones first, then the ways to draw.
    pub fn all() -> Vec<Self> {
        let filters = FilterKind::by_usage().into_iter().map(Self::of_filter);
        let draws = Selector::SPECS
            .into_iter()
            .map(|spec| Self::of_draw(spec.usual));
        filters.chain(draws).collect()
    }

    /// Returns the page of a filter.
    pub const fn of_filter(kind: FilterKind) -> Self {
        Self {
            subject: Subject::Filter(kind),
        }
    }

    /// Returns the page of a selector.
    pub const fn of_draw(selector: Selector) -> Self {
        Self {
            subject: Subject::Draw(selector),
        }
    }

    fn filter_spec(self) -> Option<&'static FilterSpec> {
        match self.subject {
            Subject::Filter(kind) => Some(kind.spec()),
            Subject::Draw(_) => None,
        }
    }

    fn draw_spec(self) -> Option<&'static SelectorSpec> {
        match self.subject {
            Subject::Filter(_) => None,
            Subject::Draw(selector) => Some(selector.spec()),
        }
    }

    /// Returns the text for a filter or for a draw.
    fn text(
        self,
        of_filter: fn(&'static FilterSpec) -> &'static str,
        of_draw: fn(&'static SelectorSpec) -> &'static str,
    ) -> &'static str {
        let filter = self.filter_spec().map(of_filter);
        let text = filter.or_else(|| self.draw_spec().map(of_draw));
        text.unwrap_or_default()
    }

    /// Returns the name on its head.
    pub fn name(self) -> &'static str {
        self.text(|spec| spec.name, |spec| spec.name)
    }

    /// Returns the word that selects it in a `--pane` description, in plain letters. It also names
    /// the page's file.
    pub fn id(self) -> &'static str {
        let keys = match self.subject {
            Subject::Filter(kind) => kind.spec().keys,
            Subject::Draw(selector) => selector.spec().keys,
        };
        let mut plain = keys.iter().copied().filter(|key| key.is_ascii());
        plain.next().unwrap_or_default()
    }

    /// Returns what it does.
    pub fn help(self) -> &'static str {
        self.text(|spec| spec.help, |spec| spec.help)
    }

    /// Returns what it computes, in one line.
    pub fn formula(self) -> &'static str {
        self.text(|spec| spec.formula, |spec| spec.formula)
    }

    /// Returns its paper, or where it is defined.
    pub fn source(self) -> &'static str {
        self.text(|spec| spec.source, |spec| spec.source)
    }

    /// Returns what happens at ties and limits, and what differs between engines.
    pub fn edges(self) -> &'static [&'static str] {
        match self.subject {
            Subject::Filter(kind) => kind.spec().edges,
            Subject::Draw(selector) => selector.spec().edges,
        }
    }

    /// Returns a sentence about each of its numbers: what it does, its neutral and usual values.
    pub fn numbers(self) -> Vec<String> {
        fn words(label: &str, tooltip: &str) -> String {
            if label.is_empty() {
                tooltip.trim().to_owned()
            } else {
                format!("{label}: {}", tooltip.trim())
            }
        }
        match self.subject {
            Subject::Filter(kind) => {
                let params = kind.spec().params.iter();
                let words = params.map(|param| words(param.label, &param.tooltip()));
                words.collect()
            }
            Subject::Draw(selector) => {
                let params = selector.spec().params.iter();
                let words = params.map(|param| words(param.label, &param.tooltip()));
                words.collect()
            }
        }
    }

    /// Returns its picture, or `None` if it needs more than one row of logits.
    pub fn picture(self) -> Option<Picture> {
        match self.subject {
            Subject::Filter(kind) => Some(Picture::of_filter(kind)),
            Subject::Draw(selector) => Picture::of_draw(selector),
        }
    }

    /// Returns the engines that have it.
    pub fn engines(self) -> Vec<EngineUse> {
        match self.subject {
            Subject::Filter(kind) => EngineUse::of_filter(kind),
            Subject::Draw(_) => Vec::new(),
        }
    }

    /// Returns the tools whose settings can express it at its usual values.
    pub fn tools(self) -> Vec<&'static str> {
        match self.subject {
            Subject::Filter(_) => Vec::new(),
            Subject::Draw(selector) => engines::tools_with(selector),
        }
    }

    /// Returns the lessons in which it is used.
    pub fn lessons(self) -> Vec<&'static Lesson> {
        let lessons = built_in().iter().map(AsRef::as_ref);
        lessons.filter(|lesson| self.is_used_in(lesson)).collect()
    }

    fn is_used_in(self, lesson: &Lesson) -> bool {
        let setup = lesson.setup.panes.iter();
        let acts = lesson.steps.iter();
        let acts = acts.flat_map(|step| step.prepare.iter().chain(&step.solution));
        let set = acts.filter_map(|act| match act {
            Act::Settings(_, settings) => Some(settings.as_ref()),
            _ => None,
        });
        let mut chains = setup.chain(set).map(|settings| &settings.chain);
        match self.subject {
            Subject::Filter(kind) => chains.any(|chain| {
                let mut filters = chain.active().map(Filter::kind);
                filters.any(|used| used == kind)
            }),
            Subject::Draw(selector) => chains.any(|chain| chain.selector.name() == selector.name()),
        }
    }
}

#[cfg(test)]
mod tests;
