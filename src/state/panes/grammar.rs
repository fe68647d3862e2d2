//! A pane's grammar: reading it from a file, and finding where a text breaks it, continued as the
//! text grows.

use std::sync::Arc;

use crate::analysis::grammar::GrammarBreak;
use crate::decoding::GrammarRule;
use crate::generation::Generation;
use crate::state::{Pane, PaneId, Panes, TextMark};

impl Panes {
    /// Returns the place of the first pane whose text has a grammar, if others have none: Compare
    /// shows where these break it.
    pub fn compared_grammar(&self) -> Option<usize> {
        let has_grammar = |pane: &Pane| Some(pane.generation()?.config.chain.grammar.is_some());
        let lacks_one = self.iter().any(|pane| has_grammar(pane) == Some(false));
        let mut panes = self.iter();
        let first = panes.find(|pane| has_grammar(pane) == Some(true));
        first.filter(|_| lacks_one).map(|pane| pane.place)
    }

    /// Replaces a pane's grammar with this one, in the language that the pane has chosen.
    pub(in crate::state) fn set_grammar(&mut self, id: PaneId, text: &str) {
        let Some(mut chain) = self.pane(id).map(|pane| pane.settings.chain.clone()) else {
            return;
        };
        if let Some(rule) = &chain.grammar {
            let read = GrammarRule::new(rule.kind(), text).with_mode(rule.mode());
            chain.grammar = Some(Arc::new(read));
        }
        self.set_chain(id, chain);
    }
}

/// What was found in a text, and the text that it belongs to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct PaneBreak {
    mark: TextMark,
    /// `None` if there is nothing to check.
    found: Option<GrammarBreak>,
    /// Whether the grammar constrained the text. If not, it is that of another pane.
    is_own: bool,
}

impl PaneBreak {
    /// Returns the index of the first step that breaks the text's own grammar.
    pub(in crate::state) fn own_broken_at(&self) -> Option<usize> {
        self.broken_at().filter(|_| self.is_own)
    }

    /// Returns the index of the first step that breaks the grammar of another pane.
    pub(in crate::state) fn other_broken_at(&self) -> Option<usize> {
        self.broken_at().filter(|_| !self.is_own)
    }

    fn broken_at(&self) -> Option<usize> {
        self.found.as_ref().and_then(GrammarBreak::broken_at)
    }

    /// Reads the tokens that were added since the last time. A text without a grammar is checked
    /// against the other one, if there is one.
    pub(in crate::state) fn update(
        &mut self,
        other: Option<&Arc<GrammarRule>>,
        generation: Option<&Generation>,
    ) {
        let own = generation.and_then(|text| text.config.chain.grammar.as_ref());
        let (Some(rule), Some(generation)) = (own.or(other), generation) else {
            *self = Self::default();
            return;
        };
        self.is_own = own.is_some();
        let is_same = |found: &GrammarBreak| found.rule().allows_same_as(rule);
        let can_resume = self.mark.is_beginning_of(generation);
        if !can_resume || !self.found.as_ref().is_some_and(is_same) {
            self.found = Some(GrammarBreak::new(rule));
        }
        if let Some(found) = &mut self.found {
            found.read(&generation.steps);
        }
        self.mark = TextMark::of_all(generation);
    }
}
