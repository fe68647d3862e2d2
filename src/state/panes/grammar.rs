//! A pane's grammar: reading it from a file, and finding where a text breaks it, continued as the
//! text grows.

use std::sync::Arc;

use crate::analysis::grammar::GrammarBreak;
use crate::decoding::GrammarRule;
use crate::generation::Generation;
use crate::state::{PaneId, Panes, TextMark};

impl Panes {
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
}

impl PaneBreak {
    /// Returns the index of the first step that breaks the grammar.
    pub(in crate::state) fn broken_at(&self) -> Option<usize> {
        self.found.as_ref().and_then(GrammarBreak::broken_at)
    }

    /// Reads the tokens that were added since the last time.
    pub(in crate::state) fn update(
        &mut self,
        rule: Option<&Arc<GrammarRule>>,
        generation: Option<&Generation>,
    ) {
        let (Some(rule), Some(generation)) = (rule, generation) else {
            *self = Self::default();
            return;
        };
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
